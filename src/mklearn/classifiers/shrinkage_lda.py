"""scikit-learn's discriminant analysis with shrinkage, with a status if nothing was shrunk."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

UNSHRUNK = (
    "scikit-learn shrinks the covariance of each class, and with two samples per class the Ledoit-Wolf estimate of the "
    "shrinkage is 0: the pooled covariance stays singular; give more samples per class or shrinkage as a number, or "
    "use ledoit_wolf_lda, which pools before shrinking"
)


class ShrinkageLDA(LinearDiscriminantAnalysis):
    """`sklearn.discriminant_analysis.LinearDiscriminantAnalysis` with a status if nothing was shrunk.

    scikit-learn shrinks the covariance of each class. With two samples v and -v about their mean, the Ledoit-Wolf
    estimate of the shrinkage is exactly 0, and scikit-learn uses a singular covariance without a warning. Parameters
    and attributes are scikit-learn's, and:

    Attributes
    ----------
    status_ : {"ok", "inaccurate"}
    message_ : str
        Why the fit is inaccurate; empty if it is not.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = False  # scikit-learn's own has it with solver="svd" only
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike) -> Any:
        """Fit to X of shape (n, d) and class labels y."""
        _, counts = np.unique(np.asarray(y), return_counts=True)
        unshrunk = self.shrinkage == "auto" and counts.max() <= 2
        self.status_ = "inaccurate" if unshrunk else "ok"
        self.message_ = UNSHRUNK if unshrunk else ""
        return super().fit(X, y)

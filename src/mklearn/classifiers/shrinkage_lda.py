"""scikit-learn's discriminant analysis with shrinkage, and a word where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

UNSHRUNK = (
    "scikit-learn shrinks each class's own covariance, and with two samples in a class the Ledoit-Wolf estimate of the "
    "shrinkage is exactly 0: the pooled covariance stays singular; give more samples per class or shrinkage as a "
    "number, or pool before shrinking (ledoit_wolf_lda)"
)


class ShrinkageLDA(LinearDiscriminantAnalysis):
    """`sklearn.discriminant_analysis.LinearDiscriminantAnalysis`, which says when nothing was shrunk.

    scikit-learn shrinks each class's own covariance. With two samples v and -v about their mean, the Ledoit-Wolf
    estimate of the shrinkage is exactly 0, and the classifier goes on with a singular covariance: on faces it then
    decides at chance level, without a word. Parameters and attributes are scikit-learn's, and:

    Attributes
    ----------
    status_ : {"ok", "inaccurate"}
    message_ : str
        Why it is inaccurate.
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> Any:
        """Fit to X of shape (n, d) and class labels y."""
        _, counts = np.unique(np.asarray(y), return_counts=True)
        unshrunk = self.shrinkage == "auto" and counts.max() <= 2
        self.status_ = "inaccurate" if unshrunk else "ok"
        self.message_ = UNSHRUNK if unshrunk else ""
        return super().fit(X, y)

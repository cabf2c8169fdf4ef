"""scikit-learn's discriminant analysis with shrinkage, with a status if nothing was shrunk."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from mklearn.base.validation import aligned
from mklearn.errors import NotApplicable
from mklearn.kernels.feature_scaling import constant_features

UNSHRUNK = (
    "scikit-learn shrinks the covariance of each class, and with two samples per class the Ledoit-Wolf estimate of the "
    "shrinkage is 0: the pooled covariance stays singular; give more samples per class or shrinkage as a number, or "
    "use ledoit_wolf_lda, which pools before shrinking"
)
MOST_FEATURES = 4096


class ShrinkageLDA(LinearDiscriminantAnalysis):
    """scikit-learn's discriminant analysis with shrinkage of each class's own covariance.

    scikit-learn shrinks the covariance of each class. With two samples v and -v about their mean, the Ledoit-Wolf
    estimate of the shrinkage is exactly 0, and scikit-learn uses a singular covariance without a warning. Here the
    status says so. Other parameters and attributes are scikit-learn's.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}
        Least squares, or an eigenvalue decomposition; "svd" has no shrinkage.
    shrinkage : "auto", float or None
        By the Ledoit-Wolf estimate, or from 0 to 1.

    Attributes
    ----------
    status_ : {"ok", "inaccurate"}
    message_ : str
        Why the fit is inaccurate; empty if it is not.
    """

    score = aligned(LinearDiscriminantAnalysis.score)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = False  # scikit-learn's own has it with solver="svd" only
        return tags

    @aligned
    def fit(self, X: ArrayLike, y: ArrayLike) -> Any:
        """Fit to X of shape (n, d) and class labels y.

        Raises
        ------
        NotApplicable
            More than 4,096 features: their covariance, d x d for each class, is larger than the samples by far.
        """
        table = np.asarray(X)
        n_features = table.shape[1] if table.ndim == 2 else 0
        if n_features > MOST_FEATURES:
            raise NotApplicable(
                f"LDA with shrinkage needs the covariance of all {n_features:,} features; above {MOST_FEATURES:,} take "
                "logistic regression, a method on kernels, or fewer features"
            )
        _, counts = np.unique(np.asarray(y), return_counts=True)
        unshrunk = self.shrinkage == "auto" and counts.max() <= 2
        self.status_ = "inaccurate" if unshrunk else "ok"
        self.message_ = UNSHRUNK if unshrunk else ""
        if table.ndim == 2 and table.size and table.dtype.kind == "f" and np.isfinite(table).all():
            # it divides by deviations within classes, those of rounding errors too
            X = np.where(constant_features(table), table[0], table)
        return super().fit(X, y)

"""scikit-learn's discriminant analysis with shrinkage, and a word where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.preprocessing import StandardScaler

from mklearn.optimize.ledoit_wolf import ledoit_wolf_shrinkage

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
        if self.shrinkage != "auto" or self.solver == "svd":  # scikit-learn has a word against the latter
            self.status_, self.message_ = "ok", ""
            return super().fit(X, y)
        _, counts = np.unique(np.asarray(y), return_counts=True)
        same = clone(self).set_params(shrinkage=None, covariance_estimator=StandardisedLedoitWolf()).fit(X, y)
        parameters = self.get_params()
        self.__dict__.update({name: value for name, value in vars(same).items() if name not in parameters})
        if counts.max() <= 2:
            self.status_, self.message_ = "inaccurate", UNSHRUNK
        return self


class StandardisedLedoitWolf(BaseEstimator):
    """The covariance that ``shrinkage="auto"`` takes of one class, in a third of the time.

    With features standardised to z = (x - m) / s, the Ledoit-Wolf covariance of z, scaled back. A class has few samples
    and many features: the intensity follows from inner products of the samples, and no (d, d) matrix but the result
    is made.
    """

    def fit(self, X: NDArray[np.floating]) -> StandardisedLedoitWolf:
        """Set ``covariance_`` of samples (n, d) of one class."""
        scaler = StandardScaler()
        standardised = scaler.fit_transform(X)
        shrinkage, level = ledoit_wolf_shrinkage(standardised)
        centred = standardised * scaler.scale_
        covariance = ((1.0 - shrinkage) / len(X) * centred.T) @ centred
        covariance.flat[:: covariance.shape[0] + 1] += shrinkage * level * scaler.scale_**2
        self.covariance_ = covariance
        return self

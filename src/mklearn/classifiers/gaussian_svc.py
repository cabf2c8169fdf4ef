"""Support vector machine with a Gaussian kernel on standardised features, a baseline on features side by side."""

from __future__ import annotations

from sklearn.pipeline import Pipeline, make_pipeline

from mklearn.base.parameters import POSITIVE, constrained
from mklearn.classifiers.kernel_svc import KernelSVC
from mklearn.kernels.standard_scaler import StandardScaler


@constrained(C=[POSITIVE], bandwidth=[POSITIVE])
def gaussian_svc(C: float = 10.0, bandwidth: float = 1.0) -> Pipeline:
    """Build support vector machines on the Gaussian kernel of features of mean 0 and variance 1.

    Every feature counts the same: of several descriptors side by side, one with more features counts more.

    Parameters
    ----------
    C : float
        Penalty as in `mklearn.classifiers.KernelSVC`, for a kernel of unit variance.
    bandwidth : float
        Multiple of the mean squared distance of the training samples.
    """
    return make_pipeline(StandardScaler(), KernelSVC(kernels=[{"kind": "gaussian", "bandwidth": bandwidth}], C=C))

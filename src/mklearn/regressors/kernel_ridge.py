"""Kernel ridge regression on a fixed or learned combination of kernels."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.base.kernel_mixtures import KernelMixer
from mklearn.base.kernels_mixin import Kernels, fixed_weights
from mklearn.base.parameters import POSITIVE, SHARE, valid_values
from mklearn.base.ridge_problem import RidgeProblem
from mklearn.errors import NotApplicable
from mklearn.regressors.ridge_regressor import ALPHAS, RidgeRegressor

Array = NDArray[np.floating[Any]]


class KernelRidge(RidgeRegressor):
    """Kernel ridge regression of one or several targets on a combination of kernels with fixed or learned weights.

    Same model as `mklearn.classifiers.KernelRidgeClassifier`, with numbers in place of class indicators.

    Parameters
    ----------
    kernels
        As for `mklearn.subspace.KernelFDA`.
    kernel_weights : None, "uniform", int, array of shape (n_kernels,), or "learned"
        The average, one kernel, fixed weights, or weights of the smallest leave-one-out error, see
        `mklearn.optimize.leave_one_out_ridge`.
    alpha : float or sequence of float
        The ridge lambda relative to the centred trace of the combined kernel. If several are given, each target takes
        the one with its smallest leave-one-out error.
    shrinkage
        For learned weights only; as for `mklearn.regressors.MultiViewRegressor`.

    Attributes
    ----------
    alpha_ : array of shape (n_targets,)
        The ridge of each target.
    intercept_ : array of shape (n_targets,)
    kernel_weights_ : array of shape (n_kernels,)
        0 for kernels that are constant over the samples.
    left_out_predictions_, left_out_r2_
        As for `mklearn.regressors.MultiViewRegressor`, as are the errors.
    kernel_ids_, n_features_in_
        As for `mklearn.subspace.KernelFDA`.

    References
    ----------
    Saunders, Gammerman, Vovk, "Ridge regression learning algorithm in dual variables", ICML 1998.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> KernelRidge(kernels=["gaussian", "linear"]).fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.4
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernels": valid_values(Kernels),
        "kernel_weights": "no_validation",
        "alpha": [POSITIVE, "array-like"],
        "shrinkage": [SHARE],
    }
    landmarks = None
    # All kernels are combined, with learned or with fixed weights alone.
    learned, least_agreement, missing_views = 1.0, 0.0, "error"

    def __init__(
        self,
        *,
        kernels: Any = "precomputed",
        kernel_weights: Any = None,
        alpha: Any = ALPHAS,
        shrinkage: float = 0.5,
    ) -> None:
        self.kernels = kernels
        self.kernel_weights = kernel_weights
        self.alpha = alpha
        self.shrinkage = shrinkage

    @property
    def alphas(self) -> Any:
        """Candidate ridges."""
        return np.atleast_1d(self.alpha)

    @property
    def _is_learned(self) -> bool:
        return isinstance(self.kernel_weights, str) and self.kernel_weights == "learned"

    def _fit(self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, groups: ArrayLike | None) -> None:
        super()._fit(X, y, sample_weight, groups)
        self.alpha_ = self.alphas_[1]

    def _equal_shares(self, mixer: KernelMixer, problem: RidgeProblem) -> Array:
        if self._is_learned:
            return super()._equal_shares(mixer, problem)
        weights = fixed_weights(self.kernel_weights, len(mixer.scales))
        shares = np.divide(weights, mixer.scales, out=np.zeros(len(weights)), where=mixer.scales > 0)
        if not shares.any():
            raise NotApplicable("all kernels of positive weight are constant over the samples")
        return shares / shares.sum()

    def _learned_shares(self, kernels: list[NDArray[Any]], problem: RidgeProblem, equal: Array) -> Array:
        return super()._learned_shares(kernels, problem, equal) if self._is_learned else equal

"""Regression from several views: a dictionary of kernels, half of the prediction with learned kernel weights."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.base.multi_view_ridge import MultiViewRidge
from mklearn.base.parameters import fit_context, one_of
from mklearn.base.ridge_problem import RidgeProblem
from mklearn.base.validation import checked_numbers
from mklearn.cards import KERNEL_DICTIONARY, POSITIVE, MethodCard, list_of
from mklearn.kernels.completion import MissingViews
from mklearn.kernels.imputation import Impute
from mklearn.optimize.validation import nonnegative_weights
from mklearn.regressors.left_out_predictions import LeftOutPredictions, standardised

Array = NDArray[np.floating[Any]]
WeightSharing = Literal["shared", "per_target"]
ALPHAS = tuple(10.0 ** (power / 2) for power in range(-8, 7))


@MethodCard(
    kind="multi_view_regressor",
    title="Multi-view regression",
    reference="Allen 1974; Dupre la Tour et al. 2022; the combination is this library's own",
    advice=(
        "The one to start with where numbers are predicted: it chooses scalings, kernels, weights and ridge by"
        " closed-form leave-one-out, without inner cross-validation."
    ),
    inputs=KERNEL_DICTIONARY,
    library_only=("missing_views", "impute", "memory", "random_state", "landmarks"),
    valid={"alphas": [list_of(POSITIVE)]},
    targets=("numbers",),
)
class MultiViewRegressor(LeftOutPredictions, MultiViewRidge):
    """Kernel ridge regression on a dictionary of kernels of each view, half of it with learned weights.

    It predicts numbers as `mklearn.classifiers.MultiViewClassifier` predicts class indicators, by the same steps: the
    dictionary of kernels; views that say nothing of the targets left out; kernel weights of the smallest leave-one-out
    error, shrunk towards equal ones; the mean of two ridge regressions, with equal and with learned weights. Targets
    are standardised first, and each has a ridge of its own.

    Parameters
    ----------
    kernels, learned, shrinkage, least_agreement, weight_samples, missing_views, impute, memory, random_state, landmarks
        As for `mklearn.classifiers.MultiViewClassifier`; samples are drawn without regard to the target.
    alphas : sequence of float
        Candidate ridges, in units of the variance of the samples in the feature space (the centred trace).
    weights : {"shared", "per_target"}
        Whether several targets share kernel weights, or each learns its own (banded ridge regression).

    Attributes
    ----------
    kernel_ids_ : tuple of str
    kernel_weights_, shares_, learned_shares_ : arrays of shape (n_kernels,), sum 1
        As for the classifier; (n_targets, n_kernels) for several targets with weights of their own.
    view_shares_, view_agreements_ : dicts of str to float
        As for the classifier; to arrays of shape (n_targets,) for several targets with weights of their own.
    alphas_ : array of shape (2, n_targets)
        Ridges of the regressions with equal and with learned weights.
    left_out_predictions_ : array of shape (n,) or (n, n_targets)
        Predictions for training samples that are left out in closed form, with their groups; NaN where there is no
        target, or no weight.
    left_out_r2_ : float, or array of shape (n_targets,)
        R^2 of these (weighted by the sample weights). The weights and the ridges were chosen on these samples: it is a
        little optimistic. NaN for a constant target.
    coefficients_ : array of shape (2, n_train, n_targets)
        With landmarks (2, n_landmarks, n_targets).
    intercept_ : array of shape (n_targets,)
    n_features_in_ : int

    Raises
    ------
    DataError
        Among others: targets that are no numbers, or with fewer than two values; a view that lacks for too many
        samples; weights or groups that do not fit; kernels far from positive semidefinite.
    NotApplicable
        All samples with a value in one group, or all kernels constant over the samples.
    ConfigError
        An invalid parameter.

    References
    ----------
    Allen, "The relationship between variable selection and data augmentation and a method for prediction",
    Technometrics 1974 (left-out outputs). Dupre la Tour, Eickenberg, Nunez-Elizalde, Gallant, "Feature-space selection
    with banded ridge regression", NeuroImage 264, 2022 (weights of each target). The combination is this library's own.

    Notes
    -----
    Where values of targets are missing, each target is fitted to the samples that have it. Shared weights are learned
    from all samples with a value of any target, missing ones at the target's mean.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> views = {"body": X[:, :4], "blood": X[:, 4:]}
    >>> train, test = slice(0, 300), slice(300, None)
    >>> model = MultiViewRegressor().fit({name: table[train] for name, table in views.items()}, y[train])
    >>> model.score({name: table[test] for name, table in views.items()}, y[test]) > 0.4
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **MultiViewRidge._parameter_constraints,
        "weights": [one_of(WeightSharing)],
    }
    _ridge_of_each_target = True

    def __init__(
        self,
        *,
        kernels: Any = "dictionary",
        learned: float = 0.5,
        shrinkage: float = 0.5,
        least_agreement: float = 3.0,
        alphas: Any = ALPHAS,
        weights: WeightSharing = "shared",
        weight_samples: int = 500,
        missing_views: MissingViews = "mean",
        impute: Impute = "none",
        memory: float = 1.0,
        random_state: int = 0,
        landmarks: int | None = None,
    ) -> None:
        self.kernels = kernels
        self.learned = learned
        self.shrinkage = shrinkage
        self.least_agreement = least_agreement
        self.alphas = alphas
        self.weights = weights
        self.weight_samples = weight_samples
        self.missing_views = missing_views
        self.impute = impute
        self.memory = memory
        self.random_state = random_state
        self.landmarks = landmarks

    @fit_context
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the regressor.

        Parameters
        ----------
        X : views, array of shape (n, d), or array of shape (n, n, n_kernels) with ``kernels="precomputed"``
        y : array of shape (n,) or (n, n_targets)
            Numbers, in any units; NaN are missing values.
        sample_weight : array of shape (n,), optional
            A sample of weight 2 counts as two equal ones, which are left out together; a sample of weight 0 as none.
            Kernels of features are fitted to the samples without weights.
        groups : array of shape (n,), optional
            Samples of a group (a patient, a plot) are left out together.
        """
        self._check_alphas()
        samples, n = self._samples(X)
        values = checked_numbers(self, y, n)
        weights = nonnegative_weights(sample_weight, n)
        targets, mean, scale = standardised(values.reshape(n, -1), weights)
        every = RidgeProblem.of(targets, weights, groups)
        problem = every.of_targets(np.arange(targets.shape[1]))
        self._fit_problem(samples, problem)
        self.coefficients_ *= scale
        self.intercept_ = self.intercept_ * scale + mean
        left_out = np.full(targets.shape, np.nan)
        left_out[problem.rows] = self._left_out * scale + mean
        del self._left_out
        return self._set_left_out(values, left_out, weights)

    def _sets(self, n_targets: int) -> list[NDArray[np.intp]]:
        every = np.arange(n_targets)
        return [every] if self.weights == "shared" else list(every[:, None])

    def _weighing_targets(self, problem: RidgeProblem) -> Array:
        return np.nan_to_num(standardised(problem.targets, problem.weights)[0])

    def predict(self, X: Any) -> Array:
        """Predict the targets, shape (m,) or (m, n_targets), in their units."""
        return self._shaped(self._outputs_of(X))

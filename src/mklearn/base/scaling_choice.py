"""Choice of the feature scaling whose Gaussian kernel has the smallest left-out error, in closed form.

It depends on the features and targets of the training samples only, so all methods that read the same view have the
same scaling on a split.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.base.fit_context import aligned
from mklearn.base.ridge_problem import RidgeProblem
from mklearn.errors import ConstantKernel, NotApplicable, SolverFailed
from mklearn.graphs import class_structure
from mklearn.kernels.feature_scaling import FeatureScaling
from mklearn.kernels.matrices import IdentityLikeKernelWarning
from mklearn.kernels.transform import StackTransform
from mklearn.optimize.leave_one_out_ridge import class_targets
from mklearn.optimize.ridge_path import ridge_path

AUTO_SCALINGS: tuple[FeatureScaling, ...] = ("standard", "rank", "unit", "none")
"""Scalings that ``feature_scaling: auto`` chooses from; the first of equally good ones is taken."""

RIDGES = 10 ** np.linspace(-3, 0, 7)
"""Candidate ridges, for kernels of unit trace."""
MOST_SAMPLES = 500
"""Largest number of samples; of more samples this many are drawn, since each scaling needs an eigendecomposition."""
# Errors that differ by less, relatively, are equal: the first scaling is taken.
_EQUAL = 1e-9


@aligned
def choose_scaling(
    X: Any, y: ArrayLike, *, groups: ArrayLike | None = None, scalings: Sequence[FeatureScaling] = AUTO_SCALINGS
) -> FeatureScaling:
    """Choose the scaling of a view's features by the left-out error of kernel ridge regression.

    The features, (n, d), are dense and complete. For each scaling the regression is fitted to the Gaussian kernel of
    the scaled features, at their own bandwidth, centred and of unit trace, with the ridge of the smallest error. ``y``
    of floating point are numbers, else classes, with the targets of
    `mklearn.optimize.leave_one_out_ridge.class_targets`. The first scaling of equal errors is taken. From more than 500
    samples 500 are drawn, in proportion from each class. Samples of a group are left out together.

    Raises
    ------
    ConstantKernel, NotApplicable, SolverFailed
        No scaling gives a kernel that can be computed: all features are constant, or all samples are in one group.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> X = np.column_stack([y + 0.2 * rng.normal(size=40), 1e3 * rng.normal(size=40)])
    >>> choose_scaling(X, y)
    'standard'
    """
    problem = _problem(np.asarray(y), groups)
    rows = problem.drawn(MOST_SAMPLES, seed=0)
    features, drawn = X[rows], problem.alone(rows)
    errors: dict[FeatureScaling, float] = {}
    reason: Exception | None = None
    for scaling in scalings:
        try:
            errors[scaling] = _left_out_error(features, drawn, scaling)
        except (ConstantKernel, NotApplicable, SolverFailed) as error:
            reason = reason or error
    if reason is not None and not errors:
        raise reason
    least = min(errors.values())
    return next(scaling for scaling, error in errors.items() if error <= least * (1 + _EQUAL))


def _problem(y: NDArray[Any], groups: ArrayLike | None) -> RidgeProblem:
    if np.issubdtype(y.dtype, np.floating):
        return RidgeProblem.of(y[:, None], None, groups)
    classes = class_structure(y)
    return RidgeProblem.of(class_targets(classes), None, groups, classes.codes)


def _left_out_error(features: Any, problem: RidgeProblem, scaling: FeatureScaling) -> float:
    spec = {"kind": "gaussian", "feature_scaling": scaling}
    with warnings.catch_warnings():  # the caller does not have this kernel
        warnings.simplefilter("ignore", IdentityLikeKernelWarning)
        (kernel,) = StackTransform({"gaussian": spec}).fit_transform(features).matrices
    path = ridge_path(kernel / len(kernel), problem.targets, RIDGES, groups=problem.groups)
    return float(path.errors.sum(axis=1).min())

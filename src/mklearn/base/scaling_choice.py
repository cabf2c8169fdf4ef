"""Choice of the feature scaling whose Gaussian kernel has the smallest leave-one-out error, in closed form.

The choice depends only on the features and targets of the training samples, so all methods on a view use the same
scaling on a split.
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
from mklearn.kernels.features import as_features
from mklearn.kernels.matrices import IdentityLikeKernelWarning
from mklearn.kernels.transform import StackTransform
from mklearn.optimize.leave_one_out_ridge import class_targets
from mklearn.optimize.ridge_path import ridge_path

AUTO_SCALINGS: tuple[FeatureScaling, ...] = ("standard", "rank", "unit", "none")
"""Candidate scalings of ``feature_scaling: auto``; ties go to the first."""

RIDGES = 10 ** np.linspace(-3, 0, 7)
"""Candidate ridges for kernels of unit trace."""
MOST_SAMPLES = 500
"""Largest number of samples, drawn if there are more, since each scaling needs an eigendecomposition."""
# Relative difference below which errors count as equal.
_EQUAL = 1e-9


@aligned
def choose_scaling(
    X: Any, y: ArrayLike, *, groups: ArrayLike | None = None, scalings: Sequence[FeatureScaling] = AUTO_SCALINGS
) -> FeatureScaling:
    """Choose the scaling of a view's features by the leave-one-out error of kernel ridge regression.

    The features, (n, d), are dense and complete. For each scaling, the regression uses the Gaussian kernel of the
    scaled features with its default bandwidth, centred and of unit trace, and the ridge with the smallest error.
    Floating-point ``y`` are numeric targets; samples with NaN are left out. Other ``y`` are classes, with the targets
    of `mklearn.optimize.leave_one_out_ridge.class_targets`. Ties go to the first scaling. From more than 500 samples,
    500 are drawn in proportion to the classes. Samples of a group are left out together.

    Raises `DataError` for features that are not finite numbers, and `ConstantKernel`, `NotApplicable` or `SolverFailed`
    if no scaling gives a valid regression, e.g. all features are constant, or all samples are in one group.

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
    features, drawn = as_features(X, "X")[problem.rows[rows]], problem.alone(rows)
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
    with warnings.catch_warnings():  # the kernel is internal, so the user can't act on the warning
        warnings.simplefilter("ignore", IdentityLikeKernelWarning)
        (kernel,) = StackTransform({"gaussian": spec}).fit_transform(features).matrices
    path = ridge_path(kernel / len(kernel), problem.targets, RIDGES, groups=problem.groups)
    return float(path.errors.sum(axis=1).min())

"""Permutation tests of the dependence of targets on features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.optimize.left_out import group_codes, groups_by_size
from mklearn.optimize.ridge_path import feature_ridge_path, ridge_path

Array = NDArray[np.floating[Any]]
SHARES = tuple(10.0 ** (power / 2) for power in range(-8, 3))
"""Candidate ridges, as shares of the total variance of the features."""


class PermutationTest(NamedTuple):
    """Score of a target, such as a left-out R^2, and scores of the shuffled target."""

    score: float
    shuffled: Array

    @property
    def p_value(self) -> float:
        """Compute the p-value (1 + number of shuffled scores >= score) / (1 + number of shuffled scores).

        References
        ----------
        Phipson, Smyth, "Permutation p-values should never be zero", Stat Appl Genet Mol Biol 9, 2010.
        """
        return float((1 + np.count_nonzero(self.shuffled >= self.score)) / (1 + len(self.shuffled)))


def permutation_test(
    score: Callable[[NDArray[Any]], float], y: NDArray[Any], groups: ArrayLike | None = None, *, n_shuffles: int,
    seed: int = 0,
) -> PermutationTest:  # fmt: skip
    """Compute the scores of a target y (n,) and of targets shuffled among the samples or groups."""
    rng = np.random.default_rng(seed)
    shuffles = (shuffled_rows(y, groups, rng) for _ in range(n_shuffles))
    return PermutationTest(score(y), np.array([score(y[rows]) for rows in shuffles]))


def shuffled_rows(y: NDArray[Any], groups: ArrayLike | None, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw rows such that ``y[rows]`` is a random assignment of the targets to the samples.

    Without groups, all samples are exchangeable. The samples of a group, such as a patient, are not: they have similar
    targets and similar features, even if targets do not depend on features. With groups, whole groups are exchangeable:

    - If targets are constant in each group, each group gets the target of a random group.
    - Else the targets of whole groups are exchanged between groups of the same size, and shuffled within each group.

    References
    ----------
    Winkler, Webster, Vidaurre, Nichols, Smith, "Multi-level block permutation", NeuroImage 123, 2015.
    """
    if groups is None:
        return rng.permutation(len(y))
    codes = group_codes(groups, len(y))
    firsts = np.unique(codes, return_index=True)[1]
    if (y == y[firsts][codes]).all():
        return np.asarray(rng.permutation(firsts)[codes])
    rows = np.empty(len(y), dtype=np.intp)
    for members in groups_by_size(codes):
        rows[members] = rng.permuted(rng.permutation(members), axis=1)
    return rows


def left_out_outputs(features: Array, targets: Array, groups: ArrayLike | None = None) -> Array:
    """Predict the targets (n, c) of each sample or group by ridge regression on the features (n, d) of the others."""
    ridges = np.array(SHARES) * features.var(axis=0).sum() * len(features)
    wide = features.shape[1] > len(features)
    fit, values = (ridge_path, features @ features.T) if wide else (feature_ridge_path, features)
    return fit(values, targets, ridges, groups=groups).left_out


def association(
    features: Array, y: NDArray[Any], groups: ArrayLike | None = None, *, n_shuffles: int
) -> PermutationTest:
    """Test whether the target y (n,), numbers or class codes, depends on features (n, d), by the left-out R^2.

    Samples are left out one by one. With groups the targets are shuffled by `shuffled_rows`, so that the p-value is
    valid, whereas R^2 is too large if the samples of a group are alike.
    """

    def r2(values: NDArray[Any]) -> float:
        targets = values[:, None] if values.dtype.kind == "f" else indicators(values)
        errors, deviations = targets - left_out_outputs(features, targets), targets - targets.mean(axis=0)
        return 1.0 - float((errors**2).sum() / (deviations**2).sum())

    return permutation_test(r2, y, groups, n_shuffles=n_shuffles)


def indicators(codes: NDArray[Any]) -> Array:
    """Return the class indicators, (n, c), of class codes 0..c-1."""
    return np.eye(int(codes.max()) + 1)[codes]

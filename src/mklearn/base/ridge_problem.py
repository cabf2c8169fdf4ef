"""Ridge regression problem: training samples, targets, weights and groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.optimize.left_out import LeftOut
from mklearn.optimize.ridge_path import RidgePath, feature_ridge_path, ridge_path

Array = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class RidgeProblem:
    """Training samples of positive weight with their targets."""

    n: int  # number of all training samples
    rows: NDArray[np.intp]  # (n_used,), positions among all training samples
    targets: Array  # (n_used, c)
    weights: Array | None  # (n_used,)
    groups: NDArray[Any] | None  # (n_used,)
    codes: NDArray[np.intp] | None = None  # (n_used,), classes, for drawing samples in proportion
    present: NDArray[np.bool_] | None = None  # (n_used, n_views), views of each sample; set if views are completed
    units: Array | None = None  # (c,), factors that undo the standardisation of the targets
    each_target: bool = False  # whether each target has its own ridge
    # Left-out errors of two ridges tie if they differ by this number of parameters' optimism (`ridge_path`).
    tied_parameters: float = 0.0

    @classmethod
    def of(
        cls, targets: Array, weights: Array | None, groups: ArrayLike | None, codes: NDArray[np.intp] | None = None
    ) -> RidgeProblem:
        n = len(targets)
        LeftOut(n, groups)  # raises an error for invalid groups
        names = None if groups is None else np.asarray(groups)
        used = ~np.isnan(targets).any(axis=1) & (True if weights is None else weights > 0)
        every = cls(n, np.arange(n), targets, weights, names, codes)
        return every if used.all() else every.of_rows(np.flatnonzero(used))

    def of_rows(self, rows: NDArray[np.intp]) -> RidgeProblem:
        def some(values: Any) -> Any:
            return None if values is None else values[rows]

        return replace(
            self,
            rows=self.rows[rows],
            targets=self.targets[rows],
            weights=some(self.weights),
            groups=some(self.groups),
            codes=some(self.codes),
            present=some(self.present),
        )

    @property
    def leaves_nothing(self) -> bool:
        """Whether leaving out one sample or group leaves no sample."""
        return len(self.rows) < 2 or (self.groups is not None and len(np.unique(self.groups)) < 2)

    def alone(self, rows: NDArray[np.intp]) -> RidgeProblem:
        """Return the problem restricted to some samples, as if there were no others."""
        return replace(self.of_rows(rows), n=len(rows), rows=np.arange(len(rows)))

    def part(self, K: NDArray[Any]) -> NDArray[Any]:
        """Return the part of a kernel (n, n) among the samples of positive weight."""
        return K if len(self.rows) == self.n else K[np.ix_(self.rows, self.rows)]

    def path(self, values: Array, ridges: Any, features: bool = False, variance: bool = False) -> RidgePath:
        """Fit ridge regressions of the targets on a kernel among the samples, or on their explicit features."""
        fit = feature_ridge_path if features else ridge_path
        return fit(
            values,
            self.targets,
            ridges,
            sample_weight=self.weights,
            groups=self.groups,
            each_target=self.each_target,
            tied_parameters=self.tied_parameters,
            variance=variance,
        )

    def drawn(self, most: int, seed: int) -> NDArray[np.intp]:
        """Draw ascending positions among the rows in proportion to the classes, at least two of a class if possible.

        If this needs more than ``most`` samples, one sample of as many classes as possible is drawn first, then others.
        """
        n = len(self.rows)
        if n <= most:
            return np.arange(n)
        codes = np.zeros(n, dtype=np.intp) if self.codes is None else self.codes
        rng, drawn = np.random.default_rng(seed), []
        counts = np.bincount(codes)
        if np.minimum(counts, 2).sum() > most:
            order = rng.permutation(n)
            firsts = np.unique(codes[order], return_index=True)[1]
            return np.sort(np.concatenate([rng.permutation(order[firsts]), np.delete(order, firsts)])[:most])
        for code, count in enumerate(counts):
            members = np.flatnonzero(codes == code)
            drawn.append(rng.permutation(members)[: min(count, max(2, round(count * most / n)))])
        return np.sort(np.concatenate(drawn))

"""Samples of pairs, projected on the principal components of those in the training pairs.

The step ``project`` computes the projections of a protocol's splits once for all methods.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.artefacts import read_arrays, write_arrays
from mklearn.contract.fit_spec import PairFeatures
from mklearn.errors import DataError

POWER_ITERATIONS = 2
"""Of the randomised decomposition. More take longer than most methods, and components that differ more then change no
accuracy."""
Floats = NDArray[np.floating]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class PairedPositions:
    """Positions of the two samples of each pair, (m,) each."""

    first: Indices
    second: Indices

    def learned(self, train: Indices) -> Indices:
        """Return the samples of the training pairs, ascending; components are theirs."""
        return np.unique([self.first[train], self.second[train]])

    def used(self, train: Indices, test: Indices) -> Indices:
        """Return the samples of the training and test pairs, ascending."""
        pairs = np.concatenate([train, test])
        return np.unique([self.first[pairs], self.second[pairs]])


@dataclass(frozen=True, eq=False)
class Projection:
    """Samples of one split on the principal components of some of them.

    Parameters
    ----------
    samples : (n,) int array
        Positions of the samples, ascending.
    learned : (k,) int array
        Positions of the samples whose mean and components they are, ascending.
    values : (n, q) float32 array
        Projected samples.
    variances : (q,) float array
        Variance of the learned samples along each component.
    """

    samples: Indices
    learned: Indices
    values: NDArray[np.float32]
    variances: Floats

    def scaled(self, whiten: bool) -> Floats:
        """Return the projected samples in double precision, with whitening of unit variance: (n, at most q)."""
        projected = self.values.astype(np.float64)
        if not whiten:
            return projected
        deviations = np.sqrt(self.variances.astype(np.float64))
        kept = deviations > 1e-6 * deviations.max(initial=0.0)  # the others are rounding errors
        whitened: Floats = projected[:, kept] / deviations[kept]
        return whitened


def single_precision(table: Floats, square_root: bool) -> NDArray[np.float32]:
    """Return features, or their square roots, in single precision.

    Raises
    ------
    DataError
        Negative features, of which a square root is to be taken.
    """
    values = np.asarray(table, dtype=np.float32)
    if not square_root:
        return values
    if values.min() < 0:
        raise DataError("square_root: a descriptor has negative features; set square_root: false")
    rooted: NDArray[np.float32] = np.sqrt(values)
    return rooted


def principal_projection(
    table: Floats, samples: Indices, learned: Indices, *, components: int, square_root: bool
) -> Projection:
    """Project samples on the principal components of some of them.

    Parameters
    ----------
    table : (n, d) array
        Features of all samples.
    samples, learned : int arrays
        Positions of the samples to project, and of those whose mean and components they are; the second are among the
        first, and both ascend.
    components : int
        Fewer are taken if there are not so many.
    square_root : bool
        Whether features are replaced by their square roots.

    Raises
    ------
    DataError
        Negative features, of which a square root is to be taken.

    Notes
    -----
    The components are those of a randomised singular value decomposition with a fixed seed, in single precision.
    """
    from sklearn.decomposition import PCA

    values = single_precision(table[samples], square_root)
    most = min(components, len(learned) - 1, values.shape[1])
    fitted = PCA(most, svd_solver="randomized", iterated_power=POWER_ITERATIONS, random_state=0)
    fitted.fit(values[np.searchsorted(samples, learned)])
    return Projection(samples, learned, fitted.transform(values), fitted.explained_variance_)


class ProjectedSamples:
    """One descriptor's samples as pairs compare them: projections that are stored or computed, or the features.

    Parameters
    ----------
    stored : sequence of Projection
        Of the splits of a protocol.
    read_features : callable, optional
        Returns the features of all samples, (n, d); called once, when a projection is not stored or no components are
        asked for.
    """

    def __init__(
        self, stored: Sequence[Projection] = (), read_features: Callable[[], NDArray[Any]] | None = None
    ) -> None:
        self._stored = {(p.samples.tobytes(), p.learned.tobytes()): p for p in stored}
        self._read_features = read_features

    @cached_property
    def _table(self) -> NDArray[np.float32]:
        if self._read_features is None:
            raise DataError("the projections are of other splits than the fit's; delete their file and run again.")
        return np.asarray(self._read_features(), dtype=np.float32)

    def of(self, samples: Indices, learned: Indices, features: PairFeatures) -> Floats:
        """Return the projection of samples on the components of the learned ones, (n, q), in double precision.

        Raises
        ------
        DataError
            Negative features, of which a square root is to be taken; or a split that is not stored, without features.
        """
        if features.components is None:
            projected: Floats = single_precision(self._table[samples], features.square_root).astype(np.float64)
        else:
            found = self._stored.get((samples.tobytes(), learned.tobytes())) or principal_projection(
                self._table, samples, learned, components=features.components, square_root=features.square_root
            )
            projected = found.scaled(features.whiten)
        if features.unit_length:
            lengths = np.linalg.norm(projected, axis=1, keepdims=True)
            projected = projected / np.where(lengths > 0, lengths, 1.0)
        return projected


def save_projections(path: str | os.PathLike[str], projections: Sequence[Projection], stamp: Mapping[str, Any]) -> None:
    """Write the projections of a protocol's splits by one descriptor: arrays such as ``3/values``, by split."""
    arrays = {
        f"{number}/{part.name}": getattr(projection, part.name)
        for number, projection in enumerate(projections)
        for part in fields(Projection)
    }
    write_arrays(path, stamp, **arrays)


def load_projections(path: str | os.PathLike[str]) -> list[Projection]:
    """Read a file written by :func:`save_projections`.

    Raises
    ------
    DamagedArtefact
        The file is damaged, or not the artefact that its name says.
    """
    held = read_arrays(path)
    numbers = sorted({int(name.split("/")[0]) for name in held if "/" in name})
    return [Projection(*(held[f"{number}/{part.name}"] for part in fields(Projection))) for number in numbers]

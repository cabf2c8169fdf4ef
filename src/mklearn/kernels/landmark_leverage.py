"""Leverage scores of training samples under several kernels at once."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.checks import Array
from mklearn.errors import DataError
from mklearn.kernels.base import Kernel
from mklearn.kernels.landmark_map import self_similarities
from mklearn.kernels.landmark_measure import LandmarkMeasure, row_blocks
from mklearn.kernels.landmarks import leverage_scores
from mklearn.kernels.normalise import unit_diagonal
from mklearn.kernels.source import Source


def mean_kernel_leverage_scores(
    read: Sequence[tuple[Source, Sequence[Kernel]]], sample: NDArray[np.intp], n_samples: int
) -> NDArray[np.float64]:
    """Compute `mklearn.kernels.landmarks.leverage_scores` under the mean of kernels, each over its mean diagonal.

    Parameters
    ----------
    read : sequence of (Source, sequence of Kernel)
        What kernels read of all training samples, and the kernels, whose parameters are fitted.
    sample : array of shape (s,)
        Positions of a uniform sample of the training samples, without repetition. The mean diagonal is that of it.
    n_samples : int

    Raises
    ------
    DataError
        A kernel is zero on the sample.
    """
    sketches = [_Sketch(kernels, source.training_values(sample)) for source, kernels in read]
    width = max(len(sample), *(sketch.width for sketch in sketches))

    def blocks() -> Iterator[tuple[Array, Array]]:
        for rows in row_blocks(n_samples, width):
            pairs = zip(sketches, read, strict=True)
            parts = [sketch.rows(source.training_values(rows)) for sketch, (source, _) in pairs]
            yield _total(values for values, _ in parts), _total(own for _, own in parts)

    # the kernels are added and not divided by their number, which changes no score
    return leverage_scores(_total(sketch.gram for sketch in sketches), blocks(), n_samples)


class _Sketch:
    """Kernels of the same features between any samples and the sampled ones, divided and added."""

    def __init__(self, kernels: Sequence[Kernel], sampled: Any) -> None:
        self._kernels = kernels
        self.width = sampled.shape[1]
        measures = {measure for kernel in kernels for _, measure in kernel.inputs}
        self._measures = {measure: LandmarkMeasure(measure, sampled, "float64") for measure in sorted(measures)}
        self._own = [self_similarities(kernel, sampled) for kernel in kernels]
        self._divisors = [
            1.0 if _is_unit(kernel) else float(own.mean()) for kernel, own in zip(kernels, self._own, strict=True)
        ]
        if not min(self._divisors) > 0:
            raise DataError("a kernel is zero on a sample of the training samples, so leverage scores are not defined")
        self.gram = self._sum({name: measure.among_landmarks() for name, measure in self._measures.items()}, self._own)

    def rows(self, features: Any) -> tuple[Array, Array]:
        """Return the sum of the kernels of samples with the sampled ones, (b, s), and with themselves, (b,)."""
        own = [self_similarities(kernel, features) for kernel in self._kernels]
        values = self._sum({name: measure(features) for name, measure in self._measures.items()}, own)
        each = zip(self._kernels, own, self._divisors, strict=True)
        return values, _total(np.ones_like(k) if _is_unit(kernel) else k / by for kernel, k, by in each)

    def _sum(self, measured: dict[str, Array], own: Sequence[Array]) -> Array:
        def part(kernel: Kernel, rows: Array, columns: Array, divisor: float) -> Array:
            values = kernel.kernel_function([measured[measure] for _, measure in kernel.inputs])
            return unit_diagonal(values, rows, columns) if _is_unit(kernel) else values / divisor

        return _total(map(part, self._kernels, own, self._own, self._divisors))


def _is_unit(kernel: Kernel) -> bool:
    return kernel.normalise == "unit_diagonal"


def _total(parts: Iterable[Array]) -> Array:
    """Return the sum of arrays; two of them are in memory at a time."""
    return functools.reduce(np.add, parts)

"""What methods are fitted on: kernels (fitted on training samples), a table of features, or images."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mklearn.kernels.specs import build_stack
from mklearn.kernels.stack import KernelStack

Indices = NDArray[np.intp]


class Prepared(Protocol):
    """The input for one pair of training and test samples; ``info`` says what was learned of each kernel."""

    info: list[dict[str, Any]]
    seconds: float

    def arrays(self, kernel: int | None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Training and test samples as estimators take them, samples first; of one kernel where one is asked for."""


class MethodInput(Protocol):
    """All samples, in the form that a method takes."""

    @property
    def n_kernels(self) -> int:
        """How many kernels; 0 for features and images."""

    @property
    def parameters(self) -> dict[str, Any]:
        """What the estimator has to be told about this form."""

    def prepare(self, train: Indices, test: Indices) -> Prepared:
        """Fit what depends on training samples, and apply it to both."""


@dataclass
class _Stacks:
    train: KernelStack
    test: KernelStack
    info: list[dict[str, Any]]
    seconds: float

    def arrays(self, kernel: int | None) -> tuple[NDArray[Any], NDArray[Any]]:
        chosen = slice(None) if kernel is None else slice(kernel, kernel + 1)
        return self.train.as_last_axis()[:, :, chosen], self.test.as_last_axis()[:, :, chosen]


@dataclass
class KernelInput:
    """Kernels, as specifications on cached pairwise matrices.

    Parameters
    ----------
    pairwise : mapping of name to (n, n) array
        Distances or Gram matrices among all samples.
    kernels : sequence of dict
        See :func:`mklearn.kernels.specs.build_stack`.
    """

    pairwise: Mapping[str, NDArray[np.float64]]
    kernels: Sequence[Mapping[str, Any]]

    @property
    def n_kernels(self) -> int:
        return len(self.kernels)

    @property
    def parameters(self) -> dict[str, Any]:
        return {"kernels": "precomputed"}

    def prepare(self, train: Indices, test: Indices) -> Prepared:
        started = time.perf_counter()
        stack, test_stack, info = build_stack(self.pairwise, [dict(kernel) for kernel in self.kernels], train, test)
        return _Stacks(stack, test_stack, info, time.perf_counter() - started)


@dataclass
class _Rows:
    train: NDArray[Any]
    test: NDArray[Any]
    info: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0

    def arrays(self, kernel: int | None) -> tuple[NDArray[Any], NDArray[Any]]:
        return self.train, self.test


@dataclass
class SampleInput:
    """Features (n, d) or images (n, rows, cols): nothing of them depends on the split."""

    samples: NDArray[Any]

    @property
    def n_kernels(self) -> int:
        return 0

    @property
    def parameters(self) -> dict[str, Any]:
        return {}

    def prepare(self, train: Indices, test: Indices) -> Prepared:
        return _Rows(self.samples[train], self.samples[test])

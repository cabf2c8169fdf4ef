"""Kernels of ridge estimators on views: precomputed, or computed from a dictionary or specs, once or in passes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.checks import Array
from mklearn.kernels.completion import lacking
from mklearn.kernels.stack import KernelStack
from mklearn.kernels.transform import StackTransform
from mklearn.kernels.views import Pairwise, SampleView, Views, select_rows

Mask = NDArray[np.bool_]
# Number of new samples that are predicted at once.
BLOCK = 4096
# Largest size in bytes of training kernels that are kept; larger ones are computed again in each pass.
MEMORY = 2**30


@dataclass(frozen=True)
class PrecomputedKernels:
    """Precomputed kernels with the methods of `StackTransform`; samples are the rows of a `KernelStack`."""

    numbers: list[int]
    ids: tuple[str, ...]

    @property
    def fitted_specs(self) -> list[dict[str, Any]]:
        return [{"id": name} for name in self.ids]

    def of_kernels(self, numbers: Iterable[int]) -> PrecomputedKernels:
        chosen = list(numbers)
        return PrecomputedKernels([self.numbers[each] for each in chosen], tuple(self.ids[each] for each in chosen))

    def fit_transform(self, stack: KernelStack) -> KernelStack:
        return stack.select(self.numbers)

    def new_kernels(self, stack: KernelStack) -> Iterator[Array]:
        return iter(stack.select(self.numbers))


class KernelSource:
    """Kernels of an estimator, with the view of each kernel and the samples that have it.

    ``completes`` says whether a missing view of a sample is completed from its other views. ``chosen`` are the
    positions of the kernels that are used; None for all.
    """

    chosen: NDArray[np.intp] | None = None

    def __init__(self, transform: StackTransform | PrecomputedKernels, completes: bool) -> None:
        self.transform, self.completes = transform, completes
        self._all: tuple[tuple[str, ...], list[str]] | None = None

    @property
    def is_centred(self) -> bool:
        """Whether the kernels are already centred, so that centring them again loses no precision."""
        return isinstance(self.transform, StackTransform)

    @property
    def views(self) -> list[str]:
        """View of each used kernel; for a product or a kernel of one table, the name of the kernel.

        If one spec stands for all views, they are known after the first pass.
        """
        specs = self.transform.fitted_specs
        return [str(spec["id"] if "factors" in spec else spec.get("view", spec["id"])) for spec in specs]

    @property
    def ids_and_views(self) -> tuple[tuple[str, ...], list[str]]:
        """Names and views of all kernels, used or not."""
        return self._all or (self.transform.ids, self.views)

    @property
    def view_numbers(self) -> NDArray[np.intp]:
        """Index of each kernel's view; 0 for all kernels if views are not completed."""
        return numbers_of(self.views) * self.completes

    def choose(self, numbers: NDArray[np.intp]) -> None:
        """Restrict the source to the kernels at the given positions."""
        self._all, self.chosen = self.ids_and_views, numbers
        self.transform = self.transform.of_kernels(numbers.tolist())

    def of_every_kernel(self, values: Array) -> Array:
        """Expand values of the used kernels, (n_used,), to all kernels, with zeros for the others."""
        if self.chosen is None:
            return values
        every = np.zeros(len(self.ids_and_views[0]))
        every[self.chosen] = values
        return every

    def among(self, samples: Any, *, once: bool = False) -> KernelPasses:
        """Return the kernels among training samples, kept if they are few and read more than `once`."""
        keep = isinstance(samples, KernelStack)
        if isinstance(self.transform, StackTransform) and not once:
            several = isinstance(samples, Views) and self.transform.for_each_view
            n_kernels = len(self.transform.specs) * (len(samples.names) if several else 1)
            keep = n_kernels * n_samples(samples) ** 2 * 8 <= MEMORY
        return KernelPasses(self.transform, samples, keep)

    def present(self, samples: Any) -> Mask | None:
        """Return a mask, (n, n_views), of the views that each sample has; None if the input is not views."""
        if not isinstance(samples, Views):
            return None
        factors = itertools.chain(*(spec.get("factors", [spec]) for spec in self.transform.fitted_specs))
        return present_views(samples, list(dict.fromkeys(spec.get("view", samples.names[0]) for spec in factors)))

    def completed_views(self, samples: Any) -> Mask | None:
        """Return the mask of `present`, or None if views are not completed."""
        return self.present(samples) if self.completes else None

    def without_views(self, samples: Any) -> Mask:
        """Return a mask, (n,), of the samples that lack every view, read or not; all False unless completed."""
        if not self.completes:
            return np.zeros(n_samples(samples), dtype=bool)
        return np.asarray(~present_views(samples, samples.names).any(axis=1))


class KernelPasses:
    """Training kernels for methods that need one or two passes over them: kept, or computed again in each pass.

    The transform is fitted after the first pass over all kernels.
    """

    def __init__(self, transform: Any, samples: Any, keep: bool) -> None:
        self._transform, self._samples = transform, samples
        self.stack: KernelStack | None = transform.fit_transform(samples) if keep else None

    def every(self) -> Iterator[Array]:
        """Yield all kernels, (n, n) each."""
        return self._transform.training_kernels(self._samples) if self.stack is None else iter(self.stack)

    def some(self, numbers: Iterable[int]) -> Iterator[Array]:
        """Yield the kernels at some positions, after a pass over all of them."""
        if self.stack is None:
            return self._transform.training_kernels_again(numbers)
        return (self.stack[number] for number in numbers)


def present_views(X: Views, names: Sequence[str]) -> Mask:
    """Return a mask, (n, n_views), of the views that each sample has."""
    present = np.ones((len(X), len(names)), dtype=bool)
    for number, view in enumerate(X[name] for name in names):
        if isinstance(view, Pairwise) or not isinstance(view, SampleView):
            present[:, number] = ~lacking(view)
    return present


def numbers_of(views: Sequence[str]) -> NDArray[np.intp]:
    """Number the distinct views in the order of first appearance; return the number of each entry."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(views))}
    return np.array([numbers[name] for name in views])


def n_samples(samples: Any) -> int:
    return samples.n_rows if isinstance(samples, KernelStack) else int(samples.shape[0])


def row_blocks(samples: Any) -> Iterator[Any]:
    """Yield samples in blocks; precomputed kernels form one block."""
    if isinstance(samples, KernelStack) or n_samples(samples) <= BLOCK:
        yield samples
        return
    for start in range(0, n_samples(samples), BLOCK):
        yield select_rows(samples, slice(start, start + BLOCK))

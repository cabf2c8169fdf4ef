"""Training kernels in passes, one kernel after the other, kept only where they fit into memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from mklearn.checks import Array
from mklearn.kernels.specs import StackTransform
from mklearn.kernels.stack import KernelStack


class KernelPasses:
    """Kernels among the training samples, for methods that need each of them once or twice.

    They are those of ``stack``, or what ``transform`` computes from the training ``samples``, at once if ``keep``, else
    one by one and again in each pass; it is fitted after the first pass over all of them.
    """

    def __init__(
        self,
        stack: KernelStack | None = None,
        *,
        transform: StackTransform | None = None,
        samples: Any = None,
        keep: bool = True,
    ) -> None:
        self._transform, self._samples = transform, samples
        if stack is None and keep and transform is not None:
            stack = transform.fit_transform(samples)
        self.stack = stack

    def every(self) -> Iterator[Array]:
        """Yield all kernels, (n, n) each."""
        if self.stack is not None:
            return iter(self.stack)
        assert self._transform is not None
        return self._transform.training_kernels(self._samples)

    def some(self, numbers: Iterable[int]) -> Iterator[Array]:
        """Yield the kernels at some positions, after a pass over all of them."""
        if self.stack is not None:
            return (self.stack[number] for number in numbers)
        assert self._transform is not None
        return self._transform.training_kernels_again(numbers)

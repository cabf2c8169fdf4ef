"""Kernels of a split from all samples: fitted to the training samples, applied to the test samples."""

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from mklearn.kernels import KernelStack, Pairwise, StackTransform, Views


def split_stacks(
    pairwise: Mapping[str, ArrayLike], specs: Sequence[Any], train: Any, test: Any,
    features: Mapping[str, Any] | None = None,
) -> tuple[KernelStack, KernelStack, list[dict[str, Any]]]:  # fmt: skip
    """Return the training kernels, the rows of the test samples, and what is known of each kernel."""
    views = Views({name: Pairwise(matrix) for name, matrix in pairwise.items()} | dict(features or {}))
    fitted = StackTransform(specs)
    stack = fitted.fit_transform(views[train])
    return stack, fitted.transform(views[test]), fitted.infos

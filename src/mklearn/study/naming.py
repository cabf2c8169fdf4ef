"""Names of the kernels that an entry of a study's `kernels` stands for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class NamedKernel(NamedTuple):
    """One of the kernels that an entry of a study's `kernels` stands for."""

    name: str
    descriptor: str = ""
    bandwidth: float | None = None
    feature_scaling: str = "none"


def kernel_names(kernel_id: str, kernel: Mapping[str, Any], descriptors: list[str]) -> Iterator[NamedKernel]:
    """Return every kernel that an entry stands for.

    A list of descriptors (or ``each``) appends the descriptor's name, a list of feature scalings the scaling, a list of
    bandwidths the multiple: ``gauss-hog-standard-0.5``. An entry for one of each keeps its own name; so does a product,
    which has none of them.
    """
    if kernel.get("kind") == "product":
        yield NamedKernel(kernel_id)
        return
    chosen = kernel.get("descriptor", "each")
    several = chosen == "each" or isinstance(chosen, list)
    names = descriptors if chosen == "each" else _list(chosen)
    scalings, multiples = _list(kernel.get("feature_scaling", "none")), _list(kernel.get("bandwidth"))
    for name, scaling, multiple in itertools.product(names, scalings, multiples):
        words = [kernel_id, *([name] if several else []), *([scaling] if len(scalings) > 1 else [])]
        words += [f"{multiple:g}"] if len(multiples) > 1 else []
        yield NamedKernel("-".join(words), name, multiple, scaling)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]

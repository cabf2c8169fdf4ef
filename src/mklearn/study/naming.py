"""Names of the kernels that an entry of a study's `kernels` stands for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def kernel_names(
    kernel_id: str, kernel: Mapping[str, Any], descriptors: list[str]
) -> Iterator[tuple[str, str, float | None]]:
    """Return (name, descriptor, bandwidth) of every kernel that an entry stands for.

    A list of descriptors (or ``each``) appends the descriptor's name, a list of bandwidths the multiple:
    ``gauss-hog-0.5``. An entry for one descriptor and one bandwidth keeps its own name; so does a product, which has
    no descriptor.
    """
    if kernel.get("kind") == "product":
        yield kernel_id, "", None
        return
    chosen = kernel.get("descriptor", "each")
    several = chosen == "each" or isinstance(chosen, list)
    names = descriptors if chosen == "each" else chosen if isinstance(chosen, list) else [chosen]
    bandwidth = kernel.get("bandwidth")
    multiples = bandwidth if isinstance(bandwidth, list) else [bandwidth]
    for name in names:
        for multiple in multiples:
            full = f"{kernel_id}-{name}" if several else kernel_id
            yield (f"{full}-{multiple:g}" if len(multiples) > 1 else full), name, multiple

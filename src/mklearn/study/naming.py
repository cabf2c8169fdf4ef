"""Names of the kernels and descriptors that an entry of a study stands for."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from mklearn.contract.model import as_list


class NamedKernel(NamedTuple):
    """One of the kernels that an entry of a study's `kernels` stands for."""

    name: str
    descriptor: str = ""
    bandwidth: float | None = None
    feature_scaling: str = "none"


def kernel_names(kernel_id: str, kernel: Mapping[str, Any], descriptors: list[str]) -> Iterator[NamedKernel]:
    """Return every kernel that an entry stands for.

    A list of descriptors (or ``each``, or a name with ``*``) appends the descriptor's name, a list of feature scalings
    the scaling, a list of bandwidths the multiple: ``gauss-hog-standard-0.5``. An entry for one of each keeps its own
    name; so does a product, which has none of them.
    """
    if kernel.get("kind") == "product":
        yield NamedKernel(kernel_id)
        return
    chosen = kernel.get("descriptor", "each")
    several = chosen == "each" or isinstance(chosen, list) or "*" in chosen
    names = descriptors if chosen == "each" else matching(chosen, descriptors)
    scalings, multiples = as_list(kernel.get("feature_scaling", "none")), as_list(kernel.get("bandwidth"))
    for name, scaling, multiple in itertools.product(names, scalings, multiples):
        words = [kernel_id, *([name] if several else []), *([scaling] if len(scalings) > 1 else [])]
        words += [f"{multiple:g}"] if len(multiples) > 1 else []
        yield NamedKernel("-".join(words), name, multiple, scaling)


def matching(chosen: Any, available: Iterable[str]) -> list[str]:
    """Return the names that a name, or a list of names, stands for; ``*`` in a name stands for any characters."""
    known, found = list(available), []
    for name in as_list(chosen):
        several = isinstance(name, str) and "*" in name
        found += [other for other in known if fnmatchcase(other, name) and other not in found] if several else [name]
    return found


def expanded_descriptors(descriptors: Any) -> Any:
    """Replace ``patch: each`` of a study's descriptors by an entry for each patch of the grid, ``NAME-ROW-COLUMN``."""
    if not isinstance(descriptors, Mapping):
        return descriptors
    found = {}
    for name, spec in descriptors.items():
        if not isinstance(spec, Mapping) or spec.get("kind") != "patches" or spec.get("patch") != "each":
            found[name] = spec
            continue
        try:
            rows, columns = map(range, spec.get("grid"))  # type: ignore[arg-type]
        except (TypeError, ValueError):  # the model says what is valid
            found[name] = spec
            continue
        shared = {field: value for field, value in spec.items() if field != "grid"}
        places = list(itertools.product(rows, columns))
        found |= {f"{name}-{row}-{column}": {**shared, "patch": [row, column]} for row, column in places}
    return found

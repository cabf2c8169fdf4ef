"""Names in a study, expanded to the descriptors, kernels and methods of a data set."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from mklearn.descriptors.table import TABLE
from mklearn.study.data.text_tables import read_gene_sets
from mklearn.study.datasets import DatasetConfig, Precomputed
from mklearn.study.entries import Descriptor, Kernel
from mklearn.study.method import Method
from mklearn.study.specs.model import as_list


class NamedKernel(NamedTuple):
    """One of the kernels defined by an entry of a study's `kernels`."""

    name: str
    descriptor: str
    """Name of the descriptor, or of the user's matrix."""
    bandwidth: float | None = None
    feature_scaling: str = "none"


def descriptors_of(
    config: DatasetConfig, named: Mapping[str, Descriptor] | None, side: int | None = None
) -> dict[str, Descriptor]:
    """Return the descriptors of a data set, from the study or by default.

    ``side`` is the length of the images' shorter side in pixels, if known.
    """
    if named is not None:
        images = config.family == "images"
        return {n: m for n, m in named.items() if (m.table in config.table_names if m.kind == TABLE else images)}
    in_colour = getattr(config, "colour", "grey") == "rgb"
    of_images = image_descriptors(side, in_colour=in_colour) if config.family == "images" else {}
    of_tables = {name: Descriptor.model_validate({"kind": TABLE, "table": name}) for name in config.table_names}
    return of_images | of_tables


def image_descriptors(side: int | None = None, *, in_colour: bool = False) -> dict[str, Descriptor]:
    """Return the default image descriptors by name, with cells and blocks scaled to the images' shorter side.

    Colour images also get a colour histogram; the other descriptors convert them to grey.
    """
    side = side or 64
    resolutions = [r for r in (2, 4, 8, 16) if r <= side // 2][-3:] or [1]
    entries: dict[str, dict[str, Any]] = {
        "pixels": {"kind": "pixels"},
        "blocks": {"kind": "multiresolution", "resolutions": resolutions},
        "hog": {"kind": "hog", "cell": max(1, min(8, side // 4))},
        "phog": {"kind": "phog"},
        "lbp": {"kind": "lbp"},
        **({"colour": {"kind": "colour_histogram"}} if in_colour else {}),
    }
    return {name: Descriptor.model_validate(entry) for name, entry in entries.items()}


def sources_of(
    config: DatasetConfig, named: Mapping[str, Descriptor] | None
) -> Mapping[str, Descriptor] | Mapping[str, None]:
    """Return a data set's descriptors by name, or else its matrices (None), from which kernels are computed."""
    return dict.fromkeys(config.matrices) if isinstance(config, Precomputed) else descriptors_of(config, named)


def kernels_of(
    config: DatasetConfig, named: Mapping[str, Kernel] | None, sources: Mapping[str, Descriptor] | Mapping[str, None]
) -> list[tuple[str, Kernel, NamedKernel]]:
    """Return (key, entry, kernel) for each kernel that applies to a data set, without products.

    The entries are the study's, even if the data set lacks their descriptors, or else the default ones.
    """
    suited = {key: kernel for key, kernel in (named or {}).items() if _suits(kernel, config)}
    if not suited and (named is None or isinstance(config, Precomputed)):
        suited = {name: _default_kernel(name, config, descriptor) for name, descriptor in sources.items()}
    return [
        (key, kernel, one)
        for key, kernel in suited.items()
        if not kernel.is_product
        for one in kernel_names(key, kernel, list(sources))
    ]


def _suits(kernel: Kernel, config: DatasetConfig) -> bool:
    """Return whether a kernel can be computed from a data set's features, distances or kernels."""
    if isinstance(config, Precomputed):
        return kernel.kind == ("precomputed" if config.measure == "kernel" else "gaussian")
    return kernel.row.of == "descriptor"


def _default_kernel(name: str, config: DatasetConfig, descriptor: Descriptor | None) -> Kernel:
    """Return the default kernel of a descriptor or matrix.

    Features of tables have arbitrary units, so their scaling is chosen on the training samples (``reports/scaling``).
    """
    if isinstance(config, Precomputed) and config.measure == "kernel":
        return Kernel.model_validate({"kind": "precomputed", "descriptor": name})
    scaling = "auto" if descriptor is not None and descriptor.kind == TABLE else "none"
    return Kernel.model_validate({"kind": "gaussian", "descriptor": name, "feature_scaling": scaling})


def kernel_names(kernel_id: str, kernel: Kernel, sources: list[str]) -> Iterator[NamedKernel]:
    """Yield every kernel that an entry defines.

    A list of descriptors (or ``each``, or a name with ``*``) appends the descriptor to the kernel's name, a list of
    feature scalings the scaling, and a list of bandwidths the multiple: ``gauss-hog-standard-0.5``. An entry with one
    value of each keeps its name.
    """
    chosen = kernel.descriptor
    several = chosen == "each" or isinstance(chosen, list) or "*" in str(chosen)
    names = sources if chosen == "each" else matching(chosen, sources)
    scalings, multiples = as_list(kernel.feature_scaling), as_list(kernel.parameters().get("bandwidth"))
    for name, scaling, multiple in itertools.product(names, scalings, multiples):
        words = [kernel_id, *([name] if several else []), *([scaling] if len(scalings) > 1 else [])]
        if len(multiples) > 1:
            words.append(f"{multiple:g}" if isinstance(multiple, (int, float)) else str(multiple))
        yield NamedKernel("-".join(words), name, multiple, scaling)


def variants(name: str, method: Method, kernels: Iterable[str]) -> list[str]:
    """Return the names of a method in tables, one for each run; ``kernels`` of a data set are without products."""
    return [f"{name}-{kernel}" for kernel in kernels] if method.kernels == "each" else [name]


def matching(chosen: Any, available: Iterable[str]) -> list[str]:
    """Return the names matched by a name or list of names, in which ``*`` matches any characters."""
    names, matches = list(available), list[str]()
    for name in as_list(chosen):
        several = isinstance(name, str) and "*" in name
        matching_names = [other for other in names if several and fnmatchcase(other, name) and other not in matches]
        matches += matching_names if several else [name]
    return matches


def expanded_descriptors(descriptors: Any) -> Any:
    """Replace ``patch: each`` and ``sets: FILE`` of a study's descriptors by an entry for each patch or gene set.

    Their names are ``NAME-ROW-COLUMN`` and ``NAME-SET``. The model reports mistakes in the entries.
    """
    if not isinstance(descriptors, Mapping):
        return descriptors
    entries: dict[Any, Any] = {}
    for name, spec in descriptors.items():
        parts: dict[str, Any] = {}
        with suppress(TypeError, ValueError):
            if isinstance(spec, Mapping) and spec.get("kind") == "patches" and spec.get("patch") == "each":
                places = list(itertools.product(*map(range, spec.get("grid", ()))))
                parts = {f"{name}-{row}-{column}": {**spec, "patch": [row, column]} for row, column in places}
            elif isinstance(spec, Mapping) and spec.get("kind") == TABLE and spec.get("sets") and "columns" not in spec:
                kept = {key: value for key, value in spec.items() if key != "sets"}
                sets = read_gene_sets(str(spec["sets"]))
                parts = {f"{name}-{title}": {**kept, "columns": genes} for title, genes in sets.items()}
        entries |= parts or {name: spec}
    return entries

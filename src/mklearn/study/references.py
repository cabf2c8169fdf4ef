"""Names in a study file that refer to nothing.

They are checked in the raw mapping, so that they are reported together with all other mistakes. Values of a wrong type,
which the models report, are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mklearn.contract.final_spec import BEST
from mklearn.contract.model import as_list
from mklearn.datasets.registry import Entry, registry, selection_mistakes
from mklearn.study.datasets import normalise_datasets
from mklearn.study.default_descriptors import image_descriptors
from mklearn.study.mistakes import Mistake, nearest, one_of
from mklearn.study.model import DEFAULT_METHODS, DEFAULT_PROTOCOLS
from mklearn.study.naming import expanded_descriptors, kernel_names, matching


def broken_references(raw: Mapping[str, Any]) -> list[Mistake]:
    """Return a mistake for each name that refers to nothing."""
    names = _Names.of(raw)
    return [
        *_dataset_mistakes(names),
        *_kernel_mistakes(names),
        *_method_mistakes(names),
        *_mistakes_of_tables(raw, names),
    ]


@dataclass(frozen=True)
class _Names:
    """The sections of a study, and what their entries can be called."""

    datasets: Mapping[str, Any]
    descriptors: Mapping[str, Any]
    kernels: Mapping[str, Any]
    methods: Mapping[str, Any]
    descriptor_names: set[str]
    """Own matrices are among them: kernels name them in the same way."""
    kernel_names: set[str]
    gaussian_names: set[str]
    method_names: set[str]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> _Names:
        """Collect the names of a raw study."""
        datasets = _mapping(normalise_datasets(raw.get("datasets")))
        descriptors, kernels = _mapping(expanded_descriptors(raw.get("descriptors"))), _mapping(raw.get("kernels"))
        methods = _mapping(raw.get("methods")) or DEFAULT_METHODS
        matrices = {name for spec in datasets.values() for name in _mapping(_mapping(spec).get("matrices"))}
        descriptor_names = (set(descriptors) or _default_descriptors(datasets)) | matrices
        by_kind: dict[Any, set[str]] = {}
        for key, spec in kernels.items():
            by_kind.setdefault(str(_mapping(spec).get("kind")), set()).update(_expanded(key, spec, descriptor_names))
        every = set().union(*by_kind.values()) | (matrices if kernels else descriptor_names)
        variants = {"each": "{}-{}", "all_but_each": "{}-without-{}"}
        named = {key: variants.get(str(_mapping(spec).get("kernels"))) for key, spec in methods.items()}
        single = every - by_kind.get("product", set())
        return cls(
            datasets, descriptors, kernels, methods, descriptor_names,
            kernel_names=every,
            gaussian_names=by_kind.get("gaussian", set()) | matrices,
            method_names={
                name
                for key, pattern in named.items()
                for name in ([key] if pattern is None else [pattern.format(key, kernel) for kernel in single])
            },
        )  # fmt: skip


def _refer(path: str, name: Any, valid: set[str], what: str) -> Iterator[Mistake]:
    if isinstance(name, str) and not valid.intersection(matching(name, valid)):
        yield Mistake(path, f"there is no {what} {name!r}.{nearest(name, valid)} Expected: {one_of(valid)}.")


def _dataset_mistakes(names: _Names) -> Iterator[Mistake]:
    known = registry()
    for key, spec in names.datasets.items():
        if not isinstance(spec, Mapping) or spec.get("kind") != "registered":
            continue
        name = spec.get("name") or key
        path = f"datasets.{key}.name" if spec.get("name") else f"datasets.{key}"
        yield from _refer(path, name, set(known), "registered data set")
        if isinstance(name, str) and name in known:
            for field, text in selection_mistakes(known[name], spec):
                yield Mistake(f"datasets.{key}.{field}", text)
    for key, spec in names.datasets.items():
        yield from _refer(f"datasets.{key}.splits_of", _mapping(spec).get("splits_of"), set(names.datasets), "data set")
    tables = {table for key, spec in names.datasets.items() for table in _tables(key, spec)}
    for key, spec in names.descriptors.items():
        if _mapping(spec).get("kind") == "table":
            yield from _refer(f"descriptors.{key}.table", spec.get("table"), tables, "table in any data set")
    families = {_family(key, spec) for key, spec in names.datasets.items()}
    if names.datasets and not names.descriptor_names and families - {"matrices"}:
        yield Mistake("descriptors", "is empty, and the data sets bring no kernels of their own.")


def _kernel_mistakes(names: _Names) -> Iterator[Mistake]:
    for key, spec in names.kernels.items():
        for name in as_list(_mapping(spec).get("descriptor", "each")):
            if name != "each":
                yield from _refer(f"kernels.{key}.descriptor", name, names.descriptor_names, "descriptor")
        if _mapping(spec).get("kind") != "product":
            continue
        factors = _mapping(spec).get("of", "all")
        if factors == "all" and not names.gaussian_names:
            yield Mistake(f"kernels.{key}", "is a product of all Gaussian kernels, but there are none.")
        elif isinstance(factors, list):
            for name in factors:
                yield from _refer(f"kernels.{key}.of", name, names.gaussian_names, "Gaussian kernel")


def _method_mistakes(names: _Names) -> Iterator[Mistake]:
    for key, spec in names.methods.items():
        chosen = _mapping(spec).get("kernels")
        for name in chosen if isinstance(chosen, list) else []:
            yield from _refer(f"methods.{key}.kernels", name, names.kernel_names, "kernel")
        for name in _mapping(_mapping(spec).get("kernel_weights")):
            yield from _refer(f"methods.{key}.kernel_weights", name, names.kernel_names, "kernel")


def _mistakes_of_tables(raw: Mapping[str, Any], names: _Names) -> Iterator[Mistake]:
    """Find names in protocols, and in everything that refers to methods of the table."""
    datasets, protocols = set(names.datasets), _mapping(raw.get("protocols"))
    for section in ("descriptors", "kernels", "methods", "protocols"):
        for key, spec in _mapping(raw.get(section)).items():
            named = _mapping(spec).get("datasets")
            for name in named if isinstance(named, list) else []:
                yield from _refer(f"{section}.{key}.datasets", name, datasets, "data set")
    for key, spec in names.methods.items():
        named = _mapping(spec).get("protocols")
        for name in named if isinstance(named, list) else []:
            yield from _refer(f"methods.{key}.protocols", name, set(protocols) or set(DEFAULT_PROTOCOLS), "protocol")
    for section, field in (("evaluation", "reference"), ("calibration", "method")):
        named = _mapping(raw.get(section)).get(field)
        yield from _refer(f"{section}.{field}", named, names.method_names, "method")
    final = _mapping(raw.get("final"))
    yield from _refer("final.method", final.get("method"), names.method_names | {BEST}, "method")
    yield from _refer("final.dataset", final.get("dataset"), datasets, "data set")
    yield from _refer("final.protocol", final.get("protocol"), set(protocols) or set(DEFAULT_PROTOCOLS), "protocol")
    for section in ("published", "remarks"):
        entries = raw.get(section)
        for number, entry in enumerate(entries if isinstance(entries, list) else []):
            path, entry = f"{section}[{number}]", _mapping(entry)
            yield from _refer(f"{path}.dataset", entry.get("dataset"), datasets, "data set")
            yield from _refer(f"{path}.protocol", entry.get("protocol"), set(protocols), "protocol")
            for name in as_list(entry.get("method")):
                yield from _refer(f"{path}.method", name, names.method_names, "method")


def _family(key: str, spec: Any) -> str:
    known = _registered(key, spec)
    kind = str(_mapping(spec).get("kind"))
    return known.family if known else {"feature_tables": "tables", "precomputed": "matrices"}.get(kind, "images")


def _registered(key: str, spec: Any) -> Entry | None:
    """Return the registry's entry of a data set, if it names one."""
    name = _mapping(spec).get("name") or key
    found = _mapping(spec).get("kind") == "registered" and isinstance(name, str)
    return registry().get(name) if found else None


def _tables(key: str, spec: Any) -> set[str]:
    known = _registered(key, spec)
    return set(known.tables if known else _mapping(_mapping(spec).get("tables")))


def _default_descriptors(datasets: Mapping[str, Any]) -> set[str]:
    names: set[str] = set()
    for key, spec in datasets.items():
        names |= _tables(key, spec) | set(_mapping(_mapping(spec).get("matrices")))
        names |= set(image_descriptors()) if _family(key, spec) == "images" else set()
    return names


def _expanded(key: str, spec: Any, descriptors: set[str]) -> set[str]:
    try:
        return {kernel.name for kernel in kernel_names(key, _mapping(spec), sorted(descriptors))}
    except (TypeError, ValueError):  # a descriptor or bandwidth of a wrong type
        return {key}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}

"""Check of the names in a study file, and of choices that its data sets, kernels and methods do not offer."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from mklearn.descriptors.table import TABLE
from mklearn.errors import nearest
from mklearn.study.data.registry import registry, selection_mistakes
from mklearn.study.datasets import DatasetConfig, ImageFolder, RegisteredDataset, normalise_datasets
from mklearn.study.entries import Kernel
from mklearn.study.mistakes import Mistake, one_of
from mklearn.study.naming import expanded_descriptors, image_descriptors, kernels_of, matching, sources_of, variants
from mklearn.study.specs.final_spec import BEST
from mklearn.study.specs.model import Slug, as_list
from mklearn.study.study import Study


class _Part(Study):
    """A study without its invalid entries."""

    study: Slug = "study"
    datasets: dict[Slug, DatasetConfig] = {}


def normalised(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a study with a mapping for each data set and patch, to match the locations of mistakes."""
    return {
        **raw,
        "datasets": normalise_datasets(raw.get("datasets")),
        "descriptors": expanded_descriptors(raw.get("descriptors")),
    }


def valid_part(raw: Mapping[str, Any], error: ValidationError) -> tuple[Study | None, set[str]]:
    """Return the study without the entries that have mistakes, or None, and the sections that lack entries."""
    part, lacking = {str(key): value for key, value in raw.items()}, set[str]()
    for section, *steps in {item["loc"] for item in error.errors(include_url=False, include_context=False)}:
        lacking.add(str(section))
        entries = part.pop(str(section), None)
        if steps and isinstance(entries, dict):
            part[str(section)] = {key: entry for key, entry in entries.items() if str(key) != str(steps[0])}
    try:
        return _Part.model_validate({key: value for key, value in part.items() if value != {}}), lacking
    except ValidationError:
        return None, lacking


def table_names(study: Study) -> dict[str, str]:
    """Return the keys of a study's methods by their names in tables."""
    kernels = [name for config in study.datasets.values() for name in _kernels(study, config)]
    return {name: key for key, method in study.methods.items() for name in variants(key, method, kernels)}


def broken_references(study: Study, lacking: Collection[str] = ()) -> Iterator[Mistake]:
    """Yield a mistake for each undefined name; a name may be defined for any of the data sets.

    Names that a section of ``lacking`` may define are not reported.
    """
    configs = study.datasets.values()
    sources = {name for config in configs for name in sources_of(config, study.descriptors)}
    kernels = {name: kernel for config in configs for name, kernel in _kernels(study, config).items()}
    valid: dict[str, set[str]] = {  # by kinds of names, as worded in messages, without those not fully known
        "registered data set": set(registry()),
        "data set": set(study.datasets),
        "table in any data set": {name for config in configs for name in config.table_names},
        "descriptor": {*(study.descriptors or ()), *sources},
        "kernel": {*kernels, *(name for name, kernel in (study.kernels or {}).items() if kernel.is_product)},
        "Gaussian kernel": {name for name, kernel in kernels.items() if kernel.kind == "gaussian"},
        "method": set(table_names(study)),
        "protocol": set(study.protocols),
    }
    for section in lacking:
        for what in _DEFINED_IN.get(section, ()):
            valid.pop(what, None)
    for path, names, what, *more in _references(study):
        words = [*valid.get(what, ()), *more]
        for name in as_list(names) if what in valid else ():
            if not (name is None or name in words or ("*" in name and matching(name, words))):
                yield Mistake(path, f"there is no {what} {name!r}.{nearest(name, words)} Expected: {one_of(words)}.")
    yield from _impossible(study, valid)


def _kernels(study: Study, config: DatasetConfig) -> dict[str, Kernel]:
    planned = kernels_of(config, study.kernels or None, sources_of(config, study.descriptors))
    return {one.name: kernel for _, kernel, one in planned}


_OF_KERNELS = ("kernel", "Gaussian kernel", "method")
_DEFINED_IN = {
    "datasets": ("data set", "table in any data set", "descriptor", *_OF_KERNELS),
    "descriptors": ("descriptor", *_OF_KERNELS),
    "kernels": _OF_KERNELS,
    "methods": ("method",),
    "protocols": ("protocol",),
}
"""Kinds of names that depend on a section of the study."""
REFERRING = {"dataset": "data set", "protocol": "protocol", "protocols": "protocol", "method": "method"}
"""Fields of published values, remarks and comparisons that refer to a name, and the kind of the name."""


def _references(study: Study) -> Iterator[tuple[Any, ...]]:
    """Yield the path, names and kind of each reference in a study, followed by additional valid names."""
    for key, config in study.datasets.items():
        path = f"datasets.{key}"
        if isinstance(config, RegisteredDataset):
            yield path if config.name == key else f"{path}.name", config.name, "registered data set"
        yield f"{path}.splits_of", config.splits_of, "data set"
    for path, entry in study.entries():
        yield f"{path}.datasets", entry.datasets, "data set"
    for key, descriptor in (study.descriptors or {}).items():
        if descriptor.kind == TABLE:
            yield f"descriptors.{key}.table", descriptor.table, "table in any data set"
    for key, kernel in (study.kernels or {}).items():
        if kernel.is_product and kernel.of != "all":
            yield f"kernels.{key}.of", kernel.of, "Gaussian kernel"
        elif not kernel.is_product and kernel.descriptor != "each":
            yield f"kernels.{key}.descriptor", kernel.descriptor, "descriptor"
    for key, method in study.methods.items():
        if isinstance(method.kernels, list):
            yield f"methods.{key}.kernels", method.kernels, "kernel"
        yield f"methods.{key}.protocols", method.protocols, "protocol"
    yield "evaluation.reference", study.evaluation.reference, "method"
    if study.calibration is not None:
        yield "calibration.method", study.calibration.method, "method"
    if study.final is not None:
        yield "final.method", study.final.method, "method", BEST
        yield "final.dataset", study.final.dataset, "data set"
        yield "final.protocol", study.final.protocol, "protocol"
    for section in ("published", "remarks", "comparisons"):
        for number, entry in enumerate(getattr(study, section)):
            for field, what in REFERRING.items():
                yield f"{section}[{number}].{field}", getattr(entry, field, None), what
            compared = [method for pair in getattr(entry, "pairs", ()) for method in pair]
            yield f"{section}[{number}].pairs", compared, "method"


def _impossible(study: Study, valid: Mapping[str, Collection[str]]) -> Iterator[Mistake]:
    """Yield mistakes for incompatible options, and for selections that a data set does not offer."""
    for path, entry in study.entries():
        yield from (Mistake(f"{path}.{name}", text) for name, text in entry.option_mistakes())
    for key, config in study.datasets.items():
        if isinstance(config, RegisteredDataset) and config.entry is not None:
            mistakes = selection_mistakes(config.entry, config.model_dump())
            yield from (Mistake(f"datasets.{key}.{field}", text) for field, text in mistakes)
        if isinstance(config, ImageFolder) and study.descriptors is None:
            for name in sorted({*config.tables} & {*image_descriptors(in_colour=config.colour == "rgb")}):
                text = "has the name of a default image descriptor; rename it, or name all `descriptors`."
                yield Mistake(f"datasets.{key}.tables.{name}", text)
        source = study.datasets.get(config.splits_of or key, config).splits_of
        if config.splits_of != key and source not in (None, config.splits_of):
            text = f"{config.splits_of!r} has the splits of {source!r}; name that one."
            yield Mistake(f"datasets.{key}.splits_of", text)
    recommended = any(method.is_recommended for method in study.methods.values())
    if study.null is not None and "method" in valid and not recommended:
        yield Mistake("null", "there is no multi-view method on all kernels to control; add {kind: multi_view}.")
    for key, kernel in (study.kernels or {}).items():
        if kernel.of == "all" and valid.get("Gaussian kernel") == set():
            yield Mistake(f"kernels.{key}", "is a product of all Gaussian kernels, but there are none.")

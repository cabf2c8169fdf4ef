"""Check of the names in a study file, and of choices that its data sets, kernels and methods do not offer.

Names are looked up in the valid part of the study, so that all mistakes are reported together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mklearn.descriptors.table import TABLE
from mklearn.errors import nearest
from mklearn.study.data.registry import registry, selection_mistakes
from mklearn.study.datasets import DatasetConfig, ImageFolder, RegisteredDataset, normalise_datasets
from mklearn.study.entries import Kernel
from mklearn.study.mistakes import Mistake, Path, one_of, valid_part
from mklearn.study.naming import expanded_descriptors, image_descriptors, kernels_of, matching, sources_of, variants
from mklearn.study.specs.final_spec import BEST
from mklearn.study.specs.model import Slug, as_list
from mklearn.study.specs.table_specs import Comparison, Published, Remark
from mklearn.study.study import Study


class StudyPart(Study):
    """The valid part of a study, with lists as mappings from position to entry."""

    study: Slug = "study"
    datasets: dict[Slug, DatasetConfig] = {}
    published: dict[int, Published] = {}  # type: ignore[assignment]
    remarks: dict[int, Remark] = {}  # type: ignore[assignment]
    comparisons: dict[int, Comparison] = {}  # type: ignore[assignment]


def normalised(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a study with a mapping for each data set and patch, to match the locations of mistakes."""
    return {
        **raw,
        "datasets": normalise_datasets(raw.get("datasets")),
        "descriptors": expanded_descriptors(raw.get("descriptors")),
    }


def study_part(raw: Mapping[str, Any]) -> tuple[StudyPart, set[Path]]:
    """Return the valid part of a study, and the paths of the invalid values."""
    entries = normalised(raw)
    for section in ("published", "remarks", "comparisons"):
        if isinstance(raw.get(section), list):
            entries[section] = dict(enumerate(raw[section]))
    return valid_part(StudyPart, entries)


def table_names(study: Study) -> dict[str, str]:
    """Return the keys of a study's methods by their names in tables."""
    kernels = [name for config in study.datasets.values() for name in _kernels(study, config)]
    return {name: key for key, method in study.methods.items() for name in variants(key, method, kernels)}


def broken_references(study: Study, left_out: Iterable[Path] = ()) -> list[Mistake]:
    """Return a mistake for each undefined name; ``left_out`` is the second result of `study_part`."""
    names = _Names(study, list(left_out))
    broken = [mistake for reference in _references(study) for mistake in names.missing(*reference)]
    return broken + list(_impossible(study, names.valid.get("Gaussian kernel") == set()))


def _kernels(study: Study, config: DatasetConfig) -> dict[str, Kernel]:
    planned = kernels_of(config, study.kernels or None, sources_of(config, study.descriptors))
    return {one.name: kernel for _, kernel, one in planned}


class _Names:
    """Names that are defined in a study, or in the valid part of a study, over all data sets.

    A name that an omitted part may define is not reported.
    """

    def __init__(self, study: Study, left_out: list[Path]) -> None:
        configs = study.datasets.values()
        sources = {name for config in configs for name in sources_of(config, study.descriptors)}
        kernels = {name: kernel for config in configs for name, kernel in _kernels(study, config).items()}
        products = {name for name, kernel in (study.kernels or {}).items() if kernel.is_product}
        self.valid: dict[str, set[str]] = {
            "registered data set": set(registry()),
            "data set": set(study.datasets),
            "table in any data set": {name for config in configs for name in config.table_names},
            "descriptor": {*(study.descriptors or ()), *sources},
            "kernel": {*kernels, *products},
            "Gaussian kernel": {name for name, kernel in kernels.items() if kernel.kind == "gaussian"},
            "method": set(table_names(study)),
            "protocol": set(study.protocols),
        }
        """Defined names by their kind, as worded in messages; kinds that are not fully known are absent."""
        sections = {path[0] for path in left_out if len(path) == 1}
        if any(path[0] == "datasets" and (len(path) < 3 or path[2] in ("tables", "matrices")) for path in left_out):
            sections |= {"tables", "kernels"}
        self._doubtful = {path[1] for path in left_out if len(path) > 1}
        """Keys of invalid entries; names that contain such a key may be valid."""
        if sections & {"descriptors", "kernels"}:
            sections |= {"descriptors", "kernels"}
            self._doubtful |= {key for key, method in study.methods.items() if not variants(key, method, ())}
        for section in sections:
            for what in _DEFINED_IN.get(section, ()):
                del self.valid[what]

    def missing(self, path: str, names: Any, what: str, *more: str) -> Iterator[Mistake]:
        """Yield a mistake for each undefined name; ``more`` are additional valid names."""
        if (named := self.valid.get(what)) is None:
            return
        for name in as_list(names):
            if name is None or name in named or name in more or ("*" in name and matching(name, named)):
                continue
            if not any(f"-{key}-" in f"-{name}-" or "*" in name for key in self._doubtful):
                valid = [*named, *more]
                yield Mistake(path, f"there is no {what} {name!r}.{nearest(name, valid)} Expected: {one_of(valid)}.")


_DEFINED_IN = {
    "datasets": ["data set"],
    "tables": ["table in any data set"],
    "descriptors": ["descriptor"],
    "kernels": ["kernel", "Gaussian kernel"],
    "methods": ["method"],
    "protocols": ["protocol"],
}


SECTIONS = ("descriptors", "kernels", "methods", "protocols")
REFERRING = {"dataset": "data set", "protocol": "protocol", "protocols": "protocol", "method": "method"}
"""Fields of published values, remarks and comparisons that refer to a name, and the kind of the name."""


def _references(study: Study) -> Iterator[tuple[Any, ...]]:
    """Yield the path, names and kind of each reference in a study, followed by additional valid names."""
    for key, config in study.datasets.items():
        path = f"datasets.{key}"
        if isinstance(config, RegisteredDataset):
            yield path if config.name == key else f"{path}.name", config.name, "registered data set"
        yield f"{path}.splits_of", config.splits_of, "data set"
    for path, entry in _entries(study):
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
        for field in ("kernels", "kernel_weights"):
            if isinstance(chosen := getattr(method, field), list | dict):
                yield f"methods.{key}.{field}", list(chosen), "kernel"
        yield f"methods.{key}.protocols", method.protocols, "protocol"
    yield "evaluation.reference", study.evaluation.reference, "method"
    if study.calibration is not None:
        yield "calibration.method", study.calibration.method, "method"
    if study.final is not None:
        yield "final.method", study.final.method, "method", BEST
        yield "final.dataset", study.final.dataset, "data set"
        yield "final.protocol", study.final.protocol, "protocol"
    for section in ("published", "remarks", "comparisons"):
        entries = getattr(study, section)
        for number, entry in entries.items() if isinstance(entries, dict) else enumerate(entries):
            for field, what in REFERRING.items():
                yield f"{section}[{number}].{field}", getattr(entry, field, None), what
            compared = [method for pair in getattr(entry, "pairs", ()) for method in pair]
            yield f"{section}[{number}].pairs", compared, "method"


def _entries(study: Study) -> Iterator[tuple[str, Any]]:
    for section in SECTIONS:
        for key, entry in (getattr(study, section) or {}).items():
            yield f"{section}.{key}", entry


def _impossible(study: Study, no_gaussian: bool) -> Iterator[Mistake]:
    """Yield mistakes for incompatible options, and for selections that a data set does not offer."""
    for path, entry in _entries(study):
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
    if study.null is not None and not any(method.is_recommended for method in study.methods.values()):
        yield Mistake("null", "there is no multi-view method on all kernels to control; add {kind: multi_view}.")
    for key, kernel in (study.kernels or {}).items():
        if kernel.of == "all" and no_gaussian:
            yield Mistake(f"kernels.{key}", "is a product of all Gaussian kernels, but there are none.")

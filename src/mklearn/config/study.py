"""The study: one file that makes one table. Loading it reports every mistake at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, ValidationError, field_validator

from mklearn.config.datasets import DatasetConfig, normalise_datasets
from mklearn.config.descriptors import DescriptorConfig, image_descriptors
from mklearn.config.kernels import KernelConfig
from mklearn.config.methods import MethodConfig
from mklearn.config.mistakes import Mistake, mistakes_of, nearest, one_of, show
from mklearn.config.naming import kernel_names
from mklearn.config.protocols import ProtocolConfig
from mklearn.config.published import Calibration, Published, PublishedCell, Remark
from mklearn.contract.model import Slug, Strict
from mklearn.datasets.registry import registry, selection_mistakes
from mklearn.errors import ConfigError

METHODS: dict[str, Any] = {
    "kfd": {"kind": "kernel_fda", "label": "KFD", "kernels": "each"},
    "average": {"kind": "kernel_fda", "label": "Uniform average + KFD"},
    "best-single": {"kind": "kernel_fda", "label": "Best single kernel (inner CV)", "kernel_weights": "best_single"},
    "mkl-lda": {"kind": "mkl_dr", "label": "MKL-LDA", "graph": "lda"},
}
"""What is run when a study names no methods."""

PROTOCOLS: dict[str, Any] = {"5-fold": {"kind": "k_fold", "folds": 5}}
"""How samples are split when a study does not say."""


class Evaluation(Strict):
    """How embeddings are judged: 1-nearest-neighbour over all leading dimensions."""

    neighbours: Annotated[list[Literal["cosine", "euclidean"]], Field(min_length=1)] = ["cosine", "euclidean"]
    """Rules of the 1-nearest-neighbour classifier; cosine is about the training mean."""
    inner_folds: Annotated[int, Field(ge=2)] | Literal["leave_one_out"] = 3
    """Folds of the inner cross-validation that chooses dimension and parameters."""
    metrics: Annotated[list[str], Field(min_length=1)] = ["accuracy"]
    """Metrics that are reported; ``accuracy`` is the one that published values are compared with."""
    choose_by: str = "accuracy"
    """Metric that chooses parameters and the number of components in the inner cross-validation."""
    time_limit: Annotated[float, Field(gt=0)] | None = None
    """Minutes that one fit may take: a method on all splits of one training size. Splits after that have no value."""
    reference: Slug | None = None
    """Method that all are compared with, in pairs; by default the first uniform average of all kernels."""


class Report(Strict):
    """What the page shows beside the results."""

    thumbnails: Annotated[int, Field(ge=0, le=60)] = 20
    """Sample images per data set."""


class Study(Strict):
    """One study: data sets, descriptors, kernels, methods, protocols - one table."""

    study: Slug
    """Name; results go to results/<name>/."""
    title: str = ""
    description: str = ""
    seed: Annotated[int, Field(ge=0)] = 0
    """All chance follows from it: splits, inner folds."""
    results: str = "results"
    """Folder for everything made; studies in one folder share descriptors, kernels and fits."""
    mirror: str | None = None
    """Folder or URL tried first for data; the environment variable MKLEARN_MIRROR goes before it."""
    datasets: Annotated[dict[Slug, DatasetConfig], Field(min_length=1)]
    descriptors: dict[Slug, DescriptorConfig] | None = None
    kernels: dict[Slug, KernelConfig] | None = None
    methods: Annotated[dict[Slug, MethodConfig], Field(min_length=1)] = Field(default=METHODS, validate_default=True)
    protocols: Annotated[dict[Slug, ProtocolConfig], Field(min_length=1)] = Field(
        default=PROTOCOLS, validate_default=True
    )
    evaluation: Evaluation = Evaluation()
    published: list[Published] = []
    """What papers report, to be compared cell by cell."""
    published_repeats: Annotated[int, Field(ge=1)] | None = None
    """How many random splits the published means are over, where an entry does not say; by default as many as ours."""
    calibration: Calibration | None = None
    """The method whose published values have to be met on a data set before others are compared there."""
    remarks: list[Remark] = []
    """Plain sentences about methods, shown beside the published values."""
    report: Report = Report()

    _datasets = field_validator("datasets", mode="before")(normalise_datasets)

    def published_cells(self) -> list[PublishedCell]:
        """The published values, one for each cell, with the study's default for the number of splits."""
        return [cell for entry in self.published for cell in entry.cells(self.published_repeats)]


def read_study(path: str | Path) -> Study:
    """Read and check a study file.

    Raises
    ------
    ConfigError
        If the file is missing, is not YAML, or has mistakes: all of them are listed.
    """
    return check_study(read_yaml(path), source=str(path))


def read_yaml(path: str | Path) -> Any:
    """The file's content as plain objects, or a sentence that says where its YAML breaks."""
    try:
        return yaml.load(Path(path).read_text(encoding="utf-8"), Loader=_UniqueKeys)
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such file.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: can't be read: {error}.") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: is not valid YAML: {' '.join(str(error).split())}") from None


class _UniqueKeys(yaml.SafeLoader):
    """YAML keeps the last of two equal keys in silence; a study does not."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            name = key_node.value
            if key_node.tag != "tag:yaml.org,2002:merge" and name in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {name!r} stands twice in one place", key_node.start_mark
                )
            seen.add(name)
        return super().construct_mapping(node, deep=deep)


def check_study(raw: Any, source: str = "config") -> Study:
    """A study from plain objects; every mistake at once.

    Raises
    ------
    ConfigError
        One line per mistake: dotted path, what was found, what is legal, the nearest legal key.
    """
    if not isinstance(raw, Mapping):
        raise ConfigError(f"{source}: a study is a mapping of keys to values; found {show(raw)}.")
    raw = dict(raw)
    mistakes: list[Mistake] = []
    study: Study | None = None
    try:
        study = Study.model_validate(raw)
    except ValidationError as error:
        mistakes += mistakes_of(error, Study)
    mistakes += cross_references(raw)
    mistakes += _published_twice(study) if study is not None else []
    if mistakes or study is None:
        lines = [f"  {number}. {mistake}" for number, mistake in enumerate(sorted(set(mistakes)), start=1)]
        count = "1 mistake" if len(lines) == 1 else f"{len(lines)} mistakes"
        raise ConfigError(f"{source} has {count}:\n" + "\n".join(lines))
    return study


def cross_references(raw: Mapping[str, Any]) -> list[Mistake]:
    """Names that point at nothing. Works on the raw mapping, so that it finds them beside all other mistakes."""
    mistakes: list[Mistake] = []
    datasets = _mapping(normalise_datasets(raw.get("datasets")))
    families = {key: _family(spec) for key, spec in datasets.items()}
    descriptors = _mapping(raw.get("descriptors"))
    matrices = {name for spec in datasets.values() for name in _mapping(_mapping(spec).get("matrices"))}
    descriptor_names = (set(descriptors) or _default_descriptors(datasets)) | matrices
    kernels, methods = _mapping(raw.get("kernels")), _mapping(raw.get("methods")) or METHODS
    expanded = {name for key, spec in kernels.items() for name in _kernel_names(key, spec, descriptor_names)}
    expanded |= matrices if kernels else descriptor_names

    def refer(path: str, name: Any, legal: set[str], what: str) -> None:
        if isinstance(name, str) and name not in legal:
            mistakes.append(
                Mistake(path, f"there is no {what} {name!r}.{nearest(name, legal)} Legal: {one_of(legal)}.")
            )

    registered = set(registry())
    for key, spec in datasets.items():
        if isinstance(spec, Mapping) and spec.get("kind") == "registered":
            path = f"datasets.{key}.name" if spec.get("name") else f"datasets.{key}"
            name = spec.get("name") or key
            refer(path, name, registered, "registered data set")
            if isinstance(name, str) and name in registered:
                found = selection_mistakes(registry()[name], spec)
                mistakes += [Mistake(f"datasets.{key}.{field}", text) for field, text in found]
    for key, spec in kernels.items():
        value = _mapping(spec).get("descriptor", "each")
        for name in value if isinstance(value, list) else [value]:
            if name != "each":
                refer(f"kernels.{key}.descriptor", name, descriptor_names, "descriptor")
    gaussians = _of_kind("gaussian", kernels, descriptor_names) | matrices
    for key, spec in kernels.items():
        if _mapping(spec).get("kind") != "product":
            continue
        for name in _list(_mapping(spec).get("of")):
            refer(f"kernels.{key}.of", name, gaussians, "Gaussian kernel")
        if _mapping(spec).get("of", "all") == "all" and not gaussians:
            mistakes.append(Mistake(f"kernels.{key}", "is a product of all Gaussian kernels, and there are none."))
    for key, spec in descriptors.items():
        if _mapping(spec).get("kind") == "table":
            tables = {t for d in datasets.values() for t in _mapping(_mapping(d).get("tables"))}
            refer(f"descriptors.{key}.table", _mapping(spec).get("table"), tables, "table in any data set")
    for key, spec in methods.items():
        value = _mapping(spec).get("kernels", "all")
        for name in value if isinstance(value, list) else []:
            refer(f"methods.{key}.kernels", name, expanded, "kernel")
        for name in _mapping(_mapping(spec).get("kernel_weights")):
            refer(f"methods.{key}.kernel_weights", name, expanded, "kernel")
    for key, spec in _mapping(raw.get("protocols")).items():
        named = _mapping(spec).get("datasets")
        for name in named if isinstance(named, list) else []:
            refer(f"protocols.{key}.datasets", name, set(datasets), "data set")
    reference = _mapping(raw.get("evaluation")).get("reference")
    named_methods = _method_names(methods, expanded - _of_kind("product", kernels, descriptor_names))
    refer("evaluation.reference", reference, named_methods, "method")
    refer("calibration.method", _mapping(raw.get("calibration")).get("method"), named_methods, "method")
    protocols = set(_mapping(raw.get("protocols")))
    for number, entry in enumerate(_list(raw.get("published"))):
        refer(f"published[{number}].dataset", _mapping(entry).get("dataset"), set(datasets), "data set")
        refer(f"published[{number}].protocol", _mapping(entry).get("protocol"), protocols, "protocol")
    for key in ("published", "remarks"):
        for number, entry in enumerate(_list(raw.get(key))):
            value = _mapping(entry).get("method")
            for name in value if isinstance(value, list) else [value]:
                refer(f"{key}[{number}].method", name, named_methods, "method")
    if datasets and not descriptor_names and set(families.values()) - {"matrices"}:
        mistakes.append(Mistake("descriptors", "is empty, and the data sets bring no kernels of their own."))
    return mistakes


def _published_twice(study: Study) -> list[Mistake]:
    """A cell is compared with one value: the second is a mistake, not a value that is dropped in silence."""
    mistakes: list[Mistake] = []
    first: dict[tuple[Any, ...], int] = {}
    for number, entry in enumerate(study.published):
        for cell in entry.cells():
            key = (cell.dataset, cell.train_size, cell.method, cell.protocol, cell.neighbour)
            if key in first:
                size = "" if cell.train_size is None else f", training size {cell.train_size}"
                place = f"{cell.dataset}{size}, {cell.method}"
                mistakes.append(
                    Mistake(f"published[{number}]", f"{place} has a value already, in published[{first[key]}].")
                )
            first.setdefault(key, number)
    return mistakes


def _family(spec: Any) -> str:
    kind = _mapping(spec).get("kind")
    return {"feature_tables": "tables", "precomputed": "matrices"}.get(str(kind), "images")


def _default_descriptors(datasets: Mapping[str, Any]) -> set[str]:
    names: set[str] = set()
    for spec in datasets.values():
        family = _family(spec)
        key = {"tables": "tables", "matrices": "matrices"}.get(family)
        names |= set(_mapping(_mapping(spec).get(key))) if key else set(image_descriptors())
    return names


def _kernel_names(key: str, spec: Any, descriptors: set[str]) -> set[str]:
    try:
        return {name for name, _, _ in kernel_names(key, _mapping(spec), sorted(descriptors))}
    except (TypeError, ValueError):  # a descriptor or bandwidth of the wrong type: reported by its own model
        return {key}


def _of_kind(kind: str, kernels: Mapping[str, Any], descriptors: set[str]) -> set[str]:
    """Names of the kernels of one kind."""
    chosen = {key: spec for key, spec in kernels.items() if _mapping(spec).get("kind") == kind}
    return {name for key, spec in chosen.items() for name in _kernel_names(key, spec, descriptors)}


def _method_names(methods: Mapping[str, Any], kernels: set[str]) -> set[str]:
    each = {key for key, spec in methods.items() if _mapping(spec).get("kernels") == "each"}
    return (set(methods) - each) | {f"{key}-{kernel}" for key in each for kernel in kernels}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}

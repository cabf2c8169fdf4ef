"""The plan of a study: every file that it makes, with the full specification behind each.

A study file has short forms - lists of bandwidths, ``each`` kernel, defaults. The plan spells them out as plain
dictionaries of builtin types, derives each file's key from them, and hands them to the workflow. Two studies that
share a specification share the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from mklearn.config.base import Registered
from mklearn.config.datasets import FeatureTables, ImageFolder, Precomputed, RegisteredDataset
from mklearn.config.descriptors import DescriptorConfig, Table, image_descriptors
from mklearn.config.feature_methods import Classifier, FeatureMethod
from mklearn.config.image_methods import ImageMethod
from mklearn.config.kernel_methods import KernelMethod
from mklearn.config.kernels import Gaussian, KernelConfig
from mklearn.config.kernels import Given as GivenKernel
from mklearn.config.methods import MethodConfig
from mklearn.config.naming import kernel_names
from mklearn.config.protocols import Given as GivenSplits
from mklearn.config.protocols import ProtocolConfig, RandomPerClass
from mklearn.config.study import Study
from mklearn.errors import ConfigError
from mklearn.provenance import digest, key
from mklearn.registry import registered

Spec = dict[str, Any]
SampleMethod = FeatureMethod | Classifier | ImageMethod
OWN = {"images": "images", "tables": "features", "matrices": "kernels"}


@dataclass(frozen=True)
class PlannedDataset:
    """A data set: how it is read, resized, and which files it comes from."""

    id: str
    key: str
    original: str
    family: str
    read: Spec
    resize: Spec | None
    downloads: dict[str, Spec]
    files: list[str]
    title: str
    about: dict[str, str] = field(default_factory=dict)
    """Licence, citation, homepage and note of a registered one: for the report, and in no key."""

    @property
    def sources(self) -> dict[str, str]:
        """Upstream's address of each downloaded file."""
        return {path: next(iter(spec["file"]["urls"]), "") for path, spec in self.downloads.items()}


@dataclass(frozen=True)
class PlannedFit:
    """One job of the study: a method on all repeats of one protocol of one data set."""

    dataset: PlannedDataset
    protocol: str
    protocol_id: str
    train_size: int | None
    method: str
    method_id: str
    label: str
    kernel_set: str | None
    """Of a method on kernels."""
    descriptor: str | None
    """Of a method on features; methods on images have neither."""
    spec: Spec


@dataclass
class Plan:
    """Everything that a study makes, by key. Built by :func:`plan_study`."""

    study: Study
    datasets: dict[str, PlannedDataset] = field(default_factory=dict)
    descriptors: dict[tuple[str, str], Spec] = field(default_factory=dict)
    pairwise: dict[tuple[str, str, str], Spec] = field(default_factory=dict)
    kernel_sets: dict[tuple[str, str], Spec] = field(default_factory=dict)
    protocols: dict[str, Spec] = field(default_factory=dict)
    fits: dict[tuple[str, str, str], PlannedFit] = field(default_factory=dict)

    @property
    def cache(self) -> Path:
        return Path(self.study.results) / "cache"

    @property
    def output(self) -> Path:
        return Path(self.study.results) / self.study.study

    @property
    def reference(self) -> str:
        """The method that all others are compared with."""
        named = self.study.evaluation.reference
        if named:
            return named
        for name, method in self.study.methods.items():
            uniform = getattr(method, "kernel_weights", None) == "uniform"
            if uniform and getattr(method, "kernels", None) == "all":
                return name
        return ""

    def titles(self) -> dict[str, dict[str, str]]:
        """Names as people read them, by id: for the report, and in no key."""
        return {
            "datasets": {dataset.id: dataset.title for dataset in self.datasets.values()},
            "methods": {fit.method_id: fit.label for fit in self.fits.values()},
        }

    def catalogue(self) -> dict[str, list[dict[str, str]]]:
        """What the study uses, with papers: for the report."""

        used = {
            "descriptors": {name.rsplit("-", 1)[0]: spec["kind"] for (_, name), spec in self.descriptors.items()},
            "kernels": {k["id"]: k["kind"] for spec in self.kernel_sets.values() for k in spec["kernels"]},
            "methods": {name: method.kind for name, method in self.study.methods.items()},
        }
        return {what: [_entry(registered(what)[kind], name) for name, kind in found.items()]
                for what, found in used.items()}  # fmt: skip


def _entry(model: type[Registered], name: str) -> dict[str, str]:
    return {"id": name, "title": model.title, "reference": model.reference}


def plan_study(study: Study) -> Plan:
    """Spell a study out.

    Raises
    ------
    ConfigError
        If a data set has none of the kernels that a method asks for, two kernels or methods would have one name, or a
        path does not exist.
    """
    plan = Plan(study)
    protocols = list(_protocols(study))
    plan.protocols = {protocol.key: protocol.spec for protocol in protocols}
    for dataset_id, config in study.datasets.items():
        dataset = _dataset(study, dataset_id, config)
        plan.datasets[dataset.key] = dataset
        kernels = _kernels(plan, dataset, config)
        _no_twins(f"datasets.{dataset_id}: kernels", [kernel["id"] for kernel in kernels])
        chosen = [protocol for protocol in protocols if protocol.datasets is None or dataset_id in protocol.datasets]
        fit_ids: list[str] = []
        for method_id, method in study.methods.items():
            for fit_id, source in _sources(plan, dataset, config, method_id, method, kernels):
                fit_ids.append(fit_id)
                _add_fits(plan, dataset, chosen, method, fit_id, source)
        _no_twins(f"datasets.{dataset_id}: methods", fit_ids)
    return plan


def _no_twins(what: str, names: list[str]) -> None:
    twins = sorted({name for name in names if names.count(name) > 1})
    if twins:
        raise ConfigError(f"{what}: several of them would be called {', '.join(twins)}; rename one, or name it once.")


# --- data sets


def _dataset(study: Study, dataset_id: str, config: Any) -> PlannedDataset:
    from mklearn.datasets.registry import MIRROR_VARIABLE, dataset_spec, entry

    raw = config.model_dump()
    registered = isinstance(config, RegisteredDataset)
    if registered:
        raw["name"] = config.name or dataset_id
    read = dataset_spec(raw)
    resize: Spec | None = read.pop("resize", None)
    if resize:
        resize = {name: value for name, value in resize.items() if value is not None}
        read["expected"] = {k: v for k, v in read.get("expected", {}).items() if k != "image_shape"}
    read["dataset"] = dataset_id
    downloads: dict[str, Spec] = {}
    about: dict[str, str] = {}
    if registered:
        known = entry(raw["name"])
        folder = Path(study.results) / "downloads" / known.id
        source = known.source(os.environ.get(MIRROR_VARIABLE) or study.mirror)  # the order of the download
        downloads = {
            str(folder / file.name): {
                "file": _builtin(asdict(file)),
                "reader": known.reader,
                "options": read["options"],
            }
            for file in source.files
        }
        files, title, family = list(downloads), known.title, "images"
        about = {name: getattr(known, name) for name in ("licence", "citation", "homepage", "note")}
    else:
        files, family = _own_files(dataset_id, config)
        title = f"{dataset_id} (your own {OWN[family]})"
    original = key(dataset_id, read)
    dataset_key = key(dataset_id, [read, resize]) if resize else original
    if isinstance(config, ImageFolder):
        read["listing"] = _listing(dataset_id, config.path)  # not in the key: a changed folder makes the same file anew
    return PlannedDataset(
        id=dataset_id, key=dataset_key, original=original, family=family, read=read,
        resize=resize, downloads=downloads, files=files, title=title,
        about=about,
    )  # fmt: skip


def _builtin(fields: Spec) -> Spec:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}


def _own_files(dataset_id: str, config: ImageFolder | FeatureTables | Precomputed) -> tuple[list[str], str]:
    """The user's files that a data set is read from, and what they hold; for a folder of images see `_listing`."""
    if isinstance(config, ImageFolder):
        return [], "images"
    named = config.tables if isinstance(config, FeatureTables) else config.matrices
    files = [*named.values(), *([config.labels] if config.labels else [])]
    missing = [path for path in files if not Path(path).is_file()]
    if missing:
        raise ConfigError(f"datasets.{dataset_id}: no such file: {', '.join(missing)}.")
    special = [path for path in files if set("<>{}") & set(path)]
    if special:
        raise ConfigError(
            f"datasets.{dataset_id}: {', '.join(special)}: '<', '>', '{{' and '}}' have a meaning to Snakemake in the "
            "name of a file; rename it."
        )
    return files, "tables" if isinstance(config, FeatureTables) else "matrices"


def _listing(dataset_id: str, path: str) -> str:
    """Digest of the names, sizes and times of a folder's images.

    It stands for the images in the job's specification. As inputs, ten thousand of them would slow every plan down,
    and Snakemake reads some characters that people use in folder names.
    """
    from mklearn.datasets.readers.image_folder import find_images

    if not Path(path).is_dir():
        raise ConfigError(f"datasets.{dataset_id}.path: there is no folder {path!r}.")
    found = [(file, file.stat()) for file in find_images(path)]
    return digest([[file.relative_to(path).as_posix(), stat.st_size, stat.st_mtime_ns] for file, stat in found])


# --- descriptors, distances, kernels


def _descriptors(plan: Plan, dataset: PlannedDataset, config: Any) -> dict[str, DescriptorConfig]:
    """The descriptors of the study that apply to this data set; the usual ones where it names none."""
    from pydantic import TypeAdapter

    adapter: TypeAdapter[Any] = TypeAdapter(DescriptorConfig)
    if plan.study.descriptors is not None:
        found = {name: d for name, d in plan.study.descriptors.items() if d.family == dataset.family}
        if dataset.family == "tables":
            found = {name: d for name, d in found.items() if isinstance(d, Table) and d.table in config.tables}
        return found
    if dataset.family == "matrices":  # of what is between samples, nothing is known of each
        return {}
    if dataset.family == "tables":
        return {name: Table(kind="table", table=name) for name in config.tables}
    return {name: adapter.validate_python(spec) for name, spec in image_descriptors(_side(dataset)).items()}


def _side(dataset: PlannedDataset) -> int | None:
    """The images' shorter side, where the plan knows it."""
    shape = (dataset.resize or {}).get("shape") or dataset.read.get("expected", {}).get("image_shape")
    return min(shape[:2]) if shape else None


def _kernels(plan: Plan, dataset: PlannedDataset, config: Any) -> list[Spec]:
    """Kernel specifications for one data set; registers the descriptors and pairwise matrices that they need."""
    if dataset.family == "matrices":
        return _given_kernels(plan, dataset, config)
    descriptors = _descriptors(plan, dataset, config)
    configs: Mapping[str, KernelConfig] = plan.study.kernels or {
        name: Gaussian(kind="gaussian", descriptor=name) for name in descriptors
    }
    kernels = []
    for kernel_id, kernel in configs.items():
        for name, descriptor_id, bandwidth in kernel_names(kernel_id, kernel.model_dump(), list(descriptors)):
            if descriptor_id not in descriptors or isinstance(kernel, GivenKernel):
                continue
            descriptor = descriptors[descriptor_id]
            descriptor_key = key(descriptor_id, _implementation(descriptor))
            plan.descriptors[dataset.key, descriptor_key] = _implementation(descriptor)
            measure = _measure(kernel, descriptor)
            plan.pairwise[dataset.key, descriptor_key, measure] = {"measure": measure}
            parameters = kernel.parameters() | ({"bandwidth": bandwidth} if bandwidth is not None else {})
            parameters["measure"] = measure
            kernels.append({"id": name, "pairwise": f"{descriptor_key}/{measure}", "kind": kernel.kind, **parameters})
    return kernels


def _given_kernels(plan: Plan, dataset: PlannedDataset, config: Precomputed) -> list[Spec]:
    """The study's kernels of the kind that fits the user's matrices, a matrix in place of a descriptor; or one each."""
    measure = config.measure
    default: Any = GivenKernel(kind="precomputed") if measure == "kernel" else Gaussian(kind="gaussian")
    entries = {name: kernel for name, kernel in (plan.study.kernels or {}).items() if kernel.kind == default.kind}
    named = [
        (name, matrix, bandwidth, kernel)
        for kernel_id, kernel in entries.items()
        for name, matrix, bandwidth in kernel_names(kernel_id, kernel.model_dump(), list(config.matrices))
    ] or [(matrix, matrix, None, default) for matrix in config.matrices]
    kernels = []
    for name, matrix, bandwidth, kernel in named:
        if matrix not in config.matrices:
            continue
        matrix_key = key(matrix, {"matrix": matrix})
        plan.pairwise[dataset.key, matrix_key, measure] = {"matrix": matrix, "measure": measure}
        parameters = kernel.parameters() | ({"bandwidth": bandwidth} if bandwidth is not None else {})
        parameters["measure"] = measure
        kernels.append({"id": name, "pairwise": f"{matrix_key}/{measure}", "kind": kernel.kind, **parameters})
    return kernels


def _measure(kernel: KernelConfig, descriptor: DescriptorConfig) -> str:
    if isinstance(kernel, Gaussian):
        return kernel.measure or descriptor.measure
    return "inner_product"


def _implementation(config: Registered) -> Spec:
    return {"kind": getattr(config, "kind"), "implementation": config.implementation, "parameters": config.parameters()}  # noqa: B009


# --- protocols and methods


class _Protocol(NamedTuple):
    """One way of splitting, for all data sets or some."""

    id: str
    key: str
    train_size: int | None
    spec: Spec
    datasets: list[str] | None


def _protocols(study: Study) -> Iterator[_Protocol]:
    for protocol_id, protocol in study.protocols.items():
        for spec, train_size in _protocol_specs(protocol_id, protocol):
            spec["seed"] = study.seed
            name = protocol_id if train_size is None else f"{protocol_id}-p{train_size}"
            yield _Protocol(name, key(name, spec), train_size, spec, protocol.datasets)


def _protocol_specs(protocol_id: str, protocol: ProtocolConfig) -> Iterator[tuple[Spec, int | None]]:
    spec = _implementation(protocol)
    if isinstance(protocol, GivenSplits) and not Path(protocol.path).is_file():
        raise ConfigError(f"protocols.{protocol_id}.path: there is no file {protocol.path!r}.")
    if isinstance(protocol, RandomPerClass):
        sizes = protocol.train_size if isinstance(protocol.train_size, list) else [protocol.train_size]
        for size in dict.fromkeys(sizes):
            yield spec | {"parameters": spec["parameters"] | {"train_size": size}}, size
    else:
        yield spec, None


def _sources(
    plan: Plan, dataset: PlannedDataset, config: Any, method_id: str, method: MethodConfig, kernels: list[Spec]
) -> Iterator[tuple[str, _Source]]:
    """(id, source) of each fit that a method stands for."""
    if not isinstance(method, KernelMethod):
        yield method_id, _sample_source(plan, dataset, config, method_id, method)
        return
    if not kernels:
        raise ConfigError(
            f"datasets.{dataset.id}: none of the study's kernels applies to it ({dataset.family}). "
            "Name a descriptor that does, or leave out descriptors and kernels to have the usual ones."
        )
    for fit_id, label, chosen, weights in _selections(method_id, method, kernels, dataset):
        yield fit_id, _kernel_source(plan, dataset, chosen, weights, label)


def _selections(
    method_id: str, method: KernelMethod, kernels: list[Spec], dataset: PlannedDataset
) -> Iterator[tuple[str, str, list[Spec], Any]]:
    """(id, label, kernels, weights) of each fit that a method stands for: one, or one per kernel for ``each``."""
    label = method.label or method_id
    weights = getattr(method, "kernel_weights", None)
    names = {kernel["id"] for kernel in kernels}
    if method.kernels == "each":
        for kernel in kernels:
            yield f"{method_id}-{kernel['id']}", f"{label}: {kernel['id']}", [kernel], "uniform"
        return
    if method.kernels == "all":
        chosen = kernels
    else:
        chosen = [kernel for kernel in kernels if kernel["id"] in method.kernels]
        missing = [name for name in method.kernels if name not in names]
        if missing:
            raise ConfigError(
                f"methods.{method_id}.kernels: data set {dataset.id!r} has no kernel {', '.join(missing)}; "
                f"it has {', '.join(sorted(names))}."
            )
    if isinstance(weights, dict):
        missing = [name for name in weights if name not in {kernel["id"] for kernel in chosen}]
        if missing:
            raise ConfigError(f"methods.{method_id}.kernel_weights: no kernel {', '.join(missing)} among its kernels.")
        weights = [float(weights.get(kernel["id"], 0.0)) for kernel in chosen]
        if not sum(weights):
            raise ConfigError(f"methods.{method_id}.kernel_weights: are all zero.")
    yield method_id, label, chosen, weights


@dataclass(frozen=True)
class _Source:
    """What one fit is made from: a kernel set, a descriptor, or (neither) the images."""

    takes: Spec
    kernels: list[Spec] = field(default_factory=list)
    kernel_set: str | None = None
    descriptor: str | None = None
    weights: Any = None
    label: str | None = None


def _kernel_source(plan: Plan, dataset: PlannedDataset, kernels: list[Spec], weights: Any, label: str) -> _Source:
    kernel_set = key(f"{len(kernels)}-kernels" if len(kernels) > 1 else kernels[0]["id"], kernels)
    pairwise = sorted({kernel["pairwise"] for kernel in kernels})
    plan.kernel_sets[dataset.key, kernel_set] = {"kernels": kernels, "pairwise": pairwise}
    return _Source({"input": "kernels"}, kernels, kernel_set, weights=weights, label=label)


def _sample_source(plan: Plan, dataset: PlannedDataset, config: Any, method_id: str, method: SampleMethod) -> _Source:
    """Features of a descriptor, or the images; says so where the data set has them not."""
    if isinstance(method, ImageMethod):
        if dataset.family != "images":
            raise ConfigError(
                f"methods.{method_id}: {method.title} takes images, and data set {dataset.id!r} has none "
                f"({dataset.family}). Leave one of the two out."
            )
        return _Source({"input": "images"})
    descriptors = _descriptors(plan, dataset, config)
    name = method.descriptor
    if name not in descriptors:
        legal = ", ".join(sorted(descriptors)) or "none"
        raise ConfigError(
            f"methods.{method_id}.descriptor: data set {dataset.id!r} has no descriptor {name!r}; it has {legal}."
        )
    spec = _implementation(descriptors[name])
    descriptor = key(name, spec)
    plan.descriptors[dataset.key, descriptor] = spec
    return _Source({"input": "features", "descriptor": descriptor}, descriptor=descriptor)


def _add_fits(
    plan: Plan, dataset: PlannedDataset, protocols: list[_Protocol], method: MethodConfig, fit_id: str, source: _Source
) -> None:
    parameters = method.parameters()
    if source.weights is not None:
        parameters["kernel_weights"] = source.weights
    evaluation = plan.study.evaluation
    base: Spec = {
        "method": {"id": fit_id, "implementation": method.implementation, "parameters": parameters,
                   "sweep": method.sweep(), **source.takes},
        "kernels": source.kernels,
        "evaluation": {"neighbours": list(evaluation.neighbours), "inner_folds": evaluation.inner_folds},
        "seed": plan.study.seed,
    }  # fmt: skip
    method_key = key(fit_id, base)
    label = source.label or method.label or fit_id
    for protocol in protocols:
        spec = base | {"dataset": dataset.id, "protocol": protocol.id, "train_size": protocol.train_size}
        plan.fits[dataset.key, protocol.key, method_key] = PlannedFit(
            dataset, protocol.key, protocol.id, protocol.train_size, method_key, fit_id, label, source.kernel_set,
            source.descriptor, spec,
        )  # fmt: skip

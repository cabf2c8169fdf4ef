"""What a fit is made from: a kernel set, the features of a descriptor, or the images."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mklearn.config.feature_methods import Classifier, FeatureMethod
from mklearn.config.image_methods import ImageMethod
from mklearn.config.kernel_methods import KernelMethod
from mklearn.config.method_base import Method
from mklearn.descriptors.models import Descriptor
from mklearn.errors import ConfigError
from mklearn.provenance import key
from mklearn.study.expansion.datasets import PlannedDataset
from mklearn.study.expansion.kernels import pairwise_of

Spec = dict[str, Any]
SampleMethod = FeatureMethod | Classifier | ImageMethod


@dataclass(frozen=True)
class Source:
    """What one fit is made from: a kernel set, a descriptor, or (neither) the images."""

    takes: Spec
    kernels: list[Spec] = field(default_factory=list)
    kernel_set: str | None = None
    kernel_set_spec: Spec | None = None
    descriptors: tuple[str, ...] = ()
    weights: Any = None
    label: str | None = None


def sources_of(
    dataset: PlannedDataset,
    method_id: str,
    method: Method,
    kernels: list[Spec],
    descriptors: Mapping[str, tuple[str, Descriptor]],
) -> Iterator[tuple[str, Source]]:
    """(id, source) of each fit that a method stands for."""
    if not isinstance(method, KernelMethod):
        yield method_id, _sample_source(dataset, method_id, method, descriptors)  # type: ignore[arg-type]
        return
    if not kernels:
        raise ConfigError(
            f"datasets.{dataset.id}: none of the study's kernels applies to it ({dataset.family}). "
            "Name a descriptor that does, or leave out descriptors and kernels to have the usual ones."
        )
    for fit_id, label, chosen, weights in _selections(method_id, method, kernels, dataset):
        yield fit_id, _kernel_source(chosen, weights, label)


def _selections(
    method_id: str, method: KernelMethod, kernels: list[Spec], dataset: PlannedDataset
) -> Iterator[tuple[str, str, list[Spec], Any]]:
    """(id, label, kernels, weights) of each fit that a method stands for: one, or one per kernel for ``each``."""
    label = method.label or method_id
    weights = getattr(method, "kernel_weights", None)
    names = {kernel["id"] for kernel in kernels}
    usual = [kernel for kernel in kernels if kernel["kind"] != "product"]
    if method.kernels == "each":
        for kernel in usual:
            yield f"{method_id}-{kernel['id']}", f"{label}: {kernel['id']}", [kernel], "uniform"
        return
    if method.kernels == "all":
        chosen = usual
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
            raise ConfigError(f"methods.{method_id}.kernel_weights: all are zero; give at least one a positive weight.")
    yield method_id, label, chosen, weights


def _kernel_source(kernels: list[Spec], weights: Any, label: str) -> Source:
    kernel_set = key(f"{len(kernels)}-kernels" if len(kernels) > 1 else kernels[0]["id"], kernels)
    pairwise = sorted({name for kernel in kernels for name in pairwise_of(kernel)})
    spec = {"kernels": kernels, "pairwise": pairwise}
    return Source({"input": "kernels"}, kernels, kernel_set, spec, weights=weights, label=label)


def _sample_source(
    dataset: PlannedDataset, method_id: str, method: SampleMethod, descriptors: Mapping[str, tuple[str, Descriptor]]
) -> Source:
    """Features of a descriptor, or the images; says so where the data set has them not."""
    if isinstance(method, ImageMethod):
        if dataset.family != "images":
            raise ConfigError(
                f"methods.{method_id}: {method.title} takes images, and data set {dataset.id!r} has none "
                f"({dataset.family}). Leave one of the two out."
            )
        return Source({"input": "images"})
    name = method.descriptor
    if name not in descriptors:
        legal = ", ".join(sorted(descriptors)) or "none"
        raise ConfigError(
            f"methods.{method_id}.descriptor: data set {dataset.id!r} has no descriptor {name!r}; it has {legal}."
        )
    descriptor, model = descriptors[name]
    if model.point_sets:
        raise ConfigError(
            f"methods.{method_id}.descriptor: {name!r} is a set of points for each image, and {method.title} takes one "
            "vector; name another descriptor, or use a method on kernels."
        )
    return Source({"input": "features", "descriptor": descriptor}, descriptors=(descriptor,))

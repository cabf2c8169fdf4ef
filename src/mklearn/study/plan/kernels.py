"""Planning of descriptors, kernels, the pairwise matrices behind kernels, and landmarks in place of matrices."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mklearn.descriptors.table import TABLE
from mklearn.errors import ConfigError
from mklearn.extras import require
from mklearn.kernels.table import KERNELS
from mklearn.study.datasets import Precomputed
from mklearn.study.entries import Descriptor, Kernel
from mklearn.study.method import Method
from mklearn.study.naming import NamedKernel, descriptors_of, kernels_of, sources_of
from mklearn.study.plan.datasets import PlannedDataset, PlannedProtocol
from mklearn.study.provenance import key
from mklearn.study.specs.fit_spec import FitSpec, is_pairwise, kernel_parts

LEARNS_FROM = 512
"""Maximum number of random images from which a descriptor learns visual words, patches or principal axes."""
Spec = dict[str, Any]
"""Arguments of a script, or a kernel specification with its id for `mklearn.kernels.transform.StackTransform`, which
may choose its ``feature_scaling``."""
POINT_SET = "point_set"
POINT_SET_DISTANCE = "mklearn.kernels.point_set_distance:point_set_distances"
OF_A_FACTOR = ("id", "view", "feature_scaling", "impute", "measure", "bandwidth", "bandwidth_rule")
"""Keys that the factors of a product inherit from its Gaussian kernels."""


@dataclass(frozen=True)
class PlannedDescriptor:
    """A descriptor of the plan, for one data set."""

    id: str
    key: str
    config: Descriptor
    spec: Spec
    """Arguments of the rule ``describe``."""
    learning: Spec
    """Arguments of the rule ``learn``; empty for a descriptor that learns nothing from images."""


def planned_descriptors(
    dataset: PlannedDataset, named: Mapping[str, Descriptor] | None, seed: int
) -> dict[str, PlannedDescriptor]:
    """Return the descriptors of a data set, by id: those that the study names, else the defaults."""
    shape = dataset.read.get("resize", {}).get("shape") or dataset.read.get("expected", {}).get("image_shape")
    chosen = descriptors_of(dataset.config, named, min(shape[:2]) if shape else None)
    mistakes = {name: model.mistake_for(shape) for name, model in chosen.items()} if shape else {}
    wrong = [f"descriptors.{name}: {mistake}" for name, mistake in mistakes.items() if mistake]
    placed = [name for name, model in chosen.items() if model.row.one_size and model.patch is None]
    if placed and dataset.keeps_ratios:
        wrong.append(
            f"datasets.{dataset.id}.resize: with `pixels` images keep their aspect ratios, and {', '.join(placed)} "
            "need images of one size. Set `resize: {shape: [rows, columns]}`, or name other descriptors, such as phog "
            "and lbp."
        )
    if wrong:
        raise ConfigError(" ".join(wrong))
    return {name: _planned_descriptor(name, model, seed) for name, model in chosen.items()}


def _planned_descriptor(name: str, config: Descriptor, seed: int) -> PlannedDescriptor:
    row, spec = config.row, config.specification()
    learning = {"learns": row.learns, "learns_from": LEARNS_FROM, "seed": seed, "parameters": spec["parameters"]}
    learning = learning if row.learns else {}
    return PlannedDescriptor(name, key(name, spec | learning), config, spec, learning)


# --- kernels


def planned_kernels(
    dataset: PlannedDataset, named: Mapping[str, Kernel] | None, descriptors: Mapping[str, PlannedDescriptor]
) -> list[Spec]:
    """Return the kernels of a data set: those that the study names, else the defaults. Products come last.

    A view is the key of a descriptor, whose features the fit scales or completes, or ``SOURCE/MEASURE`` for a matrix
    among all samples (see `pairwise_spec`). Raise ConfigError if a kernel can't compare its descriptor, or a product
    has unknown factors.
    """
    config = dataset.config
    sources = sources_of(config, {name: planned.config for name, planned in descriptors.items()})
    kernels = []
    for kernel_id, kernel, one in kernels_of(config, named, sources):
        if one.descriptor not in sources:
            continue
        if isinstance(config, Precomputed):
            if one.feature_scaling != "none":
                reason = f"{one.descriptor!r} is a matrix and has no features to scale; omit it."
                raise ConfigError(f"kernels.{kernel_id}.feature_scaling: {reason}")
            measure: str = config.measure
            source: Spec = {"view": f"{_matrix_key(one.descriptor)}/{measure}"}
        else:
            source, measure = _source(dataset, kernel_id, kernel, one, descriptors[one.descriptor])
        parameters = kernel.parameters() | ({} if one.bandwidth is None else {"bandwidth": one.bandwidth})
        kernels.append({"id": one.name, **source, **_code(kernel), **parameters, "measure": measure})
    return kernels + _products(dataset, named or {}, kernels)


def pairwise_spec(source: str, measure: str, dataset: PlannedDataset) -> Spec:
    """Return the arguments of the rule ``distances`` for a descriptor (by key) or a matrix of the user."""
    if isinstance(dataset.config, Precomputed):
        names = {_matrix_key(name): name for name in dataset.config.matrices}
        return {"array": names[source], "measure": measure}
    return {"measure": measure} | ({"implementation": POINT_SET_DISTANCE} if measure == POINT_SET else {})


@functools.cache
def _matrix_key(name: str) -> str:
    return key(name, {"matrix": name})


def by_name(kernels: Sequence[Spec]) -> list[Spec]:
    """Return the kernels sorted by name."""
    return sorted(kernels, key=lambda kernel: str(kernel["id"]))


def _source(
    dataset: PlannedDataset, kernel_id: str, kernel: Kernel, named: NamedKernel, descriptor: PlannedDescriptor
) -> tuple[Spec, str]:
    """Return the view of a kernel and its measure: a matrix among all samples, or features.

    Features are scaled and completed by training samples.
    """
    path, scaling = f"kernels.{kernel_id}.feature_scaling", named.feature_scaling
    if scaling == "none" and not (dataset.is_incomplete and descriptor.config.kind == TABLE):
        measure = _measure(kernel_id, kernel, descriptor)
        return {"view": f"{descriptor.key}/{measure}"}, measure
    if descriptor.config.point_sets:
        raise ConfigError(
            f"{path}: descriptor {descriptor.id!r} is a set of points for each image and has no features to scale; "
            "name descriptors of one vector, or omit `feature_scaling`."
        )
    measure = kernel.measure_for("squared_euclidean")
    if measure == POINT_SET or (measure == "chi2" and scaling in ("standard", "log", "auto")):
        raise ConfigError(
            f"{path}: measure {measure} can't compare features with scaling {scaling}; use squared_euclidean, or omit "
            "`measure`."
        )
    filling = {} if dataset.impute == "none" else {"impute": dataset.impute}
    return {"view": descriptor.key, "feature_scaling": scaling, **filling, **_completion(dataset)}, measure


def _completion(dataset: PlannedDataset) -> Spec:
    return {"missing_views": "mean"} if dataset.completes else {}


def _measure(kernel_id: str, kernel: Kernel, descriptor: PlannedDescriptor) -> str:
    measure, point_sets = kernel.measure_for(descriptor.config.row.measure), descriptor.config.point_sets
    if point_sets == (measure == POINT_SET):
        return measure
    what = "a set of points" if point_sets else "one vector"
    valid = "a Gaussian kernel without `measure`" if point_sets else "squared_euclidean or chi2"
    raise ConfigError(
        f"kernels.{kernel_id}: measure {measure} can't compare descriptor {descriptor.id!r}, which is {what} for each "
        f"image; use {valid}."
    )


def _products(dataset: PlannedDataset, named: Mapping[str, Kernel], kernels: list[Spec]) -> list[Spec]:
    """Return the products of Gaussian kernels of a data set. A product of ``all`` is omitted if there are none."""
    gaussians = {kernel["id"]: kernel for kernel in kernels if kernel["kind"] == "gaussian"}
    products = []
    for kernel_id, product in named.items():
        if not product.is_product or (product.of == "all" and not gaussians):
            continue
        names = list(gaussians) if product.of in (None, "all") else product.of
        missing = [name for name in names if name not in gaussians]
        if missing:
            raise ConfigError(
                f"kernels.{kernel_id}.of: data set {dataset.id!r} has no Gaussian kernel {', '.join(missing)}; "
                f"it has {', '.join(sorted(gaussians)) or 'none'}."
            )
        factors = [
            {field: gaussians[name][field] for field in OF_A_FACTOR if field in gaussians[name]}
            for name in sorted(names)
        ]
        spec = {"id": kernel_id, **_code(product), "factors": factors, **product.parameters(), **_completion(dataset)}
        products.append(spec)
    return products


def _code(kernel: Kernel) -> dict[str, str]:
    """Return the kind of a kernel; for a kernel of another package, its implementation too."""
    is_listed = kernel.kind in KERNELS
    return {"kind": kernel.kind} if is_listed else {"kind": kernel.kind, "implementation": kernel.row.implementation}


# --- landmarks


def kernels_on_features(kernels: Sequence[Spec]) -> list[Spec]:
    """Return the kernels, or their factors, on features in place of matrices among all samples."""
    on_features = []
    for kernel in kernel_parts(kernels):
        matrix = is_pairwise(kernel["view"])
        made = kernel | {"view": kernel["view"].split("/")[0], "feature_scaling": "none"} if matrix else kernel
        on_features.append(made)
    return on_features


def unsuited_kernels(kernels: Sequence[Spec]) -> str:
    """Return the reason why the library can't compute the kernels from views; "" if it can."""
    for kernel in kernels:
        name = kernel["id"]
        if "factors" in kernel:
            return f"takes kernel {name!r}, a product of kernels of several descriptors, and each has to read one view"
        if kernel.get("measure") == POINT_SET:
            return f"takes kernel {name!r}, which compares sets of points"
        if "implementation" in kernel:
            return f"takes kernel {name!r} of another package"
    return ""


def on_landmarks(
    fit: FitSpec, method_id: str, method: Method, dataset: PlannedDataset, protocol: PlannedProtocol
) -> FitSpec:
    """Return the fit with the landmarks of its method; unchanged if the method has none.

    Raise ConfigError if the fit, the protocol or the evaluation needs kernels among all samples or, for samples in
    blocks, more than one pass over them.
    """
    landmarks = method.landmark_candidates(fit.seed)
    if not landmarks:
        return fit
    graph = method.given.get("graph", "lda")
    reasons = {
        unsuited_kernels(fit.kernels): "name other `kernels`",
        "takes features, and this data set has matrices among its samples" * (dataset.config.family == "matrices"):
            "name other `datasets` for the method",
        f"has graph: {graph}, which joins samples" * (graph not in ("lda", "pca")): "omit it",
        "leaves out single samples" * (fit.evaluation.inner_folds == "leave_one_out"): "give a number of inner_folds",
    }  # fmt: skip
    if dataset.n_blocks > 1:
        reasons |= dict.fromkeys(_more_than_a_pass(fit, method, dataset, protocol), "set `blocks: 1`")
        require("skops")  # checked here, not in a job
    sentences = [f"{reason}; {advice}" for reason, advice in reasons.items() if reason]
    if sentences:
        raise ConfigError(
            f"methods.{method_id}.landmarks (datasets.{dataset.id}): the method {'. It also '.join(sentences)}, or "
            "omit `landmarks`."
        )
    chosen = {"grid": fit.method.grid | {"landmarks": landmarks}}
    if len(landmarks) == 1:
        chosen = {"parameters": fit.method.parameters | {"landmarks": landmarks[0]}}
    update = {
        "kernels": by_name(kernels_on_features(fit.kernels)),  # sorted: methods share their landmarks
        "method": fit.method.model_copy(update=chosen),
    }
    if dataset.n_blocks > 1:
        update["evaluation"] = fit.evaluation.model_copy(update={"components": "all"})
    return fit.model_copy(update=update)


def _more_than_a_pass(fit: FitSpec, method: Method, dataset: PlannedDataset, protocol: PlannedProtocol) -> list[str]:
    """Return the properties of a fit that moments of blocks do not support."""
    auto = [kernel["id"] for kernel in kernel_parts(fit.kernels) if kernel.get("feature_scaling") == "auto"]
    of_protocol = f" (protocol {protocol.id!r}), and its samples are in blocks"
    reasons = {
        f"chooses the feature_scaling of kernel {auto[0]!r}" if auto else "": bool(auto),
        "completes missing rows or values": dataset.is_incomplete,
        "has kernel_weights: cv_accuracy": method.kernel_choice() == "cv_accuracy",
        f"has components: {method.components}": method.components not in (None, "all"),
        "chooses among several n": len(method.landmark_candidates(0)) > 1,
        "takes samples that are composed of several": protocol.entry.row.composes,
        "chooses on test samples": protocol.entry.choose == "test_set",
        "takes flipped training labels": bool(protocol.spec.parameters.get("flipped")),
        "takes validation folds": protocol.spec.kind == "validation_folds",
    }
    return [f"{reason}{of_protocol}" for reason, holds in reasons.items() if holds]

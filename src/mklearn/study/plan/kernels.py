"""Kernels of the plan, and the matrices among all samples that they are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mklearn.errors import ConfigError
from mklearn.kernels.table import KERNELS
from mklearn.study.datasets import DatasetConfig, Precomputed
from mklearn.study.entries import Kernel
from mklearn.study.naming import NamedKernel, kernels_of
from mklearn.study.plan.datasets import PlannedDataset
from mklearn.study.plan.descriptors import PlannedDescriptor
from mklearn.study.provenance import key
from mklearn.study.specs.data_specs import PairwiseSpec
from mklearn.study.specs.fit_spec import is_pairwise, kernel_parts

KernelSpec = dict[str, Any]
"""A kernel with its id, as `mklearn.kernels.specs.StackTransform` takes it; ``feature_scaling`` may be auto."""
POINT_SET = "point_set"
POINT_SET_DISTANCE = "mklearn.kernels.point_set_distance:point_set_distances"
OF_A_FACTOR = ("id", "view", "feature_scaling", "impute", "measure", "bandwidth", "bandwidth_rule")
"""What a product takes over from the Gaussian kernels that are its factors."""


def planned_kernels(
    dataset: PlannedDataset,
    config: DatasetConfig,
    named: Mapping[str, Kernel] | None,
    descriptors: Mapping[str, PlannedDescriptor],
) -> list[KernelSpec]:
    """Return the kernels that apply to a data set: those that the study names, else the default ones.

    A view is the features of a descriptor by its key, which the fit scales or completes, or a matrix among all samples,
    ``SOURCE/MEASURE``, see `pairwise_spec`. Products come last, after their factors.
    ConfigError is raised for a kernel that can't compare a descriptor, and a product of kernels that are not there.
    """
    sources = list(config.matrices if isinstance(config, Precomputed) else descriptors)
    kernels = []
    for kernel_id, kernel, one in kernels_of(config, named, sources):
        if one.descriptor not in sources:
            continue
        if isinstance(config, Precomputed):
            measure: str = config.measure
            source: KernelSpec = {"view": f"{_matrix(kernel_id, one)}/{measure}"}
        elif one.feature_scaling != "none" or dataset.is_incomplete:
            source, measure = _features(dataset, kernel_id, kernel, one, descriptors[one.descriptor])
        else:
            measure = _measure(kernel_id, kernel, descriptors[one.descriptor])
            source = {"view": f"{descriptors[one.descriptor].key}/{measure}"}
        parameters = kernel.parameters() | ({} if one.bandwidth is None else {"bandwidth": one.bandwidth})
        kernels.append({"id": one.name, **source, **_code(kernel), **parameters, "measure": measure})
    return kernels + _products(dataset, named or {}, kernels)


def pairwise_spec(
    source: str, measure: str, config: DatasetConfig, descriptors: Mapping[str, PlannedDescriptor]
) -> PairwiseSpec:
    """Return how a matrix among all samples is made: of the user's own, or of a descriptor, which are by key."""
    if isinstance(config, Precomputed):
        array = next(name for name in config.matrices if matrix_key(name) == source)
        return PairwiseSpec(array=array, measure=measure)
    if measure != POINT_SET:
        return PairwiseSpec(measure=measure)
    parameters = descriptors[source].config.distance()
    return PairwiseSpec(measure=measure, implementation=POINT_SET_DISTANCE, parameters=parameters)


def matrix_key(name: str) -> str:
    """Return the key of a matrix of the user's."""
    return key(name, {"matrix": name})


def by_name(kernels: Sequence[KernelSpec]) -> list[KernelSpec]:
    """Return kernels in an order that the study's does not change: that of their names."""
    return sorted(kernels, key=lambda kernel: str(kernel["id"]))


def pairwise_of(kernel: KernelSpec) -> list[str]:
    """Return the names of the pairwise matrices that a kernel is made from; none of one on scaled features."""
    return [part["view"] for part in kernel_parts([kernel]) if is_pairwise(part["view"])]


def _matrix(kernel_id: str, named: NamedKernel) -> str:
    if named.feature_scaling != "none":
        raise ConfigError(
            f"kernels.{kernel_id}.feature_scaling: {named.descriptor!r} is a matrix and has no features to scale; omit "
            "it."
        )
    return matrix_key(named.descriptor)


def _features(
    dataset: PlannedDataset, kernel_id: str, kernel: Kernel, named: NamedKernel, descriptor: PlannedDescriptor
) -> tuple[KernelSpec, str]:
    """Return features, which the fit scales or completes by the training samples, and the measure between them."""
    path, scaling = f"kernels.{kernel_id}.feature_scaling", named.feature_scaling
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


def _completion(dataset: PlannedDataset) -> KernelSpec:
    return {"missing_views": "mean"} if dataset.missing_views == "mean" else {}


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


def _products(dataset: PlannedDataset, named: Mapping[str, Kernel], kernels: list[KernelSpec]) -> list[KernelSpec]:
    """Return the study's products of the data set's Gaussian kernels; none of ``all`` if there are no such kernels."""
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
    """Return what names the kernel's class; the implementation of another package's."""
    own = kernel.kind in KERNELS
    return {"kind": kernel.kind} if own else {"kind": kernel.kind, "implementation": kernel.implementation}

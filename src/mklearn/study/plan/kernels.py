"""Kernels of the plan, and the matrices among all samples that they are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from mklearn.study.specs.fit_spec import is_pairwise, views_of

KernelSpec = dict[str, Any]
"""A kernel with its id, as `mklearn.kernels.specs.StackTransform` takes it; ``feature_scaling`` may be auto."""
POINT_SET = "point_set"
POINT_SET_DISTANCE = "mklearn.kernels.point_set_distance:point_set_distances"
OF_A_FACTOR = ("id", "view", "feature_scaling", "impute", "measure", "bandwidth", "bandwidth_rule")
"""What a product takes over from the Gaussian kernels that are its factors."""


@dataclass(frozen=True)
class PlannedPairwise:
    """A matrix among all samples of a data set."""

    source: str
    """Key of the descriptor, or of the user's matrix."""
    spec: PairwiseSpec

    @property
    def name(self) -> str:
        """Name by which kernels refer to it: ``SOURCE/MEASURE``."""
        return f"{self.source}/{self.spec.measure}"


@dataclass(frozen=True)
class PlannedKernel:
    """A kernel of one data set, and the matrix that it is made from.

    Products have none of their own, and kernels on scaled features are computed from these in the fit.
    """

    spec: KernelSpec
    pairwise: PlannedPairwise | None = None


def planned_kernels(
    dataset: PlannedDataset,
    config: DatasetConfig,
    named: Mapping[str, Kernel] | None,
    descriptors: Mapping[str, PlannedDescriptor],
) -> list[PlannedKernel]:
    """Return the kernels that apply to a data set: those that the study names, else the default ones.

    Products come last, after their factors.

    Raises
    ------
    ConfigError
        A kernel that can't compare a descriptor, a product of kernels that the data set does not have, or two kernels
        of one name.
    """
    sources = list(config.matrices if isinstance(config, Precomputed) else descriptors)
    kernels = [
        _kernel_of_matrix(config, kernel_id, kernel, one)
        if isinstance(config, Precomputed)
        else _kernel_of_descriptor(dataset, kernel_id, kernel, one, descriptors[one.descriptor])
        for kernel_id, kernel, one in kernels_of(config, named, sources)
        if one.descriptor in sources
    ]
    return kernels + _products(dataset, named or {}, [kernel.spec for kernel in kernels])


def by_name(kernels: Sequence[KernelSpec]) -> list[KernelSpec]:
    """Return kernels in an order that the study's does not change: that of their names."""
    return sorted(kernels, key=lambda kernel: str(kernel["id"]))


def kernel_parts(kernels: Sequence[KernelSpec]) -> list[KernelSpec]:
    """Return the specifications that name inputs: the kernels, or their factors."""
    return [part for kernel in kernels for part in kernel.get("factors", [kernel])]


def pairwise_of(kernel: KernelSpec) -> list[str]:
    """Return the names of the pairwise matrices that a kernel is made from; none of one on scaled features."""
    return [view for view in views_of([kernel]) if is_pairwise(view)]


def _kernel_of_descriptor(
    dataset: PlannedDataset, kernel_id: str, kernel: Kernel, named: NamedKernel, descriptor: PlannedDescriptor
) -> PlannedKernel:
    if named.feature_scaling != "none" or dataset.is_incomplete:
        return _kernel_on_features(dataset, kernel_id, kernel, named, descriptor)
    measure = kernel.measure_for(descriptor.config.row.measure)
    _check_measure(kernel_id, measure, descriptor)
    pairwise = _pairwise(descriptor, measure)
    return PlannedKernel(_spec(named, kernel, {"view": pairwise.name}, measure), pairwise)


def _kernel_on_features(
    dataset: PlannedDataset, kernel_id: str, kernel: Kernel, named: NamedKernel, descriptor: PlannedDescriptor
) -> PlannedKernel:
    """Return a kernel that the fit computes from features: they are scaled or completed by the training samples."""
    path = f"kernels.{kernel_id}.feature_scaling"
    if descriptor.config.point_sets:
        raise ConfigError(
            f"{path}: descriptor {descriptor.id!r} is a set of points for each image and has no features to scale; "
            "name descriptors of one vector, or omit `feature_scaling`."
        )
    measure = kernel.measure_for("squared_euclidean")
    if measure == POINT_SET or (measure == "chi2" and named.feature_scaling in ("standard", "log", "auto")):
        raise ConfigError(
            f"{path}: measure {measure} can't compare features with scaling {named.feature_scaling}; "
            "use squared_euclidean, or omit `measure`."
        )
    source = {"view": descriptor.key, "feature_scaling": named.feature_scaling}
    if dataset.impute != "none":
        source["impute"] = dataset.impute
    return PlannedKernel(_spec(named, kernel, source, measure) | _completion(dataset))


def _completion(dataset: PlannedDataset) -> KernelSpec:
    return {"missing_views": "mean"} if dataset.missing_views == "mean" else {}


def _kernel_of_matrix(config: Precomputed, kernel_id: str, kernel: Kernel, named: NamedKernel) -> PlannedKernel:
    matrix = named.descriptor
    if named.feature_scaling != "none":
        raise ConfigError(
            f"kernels.{kernel_id}.feature_scaling: {matrix!r} is a matrix and has no features to scale; omit it."
        )
    pairwise = PlannedPairwise(key(matrix, {"matrix": matrix}), PairwiseSpec(array=matrix, measure=config.measure))
    return PlannedKernel(_spec(named, kernel, {"view": pairwise.name}, config.measure), pairwise)


def _products(dataset: PlannedDataset, named: Mapping[str, Kernel], kernels: list[KernelSpec]) -> list[PlannedKernel]:
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
        products.append(PlannedKernel(spec))
    return products


def _spec(named: NamedKernel, kernel: Kernel, source: Mapping[str, str], measure: str) -> KernelSpec:
    parameters = kernel.parameters() | ({} if named.bandwidth is None else {"bandwidth": named.bandwidth})
    return {"id": named.name, **source, **_code(kernel), **parameters, "measure": measure}


def _code(kernel: Kernel) -> dict[str, str]:
    """Return what names the kernel's class; the implementation of another package's."""
    own = kernel.kind in KERNELS
    return {"kind": kernel.kind} if own else {"kind": kernel.kind, "implementation": kernel.implementation}


def _pairwise(descriptor: PlannedDescriptor, measure: str) -> PlannedPairwise:
    if measure != POINT_SET:
        return PlannedPairwise(descriptor.key, PairwiseSpec(measure=measure))
    parameters = descriptor.config.distance()
    spec = PairwiseSpec(measure=measure, implementation=POINT_SET_DISTANCE, parameters=parameters)
    return PlannedPairwise(descriptor.key, spec)


def _check_measure(kernel_id: str, measure: str, descriptor: PlannedDescriptor) -> None:
    point_sets = descriptor.config.point_sets
    if point_sets == (measure == POINT_SET):
        return
    what = "a set of points" if point_sets else "one vector"
    valid = "a Gaussian kernel without `measure`" if point_sets else "squared_euclidean or chi2"
    raise ConfigError(
        f"kernels.{kernel_id}: measure {measure} can't compare descriptor {descriptor.id!r}, which is {what} for each "
        f"image; use {valid}."
    )

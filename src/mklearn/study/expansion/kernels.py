"""Kernels of the plan, and the matrices among all samples that they are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mklearn.descriptors.models import DescriptorConfig
from mklearn.errors import ConfigError
from mklearn.kernels.costs import n_blocks_for
from mklearn.kernels.models import Gaussian, Given, KernelConfig, Product
from mklearn.provenance import key
from mklearn.study.datasets import Precomputed
from mklearn.study.expansion.datasets import PlannedDataset
from mklearn.study.expansion.descriptors import add_descriptor, descriptors_of
from mklearn.study.naming import kernel_names

if TYPE_CHECKING:
    from mklearn.study.expansion.plan import Plan

Spec = dict[str, Any]
MINUTES_PER_JOB = 1.0
"""Of a matrix that is computed in several jobs."""
POINT_SET = "point_set"
POINT_SET_CODE = {
    "implementation": "mklearn.kernels.point_set_distance:point_set_distances",
    "rows": "mklearn.kernels.point_set_distance:point_set_distance_rows",
}
"""The distance between sets of points: all of them, and some rows of the upper triangle."""


@dataclass(frozen=True)
class PlannedPairwise:
    """A matrix among all samples of a data set."""

    spec: Spec
    n_blocks: int = 1
    """Jobs that its rows are spread over."""


def planned_kernels(plan: Plan, dataset: PlannedDataset, config: Any) -> list[Spec]:
    """Kernel specifications for one data set; registers the descriptors and pairwise matrices that they need.

    Products come last, after their factors.

    Raises
    ------
    ConfigError
        A kernel that can't compare a descriptor, or a product of kernels that the data set does not have.
    """
    given = dataset.family == "matrices"
    kernels = _given_kernels(plan, dataset, config) if given else _descriptor_kernels(plan, dataset, config)
    return kernels + _products(plan.study.kernels or {}, dataset, kernels)


def pairwise_of(kernel: Spec) -> list[str]:
    """The pairwise matrices that a kernel of the plan is made from."""
    return [factor["pairwise"] for factor in kernel.get("factors", [kernel])]


def _descriptor_kernels(plan: Plan, dataset: PlannedDataset, config: Any) -> list[Spec]:
    descriptors = descriptors_of(plan, dataset, config)
    configs: Mapping[str, KernelConfig] = plan.study.kernels or {
        name: Gaussian(kind="gaussian", descriptor=name) for name in descriptors
    }
    kernels = []
    for kernel_id, kernel in configs.items():
        if isinstance(kernel, Product):
            continue
        for name, descriptor_id, bandwidth in kernel_names(kernel_id, kernel.model_dump(), list(descriptors)):
            if descriptor_id not in descriptors or isinstance(kernel, Given):
                continue
            descriptor = descriptors[descriptor_id]
            descriptor_key = add_descriptor(plan, dataset, descriptor_id, descriptor)
            measure = _measure(kernel_id, kernel, descriptor_id, descriptor)
            plan.pairwise[dataset.key, descriptor_key, measure] = _pairwise(dataset, descriptor, measure)
            parameters = kernel.parameters() | ({"bandwidth": bandwidth} if bandwidth is not None else {})
            parameters["measure"] = measure
            kernels.append({"id": name, "pairwise": f"{descriptor_key}/{measure}", "kind": kernel.kind, **parameters})
    return kernels


def _products(configs: Mapping[str, Any], dataset: PlannedDataset, kernels: list[Spec]) -> list[Spec]:
    """The study's products of the data set's Gaussian kernels; of ``all``, none where there are none."""
    gaussians = {kernel["id"]: kernel for kernel in kernels if kernel["kind"] == "gaussian"}
    products = []
    for kernel_id, product in configs.items():
        if not isinstance(product, Product) or (product.of == "all" and not gaussians):
            continue
        names = list(gaussians) if product.of == "all" else product.of
        missing = [name for name in names if name not in gaussians]
        if missing:
            raise ConfigError(
                f"kernels.{kernel_id}.of: data set {dataset.id!r} has no Gaussian kernel {', '.join(missing)}; "
                f"it has {', '.join(sorted(gaussians)) or 'none'}."
            )
        factors = [
            {key: gaussians[name][key] for key in ("id", "pairwise", "measure", "bandwidth", "bandwidth_rule")}
            for name in names
        ]
        products.append({"id": kernel_id, "kind": product.kind, "factors": factors, **product.parameters()})
    return products


def _pairwise(dataset: PlannedDataset, descriptor: DescriptorConfig, measure: str) -> PlannedPairwise:
    if measure != POINT_SET:
        return PlannedPairwise({"measure": measure})
    spec = {"measure": measure, **POINT_SET_CODE, "parameters": descriptor.distance()}
    cost = descriptor.seconds_per_pair()
    n = dataset.n_samples
    return PlannedPairwise(spec, n_blocks_for(n, cost, minutes_per_block=MINUTES_PER_JOB) if n and cost else 1)


def _given_kernels(plan: Plan, dataset: PlannedDataset, config: Precomputed) -> list[Spec]:
    """The study's kernels of the kind that fits the user's matrices, a matrix in place of a descriptor; or one each."""
    measure = config.measure
    default: Any = Given(kind="precomputed") if measure == "kernel" else Gaussian(kind="gaussian")
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
        plan.pairwise[dataset.key, matrix_key, measure] = PlannedPairwise({"matrix": matrix, "measure": measure})
        parameters = kernel.parameters() | ({"bandwidth": bandwidth} if bandwidth is not None else {})
        parameters["measure"] = measure
        kernels.append({"id": name, "pairwise": f"{matrix_key}/{measure}", "kind": kernel.kind, **parameters})
    return kernels


def _measure(kernel_id: str, kernel: KernelConfig, descriptor_id: str, descriptor: DescriptorConfig) -> str:
    measure = (kernel.measure or descriptor.measure) if isinstance(kernel, Gaussian) else "inner_product"
    if descriptor.point_sets != (measure == POINT_SET):
        what = "sets of points" if descriptor.point_sets else "one vector for each image"
        legal = "a Gaussian kernel on their own distance" if descriptor.point_sets else "squared_euclidean or chi2"
        raise ConfigError(
            f"kernels.{kernel_id}: descriptor {descriptor_id!r} is {what}, which {measure} does not compare; "
            f"use {legal}."
        )
    return measure

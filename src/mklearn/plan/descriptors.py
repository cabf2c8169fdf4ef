"""Descriptors of the plan: what represents each sample, what it learns first, and how many jobs it is spread over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mklearn.config.descriptors import DescriptorConfig, Table, image_descriptors
from mklearn.plan.datasets import PlannedDataset
from mklearn.provenance import key

if TYPE_CHECKING:
    from mklearn.plan.study import Plan

Spec = dict[str, Any]
LEARNS_FROM = 512
"""Images, at most, that words, patches and principal axes are learned from: random ones, of many points each."""


@dataclass(frozen=True)
class PlannedDescriptor:
    """A descriptor of one data set."""

    spec: Spec
    n_blocks: int
    """Jobs that the images are spread over."""


def add_descriptor(plan: Plan, dataset: PlannedDataset, name: str, config: DescriptorConfig) -> str:
    """Register a descriptor of a data set; its key."""
    n = dataset.n_samples
    n_blocks = -(-n // config.images_per_job) if n and config.images_per_job else 1
    found = descriptor_key(plan, name, config)
    plan.descriptors[dataset.key, found] = PlannedDescriptor(_spec(plan, config), n_blocks)
    return found


def descriptor_key(plan: Plan, name: str, config: DescriptorConfig) -> str:
    """The key of a descriptor."""
    return key(name, _spec(plan, config))


def _spec(plan: Plan, config: DescriptorConfig) -> Spec:
    spec = config.specification()
    if config.learns:
        spec |= {"learns": config.learns, "learns_from": LEARNS_FROM, "seed": plan.study.seed}
    return spec


def descriptors_of(plan: Plan, dataset: PlannedDataset, config: Any) -> dict[str, DescriptorConfig]:
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

"""Descriptors and protocols of the plan: what represents each sample, and how samples are split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mklearn.errors import ConfigError, absence
from mklearn.study.datasets import DatasetConfig
from mklearn.study.entries import Descriptor, Protocol
from mklearn.study.naming import descriptors_of
from mklearn.study.plan.datasets import PlannedDataset
from mklearn.study.provenance import key
from mklearn.study.specs.data_specs import DescriptorSpec, SplitSpec
from mklearn.study.specs.fit_spec import Setting

LEARNS_FROM = 512
"""Largest number of random images that words, patches and principal axes are learned from."""


@dataclass(frozen=True)
class PlannedDescriptor:
    """A descriptor of one data set."""

    id: str
    key: str
    config: Descriptor
    spec: DescriptorSpec
    n_parts: int
    """Jobs that the images are spread over."""


def planned_descriptors(
    dataset: PlannedDataset, config: DatasetConfig, named: Mapping[str, Descriptor] | None, seed: int
) -> dict[str, PlannedDescriptor]:
    """Return the descriptors that apply to a data set, by id: those that the study names, else the default ones."""
    shape = (dataset.resize or {}).get("shape") or dataset.read.get("expected", {}).get("image_shape")
    chosen = descriptors_of(config, named, min(shape[:2]) if shape else None)
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
    return {name: _planned(dataset, name, model, seed) for name, model in chosen.items()}


def _planned(dataset: PlannedDataset, name: str, config: Descriptor, seed: int) -> PlannedDescriptor:
    row, fields = config.row, config.specification()
    if row.learns:
        fields |= {"learns": row.learns, "learns_from": LEARNS_FROM, "seed": seed}
    spec = DescriptorSpec(**fields)
    n = dataset.n_samples
    n_parts = -(-n // row.images_per_job) if n and row.images_per_job else 1
    # Matrices are named by their descriptor: its key has what sets of points are compared by, too.
    return PlannedDescriptor(name, key(name, spec.as_dict() | config.distance()), config, spec, n_parts)


@dataclass(frozen=True)
class PlannedProtocol:
    """One way of splitting, for all data sets or some."""

    id: str
    key: str
    entry: Protocol
    settings: list[Setting]
    """Each training size, as the score rows name it: ``faces-p2`` and 2 of protocol ``faces``."""
    spec: SplitSpec


def planned_protocol(protocol_id: str, protocol: Protocol, seed: int) -> PlannedProtocol:
    """Plan a protocol of the study; raise ConfigError where its file with splits does not exist."""
    path = protocol.path
    if path is not None and not Path(path).is_file():
        raise ConfigError(f"protocols.{protocol_id}.path: {path}: {absence(path)}.")
    spec = SplitSpec(
        kind=protocol.kind, implementation=protocol.implementation, parameters=protocol.parameters(), seed=seed
    )
    name = f"{protocol_id}-optimistic" if protocol.choose == "test_set" else protocol_id
    settings = [
        Setting(protocol=name if size is None else f"{name}-p{size}", train_size=size)
        for size in protocol.train_sizes()
    ]
    return PlannedProtocol(protocol_id, key(protocol_id, spec.as_dict()), protocol, settings, spec)

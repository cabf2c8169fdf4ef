"""Protocols of the plan: one for each way of splitting, with all its training sizes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mklearn.errors import ConfigError, absence
from mklearn.study.entries import Protocol
from mklearn.study.provenance import key
from mklearn.study.specs.data_specs import SplitSpec
from mklearn.study.specs.fit_spec import Choice, Setting


@dataclass(frozen=True)
class PlannedProtocol:
    """One way of splitting, for all data sets or some."""

    id: str
    key: str
    settings: list[Setting]
    """Each training size, as the score rows name it: ``faces-p2`` and 2 of protocol ``faces``."""
    spec: SplitSpec
    datasets: list[str] | None
    choice: Choice = "inner_cv"
    """By which samples parameters are chosen."""
    composes: bool = False
    """Whether its samples are composed of those of the data set."""


def planned_protocol(protocol_id: str, protocol: Protocol, seed: int) -> PlannedProtocol:
    """Plan a protocol of the study.

    Raises
    ------
    ConfigError
        A file with splits does not exist.
    """
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
    split_key = key(protocol_id, spec.as_dict())
    return PlannedProtocol(
        protocol_id, split_key, settings, spec, protocol.datasets, protocol.choose, protocol.row.composes
    )

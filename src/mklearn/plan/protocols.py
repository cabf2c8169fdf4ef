"""Protocols of the plan: one for each way of splitting and each training size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mklearn.config.protocols import Given, ProtocolConfig, RandomPerClass
from mklearn.config.study import Study
from mklearn.errors import ConfigError
from mklearn.provenance import key

Spec = dict[str, Any]


class PlannedProtocol(NamedTuple):
    """One way of splitting, for all data sets or some."""

    id: str
    key: str
    train_size: int | None
    spec: Spec
    datasets: list[str] | None


def planned_protocols(study: Study) -> Iterator[PlannedProtocol]:
    """Every protocol of the study at every training size."""
    for protocol_id, protocol in study.protocols.items():
        for spec, train_size in _protocol_specs(protocol_id, protocol):
            spec["seed"] = study.seed
            name = protocol_id if train_size is None else f"{protocol_id}-p{train_size}"
            yield PlannedProtocol(name, key(name, spec), train_size, spec, protocol.datasets)


def _protocol_specs(protocol_id: str, protocol: ProtocolConfig) -> Iterator[tuple[Spec, int | None]]:
    spec = protocol.specification()
    if isinstance(protocol, Given) and not Path(protocol.path).is_file():
        raise ConfigError(f"protocols.{protocol_id}.path: there is no file {protocol.path!r}.")
    if isinstance(protocol, RandomPerClass):
        sizes = protocol.train_size if isinstance(protocol.train_size, list) else [protocol.train_size]
        for size in dict.fromkeys(sizes):
            yield spec | {"parameters": spec["parameters"] | {"train_size": size}}, size
    else:
        yield spec, None

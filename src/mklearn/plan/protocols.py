"""Protocols of the plan: one for each way of splitting, with all its training sizes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mklearn.config.protocols import Given
from mklearn.config.study import Study
from mklearn.contract.fit_spec import Setting
from mklearn.errors import ConfigError
from mklearn.provenance import key

Spec = dict[str, Any]


class PlannedProtocol(NamedTuple):
    """One way of splitting, for all data sets or some."""

    id: str
    key: str
    settings: list[Setting]
    """``protocol`` and ``train_size`` as the score rows have them: ``faces-p2`` and 2 of protocol ``faces``."""
    spec: Spec
    datasets: list[str] | None


def planned_protocols(study: Study) -> Iterator[PlannedProtocol]:
    """Every protocol of the study."""
    for protocol_id, protocol in study.protocols.items():
        if isinstance(protocol, Given) and not Path(protocol.path).is_file():
            raise ConfigError(f"protocols.{protocol_id}.path: there is no file {protocol.path!r}.")
        spec = protocol.specification() | {"seed": study.seed}
        settings = [
            Setting(protocol=protocol_id if size is None else f"{protocol_id}-p{size}", train_size=size)
            for size in protocol.train_sizes()
        ]
        yield PlannedProtocol(protocol_id, key(protocol_id, spec), settings, spec, protocol.datasets)

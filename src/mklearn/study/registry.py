"""What mklearn has: data sets, descriptors, kernels, methods, protocols, each with its parameters and its paper.

The models of a study file are the registry: one model per thing, with its title, its reference and the code behind it.
"""

from __future__ import annotations

from typing import Any, get_args

from pydantic_core import PydanticUndefined

from mklearn.config.methods import MethodConfig
from mklearn.contract.model import Registered
from mklearn.datasets.registry import registry
from mklearn.descriptors.models import DescriptorConfig
from mklearn.errors import ConfigError
from mklearn.kernels.models import KernelConfig
from mklearn.study.protocols import ProtocolConfig

UNIONS: dict[str, Any] = {
    "descriptors": DescriptorConfig,
    "kernels": KernelConfig,
    "methods": MethodConfig,
    "protocols": ProtocolConfig,
}


def registered(what: str) -> dict[str, type[Registered]]:
    """Models by kind, of ``what``: descriptors, kernels, methods or protocols."""
    if what not in UNIONS:
        raise ConfigError(f"there is no list of {what!r}: {', '.join(UNIONS)}.")
    models = get_args(get_args(UNIONS[what])[0])
    return {get_args(model.model_fields["kind"].annotation)[0]: model for model in models}


def describe_all(what: str) -> str:
    """A listing for people."""
    if what == "datasets":
        return "\n\n".join(_dataset(entry) for entry in registry().values())
    return "\n\n".join(_model(kind, model) for kind, model in registered(what).items())


def _dataset(entry: Any) -> str:
    size = ", ".join(f"{name.replace('n_', '')} {value}" for name, value in entry.expected.items())
    lines = [f"{entry.id}: {entry.title}", f"  {size}", f"  licence: {entry.licence}", f"  {entry.citation}"]
    return "\n".join([*lines, *([f"  note: {entry.note}"] if entry.note else []), f"  {entry.homepage}"])


def _model(kind: str, model: type[Registered]) -> str:
    lines = [f"{kind}: {model.title or (model.__doc__ or '').strip()}"]
    if model.reference:
        lines.append(f"  {model.reference}")
    for name, field in model.model_fields.items():
        if name == "kind":
            continue
        default = "required" if field.default is PydanticUndefined else f"default {field.default!r}"
        lines.append(f"    {name} ({default}){': ' + field.description if field.description else ''}")
    return "\n".join(lines)

"""Models and the code behind them: the same parameters, with the same defaults."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

from mklearn.contract.model import Registered


def implementation(model: type[Registered]) -> Any:
    """The function or class that a model names."""
    module, name = model.implementation.split(":")
    return getattr(importlib.import_module(module), name)


def required(model: type[Registered]) -> list[str]:
    return [name for name, field in model.model_fields.items() if field.is_required() and name != "kind"]


def disagreements(model: type[Registered], kind: str, given: dict[str, Any], allowed: dict[str, Any]) -> list[str]:
    """Parameters that the implementation does not take, or takes with another default.

    ``given`` are values for the model's required fields, ``allowed`` the defaults that may differ, with the
    implementation's own: the two have to say the same thing in different words.
    """
    assert set(given) == set(required(model)), f"{kind}: give values for {required(model)}"
    taken = inspect.signature(implementation(model)).parameters
    found = []
    for name, value in model(kind=kind, **given).parameters().items():  # type: ignore[call-arg]
        if name not in taken:
            found.append(f"{kind}: {name} is not accepted")
            continue
        default = taken[name].default
        if name in given or plain(default) == plain(value):
            continue
        if name not in allowed or allowed[name] != default:
            found.append(f"{kind}: {name} is {value!r} in the model and {default!r} in the implementation")
    return found


def plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def about(model: type[Registered], *, paper: bool) -> list[str]:
    """What the listing lacks of a model."""
    lacks = [what for what in ("title", "implementation") if not getattr(model, what)]
    lacks += ["docstring"] * (not (model.__doc__ or "").strip()) + ["reference"] * (paper and not model.reference)
    if model.implementation:
        lacks += ["docstring of the implementation"] * (not inspect.getdoc(implementation(model)))
    return lacks

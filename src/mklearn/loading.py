"""Load the function or class that a specification names."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from mklearn.errors import ConfigError


def load(implementation: str) -> Any:
    """Import the object that ``"module:name"`` names.

    Raises
    ------
    ConfigError
        The text has another form, or the module or the name does not exist.
    """
    module, _, name = implementation.partition(":")
    if not module or not name:
        raise ConfigError(f"invalid implementation {implementation!r}: expected 'module:name'.")
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"implementation {implementation!r}: {error}. Install the package that provides it."
        ) from error
    except AttributeError as error:
        raise ConfigError(f"implementation {implementation!r}: module {module!r} has no {name!r}.") from error


def is_there(implementation: str) -> bool:
    """Return whether ``"module:name"`` has the right form and its module exists; the module is not imported."""
    module, _, name = implementation.partition(":")
    try:
        return bool(name) and importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False

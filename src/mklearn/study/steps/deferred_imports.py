"""Defer the import of a module that jobs rarely use to its first use."""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any


class _DeferredModule(ModuleType):
    def __getattr__(self, name: str) -> Any:
        spec = self.__spec__
        assert spec is not None
        assert spec.loader is not None
        object.__setattr__(self, "__class__", ModuleType)
        if spec.submodule_search_locations is not None:
            self.__path__ = spec.submodule_search_locations
        spec.loader.exec_module(self)
        return getattr(self, name)


def defer(name: str) -> None:
    """Put a module of a package into ``sys.modules`` that executes itself at its first use, unless the module is there.

    So the import statements of other packages cost nothing. `importlib.util.LazyLoader` does not serve here: in Python
    3.11 an import statement executes its modules. Two threads must not be the first to use the module at one time.
    """
    if name in sys.modules:
        return
    spec = find_spec(name)
    if spec is not None:
        module = module_from_spec(spec)
        vars(module).pop("__path__", None)  # asked for when a module in it is imported: its package is executed first
        object.__setattr__(module, "__class__", _DeferredModule)
        sys.modules[name] = module
        package, _, short = name.rpartition(".")
        setattr(sys.modules[package], short, module)  # as an import does

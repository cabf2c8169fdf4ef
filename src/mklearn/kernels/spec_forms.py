"""Forms of kernel specs: a kind or a mapping, one or several, and the class and parameters that one names."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import Any

from mklearn.checks import check_choice
from mklearn.errors import ConfigError
from mklearn.kernels.base import Kernel
from mklearn.kernels.gaussian import GaussianKernel
from mklearn.kernels.source import FEATURE_KEYS
from mklearn.kernels.table import KERNELS
from mklearn.loading import load

KernelSpec = str | Mapping[str, Any]
"""A kind, or a mapping with "kind" or "implementation", the parameters of the kernel's class and its input."""


def kernel_class(spec: KernelSpec) -> type[Kernel]:
    """Return the class that a spec names: of a kind of mklearn's own, by default the Gaussian, or ``implementation``.

    Raises `ConfigError` if there is no such kind, or `implementation` is no subclass of `Kernel`.
    """
    given = {"kind": spec} if isinstance(spec, str) else spec
    if "implementation" not in given:
        kind = given.get("kind", "gaussian")
        check_choice(kind, "kind", tuple(KERNELS))
        own: type[Kernel] = load(KERNELS[kind].implementation)
        return own
    implementation = str(given["implementation"])
    found = load(implementation)
    if not (isinstance(found, type) and issubclass(found, Kernel)):
        raise ConfigError(f"`implementation` {implementation!r} is not a subclass of mklearn.kernels.Kernel")
    return found


def spec_mapping(spec: Any, name: object) -> Mapping[str, Any]:
    """Return the spec of a kernel as a mapping; raise `ConfigError` if it is neither that nor a kind."""
    given = {"kind": spec} if isinstance(spec, str) else spec
    if not isinstance(given, Mapping):
        kinds = ", ".join(KERNELS)
        raise ConfigError(f"the spec of kernel {name!r} is {spec!r}; expected a kind ({kinds}) or a mapping")
    return given


def is_one_spec(kernels: Any) -> bool:
    """Return whether these are one spec, and not several, in a sequence or by name.

    A mapping is one spec if it has a key of a spec and no mapping as a value: no kernel is named "kind".
    """
    if isinstance(kernels, str):
        return True
    known = {"id", "kind", "implementation", *FEATURE_KEYS, *declared(GaussianKernel)}
    return (
        isinstance(kernels, Mapping)
        and any(key in known for key in kernels)
        and not any(isinstance(value, Mapping) for value in kernels.values())
    )


def spec_list(kernels: Any) -> list[KernelSpec]:
    """Return one spec, a sequence of specs, or a mapping of names to specs as a list of specs."""
    if is_one_spec(kernels):
        return [kernels]
    if not isinstance(kernels, Mapping):
        return list(kernels)
    specs: list[KernelSpec] = []
    for name, given in kernels.items():
        spec = spec_mapping(given, name)
        if spec.get("id", str(name)) != str(name):
            raise ConfigError(f"kernel {name!r} has the id {spec['id']!r} in its spec; omit `id`")
        specs.append({**spec, "id": str(name)})
    return specs


def spec_parameters(spec: KernelSpec) -> dict[str, Any]:
    """Return the parameters of a kernel on features: those in its spec, and the defaults of the others (else None)."""
    given = {"kind": spec} if isinstance(spec, str) else {key: value for key, value in spec.items() if key != "id"}
    parameters = declared(kernel_class(given)).items()
    defaults = {key: None if each.default is each.empty else each.default for key, each in parameters}
    kind = {} if "implementation" in given else {"kind": "gaussian"}
    of_features = dict.fromkeys(FEATURE_KEYS) | {"impute": "none", "feature_scaling": "none", "missing_views": "error"}
    return {**kind, **of_features, **defaults, **given}


@functools.cache
def declared(of_class: type[Kernel]) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a kernel's class, without its name; ``set_params`` asks for those of every kernel."""
    return {key: each for key, each in inspect.signature(of_class).parameters.items() if key != "name"}

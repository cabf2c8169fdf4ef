"""Specs of kernels: the class that one names, and its parameters as parameters of an estimator."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import Any

from mklearn.checks import check_choice, check_keys
from mklearn.errors import ConfigError
from mklearn.kernels.base import Kernel
from mklearn.kernels.functions import GaussianKernel
from mklearn.kernels.source import FEATURE_KEYS
from mklearn.kernels.table import KERNELS
from mklearn.rows import load

KernelSpec = str | Mapping[str, Any]
"""A kind, or a mapping with "kind" or "implementation", the parameters of the kernel's class and its input."""


def kernel_class(spec: KernelSpec) -> type[Kernel]:
    """Return the class that a spec names: of a kind of mklearn's own, by default the Gaussian, or ``implementation``.

    Raises `ConfigError` if there is no such kind, or `implementation` is no subclass of `Kernel`.
    """
    given = {"kind": spec} if isinstance(spec, str) else spec
    implementation = given.get("implementation")
    if implementation is None:
        kind = given.get("kind", "gaussian")
        check_choice(kind, "kind", tuple(KERNELS))
        implementation = KERNELS[kind].implementation
    of_class = load(str(implementation))
    if not (isinstance(of_class, type) and issubclass(of_class, Kernel)):
        raise ConfigError(f"`implementation` {implementation!r} is not a subclass of mklearn.kernels.Kernel")
    return of_class


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


def kernel_parameters(kernels: Any) -> dict[str, Any]:
    """Return the specs of kernels (one spec, a sequence, or a mapping of names to specs) and their parameters.

    Of one spec these are its parameters, "bandwidth"; else the spec of each kernel, "gist", and its parameters,
    "gist__bandwidth". Parameters of a transformer follow its own, "gist__preprocessing__n_components". Nothing of specs
    that are not valid: ``fit`` says what is wrong with them.
    """
    if is_one_spec(kernels):
        return _parameters_of(kernels)
    found: dict[str, Any] = {}
    for name, spec in _named(kernels).items():
        found[name] = spec
        found |= {f"{name}__{key}": value for key, value in _parameters_of(spec).items()}
    return found


def with_kernel_parameters(kernels: Any, changes: Mapping[str, Any]) -> Any:
    """Return specs, as for `kernel_parameters`, with some parameters changed, by its keys: one, or specs by name.

    The given ones stay as they are. Raises `ConfigError` if there is no such kernel or parameter.
    """
    if is_one_spec(kernels):
        unnamed = [key for key in changes if "__" in key and not key.startswith("preprocessing__")]
        if unnamed:
            first = unnamed[0].partition("__")[0]
            raise ConfigError(
                f"{unnamed[0]}: `kernels` is one spec, so that there is no kernel {first!r} to change; name them, "
                f"e.g. kernels={{{first!r}: {kernels!r}, ...}}"
            )
        return _changed(kernels, changes, "the kernel")
    specs = _named(kernels)
    names = sorted(specs, key=len, reverse=True)  # a name may begin with another one
    nested: dict[str, dict[str, Any]] = {}
    for key, value in changes.items():
        if key in specs:
            specs[key] = value
            continue
        name = next((name for name in names if key.startswith(f"{name}__")), None)
        if name is None:
            check_keys([key.partition("__")[0]], list(specs), "`kernels`")
        else:
            nested.setdefault(name, {})[key.removeprefix(f"{name}__")] = value
    for name, parameters in nested.items():
        specs[name] = _changed(specs[name], parameters, f"kernel {name!r}")
    return specs


def _named(kernels: Any) -> dict[str, Any]:
    """Return specs by name, without their ids; none if these are no specs."""
    try:
        specs = spec_list(kernels)
    except (ConfigError, TypeError):
        return {}
    named: dict[str, Any] = {}
    for number, spec in enumerate(specs):
        if isinstance(spec, Mapping):
            named[str(spec.get("id", number))] = {key: value for key, value in spec.items() if key != "id"}
        else:
            named[str(number)] = spec
    return named


def _parameters_of(spec: Any) -> dict[str, Any]:
    try:
        parameters = spec_parameters(spec)
    except (ConfigError, AttributeError, TypeError):
        return {}
    preprocessing: Any = parameters.get("preprocessing")
    if hasattr(preprocessing, "get_params"):
        parameters |= {f"preprocessing__{key}": value for key, value in preprocessing.get_params().items()}
    return parameters


def _changed(spec: Any, changes: Mapping[str, Any], owner: str) -> dict[str, Any]:
    changed = {"kind": spec} if isinstance(spec, str) else dict(spec)
    of_transformer = {}
    for key, value in changes.items():
        if key.startswith("preprocessing__"):
            of_transformer[key.removeprefix("preprocessing__")] = value
        else:
            changed[key] = value
    of_class = spec_parameters({key: changed[key] for key in ("kind", "implementation") if key in changed})
    check_keys(changed, ["id", "implementation", *of_class], owner)
    if of_transformer:
        if not hasattr(changed.get("preprocessing"), "set_params"):
            raise ConfigError(f"{owner} has no `preprocessing` with parameters; got {', '.join(of_transformer)}")
        from sklearn.base import clone

        changed["preprocessing"] = clone(changed["preprocessing"]).set_params(**of_transformer)
    return changed

"""Kernel specs: the class that a spec names, and its parameters as parameters of an estimator."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from mklearn.checks import check_choice, check_keys
from mklearn.errors import ConfigError
from mklearn.kernels.base import Kernel
from mklearn.kernels.functions import GaussianKernel
from mklearn.kernels.source import FEATURE_KEYS
from mklearn.kernels.table import KERNELS
from mklearn.rows import load

KernelSpec = str | Mapping[str, Any]
"""A kind, or a mapping with "kind" or "implementation", parameters of the kernel's class, and keys for its input."""
KernelSpecs = Sequence[KernelSpec] | Mapping[str, Any] | str
"""A sequence of specs, a mapping of names to specs, or one spec."""


def kernel_class(spec: KernelSpec) -> type[Kernel]:
    """Return the class that a spec names by "kind" (default: "gaussian") or by "implementation".

    Raises `ConfigError` if the kind does not exist, or `implementation` is not a subclass of `Kernel`.
    """
    spec = {"kind": spec} if isinstance(spec, str) else spec
    implementation = spec.get("implementation")
    if implementation is None:
        kind = spec.get("kind", "gaussian")
        check_choice(kind, "kind", tuple(KERNELS))
        implementation = KERNELS[kind].implementation
    of_class = load(str(implementation))
    if not (isinstance(of_class, type) and issubclass(of_class, Kernel)):
        raise ConfigError(f"`implementation` {implementation!r} is not a subclass of mklearn.kernels.Kernel")
    return of_class


@functools.cache
def declared(of_class: type[Kernel]) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a kernel class except `name`; cached for ``set_params``."""
    return {key: each for key, each in inspect.signature(of_class).parameters.items() if key != "name"}


def is_one_spec(kernels: Any) -> bool:
    """Return whether `kernels` is a single spec rather than a sequence or a mapping of names to specs.

    A mapping is a single spec if it has a key of a spec and no mapping as a value: no kernel can be named "kind".
    """
    if isinstance(kernels, str):
        return True
    keys = {"id", "kind", "implementation", *FEATURE_KEYS, *declared(GaussianKernel)}
    return (
        isinstance(kernels, Mapping)
        and any(key in keys for key in kernels)
        and not any(isinstance(value, Mapping) for value in kernels.values())
    )


def spec_list(kernels: Any) -> list[dict[str, Any]]:
    """Return one spec, a sequence of specs, or a mapping of names to specs as a list of mappings with "id".

    Raises `ConfigError` for a spec that is neither a kind nor a mapping, or whose "id" differs from its name.
    """
    named = kernels.items() if isinstance(kernels, Mapping) and not is_one_spec(kernels) else None
    specs = []
    for name, spec in enumerate([kernels] if is_one_spec(kernels) else kernels) if named is None else named:
        mapping = {"kind": spec} if isinstance(spec, str) else spec
        if not isinstance(mapping, Mapping):
            kinds = ", ".join(KERNELS)
            raise ConfigError(f"the spec of kernel {name!r} is {spec!r}; expected a kind ({kinds}) or a mapping")
        specs.append({**mapping, "id": str(mapping.get("id", name))})
        if named is not None and specs[-1]["id"] != str(name):
            raise ConfigError(f"kernel {name!r} has the id {mapping['id']!r} in its spec; omit `id`")
    return specs


def kernel_parameters(kernels: Any) -> dict[str, Any]:
    """Return the parameters of kernels (one spec, a sequence, or a mapping of names to specs) for ``get_params``.

    A single spec has keys such as "bandwidth". Several specs have keys such as "gist", whose value is the spec, and
    "gist__bandwidth". Parameters of a transformer have keys such as "gist__preprocessing__n_components". Invalid specs
    have no parameters; ``fit`` reports their errors.
    """
    if is_one_spec(kernels):
        return _parameters_of(kernels)
    parameters: dict[str, Any] = {}
    for name, spec in _named(kernels).items():
        parameters |= {name: spec, **{f"{name}__{key}": value for key, value in _parameters_of(spec).items()}}
    return parameters


def with_kernel_parameters(kernels: Any, changes: Mapping[str, Any]) -> Any:
    """Return a copy of specs with parameters changed by the keys of `kernel_parameters`: one spec, or specs by name.

    Raises `ConfigError` if a kernel or parameter does not exist.
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
    names = sorted(specs, key=len, reverse=True)  # longest first: a name may be the prefix of another one
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
    """Return specs by name, without their ids; an empty mapping if `kernels` holds no specs."""
    try:
        return {spec.pop("id"): spec for spec in spec_list(kernels)}
    except (ConfigError, TypeError):
        return {}


def _parameters_of(spec: KernelSpec) -> dict[str, Any]:
    """Return the parameters of a kernel of features: values of the spec, else defaults, else None."""
    mapping = {"kind": spec} if isinstance(spec, str) else {key: value for key, value in spec.items() if key != "id"}
    try:
        parameters = declared(kernel_class(mapping)).items()
    except (ConfigError, TypeError):
        return {}
    defaults = {key: None if each.default is each.empty else each.default for key, each in parameters}
    kind = {} if "implementation" in mapping else {"kind": "gaussian"}
    of_features = dict.fromkeys(FEATURE_KEYS) | {"impute": "none", "feature_scaling": "none", "missing_views": "error"}
    every = {**kind, **of_features, **defaults, **mapping}
    preprocessing: Any = every["preprocessing"]
    if hasattr(preprocessing, "get_params"):
        every |= {f"preprocessing__{key}": value for key, value in preprocessing.get_params().items()}
    return every


def _changed(spec: KernelSpec, changes: Mapping[str, Any], owner: str) -> dict[str, Any]:
    """Return a spec with changed parameters of the kernel and of its transformer."""
    changed: dict[str, Any] = {"kind": spec} if isinstance(spec, str) else dict(spec)
    prefix = "preprocessing__"
    of_transformer = {key.removeprefix(prefix): value for key, value in changes.items() if key.startswith(prefix)}
    changed |= {key: value for key, value in changes.items() if not key.startswith(prefix)}
    kernel_class(changed)
    valid = _parameters_of({key: changed[key] for key in ("kind", "implementation") if key in changed})
    check_keys(changed, ["id", "implementation", *valid], owner)
    if of_transformer:
        if not hasattr(changed.get("preprocessing"), "set_params"):
            raise ConfigError(f"{owner} has no `preprocessing` with parameters; got {', '.join(of_transformer)}")
        from sklearn.base import clone

        changed["preprocessing"] = clone(changed["preprocessing"]).set_params(**of_transformer)
    return changed

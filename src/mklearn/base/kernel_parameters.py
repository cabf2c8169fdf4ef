"""Parameters of named kernels as parameters of the estimator that has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import clone

from mklearn.checks import check_keys
from mklearn.errors import ConfigError
from mklearn.kernels.specs import is_one_spec, spec_list, spec_parameters


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
        changed["preprocessing"] = clone(changed["preprocessing"]).set_params(**of_transformer)
    return changed

"""What a study can name: descriptors, kernels, methods and protocols, mklearn's own and those of installed packages.

There is one model per kind, with its title, its reference and its implementation. They are made from ``registry.json``,
so that nothing numerical is imported; a package's own are imported.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from importlib.metadata import EntryPoint
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field
from pydantic_core import PydanticUndefined

from mklearn.cards import own_entries
from mklearn.contract.extensions import entry_points, names_registry, own_registries, package_of, registry_file
from mklearn.contract.model import Registered
from mklearn.descriptors.models import Descriptor, Table
from mklearn.errors import ConfigError, nearest
from mklearn.kernels.models import Kernel
from mklearn.study.config.generated_models import descriptor_model, kernel_model, method_model, protocol_model
from mklearn.study.config.protocols import Protocol
from mklearn.study.data.registry import Entry, entry, registry
from mklearn.study.specs.field_texts import field_texts
from mklearn.study.specs.method import Method

_MADE_BY: dict[str, Callable[[Mapping[str, Any]], type[Registered]]] = {
    "descriptors": descriptor_model,
    "kernels": kernel_model,
    "methods": method_model,
    "protocols": protocol_model,
}
"""What makes a model from an entry of the registry, by sort."""


@dataclass(frozen=True)
class Registration:
    """A registered model; ``package`` is empty for mklearn's own."""

    model: type[Registered]
    package: str = ""


@dataclass(frozen=True)
class Description:
    """What is told to people about a registered model; ``package`` is empty for mklearn's own."""

    kind: str
    title: str
    about: str
    reference: str
    advice: str
    package: str


def _registered(what: str) -> tuple[dict[str, Registration], list[str]]:
    """Return the models of one sort by kind, and a message for each entry point that can't be used."""
    found = {kind: Registration(_MADE_BY[what](entry)) for kind, entry in own_entries(what).items()}
    found |= {"table": Registration(Table)} if what == "descriptors" else {}
    problems = []
    for point in entry_points()[what]:
        package = package_of(point)
        if point in own_registries(what):  # among mklearn's own
            continue
        try:
            for entry in _entries_of(what, point):
                if entry["kind"] in found:
                    by = found[entry["kind"]].package or "mklearn"
                    raise ConfigError(f"kind {entry['kind']!r} is registered already, by {by}.")
                found[entry["kind"]] = Registration(_MADE_BY[what](entry), package)
        except Exception as error:  # whatever importing the package raises
            text = error if isinstance(error, ConfigError) else f"{type(error).__name__}: {error}"
            problems.append(f"package {package}: entry point {point.name!r} (mklearn.{what}) can't be loaded: {text}")
    return found, problems


def _entries_of(what: str, point: EntryPoint) -> list[Mapping[str, Any]]:
    """Return the entries that an entry point names: a file of them, or an implementation with a card."""
    if names_registry(point):
        return list(registry_file(point)[what].values())
    from mklearn.study.config.registry_entries import entry_of  # imports scikit-learn, as implementations may

    return [entry_of(what, point.load())]


_LOADED = {what: _registered(what) for what in _MADE_BY}
REGISTRATIONS: dict[str, dict[str, Registration]] = {what: found for what, (found, _) in _LOADED.items()}
PROBLEMS: tuple[str, ...] = tuple(text for _, problems in _LOADED.values() for text in problems)
"""Why entry points of installed packages can't be used; a study is not planned before they are corrected."""


def check_packages() -> None:
    """Raise a ConfigError with all `PROBLEMS`, if there are any."""
    if PROBLEMS:
        advice = "Correct, update or uninstall the package."
        raise ConfigError("\n".join([*PROBLEMS, advice]))


def _union(what: str) -> Any:
    models = [registration.model for registration in REGISTRATIONS[what].values()]
    return Annotated[reduce(or_, models), Field(discriminator="kind")]


if TYPE_CHECKING:  # unions of what is installed can't be checked statically
    DescriptorConfig = Descriptor
    KernelConfig = Kernel
    MethodConfig = Method
    ProtocolConfig = Protocol
else:
    DescriptorConfig = _union("descriptors")
    KernelConfig = _union("kernels")
    MethodConfig = _union("methods")
    ProtocolConfig = _union("protocols")


def registered(what: str) -> dict[str, type[Registered]]:
    """Return the models of descriptors, kernels, methods or protocols by kind.

    Raises
    ------
    ConfigError
        ``what`` is none of these.
    """
    if what not in REGISTRATIONS:
        raise ConfigError(f"nothing of the name {what!r} is registered; expected {', '.join(REGISTRATIONS)}.")
    return {kind: registration.model for kind, registration in REGISTRATIONS[what].items()}


def description(kind: str, registration: Registration) -> Description:
    """Return the title, the paper and the advice of a registered model, each on one line."""
    model = registration.model
    about = _one_line(inspect.getdoc(model))
    return Description(kind, model.title or about, about, model.reference, model.advice, registration.package)


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def describe_all(what: str) -> str:
    """Return a listing for people: of the above, or of data sets."""
    check_packages()
    if what == "datasets":
        return "\n\n".join(map(_dataset, registry().values()))
    registered(what)
    return "\n\n".join(_model(kind, registration) for kind, registration in REGISTRATIONS[what].items())


def describe_one(what: str, name: str) -> str:
    """Return the entry of one kind, or data set, in such a listing.

    Raises
    ------
    ConfigError
        There is none of this name; the nearest is named.
    """
    check_packages()
    if what == "datasets":
        return _dataset(entry(name))
    known = registered(what)
    if name not in known:
        raise ConfigError(
            f"there is no {what.removesuffix('s')} {name!r}.{nearest(name, known)} Valid: {', '.join(known)}."
        )
    found = description(name, REGISTRATIONS[what][name])
    title, *rest = _model(name, REGISTRATIONS[what][name]).splitlines()
    advice = [f"  {found.advice}"] if found.advice else []
    return "\n".join([title, f"  {found.about}", *advice, *rest])


def _dataset(entry: Entry) -> str:
    size = ", ".join(f"{name.replace('n_', '')} {value}" for name, value in entry.expected.items())
    lines = [f"{entry.id}: {entry.title}", *_package(entry.package), f"  {size}", f"  licence: {entry.licence}"]
    if entry.merge:
        lines.append(f"  classes: {', '.join(entry.merge)}, merged from those of {entry.of}")
    if entry.released_splits:
        lines.append("  published splits: protocol released")
    if entry.missing_views == "mean":
        lines.append("  samples that lack a table are at the mean of the training samples there")
    lines += [f"  {entry.citation}", *([f"  note: {entry.note}"] if entry.note else []), f"  {entry.homepage}"]
    return "\n".join(lines)


def _model(kind: str, registration: Registration) -> str:
    about = description(kind, registration)
    lines = [f"{kind}: {about.title}", *_package(about.package)]
    if about.reference:
        lines.append(f"  {about.reference}")
    texts = field_texts(registration.model)
    for name, field in registration.model.model_fields.items():
        if name != "kind":
            default = "required" if field.default is PydanticUndefined else f"default {field.default!r}"
            meaning = _one_line(field.description or texts.get(name))
            lines.append(f"    {name} ({default}){': ' if meaning else ''}{meaning}")
    return "\n".join(lines)


def _package(package: str) -> list[str]:
    return [f"  package: {package}"] if package else []

"""Entries of the registry, read from implementations: their cards, signatures, constraints and docstrings.

``python -m mklearn.study.config.registry_entries`` (``make schema``) writes those of mklearn's core and of its papers
to the ``registry.json`` of each. With the name of a package it writes that package's, for an entry point such as
``"my_package:registry.json"``.
"""

from __future__ import annotations

import importlib
import inspect
import json
import math
import pkgutil
import re
import sys
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files as package_files
from numbers import Integral
from pathlib import Path
from typing import Any

from sklearn.base import ClassifierMixin, RegressorMixin

from mklearn.base.parameters import Interval, StrOptions
from mklearn.cards import REGISTRY, Card, DescriptorCard, Input, KernelCard, MethodCard, MetricCard, ProtocolCard
from mklearn.contract.extensions import own_registries
from mklearn.descriptors import models as descriptor_models
from mklearn.errors import ConfigError
from mklearn.kernels import models as kernel_models
from mklearn.study.config import protocols
from mklearn.study.evaluation.metrics.metric import metric_entry
from mklearn.study.specs import method

CARDS: dict[str, type[Card]] = {
    "methods": MethodCard,
    "kernels": KernelCard,
    "descriptors": DescriptorCard,
    "protocols": ProtocolCard,
    "metrics": MetricCard,
}
"""The card of each sort."""
CORE = (
    "mklearn.subspace",
    "mklearn.classifiers",
    "mklearn.regressors",
    "mklearn.kernels",
    "mklearn.descriptors",
    "mklearn.study.data",
    "mklearn.study.evaluation.metrics",
)
"""Where the core's own implementations lie."""
DATA_OF_A_PROTOCOL = ("target", "ids", "groups", "files", "test_ids", "seed", "name", "classes")
"""What the functions of protocols take beside their parameters."""


def registry_of(packages: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the entries of what has a card in the modules of some packages, by sort and kind."""
    found: dict[str, dict[str, Any]] = {sort: {} for sort in CARDS}
    for implementation in _implementations(packages):
        sort = next(sort for sort, card in CARDS.items() if isinstance(_card(implementation), card))
        entry = entry_of(sort, implementation)
        found[sort][entry["kind"]] = entry
    return found


def entry_of(sort: str, implementation: Any) -> dict[str, Any]:
    """Return the entry of a method, kernel, descriptor, protocol or metric.

    Raises
    ------
    ConfigError
        It has no card, or a parameter without valid values.
    """
    if sort == "metrics":
        return metric_entry(implementation)
    card = _card(implementation)
    if not isinstance(card, CARDS[sort]):
        raise ConfigError(f"{_name(implementation)} has no mklearn.cards.{CARDS[sort].__name__}.")
    if isinstance(card, MethodCard):
        return _method_entry(card, implementation)
    if isinstance(card, DescriptorCard):
        return _descriptor_entry(card, implementation)
    if isinstance(card, ProtocolCard):
        return _protocol_entry(card, implementation)
    return _kernel_entry(card, implementation)


def _implementations(packages: Sequence[str]) -> Iterator[Any]:
    """Yield what has a card in the modules of some packages."""
    for name in packages:
        package = importlib.import_module(name)
        for found in sorted(pkgutil.iter_modules(package.__path__), key=lambda found: found.name):
            module = importlib.import_module(f"{package.__name__}.{found.name}")
            for implementation in vars(module).values():
                if getattr(implementation, "__module__", "") == module.__name__ and _card(implementation):
                    yield implementation


def _card(implementation: Any) -> Card | None:
    """Return the card of a class or function; not that of a base class."""
    card = getattr(implementation, "__dict__", {}).get("card_")
    return card if isinstance(card, Card) else None


def _descriptor_entry(card: DescriptorCard, implementation: Any) -> dict[str, Any]:
    """Return the entry of a descriptor."""
    common = {*getattr(descriptor_models, card.base).model_fields, "images", "learned"}
    learns = f"{implementation.__module__}:{card.learns}" if card.learns else ""
    told = {"bases": [card.base], "measure": card.measure, "learns": learns, "images_per_job": card.images_per_job}
    told |= {"one_size": True} if card.one_size else {}
    return _entry(card, implementation, common) | told


def _protocol_entry(card: ProtocolCard, implementation: Any) -> dict[str, Any]:
    """Return the entry of a protocol."""
    common = {*getattr(protocols, card.base).model_fields, *DATA_OF_A_PROTOCOL}
    exclusive = [list(told) for told in card.exclusive]
    told = {"bases": [card.base], "exclusive": exclusive} | ({"holds_groups": True} if card.holds_groups else {})
    return _entry(card, implementation, common) | told | _targets(card)


def _kernel_entry(card: Card, implementation: Any) -> dict[str, Any]:
    """Return the entry of a kernel."""
    base = "Product" if implementation.measures == ("product",) else "DescriptorKernel"
    base = "MatrixKernel" if implementation.measures == ("kernel",) else base
    common = {*getattr(kernel_models, base).model_fields, "name"} | {"measure"} - {*card.valid}
    return _entry(card, implementation, common) | {"bases": [base], "measures": list(implementation.measures)}


def _method_entry(card: MethodCard, implementation: Any) -> dict[str, Any]:
    """Return the entry of an estimator, or of a function that makes one."""
    bases = _bases(card, implementation)
    common = {name for base in bases for name in getattr(method, base).model_fields}
    named = {
        given.field or name: _descriptor_field(given)
        for name, given in list(card.inputs.items())[1:]
        if given.kind == "features"
    }
    entry = _entry(card, implementation, common | set(card.parts) | set(named))
    fields = entry["fields"]
    for name in card.tuned:
        fields[name]["tuned"] = True
    texts = _parameter_texts(implementation)
    return (
        entry
        | _targets(card)
        | {
            "parts": {
                name: {
                    "of": _name(part.of),
                    "without": list(part.without),
                    "default": part.default,
                    "about": texts[name],
                }
                for name, part in card.parts.items()
            },
            "fields": {**named, **{name: fields[name] for name in (*card.tuned, *fields)}},
            "bases": bases,
            "part_of": _part_classes(implementation),
            "inputs": {name: asdict(given) for name, given in card.inputs.items()},
            "learns_weights": card.learns_weights,
            "fits_each_kernel": card.fits_each_kernel,
            "fit_seconds": card.fit_seconds,
            "needs_kernels": {name: list(values) for name, values in card.needs_kernels.items()},
            "refit": asdict(card.refit) if card.refit else None,
            "order_decides": card.order_decides,
            "in_model_files": card.in_model_files,
        }
    )


def _targets(card: MethodCard | ProtocolCard) -> dict[str, Any]:
    """Return the kinds of target, where they are others than classes."""
    return {} if tuple(card.targets) == ("classes",) else {"targets": list(card.targets)}


def _part_classes(implementation: Any) -> list[str]:
    """Return the classes by which the core's methods take an estimator as one of their parts."""
    bases = inspect.getmro(implementation) if isinstance(implementation, type) else ()
    cards = map(_card, _implementations(CORE))
    classes = {part.of for card in cards if isinstance(card, MethodCard) for part in card.parts.values()}
    return [_name(base) for base in bases if base in classes]


def _bases(card: MethodCard, implementation: Any) -> list[str]:
    """Return the names of the bases of a method's model: what it takes, then what it gives."""
    taken = {name for name in inspect.signature(implementation).parameters if name not in card.library_only}
    first = next(iter(card.inputs.values()))
    found = []
    if first.kind == "kernels":
        fixed = "kernel_weights" in taken and not _choices(implementation, card, "kernel_weights")
        found += ["LandmarkMethod"] * ("landmarks" in taken) + ["FixedCombination"] * fixed
        found = found or ["DictionaryMethod" if first.dictionary else "KernelMethod"]
    elif first.several:
        found.append("ConcatenationMethod")
    elif first.kind == "features":
        found.append("DescriptorMethod" if "feature_scaling" in taken else "FeatureMethod")
    if first.kind == "images":
        return ["ImageMethod"]
    if isinstance(implementation, type) and not issubclass(implementation, ClassifierMixin | RegressorMixin):
        return found + ["RefittedMethod"] * bool(card.refit) + ["Embedding"]
    return [*found, "RefittedClassifier" if card.refit else "Classifier"]


def _descriptor_field(given: Input) -> dict[str, Any]:
    name: dict[str, Any] = {"type": "string", "pattern": r"^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$", "maxLength": 60}
    name = {"anyOf": [{"type": "null"}, name]} if given.optional else name
    default = {} if given.default is None else {"default": given.default}
    return {"valid": name, "tuned": False, "about": given.about} | default


def _entry(card: Card, implementation: Any, common: set[str]) -> dict[str, Any]:
    """Return what every entry has; ``common`` are the fields of all of a sort."""
    texts = _parameter_texts(implementation)
    fields = {}
    for name, parameter in inspect.signature(implementation).parameters.items():
        if name in {*common, *card.library_only, "random_state"}:
            continue
        field = {"valid": _valid(implementation, card, name), "tuned": False, "about": texts.get(name, "")}
        default = card.defaults.get(name, parameter.default)
        default = list(default) if isinstance(default, tuple) else default
        fields[name] = field if default is inspect.Parameter.empty else field | {"default": default}
    return {
        "kind": card.kind,
        "name": implementation.__name__,
        "implementation": _name(implementation),
        "title": card.title,
        "about": card.about or _paragraph((inspect.getdoc(implementation) or "").split("\n\n")[0]),
        "reference": card.reference,
        "advice": card.advice,
        "fields": fields,
    }


def _name(implementation: Any) -> str:
    return f"{implementation.__module__}:{implementation.__name__}"


# --- valid values


def _valid(implementation: Any, card: Card, name: str) -> dict[str, Any]:
    """Return the JSON schema of a parameter's valid values in a study."""
    choices = _choices(implementation, card, name)
    if not choices:
        raise ConfigError(f"{_name(implementation)}: parameter {name!r} has no valid values that a study can name.")
    return choices[0] if len(choices) == 1 else {"anyOf": choices}


def _choices(implementation: Any, card: Card, name: str) -> list[dict[str, Any]]:
    if name not in card.valid and not hasattr(implementation, "_parameter_constraints"):
        return _annotated(typing.get_type_hints(implementation).get(name))
    given = card.valid.get(name, getattr(implementation, "_parameter_constraints", {}).get(name, ()))
    return [found for constraint in given if (found := _schema(constraint))]


def _annotated(annotation: Any) -> list[dict[str, Any]]:
    """Return the JSON schemas of the values that an annotation allows; none for types that a study can't name."""
    if isinstance(annotation, types.UnionType):
        return [schema for member in typing.get_args(annotation) for schema in _annotated(member)]
    if typing.get_origin(annotation) is typing.Literal:
        return [{"enum": list(typing.get_args(annotation))}]
    names = {int: "integer", float: "number", bool: "boolean", types.NoneType: "null"}
    return [{"type": names[annotation]}] if annotation in names else []


def _schema(constraint: Any) -> dict[str, Any]:
    """Return a constraint of scikit-learn as a JSON schema; empty for what is no value of a study, such as an array."""
    if isinstance(constraint, Mapping):
        return dict(constraint)
    if constraint is None:
        return {"type": "null"}
    if constraint == "boolean":
        return {"type": "boolean"}
    if isinstance(constraint, StrOptions):
        return {"enum": sorted(constraint.options)}
    if isinstance(constraint, Interval):
        found: dict[str, Any] = {"type": "integer" if constraint.type is Integral else "number"}
        ends = {("left", "minimum"): constraint.left, ("right", "maximum"): constraint.right}
        for (side, name), end in ends.items():
            if end is not None and math.isfinite(end):
                closed = constraint.closed in (side, "both")
                found[name if closed else f"exclusive{name.capitalize()}"] = int(end) if end == int(end) else end
        return found
    return {}


# --- texts


_SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-+$|\Z)", re.MULTILINE | re.DOTALL)
_PARAMETER = re.compile(r"^(\w[\w, ]*?)(?: : .*)?\n((?:[ ]+.*\n?|\n)*)", re.MULTILINE)


def _parameter_texts(implementation: Any) -> dict[str, str]:
    """Return the texts of parameters in the numpydoc docstrings of a function, or of a class and its bases."""
    found: dict[str, str] = {}
    for described in inspect.getmro(implementation) if isinstance(implementation, type) else (implementation,):
        section = _SECTION.search(inspect.cleandoc(described.__doc__ or ""))
        for names, text in _PARAMETER.findall(f"{section[1]}\n" if section else ""):
            for name in names.split(","):
                found.setdefault(name.strip(), _paragraph(text))
    return found


def _paragraph(text: str) -> str:
    return " ".join(re.sub(r"\s*\[\d+\]_", "", text).split())  # without references


def write_registry(path: Path, packages: Sequence[str]) -> None:
    """Write the registry of some packages, each entry on a line of its own."""
    sorts = [
        f"{json.dumps(sort)}: {{\n"
        + ",\n".join(f"{json.dumps(kind)}: {json.dumps(entry)}" for kind, entry in found.items())
        for sort, found in registry_of(packages).items()
    ]
    path.write_text("{" + "\n},\n".join(sorts) + "\n}}\n", encoding="utf-8")


def main(packages: Sequence[str]) -> None:
    """Write the registry of each package; of mklearn's core and its papers if none is given."""
    if not packages:
        write_registry(REGISTRY, CORE)
        packages = sorted({point.module for sort in CARDS for point in own_registries(sort)})
    for package in packages:
        write_registry(Path(str(package_files(package).joinpath(REGISTRY.name))), [package])


if __name__ == "__main__":
    main(sys.argv[1:])

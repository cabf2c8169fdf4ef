"""Models of what a study can name, made from entries of the registry: see :mod:`mklearn.cards`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from mklearn.cards import Input, Refit, own_entries
from mklearn.descriptors import models as descriptors
from mklearn.descriptors.models import Descriptor
from mklearn.kernels import models as kernels
from mklearn.kernels.models import Kernel
from mklearn.study.config import protocols
from mklearn.study.config.protocols import Protocol
from mklearn.study.specs import method
from mklearn.study.specs.method import Method, Tuned

BOUNDS = {
    "minimum": "ge", "exclusiveMinimum": "gt", "maximum": "le", "exclusiveMaximum": "lt",
    "minItems": "min_length", "maxLength": "max_length", "pattern": "pattern",
}  # fmt: skip
"""Names of JSON schema's bounds in pydantic."""
TYPES: dict[str, Any] = {"integer": int, "number": float, "boolean": bool, "string": str, "null": None}


def annotation(schema: Mapping[str, Any]) -> Any:
    """Return the type of the values that a JSON schema allows: of the few forms that entries of the registry have."""
    if "anyOf" in schema:
        return reduce(or_, map(annotation, schema["anyOf"]))
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    if "prefixItems" in schema:
        return tuple[tuple(map(annotation, schema["prefixItems"]))]  # type: ignore[misc]
    kind = list[annotation(schema["items"])] if schema["type"] == "array" else TYPES[schema["type"]]  # type: ignore[misc]
    bounds = {name: schema[key] for key, name in BOUNDS.items() if key in schema}
    return Annotated[kind, Field(**bounds)] if bounds else kind


def method_model(entry: Mapping[str, Any]) -> type[Method]:
    """Return the model of a method."""
    bases = tuple(getattr(method, name) for name in entry["bases"])
    made: type[Method] = generated_model(entry, bases, {name: _part(part) for name, part in entry["parts"].items()})
    made.inputs = {name: Input(**given) for name, given in entry["inputs"].items()}
    made.weights_are_learned, made.targets = entry["learns_weights"], entry.get("targets", ["classes"])
    made.in_model_files = entry.get("in_model_files", True)
    made.order_decides = entry.get("order_decides", False)
    if issubclass(made, method.LandmarkMethod):
        made.unsuited = entry["needs_kernels"]
    if issubclass(made, method.RefittedMethod | method.RefittedClassifier):
        made.refit = Refit(**entry["refit"])
    return made


def kernel_model(entry: Mapping[str, Any]) -> type[Kernel]:
    """Return the model of a kernel."""
    made: type[Kernel] = generated_model(entry, tuple(getattr(kernels, name) for name in entry["bases"]))
    if issubclass(made, kernels.DescriptorKernel):
        made.measures = tuple(entry["measures"])
    return made


def descriptor_model(entry: Mapping[str, Any]) -> type[Descriptor]:
    """Return the model of a descriptor."""
    made: type[Descriptor] = generated_model(entry, tuple(getattr(descriptors, name) for name in entry["bases"]))
    made.learns, made.images_per_job = entry["learns"], entry["images_per_job"]
    made.one_size = entry.get("one_size", False)
    if not made.point_sets:
        made.measure = entry["measure"]
    return made


def protocol_model(entry: Mapping[str, Any]) -> type[Protocol]:
    """Return the model of a protocol."""
    made: type[Protocol] = generated_model(entry, tuple(getattr(protocols, name) for name in entry["bases"]))
    made.exclusive, made.targets = entry["exclusive"], entry.get("targets", ["classes"])
    made.holds_groups = entry.get("holds_groups", False)
    return made


def _part(part: Mapping[str, Any]) -> Any:
    """Return type and default of a parameter that is one of several estimators."""
    models = []
    for entry in own_entries("methods").values():
        if part["of"] not in entry["part_of"]:
            continue
        fields = {name: field for name, field in entry["fields"].items() if name not in part["without"]}
        models.append(
            generated_model({**entry, "name": f"{entry['name']}Part", "fields": fields}, (method.MethodPart,))
        )
    union: Any = Annotated[reduce(or_, models), Field(discriminator="kind")]
    return union, Field(default={"kind": part["default"]}, validate_default=True, description=part["about"])


def generated_model(entry: Mapping[str, Any], bases: tuple[type[Any], ...], others: Mapping[str, Any] = {}) -> Any:
    """Return a model with the fields of an entry of the registry, beside those of its bases and ``others``."""
    fields: dict[str, Any] = {"kind": (Literal[entry["kind"]], ...)}
    for name, given in entry["fields"].items():
        valid: Any = annotation(given["valid"])
        tuned: Any = Tuned
        described = Field(default=given.get("default", ...), description=given["about"] or None)
        fields[name] = (tuned[valid] if given["tuned"] else valid, described)
    made: Any = create_model(entry["name"], __base__=bases, __doc__=entry["about"], **fields, **others)
    for told in ("implementation", "title", "reference", "advice"):
        setattr(made, told, entry[told])
    return made

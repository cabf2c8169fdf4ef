"""Models of what a study can name, made from entries of the registry: see :mod:`mklearn.cards`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from mklearn.cards import Input, Refit
from mklearn.contract import method
from mklearn.contract.method import Method, Tuned

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
    made: type[Method] = generated_model(entry, bases)
    made.inputs = {name: Input(**given) for name, given in entry["inputs"].items()}
    made.weights_are_learned = entry["learns_weights"]
    if issubclass(made, method.LandmarkMethod):
        made.unsuited = entry["needs_kernels"]
    if issubclass(made, method.RefittedMethod | method.RefittedClassifier):
        made.refit = Refit(**entry["refit"])
    return made


def generated_model(entry: Mapping[str, Any], bases: tuple[type[Any], ...]) -> Any:
    """Return a model with the fields of an entry of the registry, beside those of its bases."""
    fields: dict[str, Any] = {"kind": (Literal[entry["kind"]], ...)}
    for name, given in entry["fields"].items():
        valid: Any = annotation(given["valid"])
        tuned: Any = Tuned
        fields[name] = (
            tuned[valid] if given["tuned"] else valid,
            Field(default=given.get("default", ...), description=given["about"] or None),
        )
    made: Any = create_model(entry["name"], __base__=bases, __doc__=entry["about"], **fields)
    for told in ("implementation", "title", "reference", "advice"):
        setattr(made, told, entry[told])
    return made

"""The JSON schema of study files, by which editors complete and check them."""

from __future__ import annotations

import json
from typing import Any, get_args

from mklearn.contract.model import Strict
from mklearn.study.config.entries import Descriptor, Kernel, Protocol
from mklearn.study.config.method import Method
from mklearn.study.config.mistakes import GIVEN
from mklearn.study.config.model import Study
from mklearn.study.specs.field_texts import field_texts


def study_schema() -> str:
    """Return the schema as text; installed packages that add to mklearn are in it."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Study.model_json_schema()}
    for model in _models_in(Study, set()):
        properties = (schema if model is Study else schema["$defs"].get(model.__name__, {})).get("properties", {})
        for name, text in field_texts(model).items():
            if name in properties:
                properties[name].setdefault("description", text)
    for entry in (Descriptor, Kernel, Method, Protocol):
        form = schema["$defs"][entry.__name__]
        del form["properties"][GIVEN]
        form["additionalProperties"] = True  # parameters of the implementation
        for name in entry.either:  # which have other values where they are parameters
            form["properties"][name] = {"description": form["properties"][name]["description"]}
    datasets = schema["properties"]["datasets"]
    for forms in datasets["patternProperties"].values():  # `digits:` without a value
        forms["oneOf"].append({"type": "null"})
    names = {"type": "array", "items": {"type": "string"}, "description": "Names of registered data sets."}
    described = {"description": datasets["description"]}
    schema["properties"]["datasets"] = {"anyOf": [names, {"type": "string"}, datasets], **described}
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


def _models_in(annotation: Any, found: set[type[Strict]]) -> set[type[Strict]]:
    """Add the models that a type is made from, and those of their fields."""
    if isinstance(annotation, type) and issubclass(annotation, Strict) and annotation not in found:
        found.add(annotation)
        for field in annotation.model_fields.values():
            _models_in(field.annotation, found)
    for part in get_args(annotation):
        _models_in(part, found)
    return found

"""The JSON schema of study files, for completion and checks in editors, and the descriptions of keys."""

from __future__ import annotations

import functools
import inspect
import json

from pydantic import BaseModel
from pydantic._internal._docs_extraction import extract_docstrings_from_cls  # noqa: PLC2701

from mklearn.study.entries import Descriptor, Kernel, Protocol
from mklearn.study.method import Method
from mklearn.study.mistakes import GIVEN, models_in
from mklearn.study.study import Study


def study_schema() -> str:
    """Return the schema as JSON text; it includes installed packages that extend mklearn."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Study.model_json_schema()}
    for model in {model for _, model in models_in(Study)}:
        properties = (schema if model is Study else schema["$defs"].get(model.__name__, {})).get("properties", {})
        for name, text in field_texts(model).items():
            if name in properties:
                properties[name].setdefault("description", text)
    for entry in (Descriptor, Kernel, Method, Protocol):
        form = schema["$defs"][entry.__name__]
        del form["properties"][GIVEN]
        form["additionalProperties"] = True  # parameters of the implementation
        for name in entry.either:  # as parameters they have other values
            form["properties"][name] = {"description": form["properties"][name]["description"]}
    datasets = schema["properties"]["datasets"]
    for forms in datasets["patternProperties"].values():  # `digits:` without a value
        forms["oneOf"].append({"type": "null"})
    names = {"type": "array", "items": {"type": "string"}, "description": "Names of registered data sets."}
    described = {"description": datasets["description"]}
    schema["properties"]["datasets"] = {"anyOf": [names, {"type": "string"}, datasets], **described}
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


@functools.cache
def field_texts(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstring of each field that has one; inherited fields have the docstring of the base class.

    pydantic's option ``use_attribute_docstrings`` also reads them, but at import: every job and command would read the
    source of all models, which takes a quarter of a second.
    """
    texts: dict[str, str] = {}
    for cls in reversed(model.__mro__):
        if issubclass(cls, BaseModel) and cls is not BaseModel:
            declared = inspect.get_annotations(cls)
            texts = {name: text for name, text in texts.items() if name not in declared}
            texts |= extract_docstrings_from_cls(cls, use_inspect=True)
    return {name: texts[name] for name in model.model_fields if name in texts}

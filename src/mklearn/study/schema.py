"""The JSON schema of study files, by which editors complete and check them."""

from __future__ import annotations

import json

from mklearn.study.model import Study


def study_schema() -> str:
    """Return the schema as text; installed packages that add to mklearn are in it."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Study.model_json_schema()}
    datasets = schema["properties"]["datasets"]
    for forms in datasets["patternProperties"].values():  # `digits:` without a value
        forms["oneOf"].append({"type": "null"})
    names = {"type": "array", "items": {"type": "string"}, "description": "Names of registered data sets."}
    schema["properties"]["datasets"] = {"anyOf": [names, {"type": "string"}, datasets]}
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"

"""Pages of what a study can name and of the keys of a study file, from the registry that `mklearn list` prints."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from mklearn.study.data.registry import registry
from mklearn.study.evaluation.metrics.metric import METRICS, described, metric_named
from mklearn.study.listings import ENTRIES, describe_one, grouped_methods
from mklearn.study.schema import study_schema


def registry_pages() -> dict[str, str]:
    """Return the text of each page by its path."""
    plain = {sort: list(ENTRIES[sort].rows) for sort in ("kernels", "descriptors", "protocols")}
    plain |= {"datasets": list(registry()), "metrics": list(METRICS)}
    pages = {f"{sort}.rst": names_page(sort, {"": names}) for sort, names in plain.items()}
    return pages | {"methods.rst": names_page("methods", grouped_methods()), "configuration.rst": configuration()}


def names_page(sort: str, groups: Mapping[str, list[str]]) -> str:
    """Return a page with an entry for each name; parameters that all of them have come first."""
    texts = {name: description(sort, name) for names in groups.values() for name in names}
    first, *others = texts.values()
    common = [line for line in first if line.startswith("* ") and all(line in lines for lines in others)]
    parts = [sort.capitalize(), "=" * len(sort), "", f"``mklearn list {sort} NAME`` prints an entry.", ""]
    parts += ["All have the parameters", "", *common, ""] if common else []
    for group, names in groups.items():
        parts += [group, "-" * len(group), ""] if group else []
        parts += [".. glossary::", ""]
        for name in names:
            lines = [line for line in texts[name] if line not in common]
            parts += [f"   {name}", *(f"      {line}" for line in lines), ""]
    return "\n".join(parts)


def description(sort: str, name: str) -> list[str]:
    """Return the lines of an entry as `mklearn list` has them: title, paragraphs and a list of parameters."""
    text = described(metric_named(name)) if sort == "metrics" else describe_one(sort, name)
    title, *lines = text.splitlines()
    implementation = ENTRIES[sort].rows[name].implementation if sort in ENTRIES else ""
    python = f", in Python ``{implementation.partition(':')[2]}``" if implementation else ""
    entries = [re.sub(r"^ {4}(\w+) (?=\()", r"* **\1** ", line) for line in lines]
    return [f"**{title.partition(': ')[2]}**{python}\n", *(f"{line.strip()}\n" for line in entries)]


def configuration() -> str:
    """Return the page of the keys of a study file: those of `Study`, and of the models in it."""
    schema = json.loads(study_schema())
    parts = ["Keys of a study file\n====================", "``mklearn validate`` lists every mistake at once."]
    for name, model in {"Study": schema, **schema["$defs"]}.items():
        parts += [f"{name}\n{'-' * len(name)}", " ".join(model.get("description", "").split())]
        for key, field in model.get("properties", {}).items():
            default = f"default ``{json.dumps(field.get('default'))}``"
            status = "required" if key in model.get("required", ()) else default
            about = " ".join(field.get("description", "-").split())
            parts.append(f"``{key}``: {values(field)}; {status}\n   {about}")
    return "\n\n".join(parts) + "\n"


def values(field: Mapping[str, Any]) -> str:
    """Return the valid values of a field in words."""
    if "$ref" in field:
        return f"`{field['$ref'].rpartition('/')[2]}`_"
    if options := field.get("enum", [field["const"]] if "const" in field else None):
        return ", ".join(f"``{option}``" for option in options)
    if options := field.get("anyOf", field.get("oneOf")):
        return " or ".join(dict.fromkeys(values(option) for option in options))
    bounds = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    limits = " and ".join(f"{sign} {field[key]}" for key, sign in bounds.items() if key in field)
    inner = field.get("items") or next(iter(field.get("patternProperties", {}).values()), {})
    return " ".join(filter(None, [field.get("type", "any value"), limits, inner and f"of {values(inner)}"]))

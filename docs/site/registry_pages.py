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

CODE = re.compile(r"(:[\w:]+:`[^`]+`|``.+?``|`[^`]+`_*)")
MARKUP = re.compile(r"(?<!\\)(?:(?<=\w)_(?!\w)|\||^[A-Z](?=\. ))")
"""References by a trailing underscore, substitutions and numbers of lists: formulas and initials in plain text."""


def escaped(text: str) -> str:
    """Return a line of text in which formulas such as ``|w'x|`` and ``theta_`` are no markup; code is not changed."""
    pieces = CODE.split(text)
    pieces[::2] = [MARKUP.sub(r"\\\g<0>", piece) for piece in pieces[::2]]
    return "".join(pieces)


def pages() -> dict[str, str]:
    """Return the text of each page by its path."""
    written = {"configuration.rst": configuration(), "methods.rst": names_page("methods", grouped_methods())}
    for sort in ("kernels", "descriptors", "protocols"):
        written[f"{sort}.rst"] = names_page(sort, {"": list(ENTRIES[sort].rows)})
    written["data_sets.rst"] = names_page("datasets", {"": list(registry())})
    return written | {"metrics.rst": names_page("metrics", {"": list(METRICS)})}


def names_page(sort: str, groups: Mapping[str, list[str]]) -> str:
    """Return a page with an entry for each name; parameters that all of them have come first."""
    texts = {name: description(sort, name) for names in groups.values() for name in names}
    first, *others = texts.values()
    common = [line for line in first if line.startswith("* ") and all(line in lines for lines in others)]
    title = "Data sets" if sort == "datasets" else sort.capitalize()
    parts = [title, "=" * len(title), "", f"``mklearn list {sort} NAME`` prints an entry.", ""]
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
    entry = [f"**{title.partition(': ')[2]}**{python}", ""]
    for line in lines:
        parameter = re.fullmatch(r" {4}(\w+) (\(.*)", line)
        entry += [f"* **{parameter[1]}** {escaped(parameter[2])}" if parameter else escaped(line.strip()) + "\n"]
    return entry


def configuration() -> str:
    """Return the page of the keys of a study file: those of `Study`, and of the models in it."""
    schema = json.loads(study_schema())
    parts = ["Keys of a study file\n====================", "``mklearn validate`` lists every mistake at once."]
    for name, model in {"Study": schema, **schema["$defs"]}.items():
        parts += [f"{name}\n{'-' * len(name)}", escaped(" ".join(model.get("description", "").split()))]
        for key, field in model.get("properties", {}).items():
            default = json.dumps(field.get("default"))
            status = "optional" if default == "null" or len(default) > 60 else f"default {escaped(default)}"
            status = "required" if key in model.get("required", ()) else status
            kind = f":doc:`{key}`" if name == "Study" and key in ENTRIES else values(field)
            about = escaped(" ".join(field.get("description", "").split()))
            parts.append(f"``{key}``: {kind}; {status}\n   {about or '-'}")
    return "\n\n".join(parts) + "\n"


def values(field: Mapping[str, Any]) -> str:
    """Return the valid values of a field in words."""
    if "$ref" in field:
        return f"`{field['$ref'].rpartition('/')[2]}`_"
    if options := field.get("enum", [field["const"]] if "const" in field else None):
        return ", ".join(f"``{option}``" for option in options)
    for several in ("anyOf", "oneOf", "allOf"):
        if several in field:
            return " or ".join(dict.fromkeys(values(option) for option in field[several] if option != {"type": "null"}))
    bounds = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    limits = " and ".join(f"{sign} {field[key]}" for key, sign in bounds.items() if key in field)
    inner = field.get("items") or next(iter(field.get("patternProperties", {}).values()), {})
    return " ".join(filter(None, [field.get("type", "any value"), limits, inner and f"of {values(inner)}"]))

"""Pages generated from the registry: one for each method, kernel, descriptor and protocol, and what a study can say."""

from __future__ import annotations

import csv
import inspect
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from descriptor_pictures import DRAWINGS
from numpydoc.docscrape import NumpyDocString
from plain_formulas import escaped

from mklearn.contract.loading import load
from mklearn.contract.model import Registered
from mklearn.study.config.method_groups import grouped_methods
from mklearn.study.config.registry import REGISTRATIONS, Description, description
from mklearn.study.config.schema import study_schema
from mklearn.study.specs.method import Classifier, Embedding, Method

INTRODUCTIONS = {
    "methods": (
        "Methods",
        "What a study can name under `methods`. A page says what problem the method solves, where it deviates from its "
        "paper, its parameters, and what it reached in the [published studies](../reports.md). "
        "`mklearn list methods NAME` prints the same parameters.",
    ),
    "kernels": (
        "Kernels",
        "What a study can name under `kernels`. What depends on data, such as bandwidths, centring and repair, is "
        "fitted to training samples only.",
    ),
    "descriptors": (
        "Descriptors",
        "What a study can name under `descriptors`: representations of images. Features that you have computed are "
        "descriptors too, named after their table ([your own data](../own_data.md)).",
    ),
    "protocols": (
        "Protocols",
        "What a study can name under `protocols`: how samples are split into training and test samples.",
    ),
}
INPUTS = {"kernels": "kernels", "features": "features", "images": "images as matrices"}


def pages(root: Path) -> dict[str, str]:
    """Return the text of each generated page of a checkout by its path."""
    reports = root / "reports"
    explanations = {path.name: path.read_text(encoding="utf-8") for path in sorted(root.glob("docs/explanation/*.md"))}
    schema = json.loads(study_schema())
    results = published_results(reports)
    written = {"configuration.md": configuration(schema)}
    for what, (title, introduction) in INTRODUCTIONS.items():
        entries = [description(kind, found) for kind, found in REGISTRATIONS[what].items() if not found.package]
        groups = grouped_methods() if what == "methods" else {"": entries}
        written[f"{what}/index.md"] = overview(title, introduction, groups)
        for entry in entries:
            model = REGISTRATIONS[what][entry.kind].model
            text = page(what, entry, model, schema, results.get(entry.kind, []))
            if what == "methods" and (found := explained(entry.kind, explanations)):
                text += f"\n## Explanations\n\n{found}\n"
            if what == "descriptors" and entry.kind in DRAWINGS:
                text += f"\n## What it measures\n\n![{entry.title} of two photographs](../pictures/{entry.kind}.png)\n"
            written[f"{what}/{entry.kind}.md"] = text
    return written


def overview(title: str, introduction: str, groups: Mapping[str, Iterable[Description]]) -> str:
    """Return the page that lists all of one sort, with a table for each group."""
    parts, kinds = [f"# {title}", introduction], []
    for name, found in groups.items():
        entries = [entry for entry in found if not entry.package]
        rows = [
            f"| [{entry.title}]({entry.kind}.md) | `{entry.kind}` | {cell(entry.about)} | {cell(entry.reference)} |"
            for entry in entries
        ]
        head = [f"| {title.removesuffix('s')} | kind | what it is | source |", "| --- | --- | --- | --- |"]
        parts += [f"## {name}"] * bool(name) + ["\n".join([*head, *rows])]
        kinds += [entry.kind for entry in entries]
    return "\n\n".join([*parts, "\n".join(["```{toctree}", ":hidden:", "", *kinds, "```"])]) + "\n"


def page(
    what: str, entry: Description, model: type[Registered], schema: Mapping[str, Any], results: list[dict[str, str]]
) -> str:
    """Return the page of one registered model."""
    documented = implementation_text(entry.implementation)
    parts = [f"# {entry.title}", markdown(inspect.getdoc(model) or ""), facts(entry, model)]
    parts.append(f"```yaml\n{what}:\n  {example(entry, schema, model)}\n```")
    if entry.advice:
        parts += ["## When to use it", linked(markdown(entry.advice), entry.kind)]
    if documented["problem"]:
        parts += [
            "## The problem" if what == "methods" else "## What it computes",
            verbatim(documented["problem"]),
        ]
    if documented["notes"]:
        parts += ["## Notes and deviations", verbatim(documented["notes"])]
    if documented["references"]:
        parts += ["## References", verbatim(documented["references"])]
    parts += ["## Parameters in a study", parameters(model, schema)]
    if results:
        parts += ["## In published studies", results_table(results)]
    return "\n\n".join(part for part in parts if part) + "\n"


def explained(kind: str, explanations: Mapping[str, str]) -> str:
    """Return links to the explanations that name a kind of method."""
    found = [(name, text) for name, text in explanations.items() if f"`{kind}`" in text]
    return "\n".join(
        f"- [{text.partition(chr(10))[0].removeprefix('# ')}](../explanation/{name})" for name, text in found
    )


def linked(text: str, kind: str) -> str:
    """Return a text in which the kinds of other methods are links to their pages."""
    others = sorted(set(REGISTRATIONS["methods"]) - {kind}, key=len, reverse=True)
    return re.sub(rf"(?<![\w`])({'|'.join(name for name in others if '_' in name)})(?!\w)", r"[`\1`](\1.md)", text)


def facts(entry: Description, model: type[Registered]) -> str:
    """Return the list of source, inputs, output and implementation."""
    module, _, name = entry.implementation.partition(":")
    found = [("Source", markdown(entry.reference))] if entry.reference else []
    if issubclass(model, Method):
        inputs = [INPUTS[given.kind] for given in model.inputs.values()]
        found.append(("Takes", "; ".join(inputs)))
        found.append(("Gives", "labels" if issubclass(model, Classifier) else "an embedding, and labels by it"))
    if name:
        found.append(("In Python", f"{{py:obj}}`{name} <{module}.{name}>`"))
    return "\n".join(f"- **{term}**: {text}" for term, text in found)


def example(entry: Description, schema: Mapping[str, Any], model: type[Registered]) -> str:
    """Return one line of a study that names it, with its required parameters."""
    properties = schema["$defs"][model.__name__]["properties"]
    required = [parameter.name for parameter in entry.parameters if parameter.default == "required"]
    given = [f"kind: {entry.kind}", *(f"{name}: {sample_value(properties[name])}" for name in required)]
    return f"{entry.kind.replace('_', '-')}: {{{', '.join(given)}}}"


def sample_value(field: Mapping[str, Any]) -> str:
    """Return a value that a required field may have."""
    first = field.get("anyOf", [field])[0]
    return {"integer": "8", "number": "1.0", "string": "NAME", "array": "[8]"}.get(first.get("type", ""), "...")


def implementation_text(implementation: str) -> dict[str, str]:
    """Return the extended summary, notes and references of what implements a model, as reStructuredText."""
    found = NumpyDocString((implementation and inspect.getdoc(load(implementation))) or "")
    texts = {"problem": "Extended Summary", "notes": "Notes", "references": "References"}
    return {name: "\n".join(found[section]).strip() for name, section in texts.items()}


def parameters(model: type[Registered], schema: Mapping[str, Any]) -> str:
    """Return the parameters: those of the model itself first, then what all of its sort have."""
    properties = schema["$defs"][model.__name__]["properties"]
    bases = [base for base in (Registered, Method, Embedding) if issubclass(model, base)]
    common = {name for base in bases for name in base.model_fields}
    own = [field_entry(name, field) for name, field in properties.items() if name not in common | {"kind"}]
    others = [field_entry(name, field) for name, field in properties.items() if name in common]
    parts = ["\n\n".join(own) if own else "None of its own."]
    if others:
        parts += ["### Parameters of every one", "\n\n".join(others)]
    return "\n\n".join(parts)


def field_entry(name: str, field: Mapping[str, Any], required: bool | None = None) -> str:
    """Return one field as an entry of a definition list."""
    needed = "default" not in field if required is None else required
    default = "required" if needed else default_text(field.get("default"))
    values = valid(field)
    if meaning := markdown(field.get("description", "")):
        return f"`{name}` ({values}; {default})\n: {meaning}"
    return f"`{name}` ({default})\n: {values[:1].upper()}{values[1:]}."


def default_text(value: Any) -> str:
    """Return what a field has if it is not given."""
    if value is None or value in ("", [], {}):
        return "optional"
    shown = json.dumps(value)
    return f"default `{shown}`" if len(shown) <= 60 else "has a default"


def valid(field: Mapping[str, Any]) -> str:
    """Return the valid values of a field in words."""
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"[{name}](/configuration.md#{name.lower()})"  # from the pages of methods too
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return "one of " + ", ".join(f"`{value}`" for value in field["enum"])
    for several in ("anyOf", "oneOf", "allOf"):
        if several in field:
            options = [valid(option) for option in field[several] if option.get("type") != "null"]
            return ", or ".join(dict.fromkeys(options))
    kind = field.get("type")
    if kind in ("integer", "number"):
        bounds = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
        return " ".join([kind, " and ".join(f"{sign} {field[key]}" for key, sign in bounds.items() if key in field)])
    if kind == "array":
        if "prefixItems" in field:
            return "list: " + ", then ".join(map(valid, field["prefixItems"]))
        return f"list, each {valid(field['items'])}" if field.get("items") else "list"
    if kind == "object":
        values = field.get("additionalProperties") or next(iter(field.get("patternProperties", {}).values()), None)
        return f"mapping of names, each {valid(values)}" if isinstance(values, Mapping) else "mapping"
    return {"string": "text", "boolean": "`true` or `false`"}.get(str(kind), "any value").strip()


SECTIONS = (
    ("A study", ("Study",)),
    ("Data sets", ("RegisteredDataset", "ImageFolder", "FeatureTables", "Precomputed", "Resize", "TableFile")),
    ("Evaluation", ("Evaluation",)),
    ("Landmarks", ("Landmarks",)),
    ("Model and report", ("Final", "Report")),
    ("Published values", ("Published", "Calibration", "Tolerance", "Remark", "Claim")),
)
"""Models of a study file that have no page of their own."""
LINKS = {
    "descriptors": "Mapping of names to [descriptors](descriptors/index.md)",
    "kernels": "Mapping of names to [kernels](kernels/index.md)",
    "methods": "Mapping of names to [methods](methods/index.md)",
    "protocols": "Mapping of names to [protocols](protocols/index.md)",
    "datasets": "List of names of registered data sets, or mapping of names to [data sets](#data-sets)",
}


def configuration(schema: Mapping[str, Any]) -> str:
    """Return the reference of study files; models that no section names come last."""
    models = {"Study": schema, **schema["$defs"]}
    registered = {found.model.__name__ for sort in REGISTRATIONS.values() for found in sort.values()}
    shown = {name for _, names in SECTIONS for name in names}
    others = tuple(name for name in models if name not in registered | shown)
    sections = (*SECTIONS, ("More", others)) if others else SECTIONS
    parts = [
        "# What a study file can say",
        "Every key of a study file, generated from the models that check it. `mklearn validate study.yaml` lists "
        "every mistake at once. Editors complete and check study files by `workflow/schemas/study.schema.json`. "
        "[What a study can say](studies.md) explains the choices.",
    ]
    for title, names in sections:
        parts.append(f"## {title}")
        for name in names:
            model = models[name]
            if len(names) > 1:
                parts.append(f"### {name}")
            parts.append(markdown(model.get("description", "")))
            required = model.get("required", [])
            for key, field in model.get("properties", {}).items():
                entry = field_entry(key, field, key in required)
                if name == "Study" and key in LINKS:
                    entry = f"`{key}` ({'required' if key in required else 'has a default'})\n: {LINKS[key]}."
                parts.append(entry)
    return "\n\n".join(part for part in parts if part) + "\n"


def published_results(reports: Path) -> dict[str, list[dict[str, str]]]:
    """Return the nested cross-validation rows of the published studies, by kind of method, one per study and method."""
    found: dict[str, list[dict[str, str]]] = defaultdict(list)
    for run in sorted(reports.glob("*/run.json")):
        table = run.with_name("summary.csv")
        kinds = method_kinds(json.loads(run.read_text(encoding="utf-8"))["config"]["methods"])
        rows = list(csv.DictReader(table.open(encoding="utf-8")))
        for (key, label), group in grouped(rows):
            kind = next((kind for name, kind in kinds if key == name or key.startswith(f"{name}-")), None)
            if kind and group:
                found[kind].append(summary_row(table.parent.name, label, group))
    return found


def method_kinds(methods: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return names and kinds of a study's methods, the longest names first: a method of each kernel appends to it."""
    return sorted(((name, str(given["kind"])) for name, given in methods.items()), key=lambda pair: -len(pair[0]))


def grouped(rows: Iterable[Mapping[str, str]]) -> Iterator[tuple[tuple[str, str], list[Mapping[str, str]]]]:
    """Group the rows that count by method: accuracies chosen without the test samples, one rule for each setting."""
    groups: dict[tuple[str, str], dict[tuple[str, ...], Mapping[str, str]]] = defaultdict(dict)
    for row in rows:
        if row["selection"] == "inner_cv" and row.get("metric", "accuracy") == "accuracy" and row["mean"]:
            setting = (row["dataset"], row["protocol"], row["train_size"])
            group = groups[row["method"], row["method_title"]]
            if setting not in group or row.get("neighbour") == "cosine":
                group[setting] = row
    for names, group in groups.items():
        yield names, list(group.values())


def summary_row(study: str, label: str, rows: list[Mapping[str, str]]) -> dict[str, str]:
    """Return the columns of one method in one study, over its settings."""
    means, differences, seconds = (
        [float(row[column]) for row in rows if row.get(column)] for column in ("mean", "difference", "fit_seconds_mean")
    )
    return {
        "study": study,
        "method": label,
        "settings": str(len(rows)),
        "accuracy": f"{100 * fmean(means):.1f}",
        "difference": f"{100 * fmean(differences):+.1f}".replace("-", "−") if differences else "",
        "seconds": f"{min(seconds):.2g} to {max(seconds):.2g}" if seconds else "",
    }


def results_table(results: list[dict[str, str]]) -> str:
    """Return what a kind of method reached in the published studies."""
    head = [
        "Mean accuracy over the settings (data set and training size) of a study, with parameters chosen by inner "
        "cross-validation, and the mean difference to the study's reference method, in points. Intervals are in the "
        "[reports](../reports.md). Seconds are of one fit with chosen parameters, on the study's machine.",
        "",
        "| study | method | settings | accuracy, % | difference | seconds of a fit |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    order = ("study", "method", "settings", "accuracy", "difference", "seconds")
    return "\n".join([*head, *("| " + " | ".join(cell(row[name]) for name in order) + " |" for row in results)])


def markdown(text: str) -> str:
    """Return a docstring's text for Markdown: paragraphs, code, and references to Python objects."""
    paragraphs = [" ".join(block.split()) for block in text.split("\n\n")]
    pieces = re.split(r"(:\w+:`[^`]+`|``.+?``|`[^`]+`)", "\n\n".join(paragraphs))
    shown = []
    for piece in pieces:
        if role := re.fullmatch(r":\w+:`~?([^`]+)`", piece):
            shown.append(f"{{py:obj}}`{role.group(1)}`")
        elif piece.startswith("`"):
            shown.append(piece)
        else:
            shown.append(re.sub(r"([*_$<\[\]|])", r"\\\1", piece))
    return "".join(shown)


def cell(text: str) -> str:
    """Return a text for a cell of a table."""
    return " ".join(markdown(text).split())


def verbatim(text: str) -> str:
    """Return reStructuredText inside a page of Markdown."""
    return f"````{{eval-rst}}\n{escaped(text)}\n````"

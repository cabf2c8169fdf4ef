"""The REFORMS checklist of a study that was run: what its record says is filled in, the rest is left to the author.

Source: S. Kapoor et al., REFORMS: consensus-based recommendations for machine-learning-based science, Science Advances
10, eadk3452, 2024. 32 items in 8 modules; the items are stated here in words of our own.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from mklearn.study.config.yaml_file import yaml_text
from mklearn.study.engine.finished_study import FinishedStudy, UsedDataset

MODULES: dict[str, dict[str, str]] = {
    "Goals of the study": {
        "1a": "Which population or distribution the claims are about",
        "1b": "Why this population was chosen",
        "1c": "Why machine learning is used",
    },
    "Computational reproducibility": {
        "2a": "The data for training and evaluation, with a link or identifier",
        "2b": "The code and its exact version",
        "2c": "The machine and the software environment",
        "2d": "Instructions for making the results again",
        "2e": "A script that makes all results",
    },
    "Quality of the data": {
        "3a": "Where the data come from, when they were collected, and how they were annotated",
        "3b": "The set that the samples were drawn from",
        "3c": "Why the data suit the task",
        "3d": "The target, and its distribution",
        "3e": "The number of samples",
        "3f": "How much is missing, and how it is treated",
        "3g": "Whether the samples represent the population of 1a",
    },
    "Preparation of the data": {
        "4a": "Which samples were left out, and why",
        "4b": "How impossible or corrupt samples were treated",
        "4c": "All transformations of the data",
    },
    "Models": {
        "5a": "All models that were trained, with their inputs and parameters",
        "5b": "Why these kinds of model were chosen",
        "5c": "How performance was evaluated: the splits",
        "5d": "How the models that are reported were selected",
        "5e": "How parameters were chosen, and among which candidates",
        "5f": "Which baselines the models are compared with, and why these are adequate",
    },
    "Leakage": {
        "6a": "What separates training from test samples in every step",
        "6b": "How dependent or duplicate samples in both parts were treated",
        "6c": "Why every feature would be available, and legitimate, in use",
    },
    "Metrics and uncertainty": {
        "7a": "The metrics, and why they fit the question",
        "7b": "The uncertainty of the results, and how it was computed",
        "7c": "The statistical tests and their assumptions",
    },
    "Generality and limits": {
        "8a": "Evidence that the results hold for the population of 1a",
        "8b": "Where the results are not expected to hold",
    },
}
AUTHOR = "**The author must add:**"
TO_ADD = {
    "2a": "an identifier of the user's own data, if there are any.",
    "3a": "when the data were collected and how they were annotated.",
    "3f": "how many values are missing, if any.",
    "4a": "the reason.",
    "5d": "the reason for the metric.",
    "5f": "why these baselines are adequate, and whether they were tuned with equal care.",
    "6b": "whether other samples depend on each other.",
    "7a": "why these metrics fit the question.",
}
"""What remains of items that the study fills in part."""
_SELECTION = ("classes", "exclude_classes", "first_classes", "per_class", "draw", "merge", "leave_out")


def reforms(study: FinishedStudy) -> str:
    """Return the checklist as Markdown, filled from a study as far as its record goes."""
    answers = _of_data(study) | _of_code(study) | _of_models(study)
    lines = [
        f"# REFORMS checklist: {study.title}", "",
        "Items of S. Kapoor et al., Science Advances 10, eadk3452 (2024), in words of mklearn; the paper has the full "
        f"text. Answers come from the record of the run. Where it says “{AUTHOR.strip('*:')}”, the record does not "
        "know.",
    ]  # fmt: skip
    for number, (module, items) in enumerate(MODULES.items(), start=1):
        lines += ["", f"## {number}. {module}"]
        for item, question in items.items():
            left = f"{AUTHOR} {TO_ADD.get(item, 'this item.')}" if item in TO_ADD or item not in answers else ""
            lines += ["", f"### {item} {question}", "", "\n\n".join(filter(None, [answers.get(item, ""), left]))]
    return "\n".join(lines) + "\n"


def _of_code(study: FinishedStudy) -> dict[str, str]:
    record = study.record
    versions, machine = record["versions"], record["machine"]
    commit = f", commit {record['commit']}" if record["commit"] else ""
    changed = " (`+`: with changes that are not in it)" if commit.endswith("+") else ""
    packages = ", ".join(f"{name} {version}" for name, version in versions.items())
    return {
        "2b": f"mklearn {versions['mklearn']}{commit}{changed}. `run.json` has digests of the source files.",
        "2c": f"{machine['processor']}, {machine['cores']} cores, {machine['memory_mb']} MB, {machine['system']}. "
        f"Versions: {packages}.",
        "2d": f"Install mklearn {versions['mklearn']} with the packages of `environment/`, put own data where "
        f"`{study.source.name}` names them, and run `mklearn run {study.source.name}`. Registered data are downloaded "
        "and verified.",
        "2e": f"`{study.source.name}` and Snakemake's files in this archive"
        + (f"; the run was `{record['command']}`." if record["command"] else "."),
    }


def _of_data(study: FinishedStudy) -> dict[str, str]:
    config, plan = study.record["config"]["datasets"], study.files.plan
    each = study.datasets
    return {
        "2a": _list(f"{data.planned.title}: {_link(data)}" for data in each),
        "3a": _list(
            f"{data.planned.title}: {data.planned.about.get('citation') or 'own data'}. Licence: "
            f"{data.planned.about.get('licence') or 'not stated'}. {data.planned.about.get('note', '')}".strip()
            for data in each
        ),
        "3d": _list(f"{data.planned.title}: {_target(data)}" for data in each),
        "3e": _list(f"{data.planned.title}: {len(data.labels):,} samples" for data in each),
        "3f": _list(f"{data.planned.title}: {_missing(data, config[data.planned.id])}" for data in each),
        "4a": _list(f"{data.planned.title}: {_selection(config[data.planned.id])}" for data in each),
        "4c": _yaml(
            {
                "resize": {name: found["resize"] for name, found in config.items() if found.get("resize")},
                "descriptors": {planned.id: planned.spec.as_dict() for planned in plan.descriptors.values()},
                "kernels": {kernel["id"]: kernel for fit in plan.fits.values() for kernel in fit.spec.kernels},
            }
        ),
    }


def _of_models(study: FinishedStudy) -> dict[str, str]:
    config = study.record["config"]
    evaluation, plan = config["evaluation"], study.files.plan
    optimistic = [name for name, protocol in config["protocols"].items() if protocol["choose"] == "test_set"]
    learned = sorted({job["descriptor"] for job in study.files.jobs("learn")})
    grouped = [data.planned.title for data in study.datasets if "group" in data.labels]
    whole = [name for name, protocol in config["protocols"].items() if "group" in protocol["kind"]]
    how = f"By {evaluation['choose_by']} in an inner cross-validation ({evaluation['inner_folds']} folds) of the "
    chosen = f"{how}training samples of each split; a method may name its own folds."
    if optimistic:
        chosen += f" In {', '.join(optimistic)} on the test samples, which is optimistic: the tables say so."
    apart = "Splits are drawn before any fit. Scaling, kernels, weights, parameters and components are fitted to the "
    apart += "training samples of each split."
    if learned:
        apart += f" Learned without labels from images of the whole data set: {', '.join(learned)}."
    return {
        "5a": _yaml({"methods": config["methods"]}),
        "5c": _yaml({"protocols": config["protocols"]}) + f"\n\nSeed: {config['seed']}.",
        "5d": chosen,
        "5e": f"{chosen} Lists in item 5a are the candidates.",
        "5f": f"Every method is compared with {plan.reference} in pairs, on the same splits.",
        "6a": apart + (f" Not so the parameters in {', '.join(optimistic)}." if optimistic else ""),
        "6b": f"Groups of samples: {', '.join(grouped) or 'none are named'}. Protocols that hold out whole groups: "
        f"{', '.join(whole) or 'none'}.",
        "7a": f"{', '.join(evaluation['metrics'])}.",
        "7b": "Means and standard deviations over splits; 95 % intervals where there are five splits or more "
        "(`summary.csv`, columns ci_low and ci_high).",
        "7c": "Differences to the reference, paired on the same test samples, with 95 % intervals and p-values with "
        "Holm's correction (columns difference_low, difference_high, p_value, p_holm).",
    }  # fmt: skip


def _link(data: UsedDataset) -> str:
    if data.planned.read.registered:
        return f"{data.planned.about['homepage']} (`{data.planned.read.registered}` in mklearn's registry)"
    return f"own data, {len(data.own)} files; sha256 in `data/{data.planned.id}.sha256`"


def _target(data: UsedDataset) -> str:
    if "label" not in data.labels:
        y = data.labels["y"]
        return f"a number; mean {y.mean():.4g}, standard deviation {y.std():.4g}, from {y.min():.4g} to {y.max():.4g}"
    counts: pd.Series[int] = data.labels["label"].value_counts(sort=False)
    shown = ", ".join(f"{label} {count}" for label, count in counts.head(50).items())
    return f"{len(counts)} classes, with samples: {shown}" + (", …" if len(counts) > 50 else "")


def _missing(data: UsedDataset, config: dict[str, Any]) -> str:
    planned = data.planned
    if planned.family == "images":
        return "images: nothing can be missing"
    without_view = {"drop": "left out", "mean": "at the mean of the training samples in kernels"}
    views = without_view.get(config.get("missing_views", planned.missing_views), "refused")
    values = "refused" if planned.impute == "none" else f"filled in ({planned.impute})"
    return f"samples without a label are left out, samples that lack a view are {views}; missing values are {values}"


def _selection(config: dict[str, Any]) -> str:
    found = {name: config[name] for name in _SELECTION if config.get(name) not in (None, [])}
    return ", ".join(f"`{name}: {value}`" for name, value in found.items()) or "the study leaves out none"


def _list(lines: Any) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _yaml(config: dict[str, Any]) -> str:
    return f"```yaml\n{yaml_text(_without_empty(config))}```"


def _without_empty(value: Any) -> Any:
    """Drop what a study does not set."""
    if not isinstance(value, dict):
        return value
    held = {name: _without_empty(each) for name, each in value.items()}
    return {name: each for name, each in held.items() if each not in (None, [], {})}

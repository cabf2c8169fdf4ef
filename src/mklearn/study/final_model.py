"""The final model of a study: its method by the summary, and its card."""

from __future__ import annotations

import html
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from mklearn.descriptors.table import TABLE
from mklearn.errors import NotApplicable, printable
from mklearn.kernels.views import Views
from mklearn.study.artefacts import read_arrays
from mklearn.study.data.samples import SampleSet, natural_key
from mklearn.study.data.splits import Split
from mklearn.study.evaluation.final_model import FinalModel
from mklearn.study.evaluation.headline import headline_rows, winner
from mklearn.study.evaluation.importances import importances
from mklearn.study.prediction.new_samples import CENTRE
from mklearn.study.provenance import array_digest, digest
from mklearn.study.specs.final_spec import BEST, FinalCandidate, FinalSpec, ModelInputs
from mklearn.study.specs.fit_spec import RULE, FitSpec

MEASURED = 5
"""The first splits, in which importances are measured: the fewest that have an interval."""
LONGEST_LIST = 20
"""A longer list, such as the names of features, is counted in the card."""


def chosen_method(summary: pd.DataFrame, spec: FinalSpec) -> tuple[FinalCandidate, dict[str, Any]]:
    """Return the candidate that wins by the rows of the page's headline, and what is expected of it.

    Raises
    ------
    NotApplicable
        No candidate has a value.
    """
    rows = headline_rows(summary, spec.metric, RULE)
    entries = [candidate.entry for candidate in spec.candidates]
    best = winner(rows, spec.metric, spec.dataset, entries)
    if best is None:
        names = [entry.method for entry in entries]
        messages = rows.loc[rows["method"].isin(names) & rows["mean"].isna() & rows["message"].ne(""), "message"]
        reasons = "; ".join(dict.fromkeys(messages)) or "the summary says no reason"
        raise NotApplicable(f"final.method: no value of {spec.metric} is known of {', '.join(names)}: {reasons}.")
    interval = [best.row["ci_low"], best.row["ci_high"]]
    expected = {
        "metric": spec.metric,
        "value": float(best.row["mean"]),
        "interval": None if pd.isna(interval).any() else list(map(float, interval)),
        "protocol": entries[best.position].protocol,
        "train_size": entries[best.position].train_size,
        "n_splits": int(best.row["n_repeats"]),
        "chosen_among": best.among if spec.method == BEST else 1,
    }
    return spec.candidates[best.position], expected


def groups_kept_together(splits: Sequence[Split], groups: NDArray[np.str_] | None) -> NDArray[np.str_] | None:
    """Return the groups if none has training and test samples in any split of the study, as the evaluation does."""
    if groups is None or any(np.isin(groups[split.test], groups[split.train]).any() for split in splits):
        return None
    return groups


def inputs_of_model(spec: FinalSpec, fit: FitSpec, data: SampleSet, views: Views) -> ModelInputs:
    """Return how samples are read for a method: its views with their columns, and the size of images."""
    used = []
    for view in spec.inputs.views:
        if view.name in fit.descriptors:
            columns = data.columns.get(view.table) if view.kind == TABLE else None
            named = {"columns": None if columns is None else columns.tolist()}
            used.append(view.model_copy(update={"n_features": views[view.name].shape[1], **named}))
    found: dict[str, Any] = {"views": used}
    if data.images is not None:
        found["shape"] = None if data.image_shape is None else list(data.image_shape)
        found["pixels"] = str(data.images[0].dtype)
    return spec.inputs.model_copy(update=found)


def arrays_of_model(
    spec: FinalSpec, inputs: ModelInputs, learned: Sequence[Path], views: Views
) -> dict[str, NDArray[Any]]:
    """Return what predictions need beside the estimator: what descriptors have learned, and centres of features."""
    arrays, names = dict[str, NDArray[Any]](), [view.name for view in inputs.views]
    for view, path in zip([view for view in spec.inputs.views if view.learns], learned, strict=True):
        if view.name in names:
            held = read_arrays(path)
            arrays |= {f"{view.name}/{name}": held[str(name)] for name in held["names"]}
    centre = np.nanmedian if inputs.options.get("impute") == "median" else np.nanmean
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # of features that no sample has
        arrays |= {f"{view.name}/{CENTRE}": centre(views[view.name], axis=0) for view in inputs.views if view.file}
    return arrays


def model_card(
    spec: FinalSpec, candidate: FinalCandidate, expected: Mapping[str, Any], chosen: FinalModel, inputs: ModelInputs,
    ids: NDArray[np.str_], labels: NDArray[Any], views: Views,
) -> dict[str, Any]:  # fmt: skip
    """Return what a model is, given ids, labels and views of the samples that it was fitted to."""
    estimator, target = chosen.estimator, dict[str, Any]()
    if labels.dtype.kind == "f":
        target |= {"lowest": float(labels.min()), "highest": float(labels.max()), "mean": float(labels.mean())}
    else:
        counts = Counter(labels.tolist())
        target["classes"] = {name: counts[name] for name in sorted(counts, key=natural_key)}
    digests = {name: array_digest(views[name]) for name in views.names}
    return {
        "study": spec.study,
        "data": {
            "name": spec.dataset,
            "title": spec.title,
            "samples": len(ids),
            **target,
            "sha256": digest({"ids": array_digest(ids), "labels": array_digest(labels), "views": digests}),
        },
        "method": {
            "name": candidate.fit.method.id,
            "title": candidate.title,
            "kind": candidate.kind,
            "parameters": chosen.parameters,
            "kernels": getattr(estimator, "kernels", {}),
            "feature_scaling": estimator[0].feature_scaling if hasattr(estimator, "steps") else None,
        },
        "expected": dict(expected),
        "inputs": inputs.model_dump(mode="json"),
    }


def importances_of(
    estimator: Any, inputs: ModelInputs, views: Views, labels: NDArray[Any], groups: NDArray[np.str_] | None,
    splits: Sequence[Split], spec: FinalSpec, seed: int,
) -> pd.DataFrame:  # fmt: skip
    """Measure what predictions rest on in the first splits: features of tables have names, other views are whole."""
    named = {
        view.name: view.columns or list(map(str, range(view.n_features))) if view.kind == TABLE else []
        for view in inputs.views
    }
    beside = {"groups": groups} if groups is not None and has_fit_parameter(estimator, "groups") else {}
    return importances(
        estimator, views, named, labels, splits[:MEASURED], permutations=spec.permutations, seed=seed,
        fit_parameters=beside,
    )  # fmt: skip


def card_text(card: Mapping[str, Any], versions: Mapping[str, str]) -> str:
    """Return the card of a model as Markdown: what to expect of it, and all that it was made from."""
    data, method, expected = card["data"], card["method"], card["expected"]
    size = "" if expected["train_size"] is None else f", {expected['train_size']} training samples per class"
    low_high = "" if expected["interval"] is None else f" [{', '.join(map(_number, expected['interval']))}]"
    lines = [
        f"# Model of study {card['study']}",
        "",
        f"{_escaped(method['title'])} (`{method['name']}`), fitted on all {data['samples']} samples of "
        f"{_escaped(data['title'])}.",
        "",
        f"Expected {expected['metric']}: {_number(expected['value'])}{low_high} in the study (protocol "
        f"{expected['protocol']}{size}, {expected['n_splits']} splits); the model has more training samples than the "
        "fits behind this value.",
    ]
    if expected["chosen_among"] > 1:
        lines += [f"This is optimistic: the method was chosen among {expected['chosen_among']} by the same value."]
    for head in ("data", "method", "inputs"):
        lines += ["", f"## {head.capitalize()}", "", *_listed(card[head])]
    return "\n".join([*lines, "", f"Versions: {', '.join(map(' '.join, versions.items()))}.", ""])


def _listed(values: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    """Yield a line for each value, and below it, further in, those of a mapping or of a list of mappings."""
    for name, value in values.items():
        start = f"{'  ' * depth}- {_escaped(name)}"
        parts = [value] if isinstance(value, Mapping) else value
        if value in (None, [], {}, ""):
            continue
        if isinstance(parts, list) and all(isinstance(part, Mapping) for part in parts):
            yield f"{start}:"
            for part in parts:
                yield from _listed(part, depth + 1)
        elif isinstance(value, list) and len(value) > LONGEST_LIST:
            yield f"{start}: {len(value)} values"
        else:
            yield f"{start}: {_escaped(', '.join(map(str, value)) if isinstance(value, list) else str(value))}"


def _number(value: float) -> str:
    return f"{value:.3f}" if 0.01 <= abs(value) < 1e5 else f"{value:.3g}"


def _escaped(text: str) -> str:
    """Return a text that is neither HTML nor the end of a line in Markdown."""
    return html.escape(printable(" ".join(text.split())), quote=False)

"""The final model of a study: its method by the summary, its parameters by all samples, and its card."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklearn.descriptors.table import TABLE
from mklearn.errors import NotApplicable
from mklearn.kernels.views import Views
from mklearn.study.artefacts import read_arrays
from mklearn.study.data.samples import SampleSet, natural_key
from mklearn.study.data.splits import Split
from mklearn.study.evaluation.candidates import MethodOnViews, held_out_groups, with_chosen_scalings
from mklearn.study.evaluation.fitted import possible_sizes
from mklearn.study.evaluation.headline import headline_rows, winner
from mklearn.study.evaluation.split import check_classes, choose_on_split
from mklearn.study.provenance import array_digest, digest
from mklearn.study.specs.final_spec import BEST, CENTRE, FinalCandidate, FinalSpec, ModelInputs, ModelView
from mklearn.study.specs.fit_spec import RULE, FitSpec
from mklearn.study.yaml_file import yaml_text


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
    if groups is None or any(held_out_groups(split.train, split.test, groups) is None for split in splits):
        return None
    return groups


def final_model(problem: MethodOnViews, spec: FitSpec) -> tuple[Any, dict[str, Any]]:
    """Return an estimator, not fitted, with the parameters that inner cross-validation on all samples chooses.

    It is that of the split in which all samples are training samples. Kernels of the problem are on features; if it has
    groups, the inner cross-validation holds out whole ones. The parameters are without ``kernels``.

    Raises
    ------
    NotApplicable, SolverFailed
        No parameters can be chosen.
    """
    every = np.arange(len(problem.y))
    check_classes(problem.y)
    problem = with_chosen_scalings(problem, every, every[:0])
    choice = choose_on_split(problem, every, every[:0], evaluation=spec.evaluation, seed=spec.seed)
    (number, position), *_ = [chosen for rule, chosen in choice.by_rule.items() if rule in ("", RULE)]
    candidate, refit = choice.candidates[number], problem.method.refit
    sized: dict[str, Any] = {}
    if refit is not None:
        sizes = possible_sizes(refit, problem.of(every), problem.y)
        sized = {"n_components": sizes[-1 if position is None else position]}
    elif problem.method.has_components and position not in (None, -1):
        sized = {"n_components": position + 1}
    return problem.unfitted(candidate, **sized), candidate.parameters | sized


def inputs_of_model(
    spec: FinalSpec, fit: FitSpec, data: SampleSet, views: Views, learned: Sequence[Path]
) -> tuple[ModelInputs, dict[str, NDArray[Any]]]:
    """Return how samples are read for a method, and the arrays that it takes: what was learned, centres of tables."""
    used, arrays, files = list[ModelView](), dict[str, NDArray[Any]](), iter(learned)
    centre = np.nanmedian if spec.inputs.options.get("impute") == "median" else np.nanmean
    for view in spec.inputs.views:
        file = next(files) if view.learns else None
        if view.name not in fit.descriptors:
            continue
        if file is not None:
            held = read_arrays(file)
            arrays |= {f"{view.name}/{name}": held[str(name)] for name in held["names"]}
        features, columns = views[view.name], None
        if view.kind == TABLE:
            columns = None if view.table not in data.columns else list(map(str, data.columns[view.table]))
            with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # of features that no sample has
                arrays[f"{view.name}/{CENTRE}"] = centre(features, axis=0)
        used.append(view.model_copy(update={"n_features": features.shape[1], "columns": columns}))
    shape = None if data.image_shape is None else list(data.image_shape)
    pixels = None if data.images is None else str(data.images[0].dtype)
    return spec.inputs.model_copy(update={"views": used, "shape": shape, "pixels": pixels}), arrays


def model_card(
    spec: FinalSpec, candidate: FinalCandidate, expected: Mapping[str, Any], estimator: Any,
    parameters: Mapping[str, Any], inputs: ModelInputs, ids: NDArray[np.str_], labels: NDArray[Any], views: Views,
) -> dict[str, Any]:  # fmt: skip
    """Return what a model is, given ids, labels and views of the samples that it was fitted to."""
    digests = {name: array_digest(views[name]) for name in views.names}
    if labels.dtype.kind == "f":
        target = {"numbers": {"low": float(labels.min()), "high": float(labels.max()), "mean": float(labels.mean())}}
    else:
        target = {"classes": dict(sorted(Counter(labels.tolist()).items(), key=lambda count: natural_key(count[0])))}
    return {
        "study": spec.study,
        "expected": dict(expected),
        "data": {"name": spec.dataset, "title": spec.title, "n_samples": len(ids), **target,
                 "sha256": digest({"ids": array_digest(ids), "labels": array_digest(labels), "views": digests})},
        "method": {"name": candidate.fit.method.id, "title": candidate.title, "kind": candidate.kind,
                   "kernels": getattr(estimator, "kernels", {}), "parameters": dict(parameters),
                   "feature_scaling": estimator[0].feature_scaling if hasattr(estimator, "steps") else None},
        "inputs": inputs.model_dump(mode="json"),
    }  # fmt: skip


def card_text(card: Mapping[str, Any], versions: Mapping[str, str]) -> str:
    """Return the card of a model as Markdown: what to expect of it, and all that it was made from as YAML."""
    expected = card["expected"]
    size = "" if expected["train_size"] is None else f", {expected['train_size']} training samples per class"
    interval = "" if expected["interval"] is None else " [{:.3g}, {:.3g}]".format(*expected["interval"])
    among = expected["chosen_among"]
    optimistic = f" It is optimistic: the method was chosen among {among} by the same value." if among > 1 else ""
    views = [{name: value for name, value in view.items() if name != "columns"} for view in card["inputs"]["views"]]
    content = {**card, "inputs": {**card["inputs"], "views": views}, "versions": dict(versions)}
    return (
        f"# Model of study {card['study']}\n\nMethod `{card['method']['name']}`, fitted on all "
        f"{card['data']['n_samples']} samples. Expected {expected['metric']}: {expected['value']:.3g}{interval} in the "
        f"study (protocol {expected['protocol']}{size}, {expected['n_splits']} splits), whose fits have fewer training "
        f"samples.{optimistic}\n\n```yaml\n{yaml_text(content)}```\n"
    )

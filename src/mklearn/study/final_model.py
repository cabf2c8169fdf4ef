"""The final model of a study: its method, chosen by the summary, its parameters, tuned on all samples, and its card."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklearn.atomic import read_npz
from mklearn.descriptors.table import TABLE
from mklearn.errors import NotApplicable
from mklearn.kernels.views import Views
from mklearn.study.data.samples import SampleSet, natural_key
from mklearn.study.data.splits import Split
from mklearn.study.evaluation.candidates import Candidate, MethodOnViews, choices, with_chosen_scalings
from mklearn.study.evaluation.fit_files import read_views
from mklearn.study.evaluation.fitted import possible_sizes
from mklearn.study.evaluation.headline import headline_rows, winner
from mklearn.study.evaluation.split import check_classes, choose_parameters, inner_parts
from mklearn.study.provenance import array_digest, digest
from mklearn.study.specs.data_specs import TargetKind
from mklearn.study.specs.final_spec import BEST, CENTRE, QUARTILES, FinalSpec, ModelInputs, ModelView
from mklearn.study.specs.fit_spec import RULE, FitSpec
from mklearn.study.yaml_file import yaml_text

Rows = NDArray[np.intp]


def views_of_model(fit: FitSpec, data: SampleSet, samples: Path, sources: Mapping[str, Path]) -> Views:
    """Read the views of a method for all samples, from the file of the samples and the features of each view."""
    images = [samples] * any(entry.kind == "images" for entry in fit.method.inputs.values())
    read = read_views(fit, [], [*images, *(sources[name] for name in fit.descriptors)], data.ids)
    return Views({name: read[name] for name in sorted(read.names)})


def outside_test_set(splits: Sequence[Split], spec: FinalSpec) -> Rows | None:
    """Return the samples outside the test set of a single given split; None if splits are drawn, or several."""
    if not spec.given_splits or len({(split.repeat, split.test.tobytes()) for split in splits}) > 1:
        return None
    return np.unique(np.concatenate([part for split in splits for role, part in split.parts if role != "test"]))


def chosen_method(summary: pd.DataFrame, spec: FinalSpec) -> tuple[FitSpec, str, dict[str, Any]]:
    """Return the best candidate by the page's headline rows, its title, and its expected performance.

    Raise NotApplicable if no candidate has a value.
    """
    rows = headline_rows(summary, spec.metric, RULE)
    entries = [fit.largest for fit in spec.candidates]
    best = winner(rows, spec.metric, spec.dataset, entries)
    if best is None:
        names = [method for method, *_ in entries]
        messages = rows.loc[rows["method"].isin(names) & rows["mean"].isna() & rows["message"].ne(""), "message"]
        reasons = "; ".join(dict.fromkeys(messages)) or "the summary states no reason"
        raise NotApplicable(f"final.method: no value of {spec.metric} for {', '.join(names)}: {reasons}.")
    interval, (_, protocol, train_size) = [best.row["ci_low"], best.row["ci_high"]], entries[best.position]
    expected = {
        "metric": spec.metric,
        "value": float(best.row["mean"]),
        "interval": None if pd.isna(interval).any() else list(map(float, interval)),
        "protocol": protocol,
        "train_size": train_size,
        "n_splits": int(best.row["n_repeats"]),
        "chosen_among": best.among if spec.method == BEST else 1,
    }
    return spec.candidates[best.position], best.row["method_title"], expected


def final_model(problem: MethodOnViews, spec: FitSpec) -> tuple[Any, Candidate, MethodOnViews]:
    """Return an unfitted estimator, the candidate chosen by inner cross-validation on all samples, and its problem.

    All samples are training samples here. Kernels of the problem are computed from features. If the problem has groups,
    the inner cross-validation holds out whole groups. Scalings of the returned problem are chosen. Raise NotApplicable
    or SolverFailed if no parameters can be chosen.
    """
    every = np.arange(len(problem.y))
    check_classes(problem.y)
    problem = with_chosen_scalings(problem, every, every[:0])
    parts = partial(inner_parts, problem, every, every[:0], spec.evaluation, spec.seed)
    choice = choose_parameters(problem, parts, spec.evaluation)
    (number, position), *_ = [chosen for rule, chosen in choice.by_rule.items() if rule in ("", RULE)]
    candidate, refit = choice.candidates[number], problem.method.refit
    sized: dict[str, Any] = {}
    if refit is not None:
        sizes = possible_sizes(refit, problem.of(every), problem.y)
        sized = {"n_components": sizes[-1 if position is None else position]}
    elif problem.method.has_components and position not in (None, -1):
        sized = {"n_components": position + 1}
    return problem.unfitted(candidate, **sized), replace(candidate, parameters=candidate.parameters | sized), problem


def inputs_of_model(
    spec: FinalSpec, fit: FitSpec, data: SampleSet, views: Views, learned: Sequence[Path]
) -> tuple[ModelInputs, dict[str, NDArray[Any]]]:
    """Return the input specification of a model, and its arrays: learned descriptors, statistics of features."""
    used, arrays, files = list[ModelView](), dict[str, NDArray[Any]](), iter(learned)
    centre = np.nanmedian if spec.inputs.options.get("impute") == "median" else np.nanmean
    for view in spec.inputs.views:
        file = next(files) if view.learns else None
        if view.name not in fit.descriptors:
            continue
        if file is not None:
            stored = read_npz(file)
            arrays |= {f"{view.name}/{name}": stored[str(name)] for name in stored["names"]}
        features, columns = views[view.name], None
        arrays[f"{view.name}/{QUARTILES}"] = pd.DataFrame(features).quantile([0.0, 0.25, 0.75, 1.0]).to_numpy()
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # features that no sample has
            if view.kind == TABLE:
                columns = data.features_of(view.table, view.parameters.get("columns"))[1]
                arrays[f"{view.name}/{CENTRE}"] = centre(features, axis=0)
        used.append(view.model_copy(update={"n_features": features.shape[1], "columns": columns}))
    shape = None if data.image_shape is None else list(data.image_shape)
    pixels = None if data.images is None else str(data.images[0].dtype)
    return spec.inputs.model_copy(update={"views": used, "shape": shape, "pixels": pixels}), arrays


def model_card(
    spec: FinalSpec, fit: FitSpec, title: str, expected: Mapping[str, Any], estimator: Any,
    candidate: Candidate, problem: MethodOnViews, inputs: ModelInputs, ids: NDArray[np.str_], labels: NDArray[Any],
    kind: TargetKind, views: Views,
) -> dict[str, Any]:  # fmt: skip
    """Return the card of a fitted model, given the ids, labels, kind of target and views of its training samples."""
    digests = {name: array_digest(views[name]) for name in views.names}
    if kind == "survival":
        target = {"survival": {"events": int((labels > 0).sum()), "largest_time": float(np.abs(labels).max())}}
    elif kind == "numbers":
        target = {"numbers": {"low": float(labels.min()), "high": float(labels.max()), "mean": float(labels.mean())}}
    else:
        target = {"classes": dict(sorted(Counter(labels.tolist()).items(), key=lambda count: natural_key(count[0])))}
    return {
        "study": spec.study,
        "expected": dict(expected),
        "data": {"name": spec.dataset, "title": spec.title, "n_samples": len(ids), **target,
                 "sha256": digest({"ids": array_digest(ids), "labels": array_digest(labels), "views": digests})},
        "method": {"name": fit.method.id, "title": title, "implementation": fit.method.implementation,
                   "kernels": getattr(estimator, "kernels", {}), "parameters": dict(candidate.parameters),
                   "chosen": {row["parameter"]: row["value"] for row in choices(problem, candidate, estimator)},
                   "feature_scaling": estimator[0].feature_scaling if hasattr(estimator, "steps") else None},
        "inputs": inputs.model_dump(mode="json"),
    }  # fmt: skip


def card_text(card: Mapping[str, Any], versions: Mapping[str, str]) -> str:
    """Return the card of a model as Markdown: expected performance, and all inputs and settings as YAML."""
    expected = card["expected"]
    interval = "" if expected["interval"] is None else " [{:.3g}, {:.3g}]".format(*expected["interval"])
    measured, among = "by fits to fewer training samples", expected["chosen_among"]
    if expected["apart"]:
        measured = "on test samples that neither the model nor the choice of its method has seen"
    optimistic = f" It is optimistic: the method was chosen among {among} by the same value." if among > 1 else ""
    views = [{name: value for name, value in view.items() if name != "columns"} for view in card["inputs"]["views"]]
    content = {**card, "inputs": {**card["inputs"], "views": views}, "versions": dict(versions)}
    return (
        f"# Model of study {card['study']}\n\nMethod `{card['method']['name']}`, fitted to {card['data']['n_samples']} "
        f"samples. Expected {expected['metric']}: {expected['value']:.3g}{interval} in the study, {measured}."
        f"{optimistic}\n\n```yaml\n{yaml_text(content)}```\n"
    )

"""Two studies, or two runs of one, side by side: `mklearn compare`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mklearn.errors import ConfigError
from mklearn.study.evaluation.headline import MATTERS
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.predictions import Predictions, plain_key, typed
from mklearn.study.evaluation.reproduction import plain_records
from mklearn.study.evaluation.summary import corrected, summarise
from mklearn.study.report import wording
from mklearn.study.report.result_tables import difference_cell, value_cell
from mklearn.study.report.results import Results, protocol_family, results_of
from mklearn.study.report.tables import Cell, Column, Table, words

SETTING = ["dataset", "protocol", "train_size"]
PAIRED = ["difference", "difference_low", "difference_high", "p_value", "disagreement"]
SEPARATOR = "\n"
"""Between protocol and method, in a setting of its own for each method; no id has it."""


@dataclass(frozen=True)
class StudyTables:
    """The tables of a study that lie at ``name``, the specification of its summary, and its ``config``.

    ``predictions`` is the table that :class:`mklearn.study.evaluation.predictions.Predictions` takes.
    """

    name: str
    scores: pd.DataFrame
    predictions: pd.DataFrame
    summary: pd.DataFrame
    compared: Mapping[str, Any]
    config: Mapping[str, Any]

    @property
    def score(self) -> str:
        """The metric of tables and figures: the accuracy, and of numbers the one that chose."""
        metrics = [*dict.fromkeys(metric for metric in self.summary["metric"] if metric)] or ["accuracy"]
        choosing = (self.config.get("evaluation") or {}).get("choose_by")
        return next((str(name) for name in ("accuracy", choosing) if name in metrics), metrics[0])

    def results(self) -> Results:
        """Return the results by setting; the metric of the headline is the final model's, else the score."""
        metric = (self.config.get("final") or {}).get("metric") or self.score
        reference, neighbour = self.compared.get("reference", ""), self.compared.get("neighbour", "")
        return results_of(
            self.scores, self.summary, [], reference, metric=metric, neighbour=neighbour, score=self.score
        )  # fmt: skip


def compare(first: StudyTables, second: StudyTables) -> Table:
    """Tabulate each method of the settings that both studies have: its score in A and in B, and B − A.

    Differences are paired, with intervals, where both studies tested the same samples in the same splits.

    Raises
    ------
    ConfigError
        The studies have no data set, protocol and training size in common.
    """
    ours, theirs = _tested(first), _tested(second)
    both = {setting: ours[setting].keys() & theirs[setting].keys() for setting in ours if setting in theirs}
    if not both:
        raise ConfigError(
            f"{first.name} and {second.name} have no data set with the same protocol and training size: "
            "there is nothing to compare."
        )
    same = {
        setting: bool(splits) and all(ours[setting][split] == theirs[setting][split] for split in splits)
        for setting, splits in both.items()
    }
    metric, lines = metric_named(first.score), []
    known = pd.concat([second.summary, first.summary])
    titles, datasets = (dict(zip(known[kind], known[f"{kind}_title"], strict=True)) for kind in ("method", "dataset"))
    rows = _summary_by_method((first, second), same)
    for key, pair in rows.groupby([*SETTING, "entry", "neighbour"], dropna=False, sort=False):
        dataset, protocol, size, method, rule = plain_key(key)
        by_study = {row["method"]: row for row in plain_records(pair)}
        change = by_study.get("B", {})
        if change.get("disagreement") == 0:  # the same predictions
            change = dict.fromkeys(PAIRED[:3], 0.0)
        if len(by_study) == 2 and pd.isna(change["difference"]):
            change = {"difference": change["mean"] - by_study["A"]["mean"]}
        lines.append([
            Cell(wording.setting_title(datasets[dataset], size, protocol_family(protocol, size))),
            Cell(titles[method] + (f", {wording.rule_title(rule)}" if rule else "")),
            *(value_cell(metric, by_study.get(study, {})) for study in "AB"),
            difference_cell(change, metric, MATTERS),
        ])  # fmt: skip
    caption = (
        f"{metric.title} by inner cross-validation, mean ± std over splits: A is {first.name}, B is {second.name}. "
        "Differences have 95 % intervals where both tested the same samples in the same splits; ▲ and ▼ mark those "
        "that exclude 0 after Holm's correction."
    )
    percent, points = (", %", ", points") if metric.in_percent else ("", "")
    numbers = [*(Column(f"{name}{percent}") for name in "AB"), Column(f"B − A{points}")]
    return Table(caption, [words("Setting"), words("Method"), *numbers], lines)


def _summary_by_method(both: Sequence[StudyTables], same: Mapping[tuple[Any, ...], bool]) -> pd.DataFrame:
    """Summarise each method (``entry``) in a setting of its own, in which the studies, A and B, are the methods."""
    scores: list[pd.DataFrame] = []
    predictions: list[pd.DataFrame] = []
    for study, mark in zip(both, "AB", strict=True):
        for frames, frame in ((scores, study.scores.assign(study="")), (predictions, study.predictions)):
            place = frame["protocol"].astype(str) + SEPARATOR + frame["method"].astype(str)
            frames.append(frame.assign(protocol=place, method=mark))
    predicted = Predictions(typed(pd.concat(predictions, ignore_index=True)))
    rows = summarise(pd.concat(scores, ignore_index=True), predicted, reference="A")
    rows = rows[rows["selection"].eq("inner_cv") & rows["metric"].isin([both[0].score, ""])]
    parts = rows["protocol"].str.partition(SEPARATOR)
    rows = rows.assign(protocol=parts[0], entry=parts[2])
    paired = [same.get(plain_key(setting)) for setting in zip(*(rows[name] for name in SETTING), strict=True)]
    rows.loc[[each is False for each in paired], PAIRED] = np.nan
    rows = rows[[each is not None for each in paired]]
    return rows.assign(p_holm=corrected(rows))


def _tested(study: StudyTables) -> dict[tuple[Any, ...], dict[Any, frozenset[str]]]:
    tested: dict[tuple[Any, ...], dict[Any, frozenset[str]]] = {}
    splits = study.predictions.groupby([*SETTING, "repeat", "fold"], observed=True, dropna=False, sort=False)
    for (*setting, repeat, fold), samples in splits["sample"]:
        tested.setdefault(plain_key(setting), {})[repeat, fold] = frozenset(samples.astype(str))
    return tested

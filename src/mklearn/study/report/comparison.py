"""Two studies, or two runs of one, side by side: what `mklearn compare` shows.

Methods of the first are marked (A), of the second (B). Where both tested the same samples in the same splits, a method
is compared with itself by paired differences, as methods of one study are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mklearn.base.statistics import holm
from mklearn.contract.fit_spec import headline_rule
from mklearn.errors import ConfigError
from mklearn.study.evaluation.predictions import Predictions, typed
from mklearn.study.evaluation.summary import corrected, summarise
from mklearn.study.evaluation.verdicts import MATTERS
from mklearn.study.report import wording
from mklearn.study.report.build import build_report
from mklearn.study.report.frames import Setting, records, results_of
from mklearn.study.report.records import RunRecord
from mklearn.study.report.tables import Cell, Column, Table, difference_cell, number_cell
from mklearn.study.specs.table_specs import ReportSpec

MARKS = ("A", "B")
COMPARISON = "comparison"
SETTING = ["dataset", "protocol", "train_size"]
PAIRED = ["difference", "difference_low", "difference_high", "p_value", "p_holm", "disagreement"]
_BETWEEN = "\n"
"""Between protocol and method, in a place of its own for each method; no id has it."""


@dataclass(frozen=True)
class StudyTables:
    """What is compared of a study: its tables, and the ``record`` of its run.

    ``name`` says where it lies. ``predictions`` is the table that
    :class:`mklearn.study.evaluation.predictions.Predictions` takes. ``record`` has ``study``, ``config``, ``commit``,
    ``utc``, ``machine`` and ``versions``.
    """

    name: str
    scores: pd.DataFrame
    predictions: pd.DataFrame
    summary: pd.DataFrame
    record: Mapping[str, Any]

    def scores_of_comparison(self) -> pd.DataFrame:
        """Return the scores as rows of one study, the comparison: its settings don't differ by the studies' names."""
        return self.scores.assign(study=COMPARISON)

    @property
    def reference(self) -> str:
        """The method that the study's differences are taken to: its own is 0, and without a p-value. Empty: none."""
        differences = self.summary[["difference", "difference_low"]]
        own = self.summary[differences.eq(0).all(axis=1) & self.summary["p_value"].isna()]
        return str(self._of_evaluation("reference") or next(iter(own["method"]), ""))

    @property
    def score(self) -> str:
        """The metric of tables and figures: the accuracy, and of numbers the one that chose."""
        metrics = [metric for metric in dict.fromkeys(self.summary["metric"]) if metric]
        if not metrics or "accuracy" in metrics:
            return "accuracy"
        chose = self._of_evaluation("choose_by")
        return str(chose) if chose in metrics else metrics[0]

    @property
    def metric(self) -> str:
        """The metric of the headline: with a final model the model's, else the score."""
        final = self.record.get("config", {}).get("final") or {}
        return str(final.get("metric") or self.score)

    @property
    def neighbour(self) -> str:
        """The nearest-neighbour rule of the headline; empty without embeddings."""
        rules = [rule for rule in self.summary["neighbour"].fillna("") if rule]
        return headline_rule(rules) if rules else ""

    def _of_evaluation(self, name: str) -> Any:
        return self.record.get("config", {}).get("evaluation", {}).get(name)


def compare(first: StudyTables, second: StudyTables, out_dir: Path, command: str = "") -> list[Path]:
    """Write a page with the methods of both studies, and return the files written, ``index.html`` first.

    Parameters
    ----------
    first, second : StudyTables
    out_dir : Path
        Created if missing.
    command : str, optional
        By which the page is made again.

    Raises
    ------
    ConfigError
        The studies have no data set, protocol and training size in common.
    """
    both = (first, second)
    same = same_splits(first, second)
    if not same:
        raise ConfigError(
            f"{first.name} and {second.name} have no data set with the same protocol and training size: "
            "there is nothing to compare."
        )
    spec = _specification(both)
    scores = pd.concat([_marked(study.scores_of_comparison(), mark) for study, mark in zip(both, MARKS, strict=True)])
    predictions = [_marked(study.predictions, mark) for study, mark in zip(both, MARKS, strict=True)]
    titles = _titles(both)
    predicted = Predictions(typed(pd.concat(predictions, ignore_index=True)))
    summary = summarise(scores, predicted, reference=spec.reference, titles=titles)
    summary = _without_pairs(summary, same, spec.reference)
    paired = _without_pairs(_paired_with_itself(both), same, "a")
    tables = [*_difference_tables(paired, titles, scores, summary, spec.score), settings_table(first, second)]
    return build_report(
        out_dir, study=spec, run=RunRecord(command=command), data=[], fits=[], scores=scores, summary=summary,
        comparison=[table for table in tables if table.rows], figure_files=False,
    )  # fmt: skip


def same_splits(first: StudyTables, second: StudyTables) -> dict[tuple[Any, ...], bool]:
    """Tell for each setting of both studies whether the splits of both tested the same samples in each study."""
    ours, theirs = (dict(_splits(study)) for study in (first, second))
    return {key: _agree(ours[key], theirs[key]) for key in ours if key in theirs}


def _agree(ours: Mapping[Any, frozenset[str]], theirs: Mapping[Any, frozenset[str]]) -> bool:
    both = ours.keys() & theirs.keys()
    return bool(both) and all(ours[unit] == theirs[unit] for unit in both)


def _splits(study: StudyTables) -> Iterator[tuple[tuple[Any, ...], dict[tuple[int, int], frozenset[str]]]]:
    """Yield each setting with its tested samples by repeat and fold."""
    for key, rows in study.predictions.groupby(SETTING, observed=True, dropna=False, sort=False):
        units: dict[Any, pd.Series] = dict(iter(rows.groupby(["repeat", "fold"])["sample"]))
        yield (
            _key(key),
            {(int(repeat), int(fold)): frozenset(names.astype(str)) for (repeat, fold), names in units.items()},
        )


def _key(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(None if pd.isna(value) else value for value in values)


def _specification(both: Sequence[StudyTables]) -> ReportSpec:
    first, second = (str(study.record["study"]) for study in both)
    title = f"{first}, compared with itself" if first == second else f"{first} and {second}"
    told = [
        f"{mark} is {study.name}{_made(study.record)}." for mark, study in zip(MARKS, both, strict=True)
    ]  # fmt: skip
    reference, score = both[0].reference and _mark(both[0].reference, MARKS[0]), both[0].score
    return ReportSpec(
        study=COMPARISON, title=title, description=" ".join(told), reference=reference, thumbnails=0, score=score,
        metric=score,
    )  # fmt: skip


def _made(record: Mapping[str, Any]) -> str:
    facts = {"made": record.get("utc"), "commit": record.get("commit")}
    known = ", ".join(f"{name} {value}" for name, value in facts.items() if value)
    return f" ({known})" if known else ""


def _mark(method: str, mark: str) -> str:
    return f"{method}@{mark.lower()}"


def _marked(frame: pd.DataFrame, mark: str) -> pd.DataFrame:
    return frame.assign(method=[_mark(method, mark) for method in frame["method"].astype(str)])


def _titles(both: Sequence[StudyTables]) -> dict[str, dict[str, str]]:
    methods: dict[str, str] = {}
    datasets: dict[str, str] = {}
    for study, mark in zip(both, MARKS, strict=True):
        rows = study.summary.drop_duplicates(["dataset", "method"])
        for row in records(rows[["dataset", "dataset_title", "method", "method_title"]]):
            methods[_mark(row["method"], mark)] = f"{row['method_title']} ({mark})"
            datasets.setdefault(row["dataset"], str(row["dataset_title"]))
    return {"methods": methods, "datasets": datasets}


def _without_pairs(summary: pd.DataFrame, same: Mapping[tuple[Any, ...], bool], reference: str) -> pd.DataFrame:
    """Remove differences between the two studies where their splits are not the same, and correct for the others."""
    of_first = reference.rpartition("@")[2] if "@" in reference else reference
    other = summary["method"].astype(str).str.rpartition("@")[2].ne(of_first)
    protocols = summary["protocol"].astype(str).str.partition(_BETWEEN)[0]
    keys = zip(summary["dataset"], protocols, summary["train_size"], strict=True)
    unequal = np.array([not same.get(_key(key), False) for key in keys], dtype=bool)
    summary = summary.copy()
    summary.loc[other.to_numpy() & unequal, PAIRED] = np.nan
    return summary.assign(p_holm=corrected(summary))


def _paired_with_itself(both: Sequence[StudyTables]) -> pd.DataFrame:
    """Summarise each method of both studies in a setting of its own, the second against the first."""
    scores: list[pd.DataFrame] = []
    predictions: list[pd.DataFrame] = []
    for study, mark in zip(both, ("a", "b"), strict=True):
        for found, frame in ((scores, study.scores_of_comparison()), (predictions, study.predictions)):
            place = [f"{p}{_BETWEEN}{m}" for p, m in zip(frame["protocol"], frame["method"], strict=True)]
            found.append(frame.assign(protocol=place, method=mark))
    predicted = Predictions(typed(pd.concat(predictions, ignore_index=True)))
    return summarise(pd.concat(scores, ignore_index=True), predicted, reference="a")


def _difference_tables(
    paired: pd.DataFrame, titles: Mapping[str, Mapping[str, str]], scores: pd.DataFrame, summary: pd.DataFrame,
    score: str,
) -> list[Table]:  # fmt: skip
    """Tabulate each setting that both studies have: the score of each method in A and B, and B − A."""
    rows = paired[paired["selection"].eq("inner_cv") & paired["metric"].isin([score, ""])]
    place = rows["protocol"].astype(str).str.partition(_BETWEEN)
    rows = rows.assign(protocol=place[0], of=place[2])
    tables = []
    for setting in results_of(scores, summary, [], "", score=score).settings:
        own = setting.of(rows)
        own = own.assign(p_holm=holm(own["p_value"].to_numpy(dtype=np.float64)))  # each method was a family of its own
        by_method: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
        for row in records(own):
            by_method.setdefault((row["of"], row["neighbour"]), {})[row["method"]] = row
        found = [pair for pair in by_method.items() if len(pair[1]) == 2]
        tables.append(_difference_table(setting, found, titles["methods"]))
    return tables


def _difference_table(
    setting: Setting, pairs: Sequence[tuple[tuple[str, str], Mapping[str, dict[str, Any]]]], titles: Mapping[str, str]
) -> Table:
    lines = []
    for (method, rule), pair in pairs:
        first, second = pair["a"], pair["b"]
        change = second
        note = "the same splits"
        if second["disagreement"] == 0:
            change, note = dict.fromkeys(PAIRED[:3], 0.0), "the same predictions"
        elif pd.isna(second["difference"]):
            change = {"difference": second["mean"] - first["mean"], "difference_low": np.nan, "difference_high": np.nan}
            note = "other splits: not paired"
        lines.append((
            Cell(titles[_mark(method, "A")].removesuffix(" (A)")),
            number_cell(wording.percent_spread(first["mean"], first["std"]), first["mean"]),
            number_cell(wording.percent_spread(second["mean"], second["std"]), second["mean"]),
            difference_cell(change, MATTERS),
            Cell(note),
            Cell(wording.rule_title(rule)),
        ))  # fmt: skip
    columns = (
        Column("Method", numeric=False),
        Column("A, %", "mean ± std over splits, by inner cross-validation"),
        Column("B, %", "mean ± std over splits, by inner cross-validation"),
        Column("B − A, points", "with its 95 % interval, where both tested the same samples in the same splits"),
        Column("Paired", numeric=False),
        Column("Rule", numeric=False),
    )
    return Table(f"The same methods: {setting.title}", columns, lines, rules=[rule for (_, rule), _ in pairs])


def settings_table(first: StudyTables, second: StudyTables) -> Table:
    """Tabulate what differs in the configurations and the versions of both runs."""
    flat = [dict(_flat(study.record.get("config", {}))) for study in (first, second)]
    for values, study in zip(flat, (first, second), strict=True):
        values |= {f"version of {name}": version for name, version in study.record.get("versions", {}).items()}
        values |= {name: str(study.record[name]) for name in ("commit",) if study.record.get(name)}
    names = list(dict.fromkeys([*flat[0], *flat[1]]))
    rows = [
        (Cell(name), *(Cell(values.get(name, wording.DASH), kind="prose") for values in flat))
        for name in names
        if flat[0].get(name) != flat[1].get(name)
    ]
    columns = tuple(Column(title, numeric=False) for title in ("Setting", *MARKS))
    return Table("What differs in the settings", columns, rows)


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the values of a nested configuration by their path; an unset one is left out."""
    if isinstance(value, dict) and value:
        for name, entry in value.items():
            yield from _flat(entry, f"{path}.{name}" if path else str(name))
    elif value not in (None, {}, []):
        yield path, str(value)

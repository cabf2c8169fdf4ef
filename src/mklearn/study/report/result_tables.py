"""Tables of scores: results of each setting, all metrics, failures, and the result table for a paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from mklearn.errors import ConfigError
from mklearn.study.evaluation.headline import BETTER, NO_GAIN, NOT_SHOWN, WORSE, only_before_holm, verdict
from mklearn.study.evaluation.metrics.metric import Metric, metric_named
from mklearn.study.evaluation.reproduction import plain_records
from mklearn.study.evaluation.selection import UPPER_BOUND
from mklearn.study.report import wording
from mklearn.study.report.parts import ReportPart, Section
from mklearn.study.report.results import Results, Setting, protocol_family
from mklearn.study.report.tables import Cell, Column, Table, number, number_cell, words
from mklearn.study.report.wording import setting_title

SCORE, DIFFERENCE = "score", "difference"
MARKS = {BETTER: "▲", WORSE: "▼"}
Row = dict[str, Any]
"""A row of the summary."""


# --- cells


def value_cell(metric: Metric, row: Row, name: str = "mean", std: str = "std") -> Cell:
    """Return a cell with a value of a row and its standard deviation over splits."""
    return number_cell(wording.spread(row.get(name), row.get(std), metric.in_percent), row.get(name))


def interval_cell(row: Row, in_percent: bool, low: str = "ci_low", high: str = "ci_high") -> Cell:
    """Return a cell with the interval of a row, sorted by the lower end."""
    return number_cell(wording.interval(row.get(low), row.get(high), in_percent, row.get("mean")), row.get(low))


def difference_cell(row: Row, metric: Metric, matters: float, *, marked: bool = True) -> Cell:
    """Return a cell with a difference and its interval: columns ``difference, difference_low, difference_high``.

    With ``marked``, the verdicts better and worse have a mark. Use False where the reference itself is not valid.
    """
    value, low, high = (row.get(name) for name in ("difference", "difference_low", "difference_high"))
    text = wording.change_and_interval(row, metric.in_percent, ",\u00a0")
    if pd.isna(value):
        return number_cell(text, None)
    if pd.isna(low) or pd.isna(high):
        return number_cell(text, value, note="fewer splits than an interval takes")
    if value == low == high == 0:
        return number_cell("0", 0)
    if not marked:
        return number_cell(text, value, note="the reference is below the majority class")
    shown = verdict(row, matters if metric.in_percent else 0.0, metric.larger_is_better)
    if shown in MARKS:
        kind = "up" if shown == BETTER else "down"
        return number_cell(f"{text} {MARKS[shown]}", value, kind=kind, note=f"{shown}: the interval excludes 0")
    notes = {
        NO_GAIN: f"the interval excludes a gain{f' of {100 * matters:g} points' if metric.in_percent else ''}",
        NOT_SHOWN: "not shown: the interval contains a gain that matters",
    }
    corrected = "; it excludes 0, but not after Holm's correction" if only_before_holm(row) else ""
    return number_cell(text, value, note=notes[shown] + corrected)


def setting_columns(places: Sequence[tuple[str, Any]]) -> list[Column]:
    """Return a column for each (protocol, training size); titles include the protocol if there are several."""
    families = [protocol_family(protocol, size) for protocol, size in places]
    several = len(set(families)) > 1
    return [
        Column(protocol or "all" if pd.isna(size) else setting_title("", size, family if several else ""))
        for (protocol, size), family in zip(places, families, strict=True)
    ]


# --- results


def result_table(results: Results, setting: Setting) -> Table:
    """Return the table of inner-CV and oracle scores in a setting, by the headline's nearest-neighbour rule.

    Empty columns, such as the dimension of classifiers, are left out.
    """
    by_method: dict[str, dict[str, Row]] = {}
    summary = setting.of(results.summary)
    for row in plain_records(summary[summary["neighbour"].isin(results.one_rule)]):
        by_method.setdefault(row["label"], {})[str(row["selection"])] = row
    rows = [_joined(label, pair.get("inner_cv", {}), pair.get("oracle", {})) for label, pair in by_method.items()]
    rows.sort(key=partial(_height, results.metric), reverse=True)
    table = Table.of(
        setting.title, _result_columns(results, setting, rows), rows, sorted_by=1,
        order="descending" if results.metric.larger_is_better else "ascending",
        marked=[row["label"] == results.reference_title for row in rows],
    )  # fmt: skip
    nothing = {wording.DASH} if table.footnotes else {wording.DASH, "ok"}
    return table.with_columns([k < 2 or any(line[k].text not in nothing for line in table.rows)
                               for k in range(len(table.columns))])  # fmt: skip


def _joined(label: str, inner: Row, oracle: Row) -> Row:
    """Return the inner-CV row of a method with its oracle values and what both rows share."""
    both = [row for row in (inner, oracle) if row]  # only an oracle if parameters are chosen on the test samples
    counted = max(both, key=lambda row: int(row["n_repeats"]))
    worst = next((row for row in both if row["status"] != "ok"), both[0])
    published = next((row for row in reversed(both) if not pd.isna(row.get("published"))), {})
    shared = {"label": label, "is_missing": counted["status"] == "missing"}
    for row, names in (
        (counted, ("n_repeats", "n_failed", "time_ratio", "fit_seconds")),
        (worst, ("status", "message")),
        (published, ("published", "published_std", "published_source")),
    ):
        shared |= {name: row.get(name) for name in names}
    return inner | shared | {f"oracle_{name}": oracle.get(name) for name in ("mean", "std", "dimension")}


def _height(metric: Metric, row: Row) -> tuple[int, float]:
    """Return the sort key: the inner-CV mean; rows without it come last, sorted by the oracle mean."""
    for place, name in ((2, "mean"), (1, "oracle_mean")):
        if not pd.isna(mean := row.get(name)):
            return place, metric.sign * float(mean)
    return 0, 0.0


def _result_columns(results: Results, setting: Setting, rows: Sequence[Row]) -> list[Column]:
    """Return all columns; the page shows oracle values only beside published values, which are selected likewise."""
    metric, marked = results.metric, setting not in results.below_majority
    percent, points = (", %", ", points") if metric.in_percent else ("", "")
    best = next((row["mean"] for row in rows if not pd.isna(row.get("mean"))), None)

    def score(row: Row) -> Cell:
        cell = value_cell(metric, row)
        return replace(cell, kind="number strong", note="best of this table") if row.get("mean") == best else cell

    def published(row: Row) -> Cell:
        return replace(value_cell(metric, row, "published", "published_std"), note=str(row["published_source"] or ""))

    return [
        words("Method"),
        Column(
            f"Test {metric.name}, chosen by inner CV{percent}",
            "mean ± std over splits, parameters chosen by inner cross-validation", name=SCORE, cell=score,
        ),
        Column(
            f"Difference to {results.reference_title}{points}",
            "paired on the same test samples, with its 95 % interval; marked if it excludes 0, after Holm's correction",
            name=DIFFERENCE, cell=lambda row: difference_cell(row, metric, results.matters, marked=marked),
        ),
        number("Time, × reference", "time_ratio", wording.times_as_long,
               "training time divided by the reference's: median over splits", name="time"),
        number("p", "p_holm", wording.p_value,
               "of the difference, after Holm's correction for the setting's comparisons by all rules", name="p",
               on_page=False),
        Column("95 % interval", "of the inner-CV mean, from the outcomes of the test samples", name="interval",
               cell=lambda row: interval_cell(row, metric.in_percent)),
        number("Dim.", "dimension", wording.count, "median of the dimensions that inner cross-validation chose",
               name="dimension"),
        Column(
            f"Oracle{percent}", "mean ± std at the best dimension of the mean test curve: chosen on the test samples",
            name="oracle", on_page=bool(results.summary["published"].notna().any()),
            cell=lambda row: value_cell(metric, row, "oracle_mean", "oracle_std"),
        ),
        number("Oracle dim.", "oracle_dimension", wording.count, name="oracle_dimension", on_page=False),
        Column(f"Published{percent}", "as printed in the source", name="published", cell=published),
        Column("Splits", "splits with a value, and how many failed", name="splits", cell=_splits),
        number("Fit, s", "fit_seconds", wording.seconds, "median processor seconds of one fit", name="seconds",
               on_page=False),
        Column("Status", numeric=False, name="status", cell=_status),
    ]  # fmt: skip


def _splits(row: Row) -> Cell:
    failed = int(row["n_failed"])
    shown = "" if not failed else ", all missing" if row["is_missing"] else f", {failed:,} failed"
    return number_cell(f"{wording.count(row['n_repeats'])}{shown}", row["n_repeats"], kind="warn" if failed else "")


def _status(row: Row) -> Cell:
    word, message = str(row["status"]), str(row["message"] or "")
    kind = "badge warn" if word != "ok" or int(row["n_failed"]) or message else "badge"
    return Cell(word.replace("_", " "), kind=kind, footnote=message)


def paper_table(results: Results, columns: Sequence[str] = (SCORE,), caption: str = "") -> Table:
    """Return the result table of a study, with a row for each method and the given columns for each setting.

    ``columns`` are names of columns of :func:`result_table`; ConfigError is raised for an unknown name. Embeddings use
    the headline's nearest-neighbour rule. Scores have the mark of the difference if it has no column of its own. The
    default caption explains numbers and marks.
    """
    tables = [result_table(results, setting) for setting in results.settings]
    named = {column.name: column for table in tables for column in table.columns if column.name}
    for name in columns:
        if name not in named:
            raise ConfigError(
                f"--columns {name}: the results have nothing there (difference, time and p need a reference with the "
                f"metric: evaluation.reference); valid: {', '.join(named)}."
            )
    rows = [_paper_rows(table, columns) for table in tables]
    labels = [label for label in results.labels if any(label in cells_of for cells_of in rows)]
    heads = [named[name] for _ in tables for name in columns]
    if len(tables) > 1:  # column heads have what differs between settings, the caption the rest
        places = [(table.caption, name) for table in tables for name in columns]
        titles = [title + (f": {named[name].title}" if len(columns) > 1 else "") for title, name in places]
        heads = [replace(head, title=title) for head, title in zip(heads, titles, strict=True)]
    if not caption:
        parts = [results.settings[0].title] if len(tables) == 1 else []
        parts += [": ".join(filter(None, (named[name].title, named[name].note))) for name in columns[:1]]
        if results.reference and {SCORE, DIFFERENCE} & set(columns):
            parts.append(
                f"▲ better and ▼ worse than {results.reference_title}: the 95 % interval of the paired difference "
                "excludes 0 after Holm's correction"
            )
        caption = f"{'. '.join(parts)}."
    dash = Cell(wording.DASH, kind="number")
    cells = [[cells_of.get(label, {}).get(name, dash) for cells_of in rows for name in columns] for label in labels]
    lines = [[Cell(label), *line] for label, line in zip(labels, cells, strict=True)]
    return Table(caption, [words("Method"), *heads], lines)


def _paper_rows(table: Table, columns: Sequence[str]) -> dict[str, dict[str, Cell]]:
    """Return the cells of a result table by method and column; scores have the mark if the difference is left out."""
    chosen = {}
    for row in table.rows:
        cells = dict(zip((column.name for column in table.columns), row, strict=True))
        score, difference = cells[SCORE], cells.get(DIFFERENCE)
        if DIFFERENCE not in columns and difference is not None and difference.text[-1:] in MARKS.values():
            cells[SCORE] = replace(score, text=f"{score.text} {difference.text[-1]}")
        chosen[row[0].text] = cells
    return chosen


# --- metrics and failures


def metrics_section(results: Results) -> Section:
    """Return the section with the inner-CV means of all metrics, a table for each setting; empty for a single metric.

    If several data sets have numeric targets, tables of the means over targets follow.
    """
    rows = results.all_metrics[results.all_metrics["selection"].eq("inner_cv")]
    rows = rows[rows["neighbour"].isin(results.one_rule)]
    metrics = [metric_named(name) for name in dict.fromkeys(rows["metric"]) if name]
    settings = results.settings if len(metrics) > 1 else []
    tables = [_metric_table(setting.title, setting.of(rows), metrics, "splits") for setting in settings]
    of_numbers = rows["metric"].isin([each.kind for each in metrics if list(each.targets) == ["numbers"]])
    numeric = rows[rows["dataset"].isin(rows["dataset"][of_numbers])]
    tables += _means_over_targets(numeric, [each for each in metrics if each.in_percent and "numbers" in each.targets])
    note = "Means over splits, or over targets, by the parameters that inner cross-validation chose."
    return Section("metrics", "All metrics", [ReportPart(tables=tables)] if tables else [], note, printed=True)


def _means_over_targets(rows: pd.DataFrame, metrics: Sequence[Metric]) -> list[Table]:
    """Return tables of the means over targets, one for each protocol and training size.

    Methods need a value for every target. Errors in the unit of the target are not averaged.
    """
    tables = []
    rows = rows[rows["metric"].isin([metric.kind for metric in metrics])]
    for (protocol, size), part in rows.groupby(["protocol", "train_size"], sort=False, dropna=False):
        n = part["dataset"].nunique()
        if n > 1:
            values = part.astype({"mean": float}).groupby(["label", "metric"], sort=False)["mean"]
            means = values.agg(["mean", "std", "count"]).query("count == @n").reset_index()
            title = setting_columns([(str(protocol), size)])[0].title
            tables.append(_metric_table(f"Mean over {n} targets, {title}", means, metrics, "targets"))
    return tables


def _metric_table(caption: str, rows: pd.DataFrame, metrics: Sequence[Metric], over: str) -> Table:
    def cell(metric: Metric, by_metric: dict[str, Row]) -> Cell:
        row = by_metric.get(metric.kind, {})
        missing = str(row.get("message") or "") if pd.isna(row.get("mean")) else ""
        return replace(value_cell(metric, row), footnote=missing)

    columns = [
        Column(f"{each.title}{', %' * each.in_percent}", f"mean ± std over {over}", cell=partial(cell, each))
        for each in metrics
    ]
    lines = [
        {"label": label} | {row["metric"]: row for row in plain_records(of_label)}
        for label, of_label in rows.groupby("label", sort=False)
    ]
    return Table.of(caption, [words("Method"), *columns], lines)


def failures_section(results: Results) -> Section:
    """Return the section with every status other than ok: method, setting, number of splits and message.

    Results whose parameters were chosen on the test samples are not failures.
    """
    scores = results.scores.fillna({"message": ""})
    failed = scores[scores["status"].ne("ok") & ~scores["message"].astype(str).str.endswith(UPPER_BOUND)]
    rows = []
    for setting in results.settings:
        kinds = setting.of(failed).groupby(["label", "status", "message"], sort=False)
        for (label, status, message), part in kinds:
            n = len(part.drop_duplicates(["repeat", "fold"]))
            often = "every split" if status == "missing" else wording.plural(n, "split")
            row = {"setting": setting.title, "label": label, "status": str(status).replace("_", " ")}
            rows.append(row | {"splits": often, "message": message})
    columns = [
        words("Setting", "setting"), words("Method"), words("Status", "status", "warn"), words("How often", "splits"),
        words("Message", "message", "prose"),
    ]  # fmt: skip
    table = Table.of("Fits that did not end well", columns, rows)
    note = "Fits that did not end with a value, and fits whose value is to be read with care."
    return Section("failures", "Failures", [ReportPart(tables=[table])] if rows else [], note, printed=True)

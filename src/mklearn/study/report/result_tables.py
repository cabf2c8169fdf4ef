"""Tables of scores: the result table of each setting, all metrics, failures, and the result table for a paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from mklearn.errors import ConfigError
from mklearn.study.evaluation.metrics.metric import Metric, metric_named
from mklearn.study.evaluation.reproduction import plain_records
from mklearn.study.evaluation.selection import UPPER_BOUND
from mklearn.study.evaluation.verdicts import BETTER, NO_GAIN, NOT_SHOWN, WORSE, only_before_holm, verdict
from mklearn.study.report import wording
from mklearn.study.report.parts import ReportPart, Section
from mklearn.study.report.results import Results, Setting, protocol_family, typical_times, whole_or_none
from mklearn.study.report.tables import Cell, Column, Table, number_cell, text_columns

SCORE, DIFFERENCE = "score", "difference"
MARKS = {BETTER: "▲", WORSE: "▼"}
Pair = dict[str, dict[str, Any]]
"""The rows of the summary that make a row of a table, by selection: ``inner_cv`` and ``oracle``."""


# --- cells


def value_cell(metric: Metric, row: dict[str, Any], name: str = "mean", note: str = "") -> Cell:
    """Format the mean, or published, value of a row and its standard deviation over splits."""
    std = row.get("std" if name == "mean" else f"{name}_std")
    return number_cell(wording.spread(row.get(name), std, metric.in_percent), row.get(name), note=note)


def difference_cell(row: dict[str, Any], metric: Metric, matters: float, *, marked: bool = True) -> Cell:
    """Format a difference with its interval: columns ``difference, difference_low, difference_high``.

    It has a mark where the verdict is better or worse; none where the reference is no reference (not ``marked``).
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


def setting_columns(places: Sequence[tuple[str, int | None]]) -> list[Column]:
    """Return a column for each (protocol, training size); they name the protocol where there are several."""
    families = [protocol_family(protocol, size) for protocol, size in places]
    several = len(set(families)) > 1
    columns = []
    for (protocol, size), family in zip(places, families, strict=True):
        title = f"training size {size}" if size is not None else protocol or "all"
        columns.append(Column(f"{title}, {family}" if several and size is not None else title))
    return columns


def _footnotes(message: str, messages: list[str]) -> tuple[int, ...]:
    """Return the number of a message among the footnotes, to which it is added; none of an empty one."""
    if message and message not in messages:
        messages.append(message)
    return (messages.index(message) + 1,) if message else ()


# --- results


def result_table(results: Results, setting: Setting) -> Table:
    """Tabulate the scores of a setting by the rule of the headline: what inner cross-validation chose, and the oracle.

    Columns that say nothing are left out, as the dimension of classifiers.
    """
    metric, by_method = results.score, dict[str, Pair]()
    rows, scores = (
        frame[frame["neighbour"].isin(results.one_rule)]
        for frame in (setting.of(results.summary), setting.of(results.scores))
    )
    for row in plain_records(rows):
        by_method.setdefault(row["label"], {})[str(row["selection"])] = row
    pairs = sorted(by_method.items(), key=lambda item: _height(item[1], metric), reverse=True)
    means = (pair["inner_cv"]["mean"] for _, pair in pairs if "inner_cv" in pair)
    best = next((mean for mean in means if not pd.isna(mean)), None)
    times = typical_times(scores, results.reference)
    columns, messages, lines = _result_columns(results), list[str](), []
    for label, pair in pairs:
        inner = pair.get("inner_cv", {})
        difference = difference_cell(inner, metric, results.matters, marked=setting not in results.below_majority)
        time = times.loc[label] if label in times.index else {"seconds": None, "ratio": None}
        score = value_cell(metric, inner)
        if inner.get("mean") == best:
            score = replace(score, kind="number strong", note="best of this table")
        lines.append([Cell(label), score, difference, *_result_cells(pair, metric, time, messages)])
    nothing = {wording.DASH} if messages else {wording.DASH, "ok"}
    kept = [k for k in range(len(columns)) if k < 2 or any(line[k].text not in nothing for line in lines)]
    return Table(
        setting.title, [columns[k] for k in kept], [[line[k] for k in kept] for line in lines], sorted_by=1,
        marked=[label == results.reference_title for label, _ in pairs], footnotes=messages,
    )  # fmt: skip


def _result_columns(results: Results) -> list[Column]:
    """Return all columns. What the test samples choose is on pages of published values, which are chosen like that."""
    percent, points = (", %", ", points") if results.score.in_percent else ("", "")
    return [
        Column("Method", numeric=False),
        Column(
            f"Test {results.score.name}, chosen by inner CV{percent}",
            "mean ± std over splits, parameters chosen by inner cross-validation", name=SCORE,
        ),
        Column(
            f"Difference to {results.reference_title}{points}",
            "paired on the same test samples, with its 95 % interval; marked if it excludes 0, after Holm's correction",
            name=DIFFERENCE,
        ),
        Column("Time, × reference", "training time divided by the reference's: median over splits", name="time"),
        Column("p", "of the difference, after Holm's correction for the comparisons of this table", name="p",
               on_page=False),
        Column("95 % interval", "of the inner-CV mean, from the outcomes of the test samples", name="interval"),
        Column("Dim.", "median of the dimensions that inner cross-validation chose", name="dimension"),
        Column(
            f"Oracle{percent}", "mean ± std at the best dimension of the mean test curve: chosen on the test samples",
            name="oracle", on_page=bool(results.summary["published"].notna().any()),
        ),
        Column("Oracle dim.", name="oracle_dimension", on_page=False),
        Column(f"Published{percent}", "as printed in the source", name="published"),
        Column("Splits", "splits with a value, and how many failed", name="splits"),
        Column("Fit, s", "median processor seconds of one fit", name="seconds", on_page=False),
        Column("Status", numeric=False, name="status"),
    ]  # fmt: skip


def _height(pair: Pair, metric: Metric) -> tuple[int, float]:
    """Return what rows are sorted by: the inner-CV mean; rows without one come after it, by the oracle's."""
    for place, selection in ((2, "inner_cv"), (1, "oracle")):
        mean = pair.get(selection, {}).get("mean")
        if not pd.isna(mean):
            return place, float(mean) if metric.larger_is_better else -float(mean)
    return 0, 0.0


def _result_cells(pair: Pair, metric: Metric, time: Any, messages: list[str]) -> list[Cell]:
    """Return the cells of a row behind score and difference."""
    inner, oracle = pair.get("inner_cv", {}), pair.get("oracle", {})
    row = inner or oracle
    source = next((part for part in (oracle, inner) if not pd.isna(part.get("published"))), {})
    # What is chosen on the test samples has values there only, and has not failed.
    counted = max((part for part in (inner, oracle) if part), key=lambda part: int(part["n_repeats"]), default=row)
    worst = next((part for part in (inner, oracle) if part.get("status", "ok") != "ok"), row)
    failed, message = int(counted["n_failed"]), str(worst["message"] or "")
    splits = wording.count(counted["n_repeats"]) + (f", {failed:,} failed" if failed else "")
    interval = wording.interval(inner.get("ci_low"), inner.get("ci_high"), metric.in_percent)
    return [
        number_cell(wording.times_as_long(time["ratio"]), time["ratio"]),
        number_cell(wording.p_value(inner.get("p_holm")), inner.get("p_holm")),
        number_cell(interval, inner.get("ci_low")),
        number_cell(wording.count(inner.get("dimension")), inner.get("dimension")),
        value_cell(metric, oracle),
        number_cell(wording.count(oracle.get("dimension")), oracle.get("dimension")),
        value_cell(metric, source, "published", note=str(source.get("published_source") or "")),
        number_cell(splits, counted["n_repeats"], kind="warn" if failed else ""),
        number_cell(wording.seconds(time["seconds"]), time["seconds"]),
        Cell(
            str(worst["status"]).replace("_", " "),
            kind="badge warn" if worst["status"] != "ok" or failed or message else "badge",
            footnotes=_footnotes(message, messages),
        ),
    ]


def paper_table(results: Results, columns: Sequence[str] = (SCORE,), caption: str = "") -> Table:
    """Tabulate a study: a row for each method, by the headline's nearest-neighbour rule, and columns of each setting.

    Parameters
    ----------
    results : Results
    columns : sequence of str
        Names of columns of :func:`result_table`. The score has the mark of the difference where that has no column of
        its own.
    caption : str
        By default it says what the numbers and the marks are.

    Raises
    ------
    ConfigError
        A column that no setting has.
    """
    tables = [result_table(results, setting) for setting in results.settings]
    known = {column.name: column for table in tables for column in table.columns if column.name}
    for name in columns:
        if name not in known:
            raise ConfigError(f"--columns {name}: the results have no such column; valid: {', '.join(known)}.")
    rows = [_paper_rows(table, columns) for table in tables]
    labels = [label for label in results.labels if any(label in own for own in rows)]
    heads = [known[name] for _ in tables for name in columns]
    if len(tables) > 1:  # a head names what differs, and the caption the rest
        places = [(table.caption, name) for table in tables for name in columns]
        titles = [title + (f": {known[name].title}" if len(columns) > 1 else "") for title, name in places]
        heads = [replace(head, title=title) for head, title in zip(heads, titles, strict=True)]
    if not caption:
        parts = [results.settings[0].title] if len(tables) == 1 else []
        parts += [": ".join(filter(None, (known[name].title, known[name].note))) for name in columns[:1]]
        if results.reference and {SCORE, DIFFERENCE} & set(columns):
            parts.append(
                f"▲ better and ▼ worse than {results.reference_title}: the 95 % interval of the paired difference "
                "excludes 0 after Holm's correction"
            )
        caption = f"{'. '.join(parts)}."
    dash = Cell(wording.DASH, kind="number")
    cells = [[own.get(label, {}).get(name, dash) for own in rows for name in columns] for label in labels]
    lines = [[Cell(label), *line] for label, line in zip(labels, cells, strict=True)]
    return Table(caption, [*text_columns("Method"), *heads], lines)


def _paper_rows(table: Table, columns: Sequence[str]) -> dict[str, dict[str, Cell]]:
    """Return the cells of a result table by method and column; the score has the mark of an absent difference."""
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
    """Tabulate the means of all metrics by inner cross-validation, a table for each setting; none of one alone.

    Where each of several data sets has numbers to predict, a table of their means follows.
    """
    rows = results.all_metrics[results.all_metrics["selection"].eq("inner_cv")]
    rows = rows[rows["neighbour"].isin(results.one_rule)]
    metrics = [metric_named(name) for name in dict.fromkeys(rows["metric"]) if name]
    settings = results.settings if len(metrics) > 1 else []
    tables = [_metric_table(setting.title, setting.of(rows), metrics, "splits") for setting in settings]
    tables += _means_over_targets(rows, [each for each in metrics if each.in_percent and "numbers" in each.targets])
    note = "Means over splits, by the parameters that inner cross-validation chose."
    return Section("metrics", "All metrics", [ReportPart(tables=tables)] if tables else [], note, printed=True)


def _means_over_targets(rows: pd.DataFrame, metrics: Sequence[Metric]) -> list[Table]:
    """Tabulate the means over targets, a table for each protocol and training size; of methods with a value for all.

    Errors in the unit of each target have no mean.
    """
    tables = []
    rows = rows[rows["metric"].isin([metric.kind for metric in metrics])]
    for (protocol, size), part in rows.groupby(["protocol", "train_size"], sort=False, dropna=False):
        n = part["dataset"].nunique()
        if n > 1:
            values = part.astype({"mean": float}).groupby(["label", "metric"], sort=False)["mean"]
            means = values.agg(["mean", "std", "count"]).query("count == @n").reset_index()
            title = setting_columns([(str(protocol), whole_or_none(size))])[0].title
            tables.append(_metric_table(f"Mean over {n} targets, {title}", means, metrics, "targets"))
    return tables


def _metric_table(caption: str, rows: pd.DataFrame, metrics: Sequence[Metric], over: str) -> Table:
    units = [", %" if metric.in_percent else "" for metric in metrics]
    columns = text_columns("Method")
    columns += [Column(f"{m.title}{unit}", f"mean ± std over {over}") for m, unit in zip(metrics, units, strict=True)]
    lines, messages = [], list[str]()
    for label, own in rows.groupby("label", sort=False):
        by_metric = {row["metric"]: row for row in plain_records(own)}
        cells = [Cell(str(label))]
        for metric in metrics:
            row = by_metric.get(metric.kind, {})
            missing = str(row.get("message") or "") if pd.isna(row.get("mean")) else ""
            cells.append(replace(value_cell(metric, row), footnotes=_footnotes(missing, messages)))
        lines.append(cells)
    return Table(caption, columns, lines, footnotes=messages)


def failures_section(results: Results) -> Section:
    """Tabulate every status that is not ok: which method, where, how often, and why.

    An upper bound, chosen on the test samples, is no failure.
    """
    scores = results.scores.fillna({"message": ""})
    failed = scores[scores["status"].ne("ok") & ~scores["message"].astype(str).str.endswith(UPPER_BOUND)]
    rows = []
    for setting in results.settings:
        kinds = setting.of(failed).groupby(["label", "status", "message"], sort=False)
        for (label, status, message), part in kinds:
            splits = len(part.drop_duplicates(["repeat", "fold"]))
            rows.append([
                Cell(setting.title), Cell(str(label)), Cell(str(status).replace("_", " "), kind="warn"),
                number_cell(wording.plural(splits, "split"), splits), Cell(str(message), kind="prose"),
            ])  # fmt: skip
    columns = text_columns("Setting", "Method", "Status", "How often", "Message")
    table = Table("Fits that did not end well", columns, rows)
    note = "Fits that did not end with a value, and fits whose value is to be read with care."
    return Section("failures", "Failures", [ReportPart(tables=[table])] if rows else [], note, printed=True)

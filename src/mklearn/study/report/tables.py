"""The tables of the report as rows of formatted cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from mklearn.kernels.identity_like import IDENTITY_LIKE_BELOW
from mklearn.study.evaluation.metrics.metric import Metric, metric_named
from mklearn.study.evaluation.selection import UPPER_BOUND
from mklearn.study.evaluation.verdicts import BETTER, NO_GAIN, NOT_SHOWN, WORSE, only_before_holm, verdict
from mklearn.study.report import wording
from mklearn.study.report.frames import Results, Setting, protocol_family, records, typical_times, whole_or_none
from mklearn.study.report.records import RuleCost


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its text, the value it sorts by, and CSS classes such as "number", "strong", "up", "warn".

    The note is read out, and shown on hover. ``below`` is a second line, ``detail`` a third one on the page only.
    ``footnotes`` are numbers of the table's footnotes, from 1.
    """

    text: str
    sort: str = ""
    kind: str = ""
    note: str = ""
    below: str = ""
    detail: str = ""
    footnotes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Column:
    """A column head; ``note`` explains it on hover, ``name`` is what `mklearn table` takes for it."""

    title: str
    note: str = ""
    numeric: bool = True
    name: str = ""


@dataclass(frozen=True)
class Table:
    """A table with a caption; the first cell of each row is its heading.

    ``sorted_by`` is the column by which the rows come sorted, descending. ``marked`` are the rows of the reference
    method. ``note`` says above the table how to read it. ``rules`` are the nearest-neighbour rules of the rows, where
    a method has a row for each; empty for a method that decides itself.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    sorted_by: int | None = None
    marked: Sequence[bool] = ()
    note: str = ""
    rules: Sequence[str] = ()
    footnotes: Sequence[str] = ()

    def without(self, *names: str) -> Table:
        """Leave out columns behind the one that rows are sorted by."""
        kept = [place for place, column in enumerate(self.columns) if column.name not in names]
        rows = [[row[place] for place in kept] for row in self.rows]
        return replace(self, columns=[self.columns[place] for place in kept], rows=rows)


def number_cell(text: str, value: Any, *, kind: str = "", note: str = "", below: str = "", detail: str = "") -> Cell:
    """Return a cell with a number, which sorts by its value."""
    sort = "" if pd.isna(value) else repr(float(value))
    return Cell(text, sort, f"number {kind}".strip(), note, below, detail)


def setting_columns(places: Sequence[tuple[str, int | None]]) -> list[Column]:
    """Return a column for each (protocol, training size); they name the protocol where there are several."""
    families = [protocol_family(protocol, size) for protocol, size in places]
    several = len(set(families)) > 1
    columns = []
    for (protocol, size), family in zip(places, families, strict=True):
        title = f"training size {size}" if size is not None else protocol or "all"
        columns.append(Column(f"{title}, {family}" if several and size is not None else title))
    return columns


def result_table(results: Results, setting: Setting) -> Table:
    """Tabulate the accuracies of a setting: what inner cross-validation chose, and the oracle beside it."""
    rows = setting.of(results.summary)
    columns = _result_columns(results)
    by_method: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in records(rows):
        by_method.setdefault((row["label"], row["neighbour"]), {})[str(row["selection"])] = row
    metric = results.score
    pairs = sorted(by_method.items(), key=lambda item: _height(item[1], metric), reverse=True)
    means = (pair["inner_cv"]["mean"] for _, pair in pairs if "inner_cv" in pair)
    best = next((mean for mean in means if not pd.isna(mean)), None)
    messages: list[str] = []
    times = typical_times(setting.of(results.scores), results.reference)
    by_fit = times.set_index(["label", "neighbour"])[["seconds", "ratio"]].to_dict("index")
    unknown, marked = {"seconds": None, "ratio": None}, setting not in results.below_majority
    lines = []
    for key, pair in pairs:
        inner, oracle = pair.get("inner_cv", {}), pair.get("oracle", {})
        difference = difference_cell(inner, metric, results.matters, marked=marked)
        lines.append(_result_row(inner, oracle, metric, best, messages, by_fit.get(key, unknown), difference))
    # Classifiers alone have no rule and no dimension: columns that say nothing are left out.
    nothing = {wording.DASH, wording.rule_title("")}
    kept = [k for k in range(len(columns)) if k in (0, 1) or any(line[k].text not in nothing for line in lines)]
    return Table(
        setting.title,
        [columns[k] for k in kept],
        [[line[k] for k in kept] for line in lines],
        sorted_by=kept.index(1),
        marked=[next(iter(pair.values()))["method"] == results.reference for _, pair in pairs],
        rules=[str(next(iter(pair.values()))["neighbour"]) for _, pair in pairs],
        footnotes=messages,
    )


def _result_columns(results: Results) -> list[Column]:
    percent, points = (", %", ", points") if results.score.in_percent else ("", "")
    return [
        Column("Method", numeric=False),
        Column(
            f"Test {results.score.name}, chosen by inner CV{percent}",
            "mean ± std over splits, parameters chosen by inner cross-validation", name="score",
        ),
        Column(
            f"Difference to {results.reference_title}{points}",
            "paired on the same test samples, with its 95 % interval; marked if it excludes 0, after Holm's correction",
            name="difference",
        ),
        Column("Time, × reference", "training time divided by the reference's: median over splits", name="time"),
        Column("p", "of the difference, after Holm's correction for the comparisons of this table", name="p"),
        Column("95 % interval", "of the inner-CV mean, from the outcomes of the test samples", name="interval"),
        Column("Rule", "how a test sample is classified in the embedding", numeric=False, name="rule"),
        Column("Dim.", "median of the dimensions that inner cross-validation chose", name="dimension"),
        Column(
            f"Oracle{percent}", "mean ± std at the best dimension of the mean test curve: chosen on the test samples",
            name="oracle",
        ),
        Column("Oracle dim.", name="oracle_dimension"),
        Column(f"Published{percent}", "as printed in the source", name="published"),
        Column("Splits", "splits with a value, and how many failed", name="splits"),
        Column("Fit, s", "median processor seconds of one fit", name="seconds"),
        Column("Status", numeric=False, name="status"),
    ]  # fmt: skip


def metric_tables(results: Results) -> list[Table]:
    """Tabulate the means of all metrics by inner cross-validation, a table for each setting; none of accuracy alone.

    Where each of several data sets has numbers to predict, a table of their means follows.
    """
    rows = results.all_metrics[results.all_metrics["selection"].eq("inner_cv")]
    metrics = [metric_named(name) for name in dict.fromkeys(rows["metric"]) if name]
    settings = results.settings if len(metrics) > 1 else []
    return [
        *(_metric_table(setting.title, setting.of(rows), metrics, "splits") for setting in settings),
        *_means_over_targets(rows, [metric for metric in metrics if metric.in_percent and "numbers" in metric.targets]),
    ]


def _means_over_targets(rows: pd.DataFrame, metrics: Sequence[Metric]) -> list[Table]:
    """Tabulate the means over targets, a table for each protocol and training size; of methods with a value for all.

    Errors in the unit of each target have no mean.
    """
    tables = []
    rows = rows[rows["metric"].isin([metric.kind for metric in metrics])]
    for (protocol, size), part in rows.groupby(["protocol", "train_size"], sort=False, dropna=False):
        n = part["dataset"].nunique()
        if n > 1:
            values = part.astype({"mean": float}).groupby(["label", "neighbour", "metric"], sort=False)["mean"]
            means = values.agg(["mean", "std", "count"]).query("count == @n").reset_index()
            title = setting_columns([(str(protocol), whole_or_none(size))])[0].title
            tables.append(_metric_table(f"Mean over {n} targets, {title}", means, metrics, "targets"))
    return tables


def _metric_table(caption: str, rows: pd.DataFrame, metrics: Sequence[Metric], over: str) -> Table:
    embeds = bool(rows["neighbour"].ne("").any())
    columns = [
        Column("Method", numeric=False),
        *[Column("Rule", "how a test sample is classified in the embedding", numeric=False)] * embeds,
        *(
            Column(f"{metric.title}{', %' if metric.in_percent else ''}", f"mean ± std over {over}")
            for metric in metrics
        ),
    ]
    lines, messages = [], list[str]()
    for (label, rule), own in rows.groupby(["label", "neighbour"], sort=False):
        by_metric = {row["metric"]: row for row in records(own)}
        cells = [_metric_cell(metric, by_metric.get(metric.kind), messages) for metric in metrics]
        lines.append((Cell(str(label)), *[Cell(wording.rule_title(str(rule)))] * embeds, *cells))
    return Table(caption, columns, lines, footnotes=messages)


def _metric_cell(metric: Metric, row: dict[str, Any] | None, messages: list[str]) -> Cell:
    if row is None or pd.isna(row["mean"]):
        message = str(row["message"] or "") if row else ""
        return replace(number_cell(wording.DASH, None), footnotes=_footnotes(message, messages))
    return value_cell(metric, row)


def _height(pair: dict[str, dict[str, Any]], metric: Metric) -> tuple[int, float]:
    """Return what rows are sorted by: the inner-CV mean; rows without one come after it, by the oracle's."""
    for place, selection in ((2, "inner_cv"), (1, "oracle")):
        mean = pair.get(selection, {}).get("mean")
        if not pd.isna(mean):
            return place, float(mean) if metric.larger_is_better else -float(mean)
    return 0, 0.0


def _result_row(
    inner: dict[str, Any], oracle: dict[str, Any], metric: Metric, best: Any, messages: list[str],
    times: dict[Any, Any], difference: Cell,
) -> list[Cell]:  # fmt: skip
    row = inner or oracle
    source = next((part for part in (oracle, inner) if not pd.isna(part.get("published"))), {})
    # What is chosen on the test samples has values there only, and has not failed.
    counted = max((part for part in (inner, oracle) if part), key=lambda part: int(part["n_repeats"]), default=row)
    worst = next((part for part in (inner, oracle) if part.get("status", "ok") != "ok"), row)
    failed, message = int(counted["n_failed"]), str(worst["message"] or "")
    splits = wording.count(counted["n_repeats"]) + (f", {failed:,} failed" if failed else "")
    score = value_cell(metric, inner)
    interval = wording.interval(inner.get("ci_low"), inner.get("ci_high"), metric.in_percent)
    return [
        Cell(str(row["label"])),
        replace(score, kind="number strong", note="best of this table") if inner.get("mean") == best else score,
        difference,
        number_cell(wording.times_as_long(times["ratio"]), times["ratio"]),
        number_cell(wording.p_value(inner.get("p_holm")), inner.get("p_holm")),
        number_cell(interval, inner.get("ci_low")),
        Cell(wording.rule_title(str(row["neighbour"]))),
        number_cell(wording.count(inner.get("dimension")), inner.get("dimension")),
        value_cell(metric, oracle),
        number_cell(wording.count(oracle.get("dimension")), oracle.get("dimension")),
        value_cell(metric, source, "published", note=str(source.get("published_source") or "")),
        number_cell(splits, counted["n_repeats"], kind="warn" if failed else ""),
        number_cell(wording.seconds(times["seconds"]), times["seconds"]),
        Cell(
            wording.status_title(str(worst["status"])),
            kind="badge warn" if worst["status"] != "ok" or failed or message else "badge",
            footnotes=_footnotes(message, messages),
        ),
    ]


def value_cell(metric: Metric, row: dict[str, Any], name: str = "mean", note: str = "") -> Cell:
    """Format the mean, or published, value of a row and its standard deviation over splits."""
    std = row.get("std" if name == "mean" else f"{name}_std")
    return number_cell(wording.spread(row.get(name), std, metric.in_percent), row.get(name), note=note)


def _footnotes(message: str, messages: list[str]) -> tuple[int, ...]:
    """Return the number of a message among the footnotes, to which it is added; none of an empty one."""
    if message and message not in messages:
        messages.append(message)
    return (messages.index(message) + 1,) if message else ()


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
    found = verdict(row, matters if metric.in_percent else 0.0, metric.larger_is_better)
    if found == BETTER:
        return number_cell(f"{text} ▲", value, kind="up", note="better: the interval excludes 0")
    if found == WORSE:
        return number_cell(f"{text} ▼", value, kind="down", note="worse: the interval excludes 0")
    notes = {
        NO_GAIN: f"the interval excludes a gain{f' of {100 * matters:g} points' if metric.in_percent else ''}",
        NOT_SHOWN: "not shown: the interval contains a gain that matters",
    }
    corrected = "; it excludes 0, but not after Holm's correction" if only_before_holm(row) else ""
    return number_cell(text, value, note=notes[found] + corrected)


def kernel_table(info: pd.DataFrame, scalings: pd.Series, caption: str) -> Table:
    """Tabulate diagnostics of the kernels of a setting.

    See :func:`mklearn.study.report.frames.kernel_info` and :func:`mklearn.study.report.frames.chosen_scalings`.
    """
    scaled = Column("Scaling", "of features: what training samples chose, with the numbers of splits", numeric=False)
    columns = [
        Column("Kernel", numeric=False),
        *([scaled] if len(scalings) else []),
        Column("Bandwidth", "gamma of exp(-d²/gamma), fitted on the training samples of the first split"),
        Column("Min. eigenvalue", "of the training kernel of the first split, before its repair"),
        Column("Off-diagonal mass", "share of the centred kernel of the first split that no diagonal kernel explains"),
        Column("Remarks", numeric=False),
    ]
    rows = []
    for row in records(info):
        remarks, mass = kernel_remarks(row), row.get("off_diagonal_mass")
        rows.append([
            Cell(str(row["kernel"])),
            *([Cell(_counted(scalings, row["kernel"]))] if len(scalings) else []),
            number_cell(wording.scientific(row.get("bandwidth")), row.get("bandwidth")),
            number_cell(wording.scientific(row.get("min_eigenvalue")), row.get("min_eigenvalue")),
            number_cell(wording.DASH if pd.isna(mass) else f"{wording.percent(mass)} %", mass),
            Cell("; ".join(remarks) or wording.DASH, kind="warn" if remarks else ""),
        ])  # fmt: skip
    return Table(caption, columns, rows)


def _counted(scalings: pd.Series, kernel: str) -> str:
    own = scalings[scalings.index.get_level_values("kernel") == kernel].droplevel("kernel")
    return ", ".join(f"{scaling} ({count})" for scaling, count in own.items()) or wording.DASH


def kernel_remarks(row: dict[str, Any]) -> list[str]:
    """List what to watch out for in a kernel: identity-like, not positive semidefinite, shifted."""
    remarks = []
    known: dict[str, Any] = {name: value for name, value in row.items() if not pd.isna(value)}
    if known.get("identity_like") or known.get("off_diagonal_mass", 1.0) < IDENTITY_LIKE_BELOW:
        remarks.append("close to the identity: weight learning may prefer it without cause")
    if known.get("min_eigenvalue", 0.0) < -1e-8:
        remarks.append("not positive semidefinite before the repair")
    if known.get("shift", 0.0) > 0:
        remarks.append(f"diagonal shifted by {wording.scientific(known['shift'])}")
    if known.get("constant"):
        remarks.append("constant over the training samples, and left out")
    return remarks


def failure_table(results: Results) -> Table:
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
                Cell(setting.title), Cell(str(label)), Cell(wording.status_title(str(status)), kind="warn"),
                number_cell(wording.plural(splits, "split"), splits), Cell(str(message), kind="prose"),
            ])  # fmt: skip
    texts = [Column(title, numeric=False) for title in ("Setting", "Method", "Status", "Message")]
    return Table("Fits that did not end well", [*texts[:3], Column("How often"), texts[3]], rows)


OF_RULES = (
    "Wall-clock seconds of the jobs, each with the start of its process, as the engine recorded them when each was "
    "last run, on the machine that this report names: jobs beside each other, or another load, make them longer; the "
    "queue of a cluster does not. Results that were kept from earlier runs have their times from then; those that came "
    "from elsewhere have none."
)


def rule_table(rules: Sequence[RuleCost]) -> Table | None:
    """Tabulate jobs, seconds and longest job of each rule; None where the time of no job is known."""
    if not rules:
        return None
    columns = [
        Column("Rule", numeric=False), Column("Jobs"), Column("Sum, s", "wall-clock seconds of all jobs of the rule"),
        Column("Longest job, s"), Column("Which", "the data set or method of the longest job", numeric=False),
    ]  # fmt: skip
    rows = [
        [
            Cell(each.title), number_cell(wording.count(each.jobs), each.jobs),
            number_cell(wording.seconds(each.seconds), each.seconds),
            number_cell(wording.seconds(each.longest), each.longest), Cell(_job(each.longest_job)),
        ]
        for each in rules
    ]  # fmt: skip
    return Table("What each rule cost", columns, rows, note=OF_RULES)


def _job(name: str) -> str:
    """Shorten ``caltech101-KEY/gb-1-KEY/point_set`` to ``gb-1 / point_set``; a data set alone keeps its name."""
    first, *after = name.split("/")
    return " / ".join(re.sub(r"-[0-9a-f]{16}$", "", part) for part in (after or [first]))

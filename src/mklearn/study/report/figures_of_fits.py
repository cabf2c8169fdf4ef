"""Figures of fitted methods and their sections: objective, embedding, predicted numbers, confused classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from mklearn.study.data.samples import in_natural_order
from mklearn.study.report import charts
from mklearn.study.report.charts import Chart, field, tooltip
from mklearn.study.report.parts import PartFigure, ReportPart, Section
from mklearn.study.report.results import Results, Setting, thinned
from mklearn.study.report.tables import Cell, Column, Table, number_cell, words
from mklearn.study.report.wording import percent

MAX_NAMED_CLASSES = 12
FEW_CLASSES = 25
"""Maximum number of classes for a confusion map; more have a table of the most confused pairs."""
MOST_PAIRS = 20
LEAST_DISTANCE = 1e-9
"""Smallest relative distance from the optimum that is drawn; smaller ones are rounding errors."""
FRAMED = {"view": {"stroke": "#88888866"}}


def _section(
    results: Results, settings: Iterable[Setting], attribute: str, draw: Callable[..., Chart], alt: str
) -> list[ReportPart]:  # fmt: skip
    """Return a part for each setting, with figures of an attribute of the best method's and the reference's fits."""
    parts = []
    for setting in settings:
        drawn = [
            PartFigure(label, alt, partial(draw, data, results.labels, label=label))
            for label, data in results.shown(setting, attribute).items()
        ]
        parts += [ReportPart(drawn, heading=setting.title)] if drawn else []
    return parts


# --- objective


def objective_section(results: Results) -> Section:
    """Return the section with objectives of alternating methods; methods with a known optimum share a figure."""
    alt = "Lines: objective after each step of an alternation, one for each split."
    parts = []
    for setting in results.settings:
        by_method = results.of_fits(setting, "history")
        histories = [history.assign(label=results.label_of[method]) for method, history in by_method.items()]
        with_optimum = [history for history in histories if history["optimum"].notna().all()]
        shown = [history for history in histories if history["optimum"].isna().any()]
        drawn = []
        for history in [*([pd.concat(with_optimum)] if with_optimum else []), *shown]:
            labels = list(dict.fromkeys(history["label"]))
            title = labels[0] if len(labels) == 1 else "distance from the optimum"
            drawn.append(PartFigure(title, alt, partial(objective, history, results.labels, title=title)))
        parts += [ReportPart(drawn, heading=setting.title)] if drawn else []
    note = "After each step of an alternation, one line for each split; where the optimum F* is known, its distance."
    return Section("objective", "Objective", parts, note)


def objective(history: pd.DataFrame, labels: Sequence[str], *, title: str) -> Chart:
    """Draw the objective after each step of an alternating method, with a line per split.

    If the optimum is known, the relative distance from it is drawn instead. ``history`` has the columns of
    `mklearn.study.report.records.FitRecord` and the method's ``label``. With known optima it may have several methods.
    """
    frame = history.assign(split=[f"{row.repeat}, fold {row.fold}" for row in history.itertuples()])
    has_optimum = bool(frame["optimum"].notna().all())
    what = "distance from the optimum, (F − F*) / F*" if has_optimum else "objective"
    if has_optimum:
        frame["value"] = (frame["value"] / frame["optimum"] - 1).clip(lower=LEAST_DISTANCE)
    finite = frame["value"].dropna()
    wide = len(finite) > 0 and finite.min() > 0 and finite.max() / finite.min() > 10
    y = field("y:Q", scale={"type": "log"} if wide else {"zero": False}, axis={"format": "~g", "tickCount": 5})
    methods = list(dict.fromkeys(frame["label"]))
    colour = charts.method_lines(labels, methods)["color"] if len(methods) > 1 else charts.method_colour(labels)
    return charts.chart(
        {"mark": {"type": "line", "strokeWidth": 1.25, "opacity": 0.7, "point": {"size": 30}}},
        rows=charts.rows_of(frame, s="label", r="split", x="half_step", step="step", y="value"),
        encoding={
            "x": field("x:Q", title="step", axis={"format": "d", "tickMinStep": 1, "tickCount": 8}),
            "y": y,
            "color": colour,
            "detail": field("r:N"),
            "tooltip": tooltip(
                ("s:N", "method"), ("r:N", "split"), ("x:Q", "step"), ("step:N", "solved for"), ("y:Q", what, ".4g")
            ),
        },
        height=240,
        title=title,
        subtitle=what,
    )


# --- embedding


def embedding_section(results: Results) -> Section:
    """Return the section with embeddings by the best method and the reference, at the largest training size."""
    alt = "Points: first two dimensions of the embedding, by class."
    note = (
        "The best method and the reference, at the largest training size: the first two dimensions in one split, or "
        "the only one, with a row for each class. Rings are training samples, dots are test samples. Point at a sample "
        "to see its class."
    )
    parts = _section(results, results.largest_settings(), "embedding", embedding, alt)
    return Section("embedding", "Embedding", parts, note)


def embedding(points: pd.DataFrame, labels: Sequence[str], *, label: str) -> Chart:
    """Draw the first two dimensions in one split by class; up to twelve classes are named at their median.

    In a one-dimensional embedding (second dimension 0), each class has its own row.
    """
    points = thinned(points).astype({"label": str, "role": str})
    classes = in_natural_order(points["label"])
    colour = field("c:N", scale=charts.class_scale(classes), legend=None)
    select = {"type": "point", "fields": ["c"], "on": "pointerover", "clear": "pointerout"}
    marks: Chart = {
        "params": [{"name": "pointed", "select": select}],
        "mark": {"type": "point", "size": 30, "strokeWidth": 1.3},
        "encoding": {
            "color": colour,
            "fill": colour,
            "fillOpacity": {"condition": {"test": "datum.role == 'test'", "value": 0.75}, "value": 0},
            "opacity": {"condition": {"param": "pointed", "value": 1}, "value": 0.1},
            "tooltip": tooltip(("c:N", "class"), ("role:N", "role")),
        },
    }
    rows = charts.rows_of(points, x="x", y="y", c="label", role="role")
    place: dict[str, Any] = {"scale": {"zero": False}, "axis": {"labels": False, "grid": False}}
    x = field("x:Q", title="first dimension", **place)
    if points["y"].eq(0).all():
        encoding = {"x": x, "y": charts.names("c:N", classes), "yOffset": field("role:N", sort=["train", "test"])}
        return charts.chart(
            marks, rows=rows, encoding=encoding, height=40 * len(classes), title=label, subtitle="the only dimension"
        )
    tested = points[points["role"].eq("test")]
    middle = (tested if len(tested) else points).groupby("label")[["x", "y"]].median().reset_index()
    named: Chart = {
        "data": {"values": charts.rows_of(middle, x="x", y="y", c="label")},
        "mark": {"type": "text", "fontSize": 13, "fontWeight": 700, "dy": -11},
        "encoding": {"text": field("c:N")},
    }
    layers = [marks, *([named] if len(classes) <= MAX_NAMED_CLASSES else [])]
    encoding = {"x": x, "y": field("y:Q", **place)}
    plot = charts.chart(*layers, rows=rows, encoding=encoding, height=320, title=label, subtitle="second dimension")
    return plot | FRAMED


# --- predicted numbers


def predictions_section(results: Results) -> Section:
    """Return the section with predicted against true numbers, for the best method and the reference."""
    alt = "Points: the predicted number of each test sample against the true one, with the line of equal ones."
    note = (
        "Of the best method and the reference: each test sample of the first repeat, by the parameters that inner "
        "cross-validation chose. Point at a dot to see its sample."
    )
    parts = _section(results, results.settings, "predicted", predicted_against_true, alt)
    return Section("predictions", "Predicted and true numbers", parts, note)


def predicted_against_true(predicted: pd.DataFrame, labels: Sequence[str], *, label: str) -> Chart:
    """Draw the predicted number of each sample of the first repeat against the true one."""
    rows = thinned(predicted[predicted["repeat"].eq(predicted["repeat"].min())])
    ends = rows[["true", "predicted"]].min().min(), rows[["true", "predicted"]].max().max()
    equal = {
        "data": {"values": [{"x": float(end), "y": float(end)} for end in ends]},
        "mark": {"type": "line", "strokeDash": [4, 3], "strokeWidth": 1, "color": "#888888", "aria": False},
        "encoding": {"color": None, "tooltip": None},
    }
    axis: dict[str, Any] = {"scale": {"zero": False, "nice": False, "padding": 8}, "axis": {"tickCount": 6}}
    return charts.chart(
        equal,
        {"mark": {"type": "point", "filled": True, "size": 36, "opacity": 0.7}},
        rows=charts.rows_of(rows.assign(s=label), s="s", i="sample", x="true", y="predicted"),
        encoding={
            "x": field("x:Q", title="true", **axis),
            "y": field("y:Q", title="predicted", **axis),
            "color": charts.method_colour(labels),
            "tooltip": tooltip(("i:N", "sample"), ("x:Q", "true", ".4~g"), ("y:Q", "predicted", ".4~g")),
        },
        height=280,
        title=label,
        subtitle="predicted against true",
    )


# --- confused classes


def confusion_section(results: Results) -> Section:
    """Return the section with confused classes: confusion maps for few classes, tables of pairs for many."""
    alt = "Squares in a grid: share of the test samples of each true class by predicted class."
    parts = []
    for setting in results.largest_settings():
        counts = confused(results, setting)
        if counts and len(next(iter(counts.values()))) > FEW_CLASSES:
            parts.append(ReportPart(tables=[pairs_table(setting.title, counts)], heading=setting.title))
        elif counts:
            maps = {label: partial(confusion_map, each, results.labels, label=label) for label, each in counts.items()}
            drawn = [PartFigure(label, alt, draw) for label, draw in maps.items()]
            parts.append(ReportPart(drawn, heading=setting.title))
    note = (
        "Test samples of all splits by true and predicted class, for the best method and the reference, with the "
        "parameters that inner cross-validation chose. Of several training sizes, the largest."
    )
    return Section("confusion", "Which classes are confused", parts, note)


def confused(results: Results, setting: Setting) -> dict[str, pd.DataFrame]:
    """Return the confusions of the shown methods, without the classes that are neither tested nor predicted."""
    counts = results.shown(setting, "confusion")
    tested = np.sum([table.sum(axis=0) + table.sum(axis=1) for table in counts.values()], axis=0) > 0
    return {label: table.loc[tested, tested] for label, table in counts.items()} if np.any(tested) else {}


def confusion_map(counts: pd.DataFrame, labels: Sequence[str], *, label: str) -> Chart:
    """Draw the confusion matrix: percentage of each true class (row) by predicted class (column), without zeros."""
    classes = list(counts.index)
    stacked: Any = counts.rename_axis(index="row", columns="column").stack()
    cells = stacked[stacked > 0].rename("n").reset_index()
    cells = cells.assign(s=label, of=cells["row"].map(counts.sum(axis=1)))
    cells["share"] = cells["n"] / cells["of"]
    cells["text"] = [percent(share, 0) if share >= 0.005 else "<1" for share in cells["share"]]
    columns = {name: name for name in ("s", "row", "column", "n", "of", "share", "text")}
    # square-root scale, so that small percentages are visible
    shade = {"type": "sqrt", "domain": [0, 1], "range": [0.04, 0.6]}
    box = {
        "mark": {"type": "rect", "stroke": "#88888833"},
        "encoding": {
            "color": charts.method_colour(labels), "opacity": field("share:Q", scale=shade, legend=None),
        },
    }  # fmt: skip
    slanted = {"labelAngle": -40, "grid": False, "labelOverlap": False, "labelLimit": 90}
    encoding = {
        "x": field("column:N", scale={"domain": classes}, title="predicted class", axis=slanted),
        "y": field("row:N", scale={"domain": classes}, axis={"grid": False}),
        "tooltip": tooltip(
            ("row:N", "true class"), ("column:N", "predicted class"), ("share:Q", "share", ".1%"), ("n:Q", "number"),
            ("of:Q", "of"),
        ),
    }  # fmt: skip
    text = {"mark": {"type": "text", "fontSize": 10}, "encoding": {"text": field("text:N")}}
    grid = charts.chart(
        box, text, rows=charts.rows_of(cells, **columns), encoding=encoding, height=26 * len(classes), title=label,
        subtitle="% of each true class (row)",
    )  # fmt: skip
    return grid | FRAMED


def pairs_table(caption: str, counts: dict[str, pd.DataFrame]) -> Table:
    """Return a table of the class pairs with the largest rates of confusion by the best method, and both rates."""
    rates = [table.div(table.sum(axis=1), axis=0) for table in counts.values()]
    best, (label, *others) = next(iter(counts.values())), counts
    wrong: Any = rates[0].mask(np.eye(len(best), dtype=bool)).stack()
    columns = [
        words("True class"),
        words("Taken for"),
        Column(f"{label}, %", "share of the test samples of the true class, over all splits"),
        Column("Samples", "how many of how many"),
        *(Column(f"{other}, %", "the same pair") for other in others),
    ]
    rows = []
    for true, taken in wrong[wrong > 0].sort_values(ascending=False, kind="stable").index[:MOST_PAIRS]:
        number: Any = best.at[true, taken]
        rows.append([
            Cell(true), Cell(taken), _share(rates[0].at[true, taken]),
            number_cell(f"{number:,} of {best.loc[true].sum():,}", number),
            *(_share(other.at[true, taken]) for other in rates[1:]),
        ])  # fmt: skip
    return Table(caption, columns, rows, sorted_by=2)


def _share(value: Any) -> Cell:
    return number_cell(percent(value), value)

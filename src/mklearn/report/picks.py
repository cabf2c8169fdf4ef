"""Methods that put all the weight on one kernel: which one, how often, and what that is worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import altair as alt

from mklearn.report import frames
from mklearn.report.canvas import PAGE, Canvas, Chart, Store, colour_of, finish
from mklearn.report.frames import Setting
from mklearn.report.records import FitRecord
from mklearn.report.series import Series
from mklearn.report.tables import Cell, Column, Table
from mklearn.report.wording import enumeration, missing, percent

if TYPE_CHECKING:
    import pandas as pd

MIXED = "several"


def picked_kernels(
    found: Sequence[tuple[FitRecord, dict[str, int]]], series: Series, canvas: Canvas, *, label: str
) -> Chart:
    """Strips of numbers: how many repeats pick each kernel, a row for each setting of a method on one data set.

    Parameters
    ----------
    found : sequence of (FitRecord, dict)
        From :func:`mklearn.report.frames.picks`.
    """
    store = Store()
    kernels = list(dict.fromkeys(name for record, _ in found for name in record.kernel_ids))
    prefix = common_prefix(kernels)
    shown = {name: name.removeprefix(prefix) for name in kernels}
    if any(counts[""] for _, counts in found):
        shown[""] = MIXED
    several = len({record.protocol for record, _ in found}) > len({record.train_size for record, _ in found})
    rows: list[dict[str, Any]] = []
    for record, counts in found:
        place = str(record.protocol) if record.train_size is None or several else f"training size {record.train_size}"
        total = max(sum(counts.values()), 1)
        rows += [
            {"s": label, "p": place, "k": title, "n": counts.get(name, 0), "share": counts.get(name, 0) / total}
            for name, title in shown.items()
        ]
    base = alt.Chart(store.add(rows)).encode(
        x=alt.X(
            "k:N",
            sort=list(shown.values()),
            title=f"kernel: {prefix}…" if prefix else "kernel",
            axis=alt.Axis(labelAngle=-40, grid=False, labelOverlap=False),
        ),
        y=alt.Y("p:N", sort=list(dict.fromkeys(row["p"] for row in rows)), title=None, axis=alt.Axis(grid=False)),
        tooltip=[
            alt.Tooltip("k:N", title="kernel"),
            alt.Tooltip("p:N", title="setting"),
            alt.Tooltip("n:Q", title="repeats"),
        ],
    )
    boxes = base.mark_rect(stroke="#88888855").encode(
        color=colour_of(series, PAGE),
        opacity=alt.Opacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0, 0.55]), legend=None),
    )
    numbers = base.transform_filter("datum.n > 0").mark_text().encode(text="n:Q")
    height = 30 * len(found)
    chart = alt.layer(boxes, numbers)
    return finish(chart, canvas, height, store, title=label, subtitle="repeats that pick a kernel", focus=False)


def picks_tables(
    found: Sequence[tuple[FitRecord, dict[str, int]]],
    summary: pd.DataFrame,
    settings: Sequence[Setting],
    series: Series,
    beside: Sequence[str],
) -> list[Table]:
    """For each data set: accuracy and picked kernels of each method, and accuracy of the methods to compare with.

    Parameters
    ----------
    found : sequence of (FitRecord, dict)
        From :func:`mklearn.report.frames.picks`.
    summary : DataFrame
    settings : sequence of Setting
    series : Series
    beside : sequence of str
        Ids of the methods that stand below: the average, and the best single kernels.
    """
    titles = dict(zip(summary["method"], summary["method_title"], strict=True))
    tables = []
    for dataset in dict.fromkeys(record.dataset for record, _ in found):
        own = [setting for setting in settings if setting.dataset == dataset]
        here = [(record, counts) for record, counts in found if record.dataset == dataset]
        picked = {(record.method, record.protocol, record.train_size): counts for record, counts in here}
        prefix = common_prefix(list(dict.fromkeys(name for record, _ in here for name in record.kernel_ids)))
        methods = {record.method: record.method_title for record, _ in here}
        methods |= {method: str(titles[method]) for method in beside if method in titles}
        several = len({setting.family for setting in own}) > 1
        columns = [Column("Method", numeric=False)]
        for setting in own:
            title = setting.family if setting.train_size is None else f"training size {setting.train_size}"
            columns.append(
                Column(f"{title}, {setting.family}" if several and setting.train_size is not None else title)
            )
        rows = []
        for method, title in methods.items():
            cells = (
                _cell(setting.of(summary), method, picked.get((method, setting.protocol, setting.train_size)), prefix)
                for setting in own
            )
            rows.append((Cell(series.of_method(method, title)), *cells))
        tables.append(Table(own[0].dataset_title, tuple(columns), tuple(rows)))
    return tables


def _cell(rows: pd.DataFrame, method: str, counts: dict[str, int] | None, prefix: str) -> Cell:
    """``72.8 | 75.5``, inner cross-validation and oracle, of the first rule; below it the picked kernels."""
    found: dict[str, Any] = {}
    for row in frames.records(rows[rows["method"].eq(method)]):
        found.setdefault(str(row["selection"]), row["mean"])
    inner, oracle = found.get("inner_cv"), found.get("oracle")
    value = oracle if missing(inner) else inner
    ordered = sorted((item for item in (counts or {}).items() if item[1]), key=lambda item: -item[1])
    return Cell(
        f"{percent(inner)} | {percent(oracle)}",
        "" if missing(value) else repr(value),
        "number verdict",
        below=enumeration([f"{name.removeprefix(prefix) or MIXED} ({number})" for name, number in ordered], limit=3),
    )


def common_prefix(names: Sequence[str]) -> str:
    """What all names begin with, up to a hyphen; empty for a single name."""
    if len(names) < 2:
        return ""
    first, last = min(names), max(names)
    length = next((i for i, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    return first[: first.rfind("-", 0, length) + 1]

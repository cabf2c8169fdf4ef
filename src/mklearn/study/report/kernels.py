"""Sections about learned kernel weights and chosen parameters over splits, and diagnostics of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from mklearn.inspection import weight_stability
from mklearn.kernels.matrices import IDENTITY_LIKE_BELOW
from mklearn.study.evaluation.reproduction import plain_records
from mklearn.study.report import charts
from mklearn.study.report.charts import Chart, field, tooltip
from mklearn.study.report.parts import PartFigure, ReportPart, Section
from mklearn.study.report.results import Results
from mklearn.study.report.tables import Cell, Column, Table, number, words
from mklearn.study.report.wording import DASH, count, enumeration, percent, plural, scientific

SHOWN = 5
"""Number of largest weights that the table lists for each method."""
WORST = {
    "min_eigenvalue": "min", "off_diagonal_mass": "min", "bandwidth": "median", "identity_like": "max",
    "constant": "max",
}  # fmt: skip
"""Aggregation of each diagnostic of a kernel over methods."""


# --- weights


def weights_section(results: Results) -> Section:
    """Return the section with learned weights: a figure per method, and a table of their stability over splits."""
    alt = "Ticks: weight of each kernel in each split, and their mean."
    columns = [
        words("Method"),
        number("Between splits", "between_splits", _distance,
               "total variation distance between the weights of two splits, from 0 to 1"),
        number("From equal", "from_equal", _distance, "total variation distance from equal weights"),
        number("Splits", "splits", count),
        Column("Largest weights", "mean ± std over splits", numeric=False, cell=_largest),
    ]  # fmt: skip
    parts, rows = [], list[dict[str, Any]]()
    for setting in results.settings:
        every = {method: weights.dropna() for method, weights in results.of_fits(setting, "weights").items()}
        learned = {
            method: weights for method, weights in every.items()
            if len(weights) and np.ptp(weights.to_numpy()) > 1e-12
        }  # fmt: skip
        if not learned:
            continue
        ends = [0.0, *(end for weights in learned.values() for end in (weights.min().min(), weights.max().max()))]
        domain, drawn, lines = (min(ends), max(ends)), [], []
        for method, weights in learned.items():
            label = results.label_of[method]
            draw = partial(kernel_weights, weights, results.labels, label=label, domain=domain)
            drawn.append(PartFigure(label, alt, draw))
            line = vars(weight_stability(weights.to_numpy(), weights.columns.tolist())) | {"splits": len(weights)}
            lines.append(line | {"label": label})
            place = {name: getattr(setting, name) for name in ("dataset", "protocol", "train_size")}
            place["method"] = method
            shared = {name: line[name] for name in ("splits", "between_splits", "from_equal")}
            each = zip(line["kernels"], line["mean"], line["std"], strict=True)
            rows += [place | {"kernel": kernel, "mean": mean, "std": std} | shared for kernel, mean, std in each]
        parts.append(ReportPart(drawn, [Table.of(setting.title, columns, lines)], heading=setting.title))
    if rows:
        parts[0] = replace(parts[0], files={"weights.csv": pd.DataFrame(rows)})
    note = (
        "One tick for each split, a dot for their mean. The dashed line is the uniform weight. Methods with fixed "
        "uniform weights are left out. Weights are not importances: views with the same information share a weight "
        "in any proportion, and a kernel of small scale needs a large one. Between splits: total variation "
        "distance between the weights of two splits, mean over all pairs; 0: the same weights in every split, 1: "
        "nothing in common. From equal: the same distance from equal weights. All weights are in weights.csv."
    )
    return Section("weights", "Kernel weights", parts, note)


def _distance(value: Any) -> str:
    return DASH if np.isnan(value) else f"{value:.2f}"


def _largest(row: dict[str, Any]) -> Cell:
    each = list(zip(row["kernels"], row["mean"], row["std"], row["weights"].T, strict=True))
    shown = [
        f"{kernel} {mean:.2f}" + ("" if np.isnan(std) else f" ± {std:.2f}")
        for kernel, mean, std, weights in sorted(each, key=lambda line: -abs(line[1]))
        if weights.any()
    ]
    return Cell(enumeration(shown, limit=SHOWN), kind="prose")


def kernel_weights(
    weights: pd.DataFrame, labels: Sequence[str], *, label: str, domain: tuple[float, float]
) -> Chart:  # fmt: skip
    """Draw the weight of each kernel (column) in each repeat (row), and the means; ``domain`` is the axis range."""
    order = [str(kernel) for kernel in weights]
    each = weights.melt(ignore_index=False, var_name="kernel", value_name="weight").rename_axis("repeat")
    mean = weights.mean().rename("weight").rename_axis("kernel")
    tips = tooltip(("k:N", "kernel"), ("r:Q", "split"), ("x:Q", "weight", ".3f"))
    ticks = {"mark": {"type": "tick", "thickness": 1.5, "size": 14, "opacity": 0.55}, "encoding": {"tooltip": tips}}
    centre = {
        "data": {"values": charts.rows_of(mean.reset_index().assign(s=label), s="s", k="kernel", x="weight")},
        "mark": {"type": "point", "filled": True, "size": 60},
        "encoding": {"tooltip": tooltip(("k:N", "kernel"), ("x:Q", "mean", ".3f"))},
    }
    uniform = len(order) > 1 and each["weight"].min() >= -1e-9 and (abs(weights.sum(axis=1) - 1) < 1e-6).all()
    return charts.chart(
        *([charts.vertical_rule(1 / len(order))] if uniform else []),
        ticks,
        centre,
        rows=charts.rows_of(each.reset_index().assign(s=label), s="s", k="kernel", x="weight", r="repeat"),
        encoding={
            "x": field("x:Q", title="kernel weight", scale={"domain": list(domain)}, axis={"tickCount": 5}),
            "y": charts.names("k:N", order),
            "color": charts.method_colour(labels),
        },
        height=24 * len(order),
        title=label,
    )


# --- chosen parameters


def chosen_section(results: Results) -> Section:
    """Return the section with the parameters chosen on each split: a table for each setting, and all as CSV."""
    frames = [fit.chosen for fit in results.fits if fit.chosen is not None]
    if not frames:
        return Section("chosen", "Chosen parameters", [])
    every, tables = pd.concat(frames, ignore_index=True), []
    for setting in results.settings:
        rows: dict[tuple[str, Cell], list[str]] = {}
        for method, of_method in setting.of(every).groupby("method", sort=False):
            of = len(of_method[["repeat", "fold"]].drop_duplicates())
            for name, part in of_method.groupby("parameter", sort=False):
                if 2 * len(part) >= of:
                    rows.setdefault((str(name), _choices(part, of)), []).append(results.label_of[str(method)])
        lines = [[Cell(enumeration(labels, limit=None)), Cell(name), cell] for (name, cell), labels in rows.items()]
        tables += [Table(setting.title, list(map(words, ("Method", "Parameter", "Value"))), lines)] if rows else []
    note = (
        "Values that inner cross-validation or the method itself chose on the training samples of each split; alpha is "
        "a ridge. chosen.csv has a row for each split, also for parameters that fewer than half of the splits have."
    )
    parts = [ReportPart(tables=tables, files={"chosen.csv": every})] if tables else []
    return Section("chosen", "Chosen parameters", parts, note)


def _choices(rows: pd.DataFrame, of: int) -> Cell:
    """Return a cell with the number of fits that chose each value: ``10 in 17 of 20 fits and 1 in 3``."""
    values = [f"{each:.3g}" if isinstance(each, float) else str(each) for each in rows["value"]]
    (first, most), *others = pd.Series(values).value_counts().items()
    share = f"{most} of " if most < of else "all " * (of > 1)
    texts = [f"{first} in {share}{plural(of, 'fit')}", *(f"{value} in {n}" for value, n in others)]
    ends = rows["end"].value_counts()
    narrow = [f"{end} of its grid, which may be too narrow" for end, n in ends.items() if end and 2 * n > of]
    return Cell("; ".join([enumeration(texts), *narrow]), kind="prose warn" if narrow else "prose")


# --- diagnostics


def kernels_section(results: Results) -> Section:
    """Return the section with kernel diagnostics on the first split of each setting, the worst over methods."""
    columns = [
        words("Kernel", "kernel"),
        number("Bandwidth", "bandwidth", scientific,
               "gamma of exp(-d²/gamma), fitted on the training samples of the first split"),
        number("Min. eigenvalue", "min_eigenvalue", scientific,
               "of the training kernel of the first split, before its repair", on_page=False),
        number("Off-diagonal mass", "off_diagonal_mass", lambda mass: DASH if pd.isna(mass) else f"{percent(mass)} %",
               "share of the centred kernel of the first split that no diagonal kernel explains"),
        Column("Remarks", numeric=False, cell=_remarks),
    ]  # fmt: skip
    tables = []
    for setting in results.settings:
        infos = results.of_fits(setting, "kernel_info")
        if infos:
            frame = pd.concat(infos.values(), ignore_index=True)
            worst = {name: how for name, how in WORST.items() if name in frame}
            info = frame.groupby("kernel", sort=False).agg(worst).reset_index()
            tables.append(Table.of(setting.title, columns, plain_records(info)))
    note = (
        "Fitted on the training samples of one split. A kernel with little off-diagonal mass is close to the identity: "
        "to it hardly any two samples are alike."
    )
    return Section("kernels", "Kernels", [ReportPart(tables=tables)] if tables else [], note)


def _remarks(row: dict[str, Any]) -> Cell:
    """Return warnings about a kernel: identity-like, not positive semidefinite, or constant."""
    remarks = []
    values: dict[str, Any] = {name: value for name, value in row.items() if not pd.isna(value)}
    if values.get("identity_like") or values.get("off_diagonal_mass", 1.0) < IDENTITY_LIKE_BELOW:
        remarks.append("close to the identity: weight learning may prefer it without cause")
    if values.get("min_eigenvalue", 0.0) < -1e-8:
        remarks.append("not positive semidefinite before the repair")
    if values.get("constant"):
        remarks.append("constant over the training samples, and left out")
    return Cell("; ".join(remarks) or DASH, kind="prose warn" if remarks else "")

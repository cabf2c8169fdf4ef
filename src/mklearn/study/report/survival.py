"""Section of a study of survival times: Kaplan-Meier curves by predicted risk, numbers at risk and calibration."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from mklearn.study.report import charts
from mklearn.study.report.charts import Chart, field, tooltip
from mklearn.study.report.parts import PartFigure, ReportPart, Section
from mklearn.study.report.results import Results, thinned
from mklearn.study.report.tables import Column, Table, number, number_cell, words
from mklearn.study.report.wording import DASH, change_and_interval, count, percent, scientific, value_and_interval
from mklearn.survival.kaplan_meier import KaplanMeier, survival_interval

THIRDS = ("low", "middle", "high")
Row = Mapping[str, Any]
"""A third of a method's test samples: arrays ``time`` and ``event``, and its observed and predicted survival."""


def survival_section(results: Results) -> Section:
    """Return the section with survival by predicted risk, for the best method and the reference of each setting."""
    alt = "Step lines with bands: Kaplan-Meier curves of the test samples of low, middle and high predicted risk."
    note = (
        "Of the best method and the reference: test samples of the first repeat, in thirds by predicted risk within "
        "each split. Lines are Kaplan-Meier estimates; bands and brackets are point-wise 95 % intervals by Greenwood's "
        "variance of log(−log S). Predicted is the mean probability of surviving the median time of events of the "
        "training samples; observed is the Kaplan-Meier estimate at the median time of events of the samples shown. "
        "Methods that predict the same risk for all samples are left out."
    )
    parts, verdicts = list[ReportPart](), list[str]()
    for setting in results.settings:
        fits = results.shown(setting, "survival")
        shown = {label: thirds(rows) for label, rows in fits.items() if rows["true"].gt(0).any()}
        shown = {label: rows for label, rows in shown.items() if len(rows) > 1}  # equal risks have no thirds
        if shown:
            ticks = round_times(max(row["time"].max() for rows in shown.values() for row in rows))
            drawn = [PartFigure(label, alt, partial(curves, rows, ticks, label=label)) for label, rows in shown.items()]
            verdicts += [separation(label, rows) for label, rows in shown.items()]
            tabled = tables(setting.title, shown, ticks)
            parts.append(ReportPart(drawn, tabled, heading=setting.title, text=" ".join(verdicts[-len(shown) :])))
    lead = f"{verdicts[0].partition(':')[0]}." if len(parts) == 1 else ""
    return Section("survival", "Survival by predicted risk", parts, note, lead)


def thirds(predicted: pd.DataFrame) -> list[Row]:
    """Divide the first repeat's predictions by risk within each split; equal risks are in the same third."""
    rows = predicted[predicted["repeat"].eq(predicted["repeat"].min())]
    risks = rows.groupby("fold")["predicted"]
    third = np.array(THIRDS)[(3 * (risks.rank() - 0.5) / risks.transform("size")).astype(int)]
    horizon = rows.loc[rows["true"].gt(0), "true"].median()
    lines = list[Row]()
    for name in (name for name in THIRDS if name in third):
        part = rows[third == name]
        time, event = part["true"].abs().to_numpy(), part["true"].gt(0).to_numpy()
        low, high = survival_interval(time, event, [horizon])[:, 0]
        mean = part["decision_value"].mean(skipna=False)
        side = DASH if math.isnan(mean) else "no: below" if mean < low else "no: above" if mean > high else "yes"
        lines.append({
            "third": name, "time": time, "event": event, "samples": len(time), "events": event.sum(), "side": side,
            "horizon": horizon, "predicted": mean, "observed": KaplanMeier.of(time, event).at(horizon), "ci_low": low,
            "ci_high": high,
        })  # fmt: skip
    return lines


def round_times(end: float) -> list[float]:
    """Return about five round times, from 0 to the end."""
    unit = 10.0 ** math.floor(math.log10(end / 4))
    step = unit * min((1, 2, 2.5, 5, 10), key=lambda size: abs(math.log(size * unit * 4 / end)))
    return [step * place for place in range(int(end / step) + 1)]


def separation(label: str, rows: Sequence[Row]) -> str:
    """State whether the survival of the low and the high third differs at the median time of events.

    The interval is that of Newcombe, Statistics in Medicine 17, 1998, method 10, from the intervals of the thirds.
    """
    low, high = rows[0], rows[-1]
    change = low["observed"] - high["observed"]
    down, up = (
        math.hypot(first["observed"] - first["ci_low"], second["ci_high"] - second["observed"])
        for first, second in ((low, high), (high, low))
    )
    verdict = f"{label} separates {low['third']} from {high['third']} risk"
    if -up <= change <= down:
        verdict = f"It is not decided whether {verdict}"
    elif change < 0:
        verdict = f"{label} predicts risks in the wrong order"
    interval = {"difference": change, "difference_low": change - down, "difference_high": change + up}
    shares = " and ".join(f"{percent(row['observed'])} % in the {row['third']} third" for row in (low, high))
    where = f"at time {scientific(low['horizon'])}: the survival is {shares}"
    return f"{verdict} {where}, a difference of {change_and_interval(interval)} points."


def tables(title: str, shown: Mapping[str, Sequence[Row]], ticks: Sequence[float]) -> list[Table]:
    """Return tables of the samples that are still observed at each tick, and of predicted and observed survival."""
    times = {f"{tick:,g}": tick for tick in ticks}
    rows = [
        {"label": label, **row, **{name: (row["time"] >= tick).sum() for name, tick in times.items()}}
        for label, of_method in shown.items() for row in of_method
    ]  # fmt: skip
    names, at_risk = [words("Method"), words("Predicted risk", "third")], [number(name, name, count) for name in times]
    calibration = [
        number("Samples", "samples", count), number("Events", "events", count),
        number("Time", "horizon", scientific, "median time of events"), number("Predicted, %", "predicted", percent),
        Column("Observed, %", cell=lambda row: number_cell(value_and_interval(row, name="observed"), row["observed"])),
        words("Prediction in the interval", "side"),
    ]  # fmt: skip
    captions = {f"Samples at risk, {title}": at_risk, f"Predicted and observed survival, {title}": calibration}
    return [Table.of(caption, [*names, *columns], rows) for caption, columns in captions.items()]


def curves(rows: Sequence[Row], ticks: Sequence[float], *, label: str) -> Chart:
    """Draw the Kaplan-Meier curve of each third as steps, with a band of intervals."""
    steps = []
    for row in rows:
        curve = KaplanMeier.of(row["time"], row["event"])
        x = np.unique([0.0, *curve.times, row["time"].max()])
        low, high = survival_interval(row["time"], row["event"], x)
        steps.append(thinned(pd.DataFrame({"c": row["third"], "x": x, "y": curve.at(x), "low": low, "high": high})))
    end = max(row["time"].max() for row in rows)
    legend = {"orient": "bottom", "symbolType": "stroke", "symbolSize": 400, "symbolOpacity": 1, "columns": 3}
    return charts.chart(
        {
            "mark": {"type": "area", "opacity": 0.13, "aria": False, "interpolate": "step-after"},
            "encoding": {"y": field("low:Q"), "y2": {"field": "high"}, "tooltip": None},
        },
        {"mark": {"type": "line", "interpolate": "step-after", "point": {"size": 60, "opacity": 0}}},
        rows=charts.rows_of(pd.concat(steps), **{name: name for name in ("c", "x", "y", "low", "high")}),
        encoding={
            "x": field("x:Q", title="time", scale={"domain": [0, end], "nice": False}, axis={"values": list(ticks)}),
            "y": field("y:Q", scale={"domain": [0, 1]}, axis={"format": ".1f", "tickCount": 5}),
            "color": field("c:N", scale={"domain": list(THIRDS), "range": "heatmap"}, legend=legend),
            "tooltip": tooltip(("c:N", "predicted risk"), ("x:Q", "time", ".4~g"), ("y:Q", "survival", ".3f"),
                               ("low:Q", "interval from", ".3f"), ("high:Q", "to", ".3f")),
        },
        height=280, title=label, subtitle="survival of the test samples by third of predicted risk",
    )  # fmt: skip

"""What views are worth: what each adds to the others and does alone, and permutation importances of their features."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mklearn.base.statistics import holm
from mklearn.study.artefacts import read_record
from mklearn.study.evaluation.headline import BETTER, NO_GAIN, WORSE, verdict
from mklearn.study.evaluation.predictions import Predictions
from mklearn.study.evaluation.reproduction import plain_records
from mklearn.study.evaluation.score_table import evaluated_fit
from mklearn.study.evaluation.summary import summarise
from mklearn.study.evaluation.view_contributions import ALL, ALONE, WITHOUT
from mklearn.study.report import charts
from mklearn.study.report.charts import Chart, field, tooltip
from mklearn.study.report.findings import NAMED, gain_title
from mklearn.study.report.parts import PartFigure, ReportPart, Section
from mklearn.study.report.result_tables import difference_cell, interval_cell
from mklearn.study.report.results import Results, Setting
from mklearn.study.report.tables import Cell, Column, Table, number, number_cell, words
from mklearn.study.report.wording import change_and_interval, count, enumeration, plural, value
from mklearn.study.specs.fit_spec import FitSpec

DRAWN = 20
"""Maximum number of features in the figure of a view."""


def read_contributions(path: Path, metric: str) -> pd.DataFrame:
    """Read the file of the rule ``view_contributions``; return a row for all views together, and one for each view.

    ``mean`` and its interval are the metric of the view alone. ``difference`` and its interval are the metric of all
    views minus the metric without this view; ``p_holm`` is corrected for the number of views.
    """
    spec = FitSpec.model_validate(read_record(path)["spec"])
    place = {"dataset": spec.dataset, **spec.settings[0].model_dump(), "method": spec.method.id}
    scores, predicted = (
        table.assign(method=table["protocol"].astype(str), protocol=place["protocol"], study="")
        for table in evaluated_fit(path, [metric])
    )
    summary = plain_records(summarise(scores, Predictions(predicted), reference=ALL))
    sets, rows = {str(row["method"]): row for row in summary}, []
    for view in ["", *spec.views]:
        none = {"message": "all training or all test samples lack it"}
        none = none if spec.of_views([view]).views else {"message": "no kernel reads only this view"}
        alone, without = sets.get(f"{ALONE}{view}" if view else ALL, none), sets.get(f"{WITHOUT}{view}", {})
        row = place | {"view": view.rpartition("-")[0] or "all views", "n_train": scores["n_train"].median()}
        row |= {name: alone.get(name, np.nan) for name in ("n_repeats", "mean", "ci_low", "ci_high", "message")}
        for end, other in (("", ""), ("_low", "_high"), ("_high", "_low")):
            row[f"difference{end}"] = 0.0 - without.get(f"difference{other}", np.nan)  # not -0.0
        rows.append(row | {"message_without": without.get("message", ""), "p_value": without.get("p_value", np.nan)})
    return pd.DataFrame(rows).assign(p_holm=lambda frame: holm(frame["p_value"]))


def views_section(results: Results, contributions: pd.DataFrame) -> Section:
    """Return the section with a table of the views of each data set; see `read_contributions`."""
    metric, tables = results.metric, []

    def alone(row: dict[str, Any]) -> Cell:
        failed = pd.isna(row["mean"])
        return number_cell(row["message"] if failed else value(row["mean"], metric.in_percent), row["mean"])

    def adds(row: dict[str, Any]) -> Cell:
        failed = pd.isna(row["difference"]) and row["message_without"]
        return Cell(failed) if failed else difference_cell(row, metric, results.matters)

    points, percent = (", points", ", %") if metric.in_percent else ("", "")
    columns = [
        words("View", "view"), Column(f"Adds to the others{points}", cell=adds), Column(f"Alone{percent}", cell=alone),
        Column("95 % interval", cell=lambda row: interval_cell(row, metric.in_percent)),
    ]  # fmt: skip
    for setting, rows in _by_setting(results, contributions):
        label, splits = results.label_of.get(rows[0]["method"]), plural(int(rows[0]["n_repeats"]), "split")
        note = (
            f"{label} on {splits} of the study, fitted to {count(rows[0]['n_train'])} samples; samples without any "
            "view of a fit are left out of it."
        )
        tables.append(Table.of(setting.title, columns, rows, note=note))
    note = (
        f"Adds to the others: {metric.name} with all views minus without this one, on the same test samples. Alone: "
        f"mean {metric.name} on this view only, of the samples that have it. Brackets are 95 % intervals; ▲ and ▼ mark "
        "intervals that exclude 0, where the p-value is below 5 % after Holm's correction for the number of views. A "
        "view with the same information as others adds little, however good it is alone. Samples of a group are left "
        "out together where the study's splits do so. All numbers are in views.csv."
    )
    parts = [ReportPart(tables=tables, files={"views.csv": contributions})] if tables else []
    return Section("views", "Which view matters?", parts, note, printed=True)


def views_sentence(results: Results, contributions: pd.DataFrame, names_method: bool = False) -> str:
    """Return a sentence for each data set on the views that are shown to add to the others, or to do harm.

    More than `NAMED` data sets are counted in one sentence.
    """
    metric, sentences, n_better = results.metric, list[str](), 0
    unit = f"points of {metric.name}" if metric.in_percent else metric.name
    for setting, rows in _by_setting(results, contributions):
        judged: dict[str, list[str]] = {}
        for row in rows:
            if shown := verdict(row, results.matters * metric.in_percent, metric.larger_is_better):
                judged.setdefault(shown, []).append(f"{row['view']} {change_and_interval(row, metric.in_percent)}")
        text = "No view is shown to add to the others."
        if BETTER in judged:
            rest = " No other view is shown to add." if len(judged) > 1 else ""
            text = f"Views that add to the others, in {unit}: {enumeration(judged[BETTER], None)}.{rest}"
        elif metric.in_percent and judged.keys() <= {NO_GAIN, WORSE}:
            text = f"No view adds {gain_title(results)} of {metric.name} to the others."
        harm = f" Better left out: {enumeration(judged[WORSE], None)}." if WORSE in judged else ""
        starts = [setting.title] if contributions["dataset"].nunique() > 1 else []
        starts += [results.label_of.get(rows[0]["method"], rows[0]["method"])] if names_method else []
        sentences += [f"{', '.join(starts)}: {text}{harm}".removeprefix(": ")] if judged else []
        n_better += BETTER in judged
    if len(sentences) > NAMED:
        among = plural(len(sentences), "data set")
        return f"Views are shown to add to the others on {n_better} of {among}: see Which view matters?"
    return " ".join(sentences)


def _by_setting(results: Results, contributions: pd.DataFrame) -> Iterator[tuple[Setting, list[dict[str, Any]]]]:
    """Yield the settings that have contributions, with their rows: all views first, then the views that add most."""
    for setting in results.settings_in(contributions) if len(contributions) else ():
        rows, up = setting.of(contributions), not results.metric.larger_is_better
        yield setting, plain_records(rows.sort_values("difference", ascending=up, na_position="first"))


# --- importances


def importances_part(frame: pd.DataFrame) -> ReportPart:
    """Return a part with a table of the views, a figure of the most important features of each view, and a CSV file.

    ``frame`` is the table that the rule ``model`` writes; a row without a feature belongs to a whole view.
    """
    whole = frame["feature"].eq("")
    if not len(frame) or frame["view"].eq("").all():
        note = "; ".join(frame["message"]) or "The final model's method takes whole images: it has no views to shuffle."
        return ReportPart(tables=[Table("Importance of views", [words("View")], [], note=note)])
    alt = "Bars with intervals: what predictions lose where each feature of those that matter most is shuffled."
    figures = [
        PartFigure(f"Importance of features: {view}", alt, partial(importance_bars, rows, title=str(view)))
        for view, rows in frame[~whole].groupby("view", sort=False)
    ]
    first, in_points = frame.iloc[0], bool(frame["measure"].ne("r2").all())
    few = "" if frame["low"].notna().any() else " Two to four splits have no interval."
    unit = {"accuracy": "points of accuracy", "r2": "R²", "harrell_c": "points of Harrell's C"}[first["measure"]]
    note = (
        f"What predictions lose, in {unit}, where a view or a feature is shuffled among the test samples: by the final "
        f"model's method and parameters, fitted to the training samples of {plural(int(first['splits']), 'split')}, "
        f"mean of {plural(int(first['permutations']), 'permutation')}, with 95 % intervals, which are not corrected "
        f"for their number. The parameters were chosen on the samples of the final model.{few} Features that tell the "
        "same replace each other: each loses about 0, and their view does not. All numbers are in importances.csv."
    )
    columns = [
        words("View", "view"),
        number("Loss", "loss", partial(value, in_percent=in_points), "mean over test samples"),
        Column("95 % interval", cell=lambda row: interval_cell(row, in_points, "low", "high")),
    ]
    table = Table.of("Importance of views", columns, plain_records(frame[whole]), sorted_by=1, note=note)
    return ReportPart(figures, [table], {"importances.csv": frame})


def importance_bars(frame: pd.DataFrame, *, title: str) -> Chart:
    """Draw the loss when each feature is shuffled, with 95 % intervals if they are known."""
    in_points, rows = frame["measure"].iloc[0] != "r2", frame.head(DRAWN)
    shown = charts.in_percent(rows, "loss", "low", "high") if in_points else rows
    x = field("x:Q", title="points lost" if in_points else "R² lost", axis={"tickCount": 6})
    colour = field("k:N", scale={"range": "ordinal"}, legend=None)
    bar = {"type": "bar", "height": 10, "cornerRadiusEnd": 3, "fillOpacity": 0.5}
    ends = {"x": x | {"field": "l"}, "x2": {"field": "h"}}
    tips = tooltip(("f:N", "shuffled"), ("x:Q", "lost", ".3~f"), ("l:Q", "from", ".3~f"), ("h:Q", "to", ".3~f"))
    most = [f"the {DRAWN} of {len(frame)} that matter most"] if len(frame) > DRAWN else []
    return charts.chart(
        {"mark": bar, "encoding": {"x": x, "color": colour}},
        *([{"mark": {"type": "rule", "strokeWidth": 1.5}, "encoding": ends}] if rows["low"].notna().any() else []),
        rows=charts.rows_of(shown, k="measure", f="feature", x="loss", l="low", h="high"),
        encoding={"y": charts.names("f:N", list(shown["feature"])), "tooltip": tips},
        height=22 * len(shown), title=title, subtitle=most,
    )  # fmt: skip

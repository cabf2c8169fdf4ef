"""Tables of paired differences between methods, from results of studies: shared by the scripts that publish them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from mklearn.atomic import read_parquet
from mklearn.study.evaluation.predictions import Predictions
from mklearn.study.evaluation.summary import summarise

REPORTS = Path(__file__).parents[1] / "reports"
SETTING = ["study", "dataset", "train_size"]
COLUMNS = [*SETTING, "method", "reference", "difference", "low", "high", "repeats", "below", "above", "worst_repeat"]
"""Differences, their 95 % interval and the worst repeat in points; ``below`` and ``above`` count repeats."""


def read_results(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read the scores by inner cross-validation and the predictions of a study from its folder of results."""
    scores, predictions = (read_parquet(folder / f"{name}.parquet")[0] for name in ("scores", "predictions"))
    return scores[scores["selection"] == "inner_cv"], predictions


def differences(
    study: str, scores: pd.DataFrame, predictions: pd.DataFrame, pairs: Sequence[tuple[str, str]]
) -> pd.DataFrame:
    """Return the paired differences of methods to their references, one row per pair and setting that has both.

    ``scores`` are those of one rule for each setting; the folds of a repeat count as their mean.
    """
    predicted = Predictions(predictions)
    summaries = {}
    for reference in {reference for _, reference in pairs}:  # intervals of other methods take time
        compared = {method for method, against in pairs if against == reference} | {reference}
        summaries[reference] = summarise(scores[scores["method"].isin(compared)], predicted, reference=reference)
    sizes = scores["train_size"].fillna(0)
    rows = []
    for method, reference in pairs:
        table = summaries[reference]
        for row in table[(table["method"] == method) & table["difference"].notna()].itertuples():
            size = 0 if pd.isna(row.train_size) else int(row.train_size)
            here = scores[(scores["dataset"] == row.dataset) & (sizes == size)]
            by_repeat = here.groupby(["method", "repeat"])["value"].mean()
            gained = 100 * (by_repeat[method] - by_repeat[reference]).to_numpy()
            bounds = (100 * row.difference, 100 * row.difference_low, 100 * row.difference_high)
            counts = (len(gained), int((gained < -1e-9).sum()), int((gained > 1e-9).sum()), gained.min())
            rows.append((study, row.dataset, size, method, reference, *bounds, *counts))
    return pd.DataFrame(rows, columns=COLUMNS)


def markdown(table: pd.DataFrame, columns: Mapping[str, str], by: str = "method", level: str = "") -> str:
    """Return a Markdown table with wins, losses, ties and the worst case below.

    Parameters
    ----------
    table : DataFrame
        As :func:`differences` gives it, with the title of each row in a column ``row``.
    columns : mapping
        Values of the column ``by``, and how they are headed.
    level : str, optional
        Heading of a first column with the mean accuracy of the reference, ``reference_accuracy``.
    """
    first = [level] if level else []
    lines = [line("", [*first, *columns.values()]), "| --- |" + " ---: |" * (len(first) + len(columns))]
    for title, rows in table.groupby("row", sort=False):
        of = rows.set_index(by)
        levels = [f"{rows['reference_accuracy'].iloc[0]:.1f}"] if level else []
        lines.append(line(str(title), [*levels, *(_cell(of.loc[name]) for name in columns)]))
    groups = [table[table[by] == name] for name in columns]
    for title, of_group in SUMMARY_ROWS.items():
        lines.append(line(f"**{title}**", ["" for _ in first] + [of_group(group) for group in groups]))
    return "\n".join(lines)


def line(title: str, cells: Iterable[str]) -> str:
    """Return a row of a Markdown table."""
    return f"| {title} | ".replace("|  |", "| |") + " | ".join(cells) + " |"


def _cell(row: pd.Series) -> str:
    mark = " ▲" if row["low"] > 0 else " ▼" if row["high"] < 0 else ""
    return f"{_signed(row['difference'])} [{_signed(row['low'])}, {_signed(row['high'])}]{mark}"


def _signed(points: float) -> str:
    return f"{points:+.1f}" if abs(points) >= 0.05 else "0.0"


def _verdicts(group: pd.DataFrame) -> str:
    wins, losses = int((group["low"] > 0).sum()), int((group["high"] < 0).sum())
    return f"{wins} / {losses} / {len(group) - wins - losses}"


def _repeats(group: pd.DataFrame) -> str:
    return f"{group['below'].sum()} / {group['above'].sum()} of {group['repeats'].sum()}"


SUMMARY_ROWS = {
    "wins / losses / ties": _verdicts,
    "settings below 0": lambda group: str(int((group["difference"] < -1e-9).sum())),
    "mean": lambda group: f"{group['difference'].mean():+.2f}",
    "worst setting": lambda group: f"{group['difference'].min():+.2f}",
    "repeats below / above": _repeats,
    "worst repeat": lambda group: f"{group['worst_repeat'].min():+.1f}",
}

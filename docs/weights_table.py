"""Tabulate what learned kernel weights change: ``reports/weights/differences.csv`` and ``differences.md``.

    python docs/weights_table.py results/weights results/weights-weak-views

The arguments are the result folders of the studies ``weights.yaml`` and ``weights-weak-views.yaml``. A learner is
compared with the uniform average, and with its own machinery at equal weights, which shows the effect of the weights.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from mklearn.atomic import read_parquet
from mklearn.evaluation.predictions import Predictions
from mklearn.evaluation.summary import summarise

FOLDER = Path(__file__).parents[1] / "reports" / "weights"
AVERAGE = "average"
AGAINST_AVERAGE = ("guarded", "guarded-2se", "loo", "mkl-lda", "convex", "best-single")
EQUAL = {"loo": "loo-equal", "mkl-lda": "mkl-lda-equal", "convex": "convex-equal"}
NAMES = {
    "guarded": "guarded MKL",
    "guarded-2se": "guarded, two s.e.",
    "loo": "leave-one-out",
    "mkl-lda": "MKL-LDA",
    "convex": "convex",
    "best-single": "best single",
}
SETTING = ["study", "dataset", "train_size"]
COLUMNS = [*SETTING, "method", "reference", "difference", "low", "high", "repeats", "below", "above", "worst_repeat"]
"""Differences, their 95 % interval and the worst repeat in points; ``below`` and ``above`` count repeats."""


def differences(study: str, scores: pd.DataFrame, predictions: pd.DataFrame) -> pd.DataFrame:
    """Return the paired differences of a study's methods to their references, one row per setting and pair."""
    scores = scores[scores["selection"] == "inner_cv"]
    pairs = [(method, AVERAGE) for method in AGAINST_AVERAGE] + list(EQUAL.items())
    predicted = Predictions(predictions)
    summaries = {reference: summarise(scores, predicted, reference=reference) for _, reference in pairs}
    rows = []
    for method, reference in pairs:
        table = summaries[reference]
        for row in table[table["method"] == method].itertuples():
            here = (scores["dataset"] == row.dataset) & (scores["train_size"] == row.train_size)
            by_repeat = scores[here].set_index(["method", "repeat"])["value"]
            gained = 100 * (by_repeat[method] - by_repeat[reference]).to_numpy()
            bounds = (100 * row.difference, 100 * row.difference_low, 100 * row.difference_high)
            counts = (len(gained), int((gained < -1e-9).sum()), int((gained > 1e-9).sum()), gained.min())
            rows.append((study, row.dataset, int(row.train_size), method, reference, *bounds, *counts))
    return pd.DataFrame(rows, columns=COLUMNS)


def page(table: pd.DataFrame) -> str:
    """Return the tables as Markdown: settings by methods, and wins, losses, ties and the worst case below."""
    average = table[table["reference"] == AVERAGE]
    equal = table[table["reference"] != AVERAGE]
    parts = [
        "# What learned kernel weights change",
        "Difference of accuracies in points and its paired 95 % interval; nearest neighbour by the cosine, ten "
        "repeats. A setting is a data set, its views (six kernels of five descriptors, or one kernel for each of 16 "
        "patches) and the number of training samples per class. ▲ and ▼: the interval lies above or below 0, a win or "
        "a loss; it is not corrected for the number of comparisons. Made by `docs/weights_table.py`.",
        "## Against the uniform average",
        _markdown(average, AGAINST_AVERAGE),
        "## Against the same machinery with equal weights",
        _markdown(equal, tuple(EQUAL)),
    ]
    return "\n\n".join(parts) + "\n"


def _markdown(table: pd.DataFrame, methods: tuple[str, ...]) -> str:
    lines = ["| | " + " | ".join(NAMES[method] for method in methods) + " |", "| --- |" + " ---: |" * len(methods)]
    for (study, dataset, size), rows in table.groupby(SETTING, sort=False):
        views = "patches" if "weak" in study else "descriptors"
        by_method = rows.set_index("method")
        cells = [_cell(by_method.loc[method]) for method in methods]
        lines.append(f"| {dataset}, {views}, {size} | " + " | ".join(cells) + " |")
    groups = [table[table["method"] == method] for method in methods]
    for title, of_group in SUMMARY_ROWS.items():
        lines.append(f"| **{title}** | " + " | ".join(of_group(group) for group in groups) + " |")
    return "\n".join(lines)


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


def main(folders: list[str]) -> None:
    """Write both files from the result folders."""
    found = []
    for folder in map(Path, folders):
        scores, predictions = (read_parquet(folder / f"{name}.parquet")[0] for name in ("scores", "predictions"))
        found.append(differences(folder.name, scores, predictions))
    table = pd.concat(found).round(4)
    FOLDER.mkdir(parents=True, exist_ok=True)
    table.to_csv(FOLDER / "differences.csv", index=False)
    (FOLDER / "differences.md").write_text(page(pd.read_csv(FOLDER / "differences.csv")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

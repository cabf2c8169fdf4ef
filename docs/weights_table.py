"""Tabulate what learned kernel weights change: ``reports/weights/differences.csv`` and ``differences.md``.

    python docs/weights_table.py results/weights results/weights-weak-views

The arguments are the result folders of the studies ``weights.yaml`` and ``weights-weak-views.yaml``. A learner is
compared with the uniform average, and with its own machinery at equal weights, which shows the effect of the weights.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
from paired_differences import REPORTS, differences, markdown, read_results

FOLDER = REPORTS / "weights"
AVERAGE = "average"
AGAINST_AVERAGE = {
    "guarded": "guarded MKL",
    "guarded-2se": "guarded, two s.e.",
    "loo": "leave-one-out",
    "mkl-lda": "MKL-LDA",
    "convex": "convex",
    "best-single": "best single",
}
EQUAL = {"loo": "loo-equal", "mkl-lda": "mkl-lda-equal", "convex": "convex-equal"}
PAIRS = [(method, AVERAGE) for method in AGAINST_AVERAGE] + list(EQUAL.items())


def page(table: pd.DataFrame) -> str:
    """Return the tables as Markdown: settings by methods, and wins, losses, ties and the worst case below."""
    views = table["study"].str.contains("weak").map({True: "patches", False: "descriptors"})
    table = table.assign(row=table["dataset"] + ", " + views + ", " + table["train_size"].astype(str))
    average = table[table["reference"] == AVERAGE]
    equal = table[table["reference"] != AVERAGE]
    parts = [
        "# What learned kernel weights change",
        "Difference of accuracies in points and its paired 95 % interval; nearest neighbour by the cosine, ten "
        "repeats. A setting is a data set, its views (six kernels of five descriptors, or one kernel for each of 16 "
        "patches) and the number of training samples per class. ▲ and ▼: the interval lies above or below 0, a win or "
        "a loss; it is not corrected for the number of comparisons. Made by `docs/weights_table.py`.",
        "## Against the uniform average",
        markdown(average, AGAINST_AVERAGE),
        "## Against the same machinery with equal weights",
        markdown(equal, {method: AGAINST_AVERAGE[method] for method in EQUAL}),
    ]
    return "\n\n".join(parts) + "\n"


def main(folders: list[str]) -> None:
    """Write both files from the result folders."""
    found = [differences(folder.name, *read_results(folder), PAIRS) for folder in map(Path, folders)]
    table = pd.concat(found).round(4)
    FOLDER.mkdir(parents=True, exist_ok=True)
    table.to_csv(FOLDER / "differences.csv", index=False)
    (FOLDER / "differences.md").write_text(page(pd.read_csv(FOLDER / "differences.csv")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

"""Tabulate the study of F-SVM: ``reports/fsvm/tables.md`` and the CSV files that it is made from.

    python docs/fsvm_tables.py results/fsvm

The argument is the result folder of ``fsvm.yaml``.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from paired_differences import REPORTS, differences, line, markdown
from scipy.stats import wilcoxon

from mklearn.atomic import read_parquet
from mklearn.base.statistics import holm

FOLDER = REPORTS / "fsvm"
LINEAR = {
    "svm": "SVM", "fsvm": "F-SVM", "semi": "semi", "power": "power", "alternating": "alternation", "rmm": "RMM",
    "r-svm-plus": "R-SVM+", "r-svm-plus-mu": "R-SVM+_mu", "lda": "LDA", "lda-lw": "LDA-LW", "lw-svm": "LW+SVM",
    "majority": "majority",
}  # fmt: skip
KERNEL = {
    "rbf": "SVM, all", "rbf-average": "SVM, average", "rbf-ridge": "ridge, average",
    "rbf-svm": "SVM", "rbf-semi": "semi", "rbf-fsvm": "F-SVM", "rbf-fsvm-all": "F-SVM, all",
    "rbf-alternating": "alternation", "rbf-rmm": "RMM", "rbf-r-svm-plus": "R-SVM+",
}  # fmt: skip
ON_TEST = {
    "svm": "SVM, 7 values of C", "svm-33": "SVM, 33", "semi": "semi, 7", "semi-33": "semi, 33", "fsvm": "F-SVM, 7",
    "fsvm-33": "F-SVM, 33", "alternating-9": "alternation, 9",
}  # fmt: skip
WINS = {
    ("fsvm", "svm"): 9, ("fsvm", "rmm"): 7, ("fsvm", "r-svm-plus"): 7, ("fsvm", "r-svm-plus-mu"): 8,
    ("alternating", "svm"): 9, ("alternating", "rmm"): 7, ("alternating", "r-svm-plus"): 7,
    ("alternating", "r-svm-plus-mu"): 8, ("rbf-fsvm", "rbf-svm"): 10, ("rbf-fsvm", "rbf-rmm"): 9,
    ("rbf-fsvm", "rbf-r-svm-plus"): 11, ("rbf-fsvm", "rbf-r-svm-plus-mu"): 11,
}  # fmt: skip
"""On how many of the eleven sets the paper's F-SVM is above another method, linear and with a Gaussian kernel."""
HONEST, OPTIMISTIC = "released", "released-test-optimistic"
REFERENCES = ("svm", "lda")
DECIMALS = 4


def accuracies(scores: pd.DataFrame) -> pd.DataFrame:
    """Return mean and standard deviation of the repeats' mean accuracies, %, by data set, protocol and method."""
    of_repeats = 100 * scores.groupby(["dataset", "protocol", "method", "repeat"], sort=False)["value"].mean()
    found = of_repeats.groupby(level=["dataset", "protocol", "method"], sort=False)
    return found.agg(accuracy="mean", std="std", repeats="count").reset_index()


def compared(scores: pd.DataFrame, predictions: pd.DataFrame) -> pd.DataFrame:
    """Return paired differences to SVM and to LDA: of five repeats where a method has them, else of one."""
    parts = []
    for protocol in ("folds", "once"):
        of_protocol = scores[scores["protocol"] == protocol]
        predicted = predictions[predictions["protocol"] == protocol]
        methods = list(of_protocol["method"].unique())
        pairs = [(method, reference) for reference in REFERENCES for method in methods if method != reference]
        parts.append(differences("fsvm", of_protocol, predicted, pairs).assign(protocol=protocol))
    table = pd.concat(parts, ignore_index=True)
    return table.drop_duplicates(["dataset", "method", "reference"]).reset_index(drop=True)


def over_sets(table: pd.DataFrame) -> pd.DataFrame:
    """Test methods against references over the data sets by Wilcoxon's signed ranks, adjusted by Holm's method."""
    rows = []
    for (reference, method), of_pair in table.groupby(["reference", "method"], sort=False):
        gained = of_pair["difference"].to_numpy()
        p = float(wilcoxon(gained).pvalue) if np.any(gained) and len(gained) > 5 else np.nan
        counts = int((of_pair["low"] > 0).sum()), int((of_pair["high"] < 0).sum())
        rows.append((reference, method, len(gained), gained.mean(), *counts, p))
    columns = ["reference", "method", "sets", "mean", "above", "below", "p_value"]
    found = pd.DataFrame(rows, columns=columns)
    for names in (LINEAR, KERNEL):
        for reference in REFERENCES:
            here = found["method"].isin(names) & (found["reference"] == reference) & (found["method"] != "majority")
            found.loc[here, "p_holm"] = holm(found.loc[here, "p_value"])
    return found


def wins(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Count the data sets on which F-SVM is above, level with and below others, and how many the paper says.

    Five repeats are compared where both methods have them, else the first one.
    """
    wide = accuracy.pivot_table(index=["dataset", "protocol"], columns="method", values="accuracy")
    rows = []
    for (own, other), published in WINS.items():
        known = wide.reindex(columns=[own, other]).dropna().sort_index(level="protocol")  # "folds" before "once"
        known = known[known.index.get_level_values("protocol").isin(["folds", "once"])]
        gained = (known[own] - known[other]).groupby(level="dataset").first()
        counts = int((gained > 0).sum()), int((gained == 0).sum()), int((gained < 0).sum())
        rows.append((own, other, len(gained), *counts, gained.mean(), published))
    return pd.DataFrame(rows, columns=["method", "other", "sets", "above", "level", "below", "mean", "published"])


def biases(table: pd.DataFrame) -> pd.DataFrame:
    """Return accuracies on the released test sets, with C by inner cross-validation and by the test sets, %."""
    wide = table.pivot_table(index=["method", "dataset"], columns="protocol", values="accuracy")
    wide = wide.reindex(columns=[HONEST, OPTIMISTIC]).dropna().rename(columns={HONEST: "inner", OPTIMISTIC: "test"})
    return wide.assign(bias=wide["test"] - wide["inner"]).reset_index().rename_axis(columns=None)


def page(accuracy: pd.DataFrame, difference: pd.DataFrame, sets: pd.DataFrame, bias: pd.DataFrame) -> str:
    """Return all tables as Markdown."""
    parts = [
        "# F-SVM and its relatives on UCI sets",
        "Made by `docs/fsvm_tables.py`. Accuracy in %: mean ± standard deviation of the repeats' means. Five repeats "
        "of ten folds, with parameters by inner cross-validation; values without a deviation are of one repeat. "
        "`semi`: semi-whitened SVM, with which the published alternation starts; `power`: SVM on S^-p x, p by inner "
        "cross-validation; LDA-LW: LDA with Ledoit-Wolf shrinkage; LW+SVM: Ledoit-Wolf whitening and SVM.",
        "## Linear machines", _table(accuracy, LINEAR),
        "## With a Gaussian kernel",
        "On all kernel principal components (`all`), or on the first 5 to 80, as many as inner cross-validation "
        "chooses; of four bandwidths the best in inner cross-validation, or the average of their kernels (`average`; "
        "`ridge`: kernel ridge). One repeat.",
        _table(accuracy, KERNEL),
        "## On how many sets F-SVM is above the others",
        "The paper counts on eleven sets, by means without intervals. By the paired intervals below no difference of "
        "F-SVM or its alternation to the SVM is certain on any set. The alternation, which the paper runs, ends "
        "above the optimum.",
        _wins(wins(accuracy)),
    ]  # fmt: skip
    for reference in REFERENCES:
        own = {name: title for name, title in LINEAR.items() if name not in (reference, "majority")}
        here = difference[difference["reference"] == reference].assign(row=lambda frame: frame["dataset"])
        parts += [
            f"## Differences to {LINEAR[reference]}",
            "In points, with the paired 95 % interval, which allows for training sets that overlap. ▲ and ▼: the "
            "interval lies above or below 0; it is not corrected for the number of comparisons.",
            _differences(here, own),
            "Over the data sets: mean difference, p of Wilcoxon's signed-rank test, and the same by Holm's method.",
            _tests(sets[sets["reference"] == reference], LINEAR | KERNEL),
        ]
    parts += [
        "## Choosing C on the test set: optimistic",
        "On the authors' ten test sets, which overlap (a sample drawn twice counts once): accuracy with C by inner "
        "cross-validation → with the C that is best on each test set, and the difference. Values on the right are "
        "optimistic, and no estimate.",
        _biases(bias),
    ]
    return "\n\n".join(parts) + "\n"


def _table(accuracy: pd.DataFrame, titles: Mapping[str, str]) -> str:
    own = accuracy[accuracy["method"].isin(titles) & accuracy["protocol"].isin(["folds", "once"])]
    best = own.sort_values("repeats", ascending=False, kind="stable").drop_duplicates(["dataset", "method"])
    cells = best.set_index(["dataset", "method"])
    lines = [line("", titles.values()), "| --- |" + " ---: |" * len(titles)]
    for dataset in accuracy["dataset"].unique():
        if (dataset, next(iter(titles))) in cells.index:
            lines.append(line(dataset, (_accuracy(cells, dataset, name) for name in titles)))
    return "\n".join(lines)


def _wins(counts: pd.DataFrame) -> str:
    heads = ("sets", "above", "level", "below", "mean difference", "above in the paper, of 11")
    lines = [line("", heads), "| --- |" + " ---: |" * len(heads)]
    for row in counts.itertuples():
        kernel = ", kernel" if row.method in KERNEL else ""
        own, other = (LINEAR[name.removeprefix("rbf-")] for name in (row.method, row.other))
        title = f"{own} against {other}{kernel}"
        ours = (row.above, row.level, row.below, f"{row.mean:+.2f}") if row.sets else ("not run", "", "", "")
        lines.append(line(title, map(str, (row.sets, *ours, row.published))))
    return "\n".join(lines)


def _accuracy(cells: pd.DataFrame, dataset: str, method: str) -> str:
    if (dataset, method) not in cells.index:
        return ""
    row = cells.loc[(dataset, method)]
    return f"{row['accuracy']:.1f}" + ("" if row["repeats"] == 1 else f" ± {row['std']:.1f}")


def _differences(here: pd.DataFrame, titles: Mapping[str, str]) -> str:
    """Return the tables of methods that have the same data sets."""
    own = here[here["method"].isin(titles)]
    groups: dict[tuple[str, ...], dict[str, str]] = {}
    for name, title in titles.items():
        groups.setdefault(tuple(own.loc[own["method"] == name, "dataset"]), {})[name] = title
    return "\n\n".join(markdown(own[own["method"].isin(names)], names) for names in groups.values() if names)


def _tests(sets: pd.DataFrame, titles: Mapping[str, str]) -> str:
    lines = ["| | sets | mean | intervals above / below 0 | p | Holm's p |", "| --- |" + " ---: |" * 5]
    for row in sets.itertuples():
        if row.method not in titles or row.method == "majority":
            continue
        title = f"{titles[row.method]}, kernel" if row.method in KERNEL else titles[row.method]
        p = ("", "") if pd.isna(row.p_value) else (f"{row.p_value:.2f}", f"{row.p_holm:.2f}")
        lines.append(line(title, (str(row.sets), f"{row.mean:+.2f}", f"{row.above} / {row.below}", *p)))
    return "\n".join(lines)


def _biases(bias: pd.DataFrame) -> str:
    datasets = list(bias["dataset"].unique())
    lines = [line("", [*datasets, "mean"]), "| --- |" + " ---: |" * (len(datasets) + 1)]
    for name, title in ON_TEST.items():
        own = bias[bias["method"] == name].set_index("dataset")
        if len(own):
            columns = own[["inner", "test", "bias"]]
            rows = [*(columns.loc[dataset] for dataset in datasets), columns.mean()]
            cells = (f"{row['inner']:.1f} → {row['test']:.1f} ({row['bias']:+.1f})" for row in rows)
            lines.append(line(title, cells))
    return "\n".join(lines)


def main(folder: str) -> None:
    """Write all files from the result folder."""
    scores, predictions = (read_parquet(Path(folder) / f"{name}.parquet")[0] for name in ("scores", "predictions"))
    scores = scores[scores["metric"].eq("accuracy")]
    on_test = scores["protocol"].eq(OPTIMISTIC) & scores["selection"].eq("dimension")
    inner = scores[scores["selection"].eq("inner_cv") & scores["value"].notna()]
    accuracy = accuracies(pd.concat([inner[inner["protocol"].ne(OPTIMISTIC)], scores[on_test]]))
    difference = compared(inner, predictions)
    files = {"accuracies": accuracy, "differences": difference, "over_sets": over_sets(difference),
             "bias": biases(accuracy)}  # fmt: skip
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, table in files.items():
        table.round(DECIMALS).to_csv(FOLDER / f"{name}.csv", index=False)
    (FOLDER / "tables.md").write_text(page(*read_tables()), encoding="utf-8")


def read_tables() -> list[pd.DataFrame]:
    """Read the published CSV files, in the order of :func:`page`'s arguments."""
    return [pd.read_csv(FOLDER / f"{name}.csv") for name in ("accuracies", "differences", "over_sets", "bias")]


if __name__ == "__main__":
    main(*sys.argv[1:])

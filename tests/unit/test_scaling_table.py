"""The published table of feature scalings says what its numbers say, and its numbers are those of the summaries."""

from __future__ import annotations

import pandas as pd
import pytest


@pytest.fixture(scope="module")
def script(import_from_docs):
    return import_from_docs("scaling_table")


def test_the_published_table_is_that_of_its_numbers(script):
    table = pd.read_csv(script.FOLDER / "differences.csv")
    assert (script.FOLDER / "differences.md").read_text(encoding="utf-8") == script.page(table)
    assert set(table["section"]) == {section.title for section in script.SECTIONS}
    published = {study: pd.read_csv(script.REPORTS / study / "summary.csv") for study in set(table["study"])}
    for row in table.itertuples():
        summary = published[row.study]
        here = summary[(summary["dataset"] == row.dataset) & (summary["selection"] == "inner_cv")].set_index("method")
        accuracy, reference = (100 * here.loc[method, "mean"] for method in (row.method, row.reference))
        assert row.reference_accuracy == pytest.approx(reference, abs=1e-3)
        assert row.difference == pytest.approx(accuracy - reference, abs=1e-3)
        assert row.low <= row.difference <= row.high
    own = table[table["reference"] == "kfd-gauss-none"]
    for row in own.itertuples():  # the study's own reference: the same intervals
        summary = published[row.study]
        here = summary[(summary["dataset"] == row.dataset) & (summary["selection"] == "inner_cv")].set_index("method")
        found = here.loc[row.method]
        expected = [100 * found.difference_low, 100 * found.difference_high]
        assert [row.low, row.high] == pytest.approx(expected, abs=1e-3)
    assert len(own) > 20


def test_differences_by_hand(import_from_docs):
    """Two data sets in two folds of two repeats: a gain of 10 points everywhere, and a loss in one repeat."""
    module = import_from_docs("paired_differences")
    base = {
        "study": "s", "protocol": "p", "train_size": None, "kernel_set": "k", "neighbour": "", "selection": "inner_cv",
        "dimension": None, "status": "ok", "message": "", "n_train": 20, "n_test": 10, "fit_seconds": 0.0,
    }  # fmt: skip
    values = {("a", "m"): [0.8, 0.8, 0.8, 0.8], ("a", "r"): [0.7, 0.7, 0.7, 0.7],
              ("b", "m"): [0.5, 0.6, 0.9, 0.9], ("b", "r"): [0.7, 0.7, 0.8, 0.9]}  # fmt: skip
    rows = [
        base | {"dataset": dataset, "method": method, "repeat": number // 2, "fold": number % 2, "value": value}
        for (dataset, method), of_splits in values.items()
        for number, value in enumerate(of_splits)
    ]
    columns = ["study", "dataset", "protocol", "train_size", "method", "neighbour", "repeat", "fold", "sample"]
    found = module.differences("s", pd.DataFrame(rows), pd.DataFrame(columns=columns), [("m", "r")]).set_index(
        "dataset"
    )
    assert found["difference"].tolist() == pytest.approx([10, -5])
    assert found[["repeats", "below", "above"]].to_numpy().tolist() == [[2, 0, 2], [2, 1, 1]]
    assert found["worst_repeat"].tolist() == pytest.approx([10, -15])
    table = found.reset_index().assign(row=["a", "b"], reference_accuracy=[70.0, 77.5])
    lines = module.markdown(
        table.assign(low=[9.0, -9.0], high=[11.0, 1.0]), {"m": "mine"}, level="none, %"
    ).splitlines()
    assert lines[:4] == [
        "| | none, % | mine |", "| --- | ---: | ---: |", "| a | 70.0 | +10.0 [+9.0, +11.0] ▲ |",
        "| b | 77.5 | -5.0 [-9.0, +1.0] |",
    ]  # fmt: skip
    assert "| **wins / losses / ties** |  | 1 / 0 / 1 |" in lines

"""Confused classes: whose they are, what is counted, what a reader sees of few and of many."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.unit.study.report.conftest import read

from mklearn.study.report.build import build_report
from mklearn.study.report.confusion import FEW_CLASSES, MOST_PAIRS, confused, pairs_table
from mklearn.study.report.frames import results_of
from mklearn.study.report.records import FitRecord

MEANS = {"average": 0.7, "mkl": 0.8, "poor": 0.1, "oracle": np.nan}
COUNTS = [[8, 2, 0], [1, 9, 0], [0, 0, 10]]


def found_in(counts, sizes=(5,), names=("ape", "bee", "cat")):
    """Confusions of methods whose means are ``MEANS``; an oracle's has no value by inner cross-validation."""
    place = [{"train_size": size, "protocol": f"r-p{size}", "method": method} for size in sizes for method in counts]
    summary = pd.DataFrame(place).assign(
        dataset="d", dataset_title="Data", kernel_set="k", neighbour="cosine", selection="inner_cv",
        method_title=lambda rows: rows["method"].str.upper(), mean=lambda rows: rows["method"].map(MEANS),
    )  # fmt: skip
    fits = [
        FitRecord("d", f"r-p{size}", size, method, method.upper(), confusion=np.array(table), classes=np.array(names))
        for size in sizes for method, table in counts.items()
    ]  # fmt: skip
    return confused(results_of(summary, summary, fits, "average"))


@pytest.mark.parametrize(
    ("methods", "shown"),
    [
        (("average", "poor", "mkl"), ["MKL", "AVERAGE"]),
        (("average", "poor"), ["AVERAGE", "POOR"]),
        (("poor", "mkl"), ["MKL", "POOR"]),
        (("average",), ["AVERAGE"]),
        (("average", "oracle"), ["AVERAGE"]),
    ],
)
def test_the_best_is_shown_beside_the_reference_or_the_next(methods, shown):
    (found,) = found_in(dict.fromkeys(methods, COUNTS))
    assert list(found.counts) == shown


def test_of_several_training_sizes_the_largest_and_of_the_classes_those_with_counts():
    (found,) = found_in({"average": [[3, 0, 1], [0, 0, 0], [2, 0, 2]]}, sizes=(2, 10, 5))
    assert found.setting.train_size == 10
    assert found.counts["AVERAGE"].to_dict("index") == {"ape": {"ape": 3, "cat": 1}, "cat": {"ape": 2, "cat": 2}}
    assert found_in({"average": np.zeros((3, 3), dtype=int)}) == []


def test_pairs_have_a_direction_and_stand_by_share():
    (found,) = found_in({"mkl": [[8, 2, 0], [1, 9, 0], [30, 0, 70]], "average": [[9, 0, 1], [9, 1, 0], [90, 5, 5]]})
    table = pairs_table(found)
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["cat", "ape", "30.0", "30 of 100", "0.0", "90.0"],
        ["ape", "bee", "20.0", "2 of 10", "10.0", "0.0"],
        ["bee", "ape", "10.0", "1 of 10", "20.0", "90.0"],
    ]


@pytest.mark.full
def test_many_classes_have_a_table_instead_of_a_map(study, tmp_path):
    n = FEW_CLASSES + 5
    counts = np.ones((n, n), dtype=int) + 20 * np.eye(n, dtype=int)
    counts[3, 7], counts[3, 3] = 30, 1
    names = np.array([f"kind {number}" for number in range(n)])
    fits = [replace(fit, confusion=counts, classes=names) for fit in study["fits"]]
    build_report(tmp_path, **study | {"fits": fits}, figure_files=False)
    html, text = read(tmp_path)
    assert html.split('id="confusion"')[1].count("<tr", 0, html.index("</details>")) >= MOST_PAIRS
    assert "| kind 3 | kind 7 |" in text
    assert 'data-figure="confusion' not in html

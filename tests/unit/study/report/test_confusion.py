"""Confused classes: whose they are, what is counted, what a reader sees of few and of many."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import precision_recall_fscore_support
from tests.unit.study.report.conftest import read

from mklearn.study.report.build import build_report
from mklearn.study.report.confusion import FEW_CLASSES, MOST_PAIRS, class_accuracies, class_table, confused, pairs_table
from mklearn.study.report.frames import results_of
from mklearn.study.report.records import FitRecord

COUNTS = {
    "average": [[8, 2, 0], [1, 9, 0], [0, 0, 10]],
    "mkl": [[9, 1, 0], [3, 7, 0], [0, 0, 10]],
    "oracle": [[10, 0, 0], [0, 10, 0], [0, 0, 10]],
}


def summary_of(methods, sizes=(5,), without=("oracle",)):
    rows = [
        {"dataset": "d", "dataset_title": "Data", "protocol": f"r-p{size}", "train_size": size, "method": method,
         "method_title": method.upper(), "kernel_set": "k", "neighbour": "cosine", "selection": "inner_cv",
         "mean": np.nan if method in without else 0.8}
        for size in sizes for method in methods
    ]  # fmt: skip
    return pd.DataFrame(rows)


def found_in(counts, sizes=(5,), reference="average", names=("ape", "bee", "cat"), without=("oracle",)):
    summary = summary_of(counts, sizes, without)
    fits = [
        FitRecord("d", f"r-p{size}", size, method, method.upper(),
                  confusion=None if table is None else np.array(table), classes=np.array(names))
        for size in sizes for method, table in counts.items()
    ]  # fmt: skip
    return confused(results_of(summary, summary, fits, reference))


def accuracy_of(confusion):
    return np.trace(confusion.counts) / confusion.counts.sum()


def test_the_best_is_shown_beside_the_reference():
    counts = COUNTS | {"mkl": [[10, 0, 0], [3, 7, 0], [0, 0, 10]], "poor": [[0, 5, 5]] * 3}
    (found,) = found_in(counts | {"average": [[8, 2, 0], [2, 8, 0], [0, 0, 10]]})
    assert [shown.label for shown in found.shown] == ["MKL", "AVERAGE"]
    assert accuracy_of(found.best) == 27 / 30


def test_beside_a_reference_that_is_the_best_stands_the_next():
    (found,) = found_in(COUNTS)
    assert [shown.label for shown in found.shown] == ["AVERAGE", "MKL"]
    (found,) = found_in({"average": COUNTS["average"]})
    assert len(found.shown) == 1


def test_what_the_test_samples_chose_is_not_the_best():
    (found,) = found_in(COUNTS, without=())
    assert found.best.label == "ORACLE"
    assert "ORACLE" not in [shown.label for shown in found_in(COUNTS)[0].shown]


def test_of_several_training_sizes_the_largest():
    assert [found.setting.train_size for found in found_in(COUNTS, sizes=(2, 10, 5))] == [10]


def test_recall_and_precision_are_those_of_scikit_learn():
    truth, taken = [np.repeat(np.indices((3, 3))[axis].ravel(), np.ravel(COUNTS["mkl"])) for axis in (0, 1)]
    expected = precision_recall_fscore_support(truth, taken)
    (found,) = found_in({"average": [[8, 2, 0], [10, 0, 0], [0, 0, 10]], "mkl": COUNTS["mkl"]})
    table = class_table(found)
    columns = [[cell.sort for cell in column] for column in zip(*table.rows, strict=True)]
    np.testing.assert_allclose(
        [[float(value) for value in columns[k]] for k in (3, 2, 1)], [*expected[:2], expected[3]]
    )
    (found,) = found_in({"average": [[8, 0, 2], [10, 0, 0], [0, 0, 10]]})
    assert class_table(found).rows[1][3].text == "–", "a class that nothing is taken for has no precision"


@pytest.mark.full
def test_the_page_and_the_markdown_have_recall_and_precision(report):
    for text in read(report):
        assert "Recall and precision by class: " in text
        assert "MKL-DR (exact), precision, %" in text.replace("\\", "")


def test_classes_that_were_not_tested_are_left_out():
    (found,) = found_in({"average": [[3, 0, 1], [0, 0, 0], [2, 0, 2]]})
    assert found.best.classes == ("ape", "cat")
    assert found.best.counts.tolist() == [[3, 1], [2, 2]]


def test_pairs_have_a_direction_and_stand_by_share():
    (found,) = found_in({"average": [[8, 2, 0], [1, 9, 0], [30, 0, 70]], "mkl": [[9, 0, 1], [9, 1, 0], [90, 5, 5]]})
    table = pairs_table(found)
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["cat", "ape", "30.0", "30 of 100", "0.0", "90.0"],
        ["ape", "bee", "20.0", "2 of 10", "10.0", "0.0"],
        ["bee", "ape", "10.0", "1 of 10", "20.0", "90.0"],
    ]


@pytest.mark.full
@settings(max_examples=30)
@given(arrays(np.int64, (6, 6), elements=st.integers(0, 9)))
def test_classes_and_pairs_add_up(counts):
    counts = counts + np.eye(6, dtype=int)
    names = [f"class {number}" for number in range(6)]
    (found,) = found_in({"average": counts}, names=names)
    accuracies = class_accuracies(found)
    weighted = (accuracies["accuracy"] * accuracies["total"]).sum() / accuracies["total"].sum()
    assert weighted == pytest.approx(accuracy_of(found.best))
    assert accuracies["accuracy"].is_monotonic_decreasing
    assert accuracies["rank"].tolist() == list(range(1, 7))
    wrong = counts.sum() - np.trace(counts)
    shown = sum(int(row[3].sort) for row in pairs_table(found).rows)
    n_pairs = np.count_nonzero(counts - np.diag(np.diag(counts)))
    assert len(pairs_table(found).rows) == min(MOST_PAIRS, n_pairs)
    assert shown == wrong if n_pairs <= MOST_PAIRS else shown <= wrong


@pytest.mark.full
def test_many_classes_have_a_table_instead_of_a_map(study, tmp_path):
    n = FEW_CLASSES + 5
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 2, (n, n)) + 20 * np.eye(n, dtype=int)
    counts[3, 7], counts[3, 3] = 30, 1
    names = np.array([f"kind {number}" for number in range(n)])
    fits = [replace(fit, confusion=counts, classes=names) for fit in study["fits"]]
    build_report(tmp_path, **study | {"fits": fits}, figure_files=False)
    html, text = read(tmp_path)
    assert "The most confused pairs" in html
    assert 'id="confusion"' in html
    assert "| kind 3 | kind 7 |" in text
    assert "confusion-digits-8-8-training-size-5-best-and-worst-classes" in html


@pytest.mark.full
def test_a_study_without_counts_has_no_such_section(report, report_of_numbers):
    assert 'id="confusion"' in read(report)[0]
    assert 'id="confusion"' not in read(report_of_numbers)[0]

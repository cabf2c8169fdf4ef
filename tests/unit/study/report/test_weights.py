"""The table of kernel weights over splits, on the page, in Markdown and as CSV."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from tests.unit.study.report.conftest import read

from mklearn.inspection import weight_stability
from mklearn.study.report.frames import results_of
from mklearn.study.report.weights import weights_frame, weights_tables


def test_weights_over_splits_are_tabulated(study, report):
    """Learned weights and picks have a row, the uniform average none; the CSV has every kernel's numbers."""
    html, text = read(report)
    saved = pd.read_csv(report / "weights.csv")
    learned = {record.method: record for record in study["fits"] if record.method in ("mkldr", "random", "kfd")}
    assert set(saved["method"]) == set(learned)
    for method, record in learned.items():
        own = saved[saved["method"] == method]
        found = weight_stability(record.weights)
        assert list(own["kernel"]) == list(record.kernel_ids)
        np.testing.assert_allclose(own["mean"], record.weights.mean(axis=0))
        np.testing.assert_allclose(own["std"], record.weights.std(axis=0, ddof=1), atol=1e-12)
        assert own["between_splits"].unique() == pytest.approx(found.between_splits)
        first = record.kernel_ids[int(found.mean.argmax())]
        row = f"| {record.method_title} | {found.between_splits:.2f} | {found.from_equal:.2f} | 5 | {first}"
        assert row in text
    assert "Between splits: total variation distance" in html
    assert re.search(r"leave a view\s+out \(kernels: all_but_each\)", html)


def test_a_study_without_learned_weights_has_no_such_table(study, report_of_numbers):
    fits = [record for record in study["fits"] if record.method == "average"]
    results = results_of(study["scores"], study["summary"], fits)
    assert weights_tables(results) == []
    assert weights_frame(results).empty
    assert not (report_of_numbers / "weights.csv").exists()
    assert "Between splits" not in read(report_of_numbers)[0]

"""The table of kernel weights over splits, on the page, in Markdown and as CSV."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from mklearn.inspection import weight_stability
from mklearn.study.report.build import build_report


def test_weights_over_splits_are_tabulated(study, tmp_path):
    """Learned weights and picks have a row, the uniform average none; the CSV has every kernel's numbers."""
    build_report(tmp_path, **study, figure_files=False)
    html, text = ((tmp_path / name).read_text(encoding="utf-8") for name in ("index.html", "summary.md"))
    saved = pd.read_csv(tmp_path / "weights.csv")
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
    assert "Stability over splits" in html
    assert re.search(r"leave a view\s+out \(kernels: all_but_each\)", html)


def test_a_study_without_learned_weights_has_no_such_table(study, tmp_path):
    fits = [record for record in study["fits"] if record.method == "average"]
    build_report(tmp_path, **study | {"fits": fits}, figure_files=False)
    assert not (tmp_path / "weights.csv").exists()
    assert "Stability over splits" not in (tmp_path / "index.html").read_text(encoding="utf-8")

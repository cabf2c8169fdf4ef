"""ROC curves and wrong pairs of methods that verify pairs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mklearn.study.data.samples import SampleSet
from mklearn.study.report.build import build_report
from mklearn.study.report.verification import GAP, GRID, mean_roc, wrong_pairs


def predictions(values: list[float], true: list[int], folds: int = 1) -> pd.DataFrame:
    n = len(values)
    return pd.DataFrame({
        "repeat": 0, "fold": np.arange(n) * folds // n, "true": true, "decision_value": values,
        "predicted": (np.array(values) > 0).astype(int), "sample": [f"{2 * i} | {2 * i + 1}" for i in range(n)],
    })  # fmt: skip


def test_the_mean_of_the_curves_of_all_folds() -> None:
    perfect, reversed_ = [-2.0, -1.0, 1.0, 2.0], [2.0, 1.0, -1.0, -2.0]
    true = [0, 0, 1, 1]
    np.testing.assert_array_equal(mean_roc(predictions(perfect, true))["mean"], 1.0)
    curve = mean_roc(predictions(reversed_, true))
    assert (curve["mean"][GRID < 1] == 0).all()
    both = mean_roc(predictions(perfect + reversed_, true * 2, folds=2))
    assert (both["mean"][GRID < 1] == 0.5).all()


def test_the_area_is_the_metric() -> None:
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(0)
    true = np.arange(4000) % 2
    values = true + rng.normal(size=4000)
    curve = mean_roc(predictions(values.tolist(), true.tolist()))
    assert np.trapezoid(curve["mean"], curve["accepted"]) == pytest.approx(roc_auc_score(true, values), abs=2e-3)


def test_no_curve_without_values_or_a_class() -> None:
    assert mean_roc(None) is None
    assert mean_roc(predictions([np.nan, 1.0], [0, 1])) is None
    assert mean_roc(predictions([1.0, 2.0], [1, 1])) is None


def images(n: int = 12) -> SampleSet:
    pictures = np.arange(n, dtype=np.uint8)[:, None, None] * np.ones((n, 4, 3), dtype=np.uint8)
    return SampleSet.from_labels([str(i) for i in range(n)], [str(i % 2) for i in range(n)], images=pictures)


def test_the_worst_pairs_of_the_best_method() -> None:
    true = [1, 1, 1, 0, 0, 0]
    best, poor = [-3.0, 1.0, 2.0, 5.0, 4.0, -1.0], [-1.0, -2.0, -3.0, 1.0, 2.0, 3.0]
    found = wrong_pairs({"best": predictions(best, true), "poor": predictions(poor, true)}, images(), 2)
    assert (found.method, found.n_tested, found.n_wrong) == ("best", 6, (1, 2))
    assert found.captions == ("0 and 1: same, taken for different", "6 and 7: different, taken for same")
    assert found.images.shape == (2, 4, 2 * 3 + GAP)
    # Grey values are stretched: image 0 is black, image 7 white, and each pair has its own two.
    assert found.images[0, 0, 0] == 0
    assert found.images[1, 0, -1] == 255
    assert found.images[1, 0, 0] == round(255 * 6 / 7)


@pytest.mark.full
def test_wrong_pairs_are_on_the_page_and_their_names_are_escaped(study: dict[str, Any], tmp_path: Path) -> None:
    found = wrong_pairs({"<b>": predictions([-3.0, 5.0], [1, 0])}, images(), 2)
    assert found is not None
    paths = build_report(tmp_path, **study, wrong_pairs=[replace(found, title="Faces")], figure_files=False)
    page = paths[0].read_text(encoding="utf-8")
    shown = page[page.index('id="wrong-pairs"') :].split("</details>")[0]
    assert "&lt;b&gt; is wrong about 1 pairs of the same class and 1 of different classes, of 2." in shown
    assert shown.count("data:image/png;base64") == 2
    assert 'alt="0 and 1: same, taken for different"' in shown
    assert "wrong-pairs" not in paths[1].read_text(encoding="utf-8")


def test_nothing_to_show() -> None:
    right = predictions([1.0, -1.0], [1, 0])
    assert wrong_pairs({"m": right}, images(), 4) is None
    wrong = predictions([-1.0, 1.0], [1, 0])
    assert wrong_pairs({"m": wrong}, images(), 0) is None
    assert wrong_pairs({"m": wrong.assign(decision_value=np.nan)}, images(), 4) is None
    tables = SampleSet.from_labels(["0", "1"], ["a", "b"], tables={"t": np.eye(2)})
    assert wrong_pairs({"m": wrong}, tables, 4) is None

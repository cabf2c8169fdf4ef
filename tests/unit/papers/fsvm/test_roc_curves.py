"""ROC curves of methods that verify pairs."""

import numpy as np
import pandas as pd
import pytest

from mklearn.papers.fsvm.roc_curves import GRID, mean_roc


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

"""Features of several views side by side: order, scaling by the training samples, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from mklearn.base.side_by_side import SideBySide
from mklearn.errors import DataError
from mklearn.kernels import Pairwise, Views
from mklearn.kernels.feature_scaling import FeatureScaler

RNG = np.random.default_rng(0)
TRAIN = {"a": RNG.normal(size=(8, 3)), "b": 5 + 10 * RNG.normal(size=(8, 2)), "c": RNG.normal(size=(8, 1))}
NEW = {name: table[:3] + 0.5 for name, table in TRAIN.items()}


@pytest.mark.parametrize("scaling", ["none", "standard", "minmax", "unit", "rank"])
def test_features_are_scaled_together_in_the_order_of_the_names(scaling: str) -> None:
    made = clone(SideBySide(["c", "a"], scaling)).fit(TRAIN)
    joined = np.concatenate([TRAIN["c"], TRAIN["a"]], axis=1)
    scaler = FeatureScaler(scaling).fit(joined)
    np.testing.assert_array_equal(made.transform(Views(TRAIN)), scaler.transform(joined))
    np.testing.assert_array_equal(made.transform(NEW), scaler.transform(np.concatenate([NEW["c"], NEW["a"]], axis=1)))
    assert made.widths_ == {"c": 1, "a": 3}
    assert SideBySide().fit(TRAIN).n_features_out_ == 6


def test_new_samples_need_the_views_and_widths_of_fit() -> None:
    made = SideBySide(["a", "b"]).fit(TRAIN)
    with pytest.raises(DataError, match="there is no view 'b'; available: 'a'"):
        made.transform({"a": NEW["a"]})
    with pytest.raises(DataError, match="view 'a' has 2 features, but the training samples had 3"):
        made.transform(NEW | {"a": NEW["a"][:, :2]})
    with pytest.raises(DataError, match="X is one table; expected several views"):
        made.transform(NEW["a"])


def test_distances_have_no_features() -> None:
    views = {"a": TRAIN["a"], "d": Pairwise(np.ones((8, 8)))}
    with pytest.raises(DataError, match=r"view 'd' is Pairwise\(8 samples, 8 columns\) and has no features"):
        SideBySide().fit(views)
    assert SideBySide(["a"]).fit(views).transform(views).shape == (8, 3)


def test_columns_in_another_order_are_refused() -> None:
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(6, 2)), columns=["p", "q"])
    fitted = SideBySide().fit({"A": table})
    np.testing.assert_array_equal(fitted.transform({"A": table}), fitted.transform({"A": table.to_numpy()}))
    with pytest.raises(DataError, match="other column names than in fit, or in another order: expected p, q"):
        fitted.transform({"A": table[["q", "p"]]})


def test_gaps_are_filled_in_by_the_training_samples() -> None:
    A = np.random.default_rng(0).normal(size=(9, 2))
    A[[1, 7], 0] = np.nan
    fitted = SideBySide(impute="mean").fit({"A": A[:5]})
    assert fitted.transform({"A": A[5:]})[2, 0] == pytest.approx(np.nanmean(A[:5, 0]))

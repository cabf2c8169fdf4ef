"""The dictionary of kernels of each kind of view, constant kernels, and kernels of groups of columns."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, random_array
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from mklearn import MultiViewClassifier
from mklearn.errors import ConstantKernel, DataError
from mklearn.kernels import Pairwise, StackTransform, Views
from mklearn.kernels.dictionary import kernel_dictionary

X = load_digits().data[:60]


def of_scalings(*scalings: str) -> list[str]:
    return [f"a-{kind}-{scaling}" for scaling in scalings for kind in ("gaussian", "linear")]


def ids(views: object, **parameters: str) -> list[str]:
    return [spec["id"] for spec in kernel_dictionary(views, **parameters)]


def test_features_have_four_scalings_and_two_kernels() -> None:
    expected = of_scalings("none", "standard", "unit", "rank")
    assert ids({"a": X}) == expected
    assert [f"a-{spec['kind']}-{spec['feature_scaling']}" for spec in kernel_dictionary({"a": X})] == expected
    assert len(ids({"a": X, "b": X[:, :5]})) == 16
    assert len(ids(X)) == 8


def test_histograms_have_the_chi2_kernel_in_place_of_standardised_bins() -> None:
    histograms = X / X.sum(axis=1, keepdims=True)
    assert ids({"a": histograms}) == [*of_scalings("none", "unit", "rank"), "a-gaussian-chi2"]
    assert "a-gaussian-chi2" not in ids({"a": X})
    assert "a-gaussian-chi2" not in ids({"a": histograms - 0.01})
    lacking = histograms.copy()
    lacking[3] = np.nan
    assert "a-gaussian-chi2" in ids({"a": lacking})


def test_heavy_tailed_views_have_logarithms_too() -> None:
    tails = np.random.default_rng(0).lognormal(sigma=2, size=(60, 5))
    for table in (tails, csr_array(tails), tails / tails.sum(axis=1, keepdims=True), pd.DataFrame(tails)):
        assert [name for name in ids({"a": table}) if name.endswith("log")] == of_scalings("log")
    for table in (tails - 1, np.log(tails), pd.DataFrame({"a": tails[:, 0], "b": "text"})):
        assert not any(name.endswith("log") for name in ids({"a": table}))


def test_sparse_views_stay_sparse_and_have_kernels_of_dense_ones() -> None:
    sparse = {"a": csr_array(X)}
    assert ids(sparse) == of_scalings("none", "standard", "unit")
    transform = StackTransform(kernel_dictionary(sparse))
    found, dense = transform.fit_transform(sparse), StackTransform(kernel_dictionary({"a": X})).fit_transform({"a": X})
    for name in ("a-gaussian-none", "a-linear-unit", "a-gaussian-unit", "a-linear-standard", "a-gaussian-standard"):
        np.testing.assert_allclose(found[name], dense[name], atol=1e-10, err_msg=name)


def test_distances_and_kernel_values_are_told_apart() -> None:
    distances = cdist(X, X, "cityblock")
    rounded = Pairwise(cdist(X, X, "cosine") + 1e-16)  # as of squared norms, whose diagonal is not exactly 0
    views = Views({"d": Pairwise(distances), "k": Pairwise(X @ X.T), "r": rounded, "n": Pairwise(-distances)})
    assert ids(views) == ["d-distance", "d-squared", "k", "r-distance", "r-squared", "n"]
    stack = StackTransform(kernel_dictionary(views)).fit_transform(views)
    expected = StackTransform({"k": {"kind": "linear"}}).fit_transform({"k": X})["k"]
    np.testing.assert_allclose(stack["k"], expected, atol=1e-10)
    shifted = StackTransform({"n": "precomputed"}).fit_transform({"n": Pairwise(distances.max() - distances)})["n"]
    np.testing.assert_allclose(stack["n"], shifted, atol=1e-10)  # centred kernels do not know the constant
    absent = distances.copy()
    absent[4] = np.nan
    assert ids(Views({"d": Pairwise(absent)})) == ["d-distance", "d-squared"]
    with pytest.raises(DataError, match="such as an adjacency matrix, positive values on the diagonal"):
        ids(Views({"d": Pairwise(np.where(distances < np.quantile(distances, 0.2), distances, 0.0))}))
    for groups in (np.arange(len(X)) < len(X) // 4, np.zeros(len(X)), np.arange(3) > 1):  # most samples are equal
        assert len(ids(Views({"d": Pairwise(np.abs(np.subtract.outer(groups * 1.0, groups)))}))) == 2


def test_views_may_be_missing() -> None:
    lacking = X.copy()
    lacking[:7] = np.nan
    K = StackTransform(kernel_dictionary({"a": lacking})).fit_transform({"a": lacking})["a-linear-none"]
    assert not K[:7].any()
    refusing = StackTransform(kernel_dictionary({"a": lacking}, missing_views="error"))
    with pytest.raises(DataError, match="missing"):
        refusing.fit_transform({"a": lacking})
    gap = X.copy()
    gap[3, 20] = np.nan
    assert StackTransform(kernel_dictionary({"a": gap}, impute="median")).fit_transform({"a": gap}).shape == (8, 60, 60)


def test_constant_kernels_are_zero_if_they_are_dropped() -> None:
    views = {"a": X[:, [20]] + 1.0}
    specs = kernel_dictionary(views)
    with pytest.raises(ConstantKernel, match="a-gaussian-unit"):
        StackTransform(specs).fit_transform(views)
    transform = StackTransform(specs, drop_constant=True)
    stack = transform.fit_transform(views)
    constant = [name for name, K in zip(stack.ids, stack, strict=True) if not K.any()]
    assert constant == ["a-gaussian-unit", "a-linear-unit"]
    new = transform.transform({"a": X[:9, [20]]})
    assert [name for name, K in zip(new.ids, new, strict=True) if not K.any()] == constant
    assert new.shape == (8, 9, 60)


def test_kernels_one_by_one_are_the_stack() -> None:
    views, new = {"a": X, "b": X[:, :9]}, {"a": X[:5] + 1, "b": X[:5, :9]}
    whole, lazy = StackTransform(kernel_dictionary(views)), StackTransform(kernel_dictionary(views))
    stack = whole.fit_transform(views)
    for K, expected in zip(lazy.training_kernels(views), stack, strict=True):
        np.testing.assert_array_equal(K, expected)
    for K, expected in zip(lazy.new_kernels(new), whole.transform(new), strict=True):
        np.testing.assert_array_equal(K, expected)
    (third, first) = lazy.of_kernels([2, 0]).training_kernels(views)
    np.testing.assert_array_equal(third, stack[2])
    np.testing.assert_array_equal(first, stack[0])


def test_text_and_times_are_not_filled_in_as_numbers_and_logical_columns_are_numbers() -> None:
    rng = np.random.default_rng(0)
    y, x = np.arange(30) % 2, rng.normal(size=30)
    x[3] = np.nan
    frames = {
        "when": pd.DataFrame({"when": pd.date_range("2020", periods=30), "x": x}),
        "code": pd.DataFrame({"code": ["0", "1"] * 15, "x": x}),
    }
    for name, frame in frames.items():
        with pytest.raises(DataError, match=f"these columns hold text or times: {name}"):
            MultiViewClassifier(impute="mean").fit({"a": frame}, y)
    smoker = pd.DataFrame({"smoker": y == 1, "age": rng.normal(size=30)})
    numbers = smoker.astype(float)
    one, other = (MultiViewClassifier().fit({"a": frame}, y).decision_function({"a": frame})
                  for frame in (smoker, numbers))  # fmt: skip
    np.testing.assert_array_equal(one, other)


def test_a_sparse_view_with_gaps_is_refused_where_gaps_are_to_be_filled_in() -> None:
    table = random_array((30, 5), density=0.5, rng=np.random.default_rng(0), format="csr")
    table.data[2] = np.nan
    with pytest.raises(DataError, match="view 's' has NaN: `impute` does not take sparse features"):
        MultiViewClassifier(impute="mean").fit({"s": table}, np.arange(30) % 2)

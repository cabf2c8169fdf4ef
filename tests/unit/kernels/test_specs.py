"""Stacks from specs and products: features and pairwise values agree, and what is refused."""

from typing import Any

import numpy as np
import pytest
from tests.entries import kernel
from tests.split_stacks import split_stacks

from mklearn.errors import ConfigError, ConstantKernel, DataError
from mklearn.kernels.distances import chi2_distance, inner_product, squared_euclidean
from mklearn.kernels.specs import kernel_class
from mklearn.kernels.transform import StackTransform

pytestmark = pytest.mark.filterwarnings("ignore::mklearn.kernels.matrices.IdentityLikeKernelWarning")

SPECS: list[dict[str, Any]] = [
    {"id": "g", "view": "d2", "kind": "gaussian", "bandwidth": 0.5, "centre": True, "normalise": "centred_trace"},
    {"id": "c", "view": "chi2", "kind": "gaussian", "measure": "chi2", "normalise": "unit_diagonal"},
    {"id": "l", "view": "gram", "kind": "linear", "normalise": "unit_diagonal"},
    {"id": "p", "view": "gram", "kind": "polynomial", "degree": 3},
    {"id": "m", "kind": "product", "factors": [{"view": "d2"}, {"view": "chi2", "measure": "chi2"}]},
    {"id": "k", "view": "kernel", "kind": "precomputed", "centre": True},
]


def pairwise(X: np.ndarray) -> dict[str, np.ndarray]:
    D = squared_euclidean(X)
    return {
        "d2": D,
        "chi2": chi2_distance(X),
        "gram": inner_product(X),
        "kernel": np.cos(4 * np.sqrt(D)),
        "d": np.sqrt(D),
    }


@pytest.fixture
def X() -> np.ndarray:
    return np.random.default_rng(0).random((18, 4)) + 0.1


def test_features_and_pairwise_matrices_agree(X: np.ndarray) -> None:
    specs = SPECS[:5]
    train, test = np.arange(12), np.arange(12, 18)
    K, K_test, _ = split_stacks(pairwise(X), specs, train, test)
    features = [{key: value for key, value in spec.items() if key != "view"} for spec in specs]
    features[4]["factors"] = [{}, {"measure": "chi2"}]
    fitted = StackTransform(features).fit(X[train])
    np.testing.assert_allclose(fitted.stack_train_.matrices, K.matrices, atol=1e-12)
    np.testing.assert_allclose(fitted.transform(X[test]).matrices, K_test.matrices, atol=1e-12)
    assert fitted.stack_train_.ids == K.ids
    made = StackTransform(features).fit_transform(X[train])
    np.testing.assert_array_equal(made.matrices, fitted.stack_train_.matrices)


def test_columns_and_short_specs(X: np.ndarray) -> None:
    raw = {"kind": "linear", "centre": False, "normalise": "none"}
    K = StackTransform([raw, {**raw, "columns": [0, 2]}, {**raw, "columns": slice(1, 3)}]).fit_transform(X)
    assert K.ids == ("0", "1", "2")
    np.testing.assert_allclose(K[0], X @ X.T)
    np.testing.assert_allclose(K[1], X[:, [0, 2]] @ X[:, [0, 2]].T)
    np.testing.assert_allclose(K[2], X[:, 1:3] @ X[:, 1:3].T)
    assert len(StackTransform("gaussian").fit_transform(X)) == 1  # type: ignore[arg-type]


def test_a_transform_may_be_fitted_again(X: np.ndarray) -> None:
    fitted = StackTransform("gaussian")
    for data in (X[:10], {"a": X, "b": X[:, :2]}, X):
        again, alone = fitted.fit(data), StackTransform("gaussian").fit(data)
        np.testing.assert_array_equal(again.stack_train_.matrices, alone.stack_train_.matrices)
        assert (again.ids, again.infos) == (alone.ids, alone.infos)


def test_a_short_spec_is_what_a_study_has_by_default(X: np.ndarray) -> None:
    K, moved = (StackTransform(["linear"]).fit_transform(features)[0] for features in (X, X + 7.0))
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(K, centred @ centred.T / np.mean(np.sum(centred**2, axis=1)), atol=1e-12)
    np.testing.assert_allclose(moved, K, atol=1e-10)
    for kind in ("gaussian", "linear", "polynomial"):
        chosen = kernel(kind)
        default = kernel_class(kind)()
        assert (default.centre, default.normalise, default.psd) == (chosen.centre, chosen.normalise, chosen.psd)


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        ([], "list of kernels is empty"),
        ([{**SPECS[0], "bandwith": 1}], "kernel 'g' has the unknown key 'bandwith'. Did you mean 'bandwidth'?"),
        ([SPECS[0], SPECS[0]], "unique; given twice: 'g'"),
        ([{**SPECS[0], "psd": "cut"}], "kernel 'g': Invalid value 'cut' for `psd`"),
        ([{**SPECS[2], "measure": "chi2"}], "kernel 'l': a linear kernel can't be computed from measure 'chi2'"),
        ([{**SPECS[2], "degree": 2}], "kernel 'l' has the unknown key 'degree'"),
        ([{"kind": "gauss", "view": "d2"}], "kernel '0': Invalid value 'gauss' for `kind`: expected one of 'gaussian'"),
        ([{"kind": "product"}], "kernel '0' needs a value for `factors`"),
        ([3], "the spec of kernel 0 is 3; expected a kind"),
        ([{"implementation": "no.such:Kernel", "view": "d2"}], "kernel '0': implementation 'no.such:K"),
        ([{"implementation": "numpy:ndarray", "view": "d2"}], "'numpy:ndarray' is not a subclass of"),
    ],
)
def test_refuses_specs(X: np.ndarray, specs: list, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        split_stacks(pairwise(X), specs, np.arange(5), [6])
    assert message in str(caught.value)


def test_linear_kernels_of_features_far_from_zero(X: np.ndarray) -> None:
    far = (X + 1e4).astype(np.float32)
    exact = StackTransform("linear").fit_transform(far.astype(np.float64) - 1e4)
    kernels = StackTransform("linear").fit_transform(far)
    np.testing.assert_allclose(kernels[0], exact[0], atol=1e-5 * np.abs(exact[0]).max())
    for n in range(20, 40):
        with pytest.raises(ConstantKernel, match="far from zero"):
            StackTransform("linear").fit_transform(np.tile([1 / 3, 1.1, 2.2, 0.9], (n, 1)))


def test_refuses_data(X: np.ndarray) -> None:
    matrices = pairwise(X)
    matrices["chi2"] = matrices["chi2"][:5, :5]
    with pytest.raises(DataError, match="the views have different numbers of samples: d2 has 18, chi2 has 5"):
        split_stacks(matrices, SPECS, np.arange(5), [6])
    for spec, message in (
        (
            {**SPECS[0], "view": "d3"},
            "kernel 'g': X has no view 'd3': its views are 'd2', 'chi2', 'gram', 'kernel', 'd'$",
        ),
        ({"id": "g", "kind": "gaussian"}, "kernel 'g': X has no view 'g': .*; say which one with `view`"),
        ({**SPECS[4], "factors": [{"view": "d2"}, {}]}, "kernel 'm': X has no view 'm'"),
    ):
        with pytest.raises(DataError, match=message):
            split_stacks(pairwise(X), [spec], np.arange(5), [6])
    with pytest.raises(DataError, match=r"kernel 'g': .*distance zero to each other"):
        split_stacks({"d2": np.zeros((4, 4))}, SPECS[:1], [0, 1, 2], [3])
    point_sets = {"kind": "product", "factors": [{}, {"measure": "point_set"}]}
    for specs, features, error, message in (
        ("precomputed", X, ConfigError, r"measure kernel can't be computed from features: .*kernels='precomp"),
        ([point_sets], X, ConfigError, r"measure point_set can't be computed from features: .*kernels='precomp"),
        ([SPECS[4]], X, DataError, "kernel 'm': it needs view 'd2', but X is one table"),
        ([{"kind": "linear", "columns": [9]}], X, DataError, r"kernel '0': `columns` \[9\] do not fit 4 features"),
        ({"c": {"measure": "chi2"}}, -X, DataError, "kernel 'c': X has a negative feature"),
    ):
        with pytest.raises(error, match=message):
            StackTransform(specs).fit_transform(features)
    fitted = StackTransform(["linear"])
    with pytest.raises(DataError, match="not fitted"):
        fitted.transform(X)
    with pytest.raises(DataError, match="X has 3 features, but the training samples had 4"):
        fitted.fit(X).transform(X[:, :3])


def test_kernels_of_a_second_pass_are_those_of_the_first_though_preprocessing_is_random() -> None:
    """Kills: preprocessing that is fitted anew, to other features than new samples get."""
    from sklearn.random_projection import GaussianRandomProjection

    X = np.random.default_rng(0).normal(size=(12, 30))
    specs = {name: {"kind": "linear", "preprocessing": GaussianRandomProjection(4)} for name in "abc"}
    transform = StackTransform(specs)
    first = [kernel.copy() for kernel in transform.training_kernels(X)]
    again = list(transform.training_kernels_again([2, 0]))
    np.testing.assert_array_equal(again, [first[2], first[0]])
    np.testing.assert_allclose(transform.transform(X)[2], first[2], atol=1e-9)


# --- products of Gaussian kernels

FACTORS: list[dict[str, Any]] = [
    {"id": "wide", "view": "d2", "bandwidth": 2.0},
    {"view": "chi2", "measure": "chi2", "bandwidth": 0.5, "bandwidth_rule": "squared_mean_distance"},
    {"view": "d", "measure": "distance"},
]
PRODUCT: dict[str, Any] = {"id": "p", "kind": "product", "factors": FACTORS}
TRAIN, TEST = np.array([3, 0, 7, 8, 9, 2, 11, 12]), np.array([1, 4, 17])


PLAIN = {"psd": "none", "centre": False, "normalise": "none"}


def test_the_product_is_the_geometric_mean_of_its_factors(X: np.ndarray) -> None:
    matrices = pairwise(X)
    K, K_test, (info,) = split_stacks(matrices, [PRODUCT | PLAIN], TRAIN, TEST)
    alone = [{"kind": "gaussian", **PLAIN, **factor, "id": str(m)} for m, factor in enumerate(FACTORS)]
    train, test, _ = split_stacks(matrices, alone, TRAIN, TEST)
    np.testing.assert_allclose(K["p"], np.prod(train, axis=0) ** (1 / 3), rtol=1e-12)
    np.testing.assert_allclose(K_test["p"], np.prod(test, axis=0) ** (1 / 3), rtol=1e-12)
    assert info["id"] == "p"
    assert "bandwidth" not in info


def test_factors_read_the_view_of_the_product_unless_they_say_another(X: np.ndarray) -> None:
    own = {"id": "p", "kind": "product", "view": "d2", "factors": [{"bandwidth": 0.5}, {"view": "d"}]}
    each = {"id": "p", "kind": "product", "factors": [{"view": "d2", "bandwidth": 0.5}, {"view": "d"}]}
    (K, K_test, _), (expected, expected_test, _) = (
        split_stacks(pairwise(X), [spec], TRAIN, TEST) for spec in (own, each)
    )
    np.testing.assert_array_equal(K.matrices, expected.matrices)
    np.testing.assert_array_equal(K_test.matrices, expected_test.matrices)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"factors": ["d2"]}, ConfigError, "kernel 'p': factor 0 is 'd2'; expected a mapping"),
        ({"factors": [{"view": "d3"}]}, DataError, "kernel 'p': X has no view 'd3': its views are 'd2', 'chi2', "),
        ({"factors": [{"view": "d2", "psd": "clip"}]}, ConfigError, "kernel 'p': factor '0' has the unknown key"),
        ({"factors": [{"view": "d2", "id": "a", "bandwidth_rule": "median"}]}, ConfigError, "factor 'a': .*median"),
        ({"factors": [{"view": "d2", "missing_views": "mean"}]}, ConfigError, "unknown key 'missing_views'"),
        ({"factors": [{"view": "d2"}, {"view": "zero", "id": "z"}]}, DataError, "kernel 'p': factor 'z': all"),
        ({"factors": [{"view": "less", "id": "z"}]}, DataError, "kernel 'p': factor 'z' .*negative"),
    ],
)
def test_errors_name_the_product_and_its_factor(
    X: np.ndarray, change: dict[str, Any], error: type[Exception], message: str
) -> None:
    more = {"zero": np.zeros((18, 18)), "less": np.eye(18) - 1}
    with pytest.raises(error, match=message):
        split_stacks(pairwise(X) | more, [PRODUCT | change], TRAIN, TEST)

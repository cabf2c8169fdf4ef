"""Products of Gaussian kernels: the geometric mean of the factors. What holds for every kernel is in test_specs.py."""

from typing import Any

import numpy as np
import pytest
from tests.split_stacks import split_stacks

from mklearn.errors import ConfigError, DataError
from mklearn.kernels.distances import chi2_distance, squared_euclidean

pytestmark = pytest.mark.filterwarnings("ignore::mklearn.kernels.matrices.IdentityLikeKernelWarning")

FACTORS: list[dict[str, Any]] = [
    {"id": "wide", "view": "d2", "bandwidth": 2.0},
    {"view": "chi2", "measure": "chi2", "bandwidth": 0.5, "bandwidth_rule": "squared_mean_distance"},
    {"view": "d", "measure": "distance"},
]
PRODUCT: dict[str, Any] = {"id": "p", "kind": "product", "factors": FACTORS}
TRAIN, TEST = np.array([3, 0, 7, 8, 9, 2, 11, 12]), np.array([1, 4, 17])


def pairwise(seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    X, histograms, other = rng.random((18, 4)), rng.random((18, 5)), rng.random((18, 3))
    return {
        "d2": squared_euclidean(X),
        "chi2": chi2_distance(histograms),
        "d": np.sqrt(squared_euclidean(other)),
        "gram": X @ X.T,
    }


PLAIN = {"psd": "none", "centre": False, "normalise": "none"}


def factors_alone(matrices: dict[str, np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray], list[Any]]:
    """Each factor as a kernel of its own."""
    alone = [{"kind": "gaussian", **PLAIN, **factor, "id": str(m)} for m, factor in enumerate(FACTORS)]
    K, K_test, infos = split_stacks(matrices, alone, TRAIN, TEST)
    return list(K), list(K_test), infos


def test_the_product_is_the_geometric_mean_of_its_factors() -> None:
    matrices = pairwise()
    K, K_test, (info,) = split_stacks(matrices, [PRODUCT | PLAIN], TRAIN, TEST)
    train, test, infos = factors_alone(matrices)
    np.testing.assert_allclose(K["p"], np.prod(train, axis=0) ** (1 / 3), rtol=1e-12)
    np.testing.assert_allclose(K_test["p"], np.prod(test, axis=0) ** (1 / 3), rtol=1e-12)
    assert (info["id"], info["kind"], info["measure"]) == ("p", "product", "product")
    assert info["view"] == ["d2", "chi2", "d"]
    assert [factor["bandwidth"] for factor in info["factors"]] == pytest.approx([i["bandwidth"] for i in infos])
    assert [factor["bandwidth_multiple"] for factor in info["factors"]] == [2.0, 0.5, 1.0]
    assert "bandwidth" not in info


def test_factors_read_the_view_of_the_product_unless_they_say_another() -> None:
    own = {"id": "p", "kind": "product", "view": "d2", "factors": [{"bandwidth": 0.5}, {"view": "d"}]}
    each = {"id": "p", "kind": "product", "factors": [{"view": "d2", "bandwidth": 0.5}, {"view": "d"}]}
    (K, K_test, (info,)), (expected, expected_test, _) = (
        split_stacks(pairwise(), [spec], TRAIN, TEST) for spec in (own, each)
    )
    np.testing.assert_array_equal(K.matrices, expected.matrices)
    np.testing.assert_array_equal(K_test.matrices, expected_test.matrices)
    assert info["view"] == ["d2", "d"]


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
def test_errors_name_the_product_and_its_factor(change: dict[str, Any], error: type[Exception], message: str) -> None:
    more = {"zero": np.zeros((18, 18)), "less": np.eye(18) - 1}
    with pytest.raises(error, match=message):
        split_stacks(pairwise() | more, [PRODUCT | change], TRAIN, TEST)

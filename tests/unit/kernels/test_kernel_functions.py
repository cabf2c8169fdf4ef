"""Kernel functions, their parameters fitted to training samples, and bandwidth rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mklearn.errors import ConfigError, DataError
from mklearn.kernels.gaussian import resolve_bandwidth
from mklearn.kernels.distances import chi2_distance, inner_product, squared_euclidean
from mklearn.kernels.gaussian import GaussianKernel, gaussian_kernel
from mklearn.kernels.polynomial import PolynomialKernel

RAW: dict[str, Any] = {"centre": False, "normalise": "none"}
"""Parameters that leave the kernel function as it is."""


def test_gaussian_divides_by_gamma_not_by_two_gamma_squared() -> None:
    np.testing.assert_allclose(gaussian_kernel([[0.0, 3.0]], 2.0), [[1, np.exp(-1.5)]])
    assert gaussian_kernel(np.ones((2, 2), dtype=np.float32), 2.0).dtype == np.float32


def test_gaussian_overwrites_what_it_is_told_to() -> None:
    distances = squared_euclidean(np.random.default_rng(0).random((30, 4)))
    expected = gaussian_kernel(distances, 0.5)
    before = distances.copy()
    other = np.empty_like(distances)
    assert gaussian_kernel(distances, 0.5, out=other) is other
    np.testing.assert_array_equal(distances, before)
    assert gaussian_kernel(distances, 0.5, out=distances) is distances
    np.testing.assert_array_equal(distances, expected)
    np.testing.assert_array_equal(other, expected)
    for wrong in (np.empty((30, 29)), np.empty((30, 30), dtype=np.float32)):
        with pytest.raises(DataError, match=r"^`out` is float\d\d \(30, \d\d\); the kernel is float64 \(30, 30\)$"):
            gaussian_kernel(before, 0.5, out=wrong)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 1000), gamma=st.floats(0.05, 50), measure=st.sampled_from([squared_euclidean, chi2_distance])
)
def test_gaussian_kernels_are_positive_semidefinite(seed: int, gamma: float, measure) -> None:  # type: ignore[no-untyped-def]
    X = np.random.default_rng(seed).random((12, 4))
    K = gaussian_kernel(measure(X), gamma)
    assert np.linalg.eigvalsh(K)[0] > -1e-12
    np.testing.assert_array_equal(np.diagonal(K), 1)
    # the kernel depends on distance over bandwidth only
    np.testing.assert_allclose(gaussian_kernel(4 * measure(X), 4 * gamma), K, rtol=1e-12)


def test_polynomial_is_the_explicit_feature_map() -> None:
    """(s x'y + c)^2 is the inner product of all monomials up to degree two."""
    X = np.random.default_rng(0).standard_normal((6, 3))
    scale, offset = 0.7, 1.3
    explicit = np.column_stack(
        [np.full(6, offset), np.sqrt(2 * scale * offset) * X]
        + [scale * X[:, i] * X[:, j] for i in range(3) for j in range(3)]
    )
    K = PolynomialKernel(degree=2, scale=scale, offset=offset, **RAW).fit(inner_product(X)).kernel_train_
    np.testing.assert_allclose(K, explicit @ explicit.T, rtol=1e-12)


def test_gaussian_of_each_measure() -> None:
    X = np.random.default_rng(0).random((14, 5)) + 0.1
    D = squared_euclidean(X)
    parameters: dict[str, Any] = {"bandwidth": 2.0, "bandwidth_rule": "squared_mean_distance", **RAW}
    squared = GaussianKernel(**parameters).fit(D)
    gamma = resolve_bandwidth(D, 2.0, "squared_mean_distance")
    assert squared.bandwidth_ == pytest.approx(gamma)
    np.testing.assert_allclose(squared.kernel_train_, gaussian_kernel(D, gamma))
    # a plain distance is squared first, rows too; the bandwidth is in squared units
    plain = GaussianKernel(measure="distance", **parameters).fit(np.sqrt(D))
    np.testing.assert_allclose(plain.kernel_train_, squared.kernel_train_, rtol=1e-12)
    np.testing.assert_allclose(plain.transform(np.sqrt(D[:3])), squared.transform(D[:3]), rtol=1e-12)
    # chi-squared distances go into the exponent as they are
    C = chi2_distance(X)
    chi2 = GaussianKernel(measure="chi2", **RAW).fit(C)
    np.testing.assert_allclose(chi2.kernel_train_, np.exp(-C / C[np.triu_indices(len(C), 1)].mean()))


def test_polynomial_scale_is_fitted_to_the_training_samples() -> None:
    G = inner_product(np.random.default_rng(0).random((14, 5)) + 0.1)
    fitted = PolynomialKernel(degree=3, **RAW).fit(G)
    assert fitted.scale_ == pytest.approx(1 / np.diagonal(G).mean())
    np.testing.assert_allclose(fitted.kernel_train_, (G / np.diagonal(G).mean() + 1) ** 3)
    assert PolynomialKernel(scale=0.5).fit(G).scale_ == 0.5


def test_gaussian_refuses_negative_distances_but_not_rounding_errors() -> None:
    with pytest.raises(DataError, match=r"negative entries \(smallest -1 at \(0, 1\)\)"):
        gaussian_kernel([[0.0, -1.0], [-1.0, 0.0]], 1.0)
    assert gaussian_kernel([[-1e-17, 1.0]], 1.0)[0, 0] == 1


def test_means_are_over_pairs_of_different_samples() -> None:
    X = np.random.default_rng(0).random((9, 3))
    D = squared_euclidean(X)
    pairs = [np.sum((X[i] - X[j]) ** 2) for i in range(9) for j in range(i + 1, 9)]
    np.testing.assert_allclose(resolve_bandwidth(D, 3.0, "mean_squared_distance"), 3 * np.mean(pairs))
    np.testing.assert_allclose(resolve_bandwidth(D, 3.0, "squared_mean_distance"), 3 * np.mean(np.sqrt(pairs)) ** 2)
    assert resolve_bandwidth(D, 3.0, "absolute") == 3.0


def test_bandwidth_refusals() -> None:
    D = squared_euclidean(np.random.default_rng(0).random((4, 3)))
    with pytest.raises(ConfigError, match="bandwidth"):
        resolve_bandwidth(D, 0.0)
    with pytest.raises(DataError, match="distance zero to each other"):
        resolve_bandwidth(np.zeros((3, 3)))
    with pytest.raises(DataError, match="at least two training samples"):
        resolve_bandwidth([[0.0]])

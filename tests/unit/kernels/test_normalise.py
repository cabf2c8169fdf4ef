"""Normalisation and centring against explicit feature spaces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mklearn.errors import ConstantKernel, DataError
from mklearn.kernels.distances import squared_euclidean
from mklearn.kernels.matrices import (
    KernelCentring,
    centre_kernel,
    centred_trace,
    scale_to_centred_trace,
    unit_diagonal,
)


@pytest.fixture
def features() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((10, 4)) + 3, rng.standard_normal((5, 4)) + 3


def test_centring_is_that_of_the_features(features: tuple[np.ndarray, np.ndarray]) -> None:
    """Subtracting the *training* mean from explicit features gives the same kernels, for new samples too."""
    train, new = features
    centring = KernelCentring().fit(train @ train.T)
    mean = train.mean(axis=0)
    np.testing.assert_allclose(centring.transform(train @ train.T), (train - mean) @ (train - mean).T, atol=1e-12)
    np.testing.assert_allclose(centring.transform(new @ train.T), (new - mean) @ (train - mean).T, atol=1e-12)
    # one row at a time is the same: nothing comes from the other new samples
    rows = [centring.transform(new[i : i + 1] @ train.T)[0] for i in range(5)]
    np.testing.assert_allclose(rows, (new - mean) @ (train - mean).T, atol=1e-12)


@settings(max_examples=25)
@given(st.integers(0, 1000), st.integers(2, 12))
def test_centred_kernels_are_HKH(seed: int, n: int) -> None:
    A = np.random.default_rng(seed).standard_normal((n, 3))
    K = A @ A.T
    H = np.eye(n) - 1 / n
    centred = centre_kernel(K)
    np.testing.assert_allclose(centred, H @ K @ H, atol=1e-12)
    np.testing.assert_array_equal(centred, centred.T)
    np.testing.assert_allclose(centre_kernel(centred), centred, atol=1e-12)
    np.testing.assert_allclose(centred_trace(K), np.trace(H @ K @ H) / n, atol=1e-12)


def test_unit_diagonal_is_that_of_the_features(features: tuple[np.ndarray, np.ndarray]) -> None:
    train, new = features
    unit_train = train / np.linalg.norm(train, axis=1, keepdims=True)
    unit_new = new / np.linalg.norm(new, axis=1, keepdims=True)
    np.testing.assert_allclose(unit_diagonal(train @ train.T), unit_train @ unit_train.T, atol=1e-12)
    np.testing.assert_array_equal(np.diagonal(unit_diagonal(train @ train.T)), 1)
    rows = unit_diagonal(new @ train.T, np.sum(new**2, axis=1), np.sum(train**2, axis=1))
    np.testing.assert_allclose(rows, unit_new @ unit_train.T, atol=1e-12)


def test_refusals() -> None:
    with pytest.raises(DataError, match=r"training sample 1 has self-similarity 0"):
        unit_diagonal([[1.0, 0.0], [0.0, 0.0]])
    with pytest.raises(DataError, match="sample of the rows 0 has self-similarity -1"):
        unit_diagonal([[1.0, 0.0]], [-1.0], [1.0, 1.0])
    with pytest.raises(DataError, match="both the rows and the columns"):
        unit_diagonal(np.eye(2), [1.0, 1.0])
    with pytest.raises(DataError, match="coincide"):
        scale_to_centred_trace(np.ones((3, 3)))
    with pytest.raises(DataError, match="not symmetric"):
        KernelCentring().fit([[1.0, 2.0], [0.0, 1.0]])


def test_a_kernel_of_single_precision_that_is_rounding_alone_is_constant() -> None:
    X = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    distances = squared_euclidean(X)
    wide = np.exp(-distances / (1e8 * distances.mean()))
    with pytest.raises(ConstantKernel):
        scale_to_centred_trace(wide)
    scale_to_centred_trace(np.exp(-squared_euclidean(X.astype(np.float64)) / (1e8 * float(distances.mean()))))


@pytest.mark.parametrize("weights", [[0, 0, 0], [2, -1, 0], [1, 1], [1, np.nan, 1]])
def test_weights_of_a_centred_trace_are_checked(weights: list[float]) -> None:
    with pytest.raises(DataError, match="sample_weight"):
        centred_trace(np.eye(3), weights)

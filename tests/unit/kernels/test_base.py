"""What follows the kernel function: order of operations, explicit features, diagnostics, refusals.

Every kernel with every option runs in ``tests/conformance/test_kernels.py``.
"""

import copy
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mklearn.errors import DataError
from mklearn.kernels import GaussianKernel, LinearKernel, PolynomialKernel, PrecomputedKernel, matrices
from mklearn.kernels.base import Kernel
from mklearn.kernels.distances import chi2_distance, inner_product, squared_euclidean
from mklearn.kernels.matrices import IdentityLikeKernelWarning, psd_repair, unit_diagonal

pytestmark = pytest.mark.filterwarnings("ignore::mklearn.kernels.matrices.IdentityLikeKernelWarning")

RAW: dict[str, Any] = {"centre": False, "normalise": "none"}
"""Parameters that leave the kernel function as it is."""


def features(n: int = 14, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((n, 5)) + 0.1


def indefinite() -> np.ndarray:
    return np.cos(4 * np.sqrt(squared_euclidean(features())))


@pytest.mark.parametrize("psd", ["clip", "flip", "shift"])
def test_order_of_operations(psd: Any) -> None:
    """Kernel function, unit diagonal, centring, repair, trace: any other order gives other numbers."""
    P = indefinite()
    fitted = PrecomputedKernel(centre=True, normalise="centred_trace", psd=psd).fit(P)
    repaired = psd_repair(matrices.centre_kernel(P), psd)
    expected, divisor = matrices.scale_to_centred_trace(repaired.kernel)
    np.testing.assert_allclose(fitted.kernel_train_, expected, atol=1e-12)
    np.testing.assert_allclose(fitted.divisor_, divisor)
    np.testing.assert_allclose(fitted.info_["min_eigenvalue"], repaired.min_eigenvalue)
    assert fitted.info_["relative_min_eigenvalue"] < -0.05  # there is something to repair
    unit = PrecomputedKernel(centre=True, normalise="unit_diagonal", psd=psd).fit(P)
    repaired = psd_repair(matrices.centre_kernel(unit_diagonal(P)), psd)
    np.testing.assert_allclose(unit.kernel_train_, repaired.kernel, atol=1e-12)


def test_explicit_features_go_through_the_same_steps() -> None:
    """Linear kernel: unit-norm features, minus the training mean, over the root of the total training variance."""
    train, new = features(), features(6, seed=1)
    fitted = LinearKernel(centre=True, normalise="unit_diagonal").fit(inner_product(train))
    unit_train, unit_new = (A / np.linalg.norm(A, axis=1, keepdims=True) for A in (train, new))
    a, b = unit_train - unit_train.mean(axis=0), unit_new - unit_train.mean(axis=0)
    rows = fitted.transform(inner_product(new, train), own=[np.sum(new**2, axis=1)])
    np.testing.assert_allclose(fitted.kernel_train_, a @ a.T, atol=1e-12)
    np.testing.assert_allclose(rows, b @ a.T, atol=1e-12)

    fitted = LinearKernel(centre=True, normalise="centred_trace").fit(inner_product(train))
    a, b = train - train.mean(axis=0), new - train.mean(axis=0)
    variance = np.mean(np.sum(a**2, axis=1))
    np.testing.assert_allclose(fitted.kernel_train_, a @ a.T / variance, atol=1e-12)
    np.testing.assert_allclose(fitted.transform(inner_product(new, train)), b @ a.T / variance, atol=1e-12)


def test_shift_changes_no_rows_but_they_are_scaled() -> None:
    P = indefinite()
    fitted = PrecomputedKernel(psd="shift", **RAW).fit(P)
    assert fitted.repair_.shift > 0
    np.testing.assert_allclose(fitted.kernel_train_, P + fitted.repair_.shift * np.eye(len(P)))
    np.testing.assert_array_equal(fitted.transform(P[:4]), P[:4])
    scaled = PrecomputedKernel(psd="shift", centre=False).fit(P)
    np.testing.assert_allclose(scaled.transform(P[:4]), P[:4] / scaled.divisor_)


def test_identity_like_kernels_are_flagged() -> None:
    D = squared_euclidean(features())
    with pytest.warns(IdentityLikeKernelWarning, match="kernel 'narrow' is close to the identity: only"):
        narrow = GaussianKernel(bandwidth=1e-3, name="narrow").fit(D)
    assert narrow.info_["identity_like"] is narrow.identity_like_ is True
    assert narrow.off_diagonal_mass_ < 1e-6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wide = GaussianKernel(bandwidth=2.0).fit(D)
    assert not wide.identity_like_
    assert wide.off_diagonal_mass_ > 0.3
    with pytest.warns(IdentityLikeKernelWarning):
        PrecomputedKernel().fit(0.6 * np.eye(8) + 0.4)


def test_a_shift_is_flagged_if_it_adds_much() -> None:
    values, vectors = np.linalg.eigh(inner_product(features()))
    much, little = ((vectors * np.r_[lowest, values[1:]]) @ vectors.T for lowest in (-2.0, -1e-3))
    with pytest.warns(IdentityLikeKernelWarning, match=r"the diagonal shift added 2 to a mean .*; consider psd='clip'"):
        assert PrecomputedKernel(psd="shift", **RAW).fit(much).identity_like_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = PrecomputedKernel(psd="shift", **RAW).fit(little)
    assert fitted.repair_.shift == pytest.approx(1e-3)
    assert not fitted.identity_like_


@pytest.mark.parametrize(
    ("kernel", "measure"),
    [
        (GaussianKernel(), squared_euclidean),
        (GaussianKernel(measure="chi2", normalise="unit_diagonal"), chi2_distance),
        (LinearKernel(), inner_product),
        (PolynomialKernel(degree=3, centre=False), inner_product),
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_measures_of_features_need_no_checks(kernel: Kernel, measure: Any, dtype: type) -> None:
    """Kernels of `psd_measures` have no eigenvalue to repair, and are symmetric without being made so."""
    P = measure(features(150).astype(dtype))  # several blocks of rows, the last one shorter
    before = P.copy()
    raw = replace(kernel, centre=False, normalise="none").fit(P, measured=True)
    np.testing.assert_array_equal(raw.kernel_train_, raw.kernel_function([P]))
    trusted = copy.copy(kernel).fit(P, measured=True)
    np.testing.assert_array_equal(P, before)
    checked = copy.copy(kernel).fit(P)
    np.testing.assert_array_equal(trusted.kernel_train_, checked.kernel_train_)
    np.testing.assert_array_equal(trusted.kernel_train_, trusted.kernel_train_.T)
    assert psd_repair(checked.kernel_train_).n_negative == 0
    assert trusted.off_diagonal_mass_ == checked.off_diagonal_mass_
    assert trusted.kernel_train_.dtype == P.dtype
    overwriting = copy.copy(kernel).fit(P, measured=True, overwrite=True)
    np.testing.assert_array_equal(overwriting.kernel_train_, trusted.kernel_train_)
    assert overwriting.info_ == trusted.info_


def test_a_kernel_function_that_is_not_symmetric_is_refused() -> None:
    class ByRow(PrecomputedKernel):
        def kernel_function(self, blocks: Any) -> np.ndarray:
            return blocks[0] / blocks[0].sum(axis=1, keepdims=True)

    with pytest.raises(DataError, match=r"the kernel.*not symmetric"):
        ByRow().fit(squared_euclidean(features(150)))


D = squared_euclidean(features(5))
G = inner_product(features(5))


@pytest.mark.parametrize(
    ("kernel", "matrix", "message"),
    [
        (GaussianKernel(), D[:3], "expected a square matrix over the training samples"),
        (GaussianKernel(), D + np.triu(np.ones((5, 5)), 1), "not symmetric"),
        (GaussianKernel(), D + np.eye(5), "to itself"),
        (LinearKernel(normalise="centred_trace"), np.ones((4, 4)), "coincide"),
        (LinearKernel(normalise="unit_diagonal"), np.diag([1.0, 1, 0]), "training sample 2 has self-similarity 0"),
        (PolynomialKernel(), np.zeros((4, 4)), "set `scale` to a number"),
    ],
)
def test_refuses_training_data(kernel: Kernel, matrix: np.ndarray, message: str) -> None:
    with pytest.raises(DataError, match=message):
        kernel.fit(matrix)

"""Centring, scaling and repair of kernel matrices, and the measure of identity-like ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mklearn.errors import ConfigError, ConstantKernel, DataError
from mklearn.kernels import PrecomputedKernel
from mklearn.kernels.distances import squared_euclidean
from mklearn.kernels.matrices import (
    KernelCentring,
    PSDPolicy,
    centre_kernel,
    centred_trace,
    off_diagonal_mass,
    psd_repair,
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


def indefinite(seed: int, n: int = 9) -> np.ndarray:
    A = np.random.default_rng(seed).standard_normal((n, n))
    return A + A.T + 2 * np.eye(n)


@settings(max_examples=25)
@given(st.integers(0, 1000))
def test_clip_is_the_nearest_psd_matrix(seed: int) -> None:
    """Optimality of the projection onto the cone: K+ is PSD, K+ - K is PSD, and they are orthogonal."""
    K = indefinite(seed)
    repaired = psd_repair(K, "clip").kernel
    assert np.linalg.eigvalsh(repaired)[0] > -1e-10
    assert np.linalg.eigvalsh(repaired - K)[0] > -1e-10
    assert abs(np.sum(repaired * (repaired - K))) < 1e-9


@settings(max_examples=25)
@given(st.integers(0, 1000))
def test_flip_is_the_matrix_modulus(seed: int) -> None:
    """|K| is the one PSD matrix with |K|^2 = K^2."""
    K = indefinite(seed)
    repaired = psd_repair(K, "flip").kernel
    assert np.linalg.eigvalsh(repaired)[0] > -1e-10
    np.testing.assert_allclose(repaired @ repaired, K @ K, atol=1e-10)


@settings(max_examples=25)
@given(st.integers(0, 1000), st.sampled_from(["clip", "flip", "shift", "none"]))
def test_laws_of_repairs(seed: int, policy: str) -> None:
    K = indefinite(seed)
    repair = psd_repair(K, policy)  # type: ignore[arg-type]
    values = np.linalg.eigvalsh(K)
    np.testing.assert_allclose(repair.min_eigenvalue, values[0], rtol=1e-10)
    np.testing.assert_allclose(repair.relative_min_eigenvalue, values[0] / np.abs(values).max(), rtol=1e-10)
    assert repair.n_negative == np.sum(values < 0)
    np.testing.assert_allclose(repair.negative_mass, -values[values < 0].sum() / np.abs(values).sum())
    np.testing.assert_array_equal(repair.kernel, repair.kernel.T)
    # relabelling the samples relabels the result, and scaling the kernel scales it
    order = np.random.default_rng(seed).permutation(len(K))
    shuffled = psd_repair(K[np.ix_(order, order)], policy)  # type: ignore[arg-type]
    np.testing.assert_allclose(shuffled.kernel, repair.kernel[np.ix_(order, order)], atol=1e-9)
    np.testing.assert_allclose(psd_repair(3 * K, policy).kernel, 3 * repair.kernel, atol=1e-9)  # type: ignore[arg-type]
    if policy in ("clip", "flip"):
        # the training rows before repair, put through the map, are the training kernel after it
        np.testing.assert_allclose(repair.transform(K), repair.kernel, atol=1e-10)
        assert repair.shift == 0
    else:
        np.testing.assert_array_equal(repair.transform(K), K)
    if policy == "shift":
        np.testing.assert_allclose(repair.kernel, K - values[0] * np.eye(len(K)), atol=1e-12)
        assert abs(np.linalg.eigvalsh(repair.kernel)[0]) < 1e-10


def test_clipped_rows_are_inner_products_with_the_repaired_features() -> None:
    """A new sample of a pseudo-Euclidean space keeps its coordinates along the positive axes and loses the others."""
    rng = np.random.default_rng(3)
    signature = np.array([1.0, 1, 1, -1])
    train, new = rng.standard_normal((20, 4)) * [2, 2, 2, 0.5], rng.standard_normal((6, 4))
    K, rows = train * signature @ train.T, new * signature @ train.T
    repair = psd_repair(K)
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-8
    coordinates = vectors[:, kept] * np.sqrt(values[kept])  # of the training samples
    # coordinates z of a new sample solve  coordinates z = row  in the span of the kept eigenvectors
    z = np.linalg.lstsq(coordinates, rows.T, rcond=None)[0]
    np.testing.assert_allclose(repair.transform(rows), (coordinates @ z).T, atol=1e-10)
    assert np.abs(repair.transform(rows) - rows).max() > 1e-2


@pytest.mark.parametrize("policy", ["clip", "flip", "shift", "none"])
def test_psd_kernels_are_left_alone(policy: str) -> None:
    A = np.random.default_rng(0).standard_normal((8, 3))
    K = A @ A.T  # five eigenvalues are zero up to rounding
    repair = psd_repair(K, policy)  # type: ignore[arg-type]
    np.testing.assert_array_equal(repair.kernel, K)
    rows = np.random.default_rng(1).standard_normal((2, 8))
    np.testing.assert_array_equal(repair.transform(rows), rows)
    assert repair.n_negative == 0
    assert abs(repair.relative_min_eigenvalue) < 1e-12
    assert psd_repair(np.zeros((3, 3)), policy).kernel.sum() == 0  # type: ignore[arg-type]


@pytest.mark.parametrize("place", [(0, 1), (127, 128), (399, 0), (390, 300)])
def test_rounding_errors_anywhere_are_averaged(place: tuple[int, int]) -> None:
    K = np.eye(400)
    K[place] = 1e-10
    repaired = psd_repair(K).kernel
    np.testing.assert_array_equal(repaired, repaired.T)
    assert repaired[place] == 5e-11


@pytest.mark.parametrize("policy", ["clip", "shift", "flip"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("lowest", [-1e-2, -1e-5, -1e-9, -1e-11, 0.0, 1e-3])
def test_kernels_that_need_no_repair_have_a_cholesky_factor(lowest: float, dtype: type, policy: PSDPolicy) -> None:
    rng = np.random.default_rng(5)
    Q = np.linalg.qr(rng.normal(size=(60, 60)))[0]
    K = (Q * np.r_[lowest, np.zeros(20), np.geomspace(1e-8, 1, 39)] @ Q.T).astype(dtype)
    K = (K + K.T) / 2
    expected = psd_repair(K, policy)
    fitted = PrecomputedKernel(psd=policy, centre=False, normalise="none").fit(K)
    assert fitted.repair_.n_negative in ({None, 0} if expected.n_negative == 0 else {expected.n_negative})
    np.testing.assert_array_equal(fitted.kernel_train_, expected.kernel)
    np.testing.assert_array_equal(fitted.transform(K[:2]), expected.transform(K[:2]))
    if lowest >= 0:
        assert fitted.info_["min_eigenvalue"] is None  # a Cholesky factor told enough


def test_repair_refusals() -> None:
    with pytest.raises(ConfigError, match=r"'trim' for `psd`: expected one of 'clip', 'shift', 'flip', 'none'"):
        psd_repair(np.eye(2), "trim")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="no positive eigenvalue"):
        psd_repair(-np.eye(3))
    with pytest.raises(DataError, match=r"not symmetric: entry \(0, 1\) is 2 and entry \(1, 0\) is 0"):
        psd_repair([[1.0, 2.0], [0.0, 1.0]])
    large = np.eye(400)
    large[390, 5] = 1e-3
    with pytest.raises(DataError, match=r"not symmetric: entry \(5, 390\) is 0 and entry \(390, 5\) is 0.001"):
        psd_repair(large)
    with pytest.raises(DataError, match="4 columns, but there were 2"):
        psd_repair(np.eye(2)).transform(np.ones((1, 4)))


def slow_mass(K: np.ndarray) -> float:
    """Least-squares fit of HDH, one column of the design per diagonal entry."""
    n = len(K)
    H = np.eye(n) - 1 / n
    design = np.column_stack([np.outer(H[i], H[i]).ravel() for i in range(n)])
    target = (H @ K @ H).ravel()
    residual = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
    return float(residual @ residual / (target @ target))


@settings(max_examples=25)
@given(st.integers(0, 1000), st.integers(3, 9), st.floats(0.1, 10))
def test_off_diagonal_mass_is_the_residual_of_the_diagonal_fit(seed: int, n: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, 3))
    K = A @ A.T
    mass = off_diagonal_mass(K)
    np.testing.assert_allclose(mass, slow_mass(K), atol=1e-9)
    u = rng.standard_normal(n)
    np.testing.assert_allclose(off_diagonal_mass(scale * K + u[:, None] + u), mass, atol=1e-9)
    # kernels without information on which samples are alike
    assert off_diagonal_mass(np.diag(rng.random(n) + 0.1)) < 1e-12
    assert off_diagonal_mass(0.6 * np.eye(n) + 0.4) < 1e-12
    assert off_diagonal_mass(np.ones((n, n))) == 0

"""KernelTransform: order of operations, train-test consistency, no leakage, refusals."""

from __future__ import annotations

import itertools
import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mklearn.errors import ConfigError, DataError
from mklearn.kernels.bandwidth import resolve_bandwidth
from mklearn.kernels.centre import centre_kernel
from mklearn.kernels.distances import chi2_distance, inner_product, squared_euclidean
from mklearn.kernels.functions import gaussian_kernel
from mklearn.kernels.identity_like import IdentityLikeKernelWarning
from mklearn.kernels.normalise import centred_trace, scale_to_centred_trace, unit_diagonal
from mklearn.kernels.psd import psd_repair
from mklearn.kernels.transform import KernelTransform

pytestmark = pytest.mark.filterwarnings("ignore::mklearn.kernels.identity_like.IdentityLikeKernelWarning")

MATRICES = {
    "gaussian": ("squared_euclidean", squared_euclidean),
    "linear": ("inner_product", inner_product),
    "polynomial": ("inner_product", inner_product),
    "precomputed": ("kernel", lambda X, Y=None: np.cos(4 * np.sqrt(squared_euclidean(X, Y)))),  # indefinite
}
OPTIONS = list(
    itertools.product(MATRICES, [False, True], ["none", "unit_diagonal", "centred_trace"], ["clip", "flip", "none"])
)


def features(n: int = 14, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((n, 5)) + 0.1


@pytest.mark.parametrize(("kind", "centre", "normalise", "psd"), OPTIONS)
def test_training_rows_give_the_training_kernel(kind: str, centre: bool, normalise: str, psd: str) -> None:
    measure, compute = MATRICES[kind]
    P = compute(features())
    transform = KernelTransform(kind, measure=measure, centre=centre, normalise=normalise, psd=psd).fit(P)  # type: ignore[arg-type]
    K = transform.kernel_train_
    np.testing.assert_allclose(transform.transform(P, np.diagonal(P)), K, atol=1e-10)
    np.testing.assert_allclose(K, K.T, atol=1e-14)
    if psd != "none":
        assert np.linalg.eigvalsh(K)[0] > -1e-10
    if normalise == "centred_trace":
        np.testing.assert_allclose(centred_trace(K), 1)
    if centre and psd != "none":
        np.testing.assert_allclose(K.mean(axis=0), 0, atol=1e-12)
    if normalise == "unit_diagonal" and not centre and not transform.repair_.n_negative:
        np.testing.assert_array_equal(np.diagonal(K), 1)


@pytest.mark.parametrize("psd", ["clip", "flip", "shift"])
def test_order_of_operations(psd: str) -> None:
    """Kernel function, unit diagonal, centring, repair, trace: any other order gives other numbers."""
    P = MATRICES["precomputed"][1](features())
    fitted = KernelTransform("precomputed", centre=True, normalise="centred_trace", psd=psd).fit(P)  # type: ignore[arg-type]
    repaired = psd_repair(centre_kernel(P), psd, warn=False)  # type: ignore[arg-type]
    expected, divisor = scale_to_centred_trace(repaired.kernel)
    np.testing.assert_allclose(fitted.kernel_train_, expected, atol=1e-12)
    np.testing.assert_allclose(fitted.divisor_, divisor)
    np.testing.assert_allclose(fitted.min_eigenvalue_, repaired.min_eigenvalue)
    assert fitted.info_["relative_min_eigenvalue"] < -0.05  # there is something to repair
    unit = KernelTransform("precomputed", centre=True, normalise="unit_diagonal", psd=psd).fit(P)  # type: ignore[arg-type]
    repaired = psd_repair(centre_kernel(unit_diagonal(P)), psd, warn=False)  # type: ignore[arg-type]
    np.testing.assert_allclose(unit.kernel_train_, repaired.kernel, atol=1e-12)


@pytest.mark.parametrize(("kind", "centre", "normalise", "psd"), OPTIONS)
def test_rows_do_not_know_of_each_other(kind: str, centre: bool, normalise: str, psd: str) -> None:
    """No leakage: the fit and each row are the same whatever the other new samples are."""
    measure, compute = MATRICES[kind]
    train, new = features(), features(6, seed=1)
    own = np.array([compute(new[i : i + 1])[0, 0] for i in range(6)])
    fitted = KernelTransform(kind, measure=measure, centre=centre, normalise=normalise, psd=psd).fit(compute(train))  # type: ignore[arg-type]
    kernel, info = fitted.kernel_train_.copy(), dict(fitted.info_)
    rows = compute(new, train)
    together = fitted.transform(rows, own)
    for i in range(6):
        np.testing.assert_allclose(fitted.transform(rows[i : i + 1], own[i : i + 1])[0], together[i], atol=1e-12)
    np.testing.assert_array_equal(fitted.kernel_train_, kernel)
    assert fitted.info_ == info


def test_explicit_features_go_through_the_same_steps() -> None:
    """Linear kernel: unit-norm features, minus the training mean, over the root of the total training variance."""
    train, new = features(), features(6, seed=1)
    fitted = KernelTransform("linear", centre=True, normalise="unit_diagonal").fit(inner_product(train))
    unit_train, unit_new = (A / np.linalg.norm(A, axis=1, keepdims=True) for A in (train, new))
    a, b = unit_train - unit_train.mean(axis=0), unit_new - unit_train.mean(axis=0)
    rows = fitted.transform(inner_product(new, train), np.sum(new**2, axis=1))
    np.testing.assert_allclose(fitted.kernel_train_, a @ a.T, atol=1e-12)
    np.testing.assert_allclose(rows, b @ a.T, atol=1e-12)

    fitted = KernelTransform("linear", centre=True, normalise="centred_trace").fit(inner_product(train))
    a, b = train - train.mean(axis=0), new - train.mean(axis=0)
    variance = np.mean(np.sum(a**2, axis=1))
    np.testing.assert_allclose(fitted.kernel_train_, a @ a.T / variance, atol=1e-12)
    np.testing.assert_allclose(fitted.transform(inner_product(new, train)), b @ a.T / variance, atol=1e-12)


def test_gaussian_of_each_measure() -> None:
    X = features()
    D = squared_euclidean(X)
    squared = KernelTransform("gaussian", bandwidth=2.0, bandwidth_rule="squared_mean_distance").fit(D)
    gamma = resolve_bandwidth(D, 2.0, "squared_mean_distance")
    assert squared.bandwidth_ == pytest.approx(gamma)
    np.testing.assert_allclose(squared.kernel_train_, gaussian_kernel(D, gamma))
    # a plain distance is squared first, rows too; the bandwidth is in squared units
    plain = KernelTransform(measure="distance", bandwidth=2.0, bandwidth_rule="squared_mean_distance").fit(np.sqrt(D))
    np.testing.assert_allclose(plain.kernel_train_, squared.kernel_train_, rtol=1e-12)
    np.testing.assert_allclose(plain.transform(np.sqrt(D[:3])), squared.transform(D[:3]), rtol=1e-12)
    # chi-squared distances go into the exponent as they are
    C = chi2_distance(X)
    chi2 = KernelTransform(measure="chi2").fit(C)
    mean = C[np.triu_indices(len(C), 1)].mean()
    np.testing.assert_allclose(chi2.kernel_train_, np.exp(-C / mean))


def test_polynomial_scale_is_that_of_the_training_samples() -> None:
    G = inner_product(features())
    fitted = KernelTransform("polynomial", degree=3).fit(G)
    assert fitted.scale_ == pytest.approx(1 / np.diagonal(G).mean())
    np.testing.assert_allclose(fitted.kernel_train_, (G / np.diagonal(G).mean() + 1) ** 3)
    assert KernelTransform("polynomial", scale=0.5).fit(G).scale_ == 0.5


def test_shift_leaves_rows_and_scales_them() -> None:
    P = MATRICES["precomputed"][1](features())
    fitted = KernelTransform("precomputed", psd="shift").fit(P)
    assert fitted.repair_.shift > 0
    np.testing.assert_allclose(fitted.kernel_train_, P + fitted.repair_.shift * np.eye(len(P)))
    np.testing.assert_array_equal(fitted.transform(P[:4]), P[:4])
    scaled = KernelTransform("precomputed", psd="shift", normalise="centred_trace").fit(P)
    np.testing.assert_allclose(scaled.transform(P[:4]), P[:4] / scaled.divisor_)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    scale=st.floats(0.1, 10),
    options=st.sampled_from([option for option in OPTIONS if option[0] in ("gaussian", "linear", "polynomial")]),
)
def test_equivariance_and_scale(seed: int, scale: float, options: tuple) -> None:
    kind, centre, normalise, psd = options
    measure, compute = MATRICES[kind]
    P = compute(features(10, seed))
    K = KernelTransform(kind, measure=measure, centre=centre, normalise=normalise, psd=psd).fit(P).kernel_train_
    order = np.random.default_rng(seed).permutation(10)
    shuffled = KernelTransform(kind, measure=measure, centre=centre, normalise=normalise, psd=psd)
    np.testing.assert_allclose(
        shuffled.fit(P[np.ix_(order, order)]).kernel_train_, K[np.ix_(order, order)], rtol=1e-8, atol=1e-10
    )
    # a unit of measurement must not matter, except to a bare linear kernel, which is linear in it
    other = KernelTransform(kind, measure=measure, centre=centre, normalise=normalise, psd=psd).fit(scale * P)
    factor = scale if kind == "linear" and normalise == "none" else 1
    np.testing.assert_allclose(other.kernel_train_, factor * K, rtol=1e-7, atol=1e-9)


def test_identity_like_kernels_are_flagged() -> None:
    D = squared_euclidean(features())
    with pytest.warns(IdentityLikeKernelWarning, match="kernel 'narrow' is close to the identity: only"):
        narrow = KernelTransform(bandwidth=1e-3, name="narrow").fit(D)
    assert narrow.identity_like_
    assert narrow.info_["identity_like"] is True
    assert narrow.off_diagonal_mass_ < 1e-6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wide = KernelTransform(bandwidth=2.0).fit(D)
    assert not wide.identity_like_
    assert wide.off_diagonal_mass_ > 0.3
    # the information-free kernel that took most of the weight in an experiment with MKL-DR
    with pytest.warns(IdentityLikeKernelWarning):
        KernelTransform("precomputed").fit(0.6 * np.eye(8) + 0.4)
    # a shift that brings the identity in
    values, vectors = np.linalg.eigh(D[:10, :10] / -1 + 3)
    indefinite = (vectors * np.r_[-2.0, values[1:]]) @ vectors.T
    with pytest.warns(IdentityLikeKernelWarning):
        assert KernelTransform("precomputed", psd="shift").fit(indefinite).identity_like_


def test_info_is_plain_and_complete() -> None:
    fitted = KernelTransform(measure="chi2", psd="clip").fit(chi2_distance(features()))
    spectrum = fitted.info_["spectrum"]
    info = {name: value for name, value in fitted.info_.items() if name != "spectrum"}
    assert json.loads(json.dumps(info)) == info
    assert json.loads(json.dumps(spectrum)) == [list(point) for point in spectrum]
    assert {type(value) for value in info.values()} <= {str, int, float, bool, type(None)}
    assert fitted.info_["bandwidth"] == fitted.bandwidth_
    assert fitted.info_["min_eigenvalue"] == fitted.min_eigenvalue_
    assert fitted.info_["n_train"] == 14


@pytest.mark.parametrize(("kind", "centre", "normalise", "psd"), OPTIONS)
def test_float32_and_no_mutation(kind: str, centre: bool, normalise: str, psd: str) -> None:
    measure, compute = MATRICES[kind]
    P = compute(features())
    single = P.astype(np.float32)
    P_before, single_before = P.copy(), single.copy()
    fits = [
        KernelTransform(kind, measure=measure, centre=centre, normalise=normalise, psd=psd).fit(matrix)  # type: ignore[arg-type]
        for matrix in (P, single)
    ]
    rows = fits[1].transform(single[:3], np.diagonal(single)[:3])
    assert fits[1].kernel_train_.dtype == rows.dtype == np.float32
    assert fits[0].kernel_train_.dtype == np.float64
    np.testing.assert_allclose(fits[1].kernel_train_, fits[0].kernel_train_, atol=2e-4)
    fits[0].transform(P, np.diagonal(P))[:] = 7
    fits[0].kernel_train_[:] = 7
    np.testing.assert_array_equal(P, P_before)
    np.testing.assert_array_equal(single, single_before)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kind": "gauss"}, "kind = 'gauss' is not legal; legal: gaussian, linear, polynomial, precomputed"),
        (
            {"measure": "inner_product"},
            "a gaussian kernel can't be computed from measure 'inner_product'; it needs 'squ",
        ),
        ({"kind": "linear", "measure": "chi2"}, "it needs 'inner_product'; 'chi2' fits kind 'gaussian'"),
        ({"kind": "precomputed", "measure": "distance"}, "it needs 'kernel'"),
        ({"measure": "cosine"}, "measure = 'cosine' is not legal"),
        ({"normalise": "trace"}, "normalise = 'trace' is not legal"),
        ({"psd": "project"}, "psd = 'project' is not legal"),
        ({"bandwidth_rule": "median"}, "bandwidth_rule = 'median'"),
        ({"bandwidth": 0}, "bandwidth = 0"),
        ({"degree": 0}, "degree = 0"),
        ({"scale": -1}, "scale = -1"),
        ({"offset": -1}, "offset = -1"),
        ({"centre": "yes"}, "centre = 'yes'"),
    ],
)
def test_refuses_parameters(parameters: dict, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        KernelTransform(**parameters)
    assert message in str(caught.value)


def test_refuses_data() -> None:
    D = squared_euclidean(features(5))
    gaussian = KernelTransform()
    with pytest.raises(DataError, match="not fitted"):
        gaussian.transform(D)
    with pytest.raises(DataError, match="square matrix over the training samples"):
        gaussian.fit(D[:3])
    with pytest.raises(DataError, match="not symmetric"):
        gaussian.fit(D + np.triu(np.ones((5, 5)), 1))
    with pytest.raises(DataError, match="negative entries"):
        gaussian.fit(-D)
    with pytest.raises(DataError, match="to itself"):
        gaussian.fit(D + np.eye(5))
    with pytest.raises(DataError, match="NaN"):
        gaussian.fit(np.where(D > 0, np.nan, D))
    with pytest.raises(DataError, match="distance zero to each other"):
        gaussian.fit(np.zeros((4, 4)))
    gaussian.fit(D)
    with pytest.raises(DataError, match="4 columns, but there were 5 training samples"):
        gaussian.transform(D[:, :4])
    with pytest.raises(DataError, match="negative entries"):
        gaussian.transform(-D)
    with pytest.raises(DataError, match="coincide"):
        KernelTransform("linear", normalise="centred_trace").fit(np.ones((4, 4)))
    with pytest.raises(DataError, match="give scale a number"):
        KernelTransform("polynomial").fit(np.zeros((4, 4)))
    G = inner_product(features(5))
    unit = KernelTransform("linear", normalise="unit_diagonal").fit(G)
    with pytest.raises(DataError, match="pass self_similarity"):
        unit.transform(G[:2])
    with pytest.raises(DataError, match="self_similarity has 3 entries for 2 rows"):
        unit.transform(G[:2], np.ones(3))
    zero = features(5)
    zero[2] = 0
    with pytest.raises(DataError, match="training sample 2 has self-similarity 0"):
        KernelTransform("linear", normalise="unit_diagonal").fit(inner_product(zero))

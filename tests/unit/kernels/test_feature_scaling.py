"""Scaling of features by the training samples: definitions, and the kernels on scaled features."""

from typing import Any, get_args

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import rankdata
from sklearn.preprocessing import StandardScaler, normalize
from tests.split_stacks import split_stacks

from mklearn.errors import ConfigError, DataError
from mklearn.kernels import feature_scaling as module
from mklearn.kernels.feature_scaling import FeatureScaler, FeatureScaling, SparseScaler
from mklearn.study.specs import fit_spec

SCALINGS = ("standard", "minmax", "unit", "rank", "log")
TRAIN, TEST = np.arange(20), np.arange(20, 30)


@pytest.fixture
def X() -> np.ndarray:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 5)) * [1.0, 5.0, 0.1, 1.0, 1.0] + [0.0, 15.0, 0.0, 0.0, 0.1]
    X[:, 3] = np.round(2 * X[:, 3])
    X[TRAIN, 4] = 0.1
    return X


def test_the_study_knows_the_same_scalings() -> None:
    assert get_args(FeatureScaling) == get_args(fit_spec.FeatureScaling) == ("none", *SCALINGS)


def test_standard(X: np.ndarray) -> None:
    scaler = FeatureScaler("standard").fit(X[TRAIN])
    scaled, new = scaler.transform(X[TRAIN]), scaler.transform(X[TEST])
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(scaled.std(axis=0, ddof=1)[:4], 1)
    assert not scaled[:, 4].any()
    assert not new[:, 4].any(), "constant in the training samples: says nothing of new ones either"
    factor = np.sqrt(19 / 20)  # scikit-learn divides by n
    np.testing.assert_allclose(new, StandardScaler().fit(X[TRAIN]).transform(X[TEST]) * [*[factor] * 4, 0], atol=1e-12)
    assert not FeatureScaler("standard").fit(X[:1]).transform(X).any()


def test_unit(X: np.ndarray) -> None:
    X[3] = 0
    scaler = FeatureScaler("unit").fit(X[TRAIN])
    np.testing.assert_allclose(scaler.transform(X), normalize(X), rtol=1e-12)
    for factor in (1e-200, 1e200):
        np.testing.assert_allclose(scaler.transform(factor * X), normalize(X), rtol=1e-12)


def test_rank(X: np.ndarray) -> None:
    scaler = FeatureScaler("rank").fit(X[TRAIN])
    scaled = scaler.transform(X[TRAIN])
    np.testing.assert_allclose(scaled, (rankdata(X[TRAIN], axis=0) - 0.5) / 20)
    np.testing.assert_array_equal(scaled[:, 4], 0.5)
    other = np.column_stack([np.exp(X[:, 0]), X[:, 1] ** 3, *X[:, 2:].T])  # increasing
    np.testing.assert_array_equal(FeatureScaler("rank").fit(other[TRAIN]).transform(other[TRAIN]), scaled)
    three = FeatureScaler("rank").fit([[1.0], [2.0], [2.0], [4.0]])
    found = three.transform([[-9.0], [1.0], [1.5], [2.0], [3.0], [4.0], [9.0]])[:, 0]
    np.testing.assert_allclose(found, [0.125, 0.125, 0.3125, 0.5, 0.6875, 0.875, 0.875])


def test_log() -> None:
    X = np.random.default_rng(0).lognormal(sigma=2, size=(30, 2)) * [1, 1e-9]
    X[:3] = 0
    scaler = FeatureScaler("log").fit(X[TRAIN])
    plain = np.log1p(X / np.median(X[3:20], axis=0))
    expected = (plain - plain[TRAIN].mean(axis=0)) / plain[TRAIN].std(axis=0, ddof=1)
    np.testing.assert_allclose(scaler.transform(X), expected, rtol=1e-12)
    np.testing.assert_array_equal(scaler.transform(-X), scaler.transform(0 * X))
    with pytest.raises(DataError, match="some are negative"):
        FeatureScaler("log").fit(X - 1)


def test_heavy_tails() -> None:
    rng = np.random.default_rng(0)
    tails, normal = rng.lognormal(sigma=2, size=(50, 9)), rng.normal(size=(50, 9))
    bits = (rng.random((50, 30)) < 0.1).astype(float)
    counts = sp.random_array((50, 40), density=0.2, rng=rng, format="csr", data_sampler=lambda size: rng.zipf(2, size))
    gaps = np.where(rng.random((50, 9)) < 0.1, np.nan, tails)
    assert all(map(module.is_heavy_tailed, (tails, 1e9 * tails, gaps, counts, np.hstack([bits, tails]))))
    others = (-tails, tails - 1, np.full((50, 9), 3.0), bits, sp.csr_array(bits), 9 + normal)
    assert not any(module.is_heavy_tailed(X) for X in others)


# --- what is constant up to rounding errors

RESIDUES = {
    "a subtraction": np.where(np.arange(40) % 3 > 0, 1.5e-16, 0.0),
    "a product": 1e-15 * np.random.default_rng(5).normal(size=40),
    "a large number": 1e6 + 1e-10 * (np.arange(40) % 2),
    "equal": np.full(40, 7.0),
}


@pytest.mark.parametrize("residue", RESIDUES.values(), ids=RESIDUES)
@pytest.mark.parametrize("scaling", SCALINGS)
def test_rounding_errors_are_no_feature(scaling: Any, residue: np.ndarray) -> None:
    X = np.random.default_rng(0).lognormal(size=(40, 6)) * [1, 1, 1, 1e-6, 1e5, 1]
    padded = np.column_stack([X[:, :3], residue, X[:, 3:]])
    assert module.constant_features(padded).tolist() == [column == 3 for column in range(7)]
    assert not module.constant_features(np.hstack([X[:, :1], 1e-16 * X[:, 1:]]), [0, 1, 1, 1, 1, 1]).any()
    other = padded.copy()
    other[20:, 3] = np.random.default_rng(1).normal(scale=1e3, size=20)
    scaler = FeatureScaler(scaling).fit(padded[TRAIN])
    np.testing.assert_array_equal(scaler.transform(other), scaler.transform(padded))
    if scaling not in ("unit", "rank"):
        assert not scaler.transform(other)[:, 3].any()


def test_new_samples_are_clipped_to_half_a_width_outside_the_training_range() -> None:
    X = np.random.default_rng(0).lognormal(size=(20, 3))
    far = np.array([[1e9, 0.0, 1.0], [1.0, 1.0, 1e9]])
    for scaling in ("none", "standard", "minmax", "rank", "log"):
        scaler = FeatureScaler(scaling, clip=True).fit(X)
        scaled, new = scaler.transform(X), scaler.transform(far)
        np.testing.assert_allclose(scaled, FeatureScaler(scaling).fit(X).transform(X))
        low, high = scaled.min(axis=0), scaled.max(axis=0)
        assert (new <= high + (high - low) / 2 + 1e-12).all()
        assert (new >= low - (high - low) / 2 - 1e-12).all()


@pytest.mark.parametrize("scaling", ["none", "standard", "minmax"])
def test_samples_of_collinear_features_are_scaled_as_a_whole(scaling: Any) -> None:
    """A peak of new height, twice as far from the mean as the range and its margin allow, keeps its form.

    A single far value is clipped alone.
    """
    rng, wave = np.random.default_rng(0), np.linspace(0, 1, 200)
    X = rng.uniform(1, 2, size=(30, 1)) * np.exp(-((wave - 0.5) ** 2) / 0.1) + 1e-4 * rng.normal(size=(30, 200))
    scaler, plain = FeatureScaler(scaling, clip=True).fit(X), FeatureScaler(scaling).fit(X)
    scaled, centre = plain.transform(X), plain.transform(X).mean(axis=0)
    margin = np.ptp(scaled, axis=0)
    room = scaled.max(axis=0) + margin - centre
    (whole,) = scaler.transform(X.mean(axis=0) + 2 * (X.max(axis=0) + np.ptp(X, axis=0) - X.mean(axis=0))[None])
    np.testing.assert_allclose(whole, centre + room, rtol=1e-9)
    far = X[:1] * [[1.0], [1.0], [40.0]]
    far[1, 7] *= 100
    new = scaler.transform(far) - centre
    np.testing.assert_allclose(new[0], (scaled - centre)[0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(new[1], np.where(np.arange(200) == 7, room, new[0]), rtol=1e-12, atol=1e-12)
    share = new[2] / (plain.transform(far)[2] - centre)
    assert np.isclose(share, share.max()).sum() == 190
    assert np.isclose((new[2] / room).max(), 1)


E = np.random.default_rng(0).normal(size=(40, 21))
ONE, NOISE = E[:, :1], 0.003 * E[:, 1:]


@pytest.mark.parametrize(
    ("X", "collinear"),
    [
        (ONE + 17 * NOISE, True),
        (np.hstack([E[:, :5] + NOISE[:, :5], -E[:, :5] + NOISE[:, 5:10]]), True),
        (np.hstack([E[:, 10:14], ONE + NOISE[:, :6]]), True),
        (np.hstack([ONE + NOISE[:, :4], np.ones((40, 6))]), True),
        (ONE + 83 * NOISE, False),
        (np.hstack([ONE + NOISE[:, :4], E[:, 10:16]]), False),
        (np.hstack([ONE + NOISE[:, :2], np.eye(40)[:, :4]]), False),
        (np.repeat(np.eye(30), 2, axis=1), False),
        (E + 100 * (np.arange(40) == 0)[:, None], False),
        (E[:5, :1] + NOISE[:5], False),
    ],
    ids=["0.995", "opposite", "60 %", "constant", "0.95", "40 %", "rare", "single", "one sample", "few samples"],
)
def test_which_features_are_scaled_as_a_whole(X: np.ndarray, collinear: bool) -> None:
    scaler = FeatureScaler("standard", clip=True).fit(X)
    assert (scaler._centre is not None) == collinear


@pytest.mark.parametrize("scaling", ["unit", "rank"])
def test_fixed_ranges_are_not_clipped(scaling: Any) -> None:
    one, two = (FeatureScaler(scaling, clip=clip).fit(5 + E[:30]).transform(-E) for clip in (True, False))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("scaling", ["rank", "minmax", "standrad"])
def test_scalings_that_sparse_features_have_not(scaling: Any) -> None:
    with pytest.raises(ConfigError, match="sparse features`: expected one of 'none', 'standard', 'unit', 'log'"):
        SparseScaler(scaling).fit(sp.eye_array(4, format="csr"))


@pytest.mark.parametrize("scaling", ["none", "standard", "unit", "log"])
def test_sparse_features_are_scaled_as_dense_ones_without_a_shift(scaling: Any) -> None:
    X = sp.random_array((40, 9), density=0.5, rng=np.random.default_rng(0), format="csr")
    dense = X.toarray()
    scaled = SparseScaler(scaling).fit(X[:20]).transform(X).toarray()
    expected = FeatureScaler(scaling).fit(dense[:20]).transform(dense)
    if scaling in ("standard", "log"):  # scikit-learn divides by n
        expected = (expected - FeatureScaler(scaling).fit(dense[:20]).transform(0 * dense)) / np.sqrt(19 / 20)
    np.testing.assert_allclose(scaled, expected, rtol=1e-12)
    assert (scaled[dense == 0] == 0).all()
    residue = sp.csr_array(np.column_stack([dense, RESIDUES["a subtraction"]]))
    far = residue.copy()
    far[[20], [9]] = 1e3
    one, other = (SparseScaler(scaling).fit(residue[:20]).transform(Z).toarray() for Z in (residue, far))
    np.testing.assert_array_equal(other, one)


# --- kernels

SPECS = [
    lambda source: {"kind": "gaussian", "bandwidth": 0.5, **source},
    lambda source: {"kind": "linear", "normalise": "unit_diagonal", "centre": False, **source},
    lambda source: {"kind": "polynomial", **source},
    lambda source: {"kind": "product", "factors": [{"bandwidth": 2.0, **source}, {"view": "other"}]},
]


@pytest.mark.parametrize("scaling", ["standard", "unit", "rank"])
@pytest.mark.parametrize("spec", SPECS)
def test_kernels_are_those_of_features_scaled_by_the_training_samples(X: np.ndarray, spec: Any, scaling: Any) -> None:
    of_scaling = {"view": "t", "feature_scaling": scaling}
    tables = {"t": X, "scaled": FeatureScaler(scaling).fit(X[TRAIN]).transform(X), "other": X[:, :2]}
    specs = [{"id": "k", **spec(of_scaling)}, {"id": "expected", **spec({"view": "scaled"})}]
    K, K_test, _ = split_stacks({}, specs, TRAIN, TEST, tables)
    np.testing.assert_allclose(K[0], K[1], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(K_test[0], K_test[1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ({"view": "d2", "feature_scaling": "rank"}, ConfigError, "kernel 'k': `feature_scaling` needs a view of feat"),
        ({"view": "t", "feature_scaling": "log"}, DataError, "kernel 'k': .*negative"),
    ],
)  # fmt: skip
def test_refuses_specs(X: np.ndarray, spec: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        split_stacks({"d2": np.zeros((30, 30))}, [{"id": "k", **spec}], TRAIN, TEST, {"t": X})

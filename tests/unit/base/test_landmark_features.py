"""Landmark features and moments: dense kernels if all samples are landmarks; blocks, float32, folds, refusals."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError

from mklearn.base import landmark_features
from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.base.moments import Moments
from mklearn.descriptors.hog import hog
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.kernels.transform import StackTransform
from mklearn.kernels.views import Views

pytestmark = pytest.mark.filterwarnings("ignore::mklearn.kernels.matrices.IdentityLikeKernelWarning")

SPECS: dict[str, dict[str, Any]] = {
    "gaussian": {"view": "pixels"},
    "narrow": {"view": "pixels", "bandwidth": 0.25, "bandwidth_rule": "squared_mean_distance"},
    "absolute": {"view": "hog", "bandwidth": 0.7, "bandwidth_rule": "absolute"},
    "chi2": {"view": "hog", "measure": "chi2"},
    "standard": {"view": "pixels", "preprocessing": PCA(20, random_state=0), "feature_scaling": "standard"},
    "rank": {"view": "hog", "feature_scaling": "rank"},
    "columns": {"view": "pixels", "columns": list(range(20, 40))},
    "cubic": {"view": "pixels", "kind": "polynomial", "degree": 3},
    "square": {"view": "hog", "kind": "polynomial", "degree": 2, "scale": 0.5, "offset": 0.1},
    "unit square": {"view": "hog", "kind": "polynomial", "normalise": "unit_diagonal"},
    "linear": {"view": "hog", "kind": "linear"},
    "unit linear": {"view": "pixels", "kind": "linear", "normalise": "unit_diagonal"},
    "product": {"view": "hog", "kind": "product", "factors": [{"bandwidth": 0.5}, {"measure": "chi2"}]},
}
UNCHANGED = {"centre": False, "normalise": "none", "psd": "none"}
"""Parameters of a dense kernel that leave the kernel function as it is."""


def without_centring(specs: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    keep = {"normalise": "unit_diagonal"}
    return {
        name: spec | UNCHANGED | (keep if spec.get("normalise") == "unit_diagonal" else {})
        for name, spec in specs.items()
    }


@pytest.fixture(scope="module")
def digits() -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], np.ndarray]:
    """Two views of 160 training and 60 new samples, and the training labels."""
    X, y = load_digits(return_X_y=True)
    views = {"pixels": X[:220], "hog": hog(X[:220].reshape(-1, 8, 8) / 16, cell=4)}
    train, new = ({name: table[rows] for name, table in views.items()} for rows in (slice(0, 160), slice(160, 220)))
    return train, new, y[:160]


def grams(model: LandmarkFeatures, X: Any, Y: Any) -> np.ndarray:
    phi, psi = model.transform(X).astype(float), model.transform(Y).astype(float)
    return np.stack([phi[:, block] @ psi[:, block].T for block in model.blocks_])


def test_all_samples_as_landmarks_give_the_dense_kernels(digits) -> None:
    train, new, y = digits
    dense = StackTransform(without_centring(SPECS)).fit(train)
    model = LandmarkFeatures(SPECS, n=160).fit(train, y)
    assert model.kernel_ids_ == dense.ids == tuple(SPECS)
    found, found_new = grams(model, train, train), grams(model, new, train)
    for number, name in enumerate(SPECS):
        size = np.abs(dense.stack_train_[number]).max()
        expected = dense.transform(new)[number]
        np.testing.assert_allclose(found[number], dense.stack_train_[number], atol=1e-10 * size, err_msg=name)
        np.testing.assert_allclose(found_new[number], expected, atol=1e-10 * size, err_msg=name)
    assert model.ranks_[10:12].tolist() == [train["hog"].shape[1], 64]
    assert model.ranks_.sum() == model.blocks_[-1].stop == model.transform(new).shape[1]


def test_centring_repair_and_trace_change_nothing(digits) -> None:
    train, new, y = digits
    specs = {"pixels": {"bandwidth": 2.0}, "hog": {"measure": "chi2"}}
    plain = LandmarkFeatures(specs, 20).fit(train, y).transform(new)
    model = LandmarkFeatures({"pixels": {"centre": False}, "hog": {"normalise": "unit_diagonal"}}, 20).fit(train, y)
    assert (model.centred_.tolist(), model.scaled_.tolist()) == ([False, True], [True, False])
    assert model.n_samples_ == 160
    for change in ({"centre": False}, {"normalise": "none"}, {"psd": "none"}):
        other = LandmarkFeatures({name: spec | change for name, spec in specs.items()}, 20).fit(train, y)
        np.testing.assert_array_equal(other.transform(new), plain)


def test_few_landmarks_give_the_nystroem_approximation(digits) -> None:
    train, _, y = digits
    specs = {name: SPECS[name] for name in ("gaussian", "chi2", "square")}
    model = LandmarkFeatures(specs, 25).fit(train, y)
    dense = StackTransform(without_centring(specs)).fit(train)
    for number, name in enumerate(specs):
        view, K = specs[name]["view"], dense.stack_train_[number]
        Z = model.landmarks_[name]
        assert Z.shape == (25, train[view].shape[1])
        np.testing.assert_array_equal(Z, train[view][model.landmark_indices_])
        at_landmarks = K[model.landmark_indices_]
        nystroem = at_landmarks.T @ np.linalg.pinv(at_landmarks[:, model.landmark_indices_], hermitian=True)
        expected = nystroem @ at_landmarks
        np.testing.assert_allclose(grams(model, train, train)[number], expected, atol=1e-8 * K.max())
        # projections onto the span of the landmarks: at them exact, elsewhere never too large
        np.testing.assert_allclose(
            grams(model, {**{other: t[:25] for other, t in train.items()}, view: Z}, train)[number],
            at_landmarks, atol=1e-9 * K.max(),
        )  # fmt: skip
        assert np.linalg.eigvalsh(K - grams(model, train, train)[number]).min() > -1e-9 * K.max()
    again = clone(model).fit(train, y)
    np.testing.assert_array_equal(again.transform(train), model.transform(train))
    other = LandmarkFeatures(specs, 25, random_state=1).fit(train, y)
    assert (other.transform(train) != again.transform(train)).any()


def test_a_fit_keeps_no_training_samples_and_changes_nothing(digits) -> None:
    train, new, y = digits
    specs = {name: SPECS[name] for name in ("gaussian", "rank", "linear", "standard")}
    copies = {name: table.copy() for name, table in train.items()}
    model = LandmarkFeatures(specs, 30).fit(train, y)
    before = model.transform(new)
    for name, table in train.items():
        np.testing.assert_array_equal(table, copies[name])
        table += 1e3  # a fitted model does not look at them again
    np.testing.assert_array_equal(model.transform(new), before)
    for name, table in train.items():
        table[:] = copies[name]


def test_bandwidths_of_many_samples_come_from_some_of_them(digits, monkeypatch) -> None:
    train, _, y = digits
    specs = {"gaussian": SPECS["gaussian"]}

    def bandwidth(transform: Any) -> float:
        return transform.entries[0].kernel.bandwidth_

    exact = bandwidth(StackTransform(specs).fit(train))
    monkeypatch.setattr(landmark_features, "PARAMETER_SAMPLES", 160)
    assert bandwidth(LandmarkFeatures(specs, 20).fit(train, y)._specs_) == exact
    monkeypatch.setattr(landmark_features, "PARAMETER_SAMPLES", 100)
    some, again, other = (
        bandwidth(LandmarkFeatures(specs, n, random_state=seed).fit(train, y)._specs_)
        for n, seed in ((20, 0), (30, 0), (20, 1))
    )
    assert some == again == pytest.approx(exact, rel=0.05)
    assert exact != some != other
    holes = {"pixels": np.where(np.arange(160)[:, None] < 60, np.nan, train["pixels"]), "hog": train["hog"]}
    with_gaps = {"gaussian": specs["gaussian"] | {"missing_views": "mean"}}
    observed = bandwidth(StackTransform(specs).fit({"pixels": train["pixels"][60:]}))
    assert bandwidth(LandmarkFeatures(with_gaps, 20).fit(holes, y)._specs_) == pytest.approx(observed, rel=0.1)


@pytest.mark.parametrize("form", ["array", "frame", "views", "sparse", "float32", "list"])
def test_blocks_of_rows_give_the_same_features(digits, form: str, monkeypatch) -> None:
    train, _, y = digits
    many = np.tile(train["pixels"], (60, 1)) + np.arange(9600)[:, None] / 9600
    forms: dict[str, Any] = {
        "array": many,
        "frame": pd.DataFrame(many, columns=[f"p{i}" for i in range(64)]),
        "views": Views({"one": many, "two": many[:, :9]}),
        "sparse": Views({"one": sp.csr_array(many), "two": sp.csr_array(many[:, :9])}),
        "float32": many.astype(np.float32),
        "list": many.tolist(),
    }
    X = forms[form]
    few = X.iloc[:160] if form == "frame" else X[:160]
    model = LandmarkFeatures("gaussian", 40).fit(few, y)
    whole = model.transform(X)
    parts = [X.iloc[i : i + 1200] if form == "frame" else X[i : i + 1200] for i in range(0, 9600, 1200)]
    np.testing.assert_allclose(np.concatenate([model.transform(part) for part in parts]), whole, atol=1e-10)
    np.testing.assert_allclose(model.transform(few), whole[:160], atol=1e-10)
    monkeypatch.setattr(landmark_features, "_BLOCK_BYTES", 2**20)
    with pytest.raises(NotFittedError):
        LandmarkFeatures("gaussian", 40).transform_blocks(X)
    blocks = list(model.transform_blocks(X))
    assert len(blocks) > 2
    assert [rows.start for rows, _ in blocks[1:]] == [rows.stop for rows, _ in blocks[:-1]]
    np.testing.assert_allclose(np.concatenate([block for _, block in blocks]), whole, atol=1e-10)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("missing", [False, True])
def test_products_with_coefficients_need_no_features(digits, dtype: str, missing: bool) -> None:
    train, new, y = digits
    specs = SPECS
    if missing:
        new = dict(new, hog=np.where(np.arange(60)[:, None] % 7 == 0, np.nan, new["hog"]))
        specs = {name: spec | {"missing_views": "mean"} for name, spec in SPECS.items() if spec["view"] == "hog"}
    model = LandmarkFeatures(specs, 20, dtype=dtype).fit(train, y)
    coefficients = np.random.default_rng(0).normal(size=(model.blocks_[-1].stop, 3))
    expected = model.transform(new) @ coefficients
    found = model.transform_times(new, coefficients)
    assert found.dtype == dtype
    tolerance = 1e-4 if dtype == "float32" else 1e-10
    np.testing.assert_allclose(found, expected, atol=tolerance * np.abs(expected).max())
    single = LandmarkFeatures("gaussian", 20, dtype=dtype).fit(train["hog"], y)
    assert single.transform_times(train["hog"], np.zeros((single.blocks_[-1].stop, 0))).shape == (160, 0)


def test_float32_features_are_close(digits) -> None:
    train, new, y = digits
    specs = {name: spec for name, spec in SPECS.items() if name not in ("cubic", "linear")}
    models = [LandmarkFeatures(specs, 60, dtype=dtype, rank_tolerance=1e-6) for dtype in ("float64", "float32")]
    double, single = (model.fit(train, y) for model in models)
    np.testing.assert_array_equal(single.ranks_, double.ranks_)
    assert single.transform(new).dtype == np.float32
    np.testing.assert_allclose(single.transform(new), double.transform(new), atol=1e-4)
    np.testing.assert_allclose(grams(single, new, train), grams(double, new, train), atol=2e-5)


def test_eigenvalues_below_the_tolerance_are_left_out(digits) -> None:
    train, _, y = digits
    wide = {"pixels": {"bandwidth": 1e4}}
    ranks = [LandmarkFeatures(wide, 100, rank_tolerance=t).fit(train, y).ranks_[0] for t in (1e-12, 1e-7, 1e-3)]
    assert ranks[0] > ranks[1] > ranks[2] >= 1
    K = StackTransform(without_centring(wide)).fit_transform({"pixels": train["pixels"]})[0]
    model = LandmarkFeatures(wide, 160, rank_tolerance=1e-7).fit(train, y)
    assert model.ranks_[0] == (np.linalg.eigvalsh(K) > 1e-7 * np.linalg.eigvalsh(K)[-1]).sum()
    scales = np.linalg.norm(model.transform(train), axis=0)
    assert (np.diff(scales) <= 1e-9).all()  # in the order of the eigenvalues


def test_samples_without_a_view_are_at_the_mean(digits) -> None:
    train, new, y = digits
    train, new = dict(train), {name: table.copy() for name, table in new.items()}
    train["hog"] = train["hog"].copy()
    train["hog"][::5], new["hog"][:3] = np.nan, np.nan
    mean = {"missing_views": "mean"}
    specs = {"pixels": {}, "hog": mean, "linear": {"view": "hog", "kind": "linear"} | mean}
    dense = StackTransform(without_centring(specs)).fit(train)
    model = LandmarkFeatures(specs, 160).fit(train, y)
    assert model.ranks_.tolist() == [160, 128, train["hog"].shape[1]]
    np.testing.assert_allclose(grams(model, train, train), dense.stack_train_.matrices, atol=1e-9)
    np.testing.assert_allclose(grams(model, new, train), dense.transform(new).matrices, atol=1e-9)
    lacking = train | {"hog": np.where(np.arange(160)[:, None] < 157, np.nan, train["hog"])}
    with pytest.raises(DataError, match="kernel 'hog': its view is missing for all 10 landmarks"):
        LandmarkFeatures(specs, 10).fit(lacking, y)


def test_all_kernels_linear_need_no_landmarks(digits) -> None:
    train, new, _ = digits
    model = LandmarkFeatures("linear").fit(train)  # 300 landmarks of 160 samples: none are drawn
    np.testing.assert_array_equal(model.transform(new), np.concatenate([new["pixels"], new["hog"]], axis=1))
    assert model.n_landmarks_ == 0
    assert model.landmark_indices_ is None
    assert model.landmarks_ == {"pixels": None, "hog": None}


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n": 161}, NotApplicable, "n_landmarks=161, but there are 160 training samples"),
        ({"n": 9}, NotApplicable, r"n_landmarks=9, but y has 10 classes.*give at least 10"),
        ({"rank_tolerance": 1.0}, ConfigError, "Invalid value 1.0 for `rank_tolerance`: expected a number below 1, as"),
        ({"kernels": "precomputed"}, ConfigError, "kernels='precomputed': landmarks need kernels of features"),
    ],
)
def test_what_is_refused(digits, parameters: dict[str, Any], error: type[Exception], message: str) -> None:
    train, _, y = digits
    with pytest.raises(error, match=message):
        LandmarkFeatures(**{"n": 20, **parameters}).fit(train, y)


def test_samples_that_are_refused(digits) -> None:
    train, new, y = digits
    model, hog = LandmarkFeatures(SPECS, 20).fit(train, y), new["hog"]
    many = {name: np.tile(table, (200, 1)) for name, table in new.items()}
    many["hog"][10_000, 3] = np.nan
    holed = train | {"hog": np.where(np.arange(160)[:, None] == 7, np.nan, train["hog"])}
    of_zeros = LandmarkFeatures({"kind": "polynomial", "offset": 0.0, "scale": 1.0}, 1)
    for apply, X, message in (
        (model.transform, new | {"hog": hog[:, :5]}, "view 'hog' has 5 features, but the training samples had"),
        (model.transform, {"pixels": new["pixels"]}, "there is no view 'hog'; available: 'pixels'"),
        (model.transform, many, r"in samples \d+ to \d+: kernel 'absolute': view 'hog' has NaN"),
        (
            model.transform,
            {name: 0 * table for name, table in new.items()},
            r"kernel 'unit linear': .*self-similarity 0",
        ),
        (LandmarkFeatures(n=20).fit, holed, r"view 'hog' is missing \(NaN in every column\) for the samples 7"),
        (of_zeros.fit, np.zeros((20, 2)), "kernel '0': the kernel is zero among the landmarks"),
    ):
        with pytest.raises(DataError, match=message):
            apply(X)


def test_kernels_of_one_view_in_several_scalings_know_that_no_sample_lacks_it() -> None:
    rows = np.random.default_rng(0).normal(size=(30, 3))
    kernels = [{"kind": "linear", "feature_scaling": scaling} for scaling in ("none", "standard")]
    np.testing.assert_array_equal(LandmarkFeatures(kernels, n=5).fit(rows).observed_shares_, 1.0)


# --- moments


def samples(n: int = 200, d: int = 7, c: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features far from 0, as uncentred ones are, and labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, c, n)
    return 30.0 + rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + y[:, None], y


def assert_equal(found: Moments, expected: Moments, rtol: float = 1e-12) -> None:
    np.testing.assert_array_equal(found.classes_, expected.classes_)
    np.testing.assert_array_equal(found.class_counts_, expected.class_counts_)
    np.testing.assert_allclose(found.class_sums_, expected.class_sums_, rtol=rtol)
    scale = np.abs(expected.scatter).max()
    np.testing.assert_allclose(found.scatter, expected.scatter, rtol=0, atol=rtol * scale)


def test_they_are_the_sums_over_samples():
    X, y = samples()
    found = Moments().partial_fit(X, y)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(found.scatter, centred.T @ centred, rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(found.scatter, found.scatter.T)
    within = sum((X[y == c] - X[y == c].mean(axis=0)).T @ (X[y == c] - X[y == c].mean(axis=0)) for c in range(4))
    np.testing.assert_allclose(found.scatter - found.between @ found.between.T, within, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.mean, X.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(found.class_means[2], X[y == 2].mean(axis=0), rtol=1e-14)
    assert (found.n_samples_, found.n_features_) == X.shape


@pytest.mark.parametrize(
    "names", [np.arange(4), np.array(["a", "bb", "ccc", "d"]), None], ids=["codes", "text", "none"]
)
def test_batches_merge_in_any_order_and_are_left_out(names):
    """The first batch has two classes that the others lack, and the last one alone has the last class."""
    X, y = samples()
    labels = None if names is None else names[y]

    def of(*batches):
        made = Moments()
        for rows in batches:
            made.partial_fit(X[rows], None if labels is None else labels[rows])
        return made

    parts = [np.flatnonzero(y < 2), *np.array_split(np.flatnonzero(y == 2), 2), np.flatnonzero(y == 3)]
    a, b, c, d = map(of, parts)
    before, whole = a.scatter, a.merge(b).merge(c.merge(d))
    assert_equal(whole, of(np.arange(len(X))))
    assert_equal(of(*parts), whole)
    assert_equal(d.merge(c).merge(b).merge(a), whole)
    np.testing.assert_array_equal(a.scatter, before)
    for left_out, fold in enumerate((a, b, c, d)):
        kept = np.concatenate([rows for number, rows in enumerate(parts) if number != left_out])
        assert_equal(whole.without(fold), of(kept), rtol=1e-10)
    assert whole.classes_.tolist() == ([0] if names is None else names.tolist())
    if names is None:
        np.testing.assert_allclose(whole.between, 0.0, atol=1e-10)


def test_single_precision_is_added_up_in_double():
    """Products of 4,096 rows in single precision: 1e-6 of the largest entry; in one product over all it is more."""
    X, y = samples(60_000, 5)
    single = Moments().partial_fit(X.astype(np.float32), y)
    double = Moments().partial_fit(X.astype(np.float32).astype(np.float64), y)
    np.testing.assert_allclose(single.scatter, double.scatter, rtol=0, atol=2e-6 * np.abs(double.scatter).max())
    np.testing.assert_allclose(single.class_means, double.class_means, rtol=1e-6)


def test_features_far_from_zero_keep_their_digits():
    """The raw second moment would have 1e16 of its 1e16 digits in the mean."""
    X, y = samples(300, 3)
    found = Moments()
    for rows in np.split(np.arange(300), 3):
        found.partial_fit(X[rows] + 1e7, y[rows])
    np.testing.assert_allclose(found.scatter, Moments().partial_fit(X, y).scatter, rtol=1e-6)


X0, Y0 = samples(20)


@pytest.mark.parametrize(
    ("batch", "labels", "sentence"),
    [
        (np.where(np.arange(20)[:, None] == 7, np.nan, X0), Y0, r"NaN or infinite entries, the first one at index \(7"),
        (X0[:, :3], Y0, "the samples before have 7 features, these have 3"),
        (X0, None, "some samples have labels and some have none"),
        (X0, Y0[:5], "5 labels for 20 samples"),
        (X0, np.array(["a", "b"])[Y0 % 2], "have different types: text and numbers"),
    ],
)
def test_a_bad_batch_is_refused_and_nothing_of_it_added(batch, labels, sentence):
    made = Moments().partial_fit(X0, Y0)
    before = made.scatter
    with pytest.raises(DataError, match=sentence):
        made.partial_fit(batch, labels)
    assert made.n_samples_ == 20
    np.testing.assert_array_equal(made.scatter, before)


def test_moments_that_do_not_go_together():
    made = Moments().partial_fit(X0, Y0)
    with pytest.raises(DataError, match="hold no batch"):
        made.merge(Moments())
    with pytest.raises(DataError, match="some samples have labels and some have none"):
        made.merge(Moments().partial_fit(X0))
    with pytest.raises(DataError, match="expected those of a subset"):
        made.without(Moments().partial_fit(X0[:1], [9]))


def test_moments_and_their_arrays_share_no_memory_and_hold_text_as_text() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), np.array(["a", "b"] * 10, dtype=object)
    moments = Moments().partial_fit(X, y)
    before, arrays = moments.scatter.copy(), moments.as_arrays()
    assert arrays["classes"].dtype.kind == "U"
    for array in arrays.values():
        array.flags.writeable = False
    Moments.from_arrays(arrays).partial_fit(X + 5, y)
    np.testing.assert_array_equal(moments.scatter, before)

"""Moments: equal to those of all samples at once, whatever the batches; folds add up and can be taken away."""

import numpy as np
import pytest

from mklearn.base.moments import Moments
from mklearn.errors import DataError


def samples(n: int = 200, d: int = 7, c: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features far from 0, as uncentred ones are, and labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, c, n)
    return 30.0 + rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + y[:, None], y


def in_batches(X: np.ndarray, y: np.ndarray | None, ends: list[int]) -> Moments:
    made = Moments()
    for begin, end in zip([0, *ends], [*ends, len(X)], strict=True):
        made.partial_fit(X[begin:end], None if y is None else y[begin:end])
    return made


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


def test_merging_is_associative_and_changes_neither():
    X, y = samples()
    a, b, c = (Moments().partial_fit(X[i::3], y[i::3]) for i in range(3))
    before = a.scatter
    assert_equal(a.merge(b).merge(c), a.merge(b.merge(c)))
    assert_equal(c.merge(a).merge(b), Moments().partial_fit(X, y))
    np.testing.assert_array_equal(a.scatter, before)


def test_all_but_one_fold_is_what_is_computed_directly():
    X, y = samples(500)
    folds = [Moments().partial_fit(X[i::5], y[i::5]) for i in range(5)]
    whole = folds[0].merge(folds[1]).merge(folds[2]).merge(folds[3]).merge(folds[4])
    for i, fold in enumerate(folds):
        kept = np.arange(len(X)) % 5 != i
        assert_equal(whole.without(fold), Moments().partial_fit(X[kept], y[kept]), rtol=1e-10)


def test_a_class_that_is_only_in_the_fold_is_gone_without_it():
    X, y = samples()
    fold = Moments().partial_fit(X[y >= 2], y[y >= 2])
    rest = Moments().partial_fit(X, y).without(fold)
    assert_equal(rest, Moments().partial_fit(X[y < 2], y[y < 2]), rtol=1e-10)


def test_labels_may_be_text_and_new_in_later_batches():
    X, y = samples()
    names = np.array(["a", "bb", "ccc", "d"])[y]
    order = np.argsort(y, kind="stable")
    found = in_batches(X[order], names[order], [20, 90])
    assert_equal(found, Moments().partial_fit(X, names))
    assert found.classes_.tolist() == ["a", "bb", "ccc", "d"]


def test_without_labels_all_samples_are_one_class():
    X, _ = samples()
    found = in_batches(X, None, [60])
    assert (found.classes_.tolist(), found.class_counts_.tolist()) == ([0], [200])
    np.testing.assert_allclose(found.between, 0.0, atol=1e-10)


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
    found = in_batches(X + 1e7, y, [100, 200])
    np.testing.assert_allclose(found.scatter, Moments().partial_fit(X, y).scatter, rtol=1e-6)


X0, Y0 = samples(20)


@pytest.mark.parametrize(
    ("batch", "labels", "sentence"),
    [
        (np.where(np.arange(20)[:, None] == 7, np.nan, X0), Y0, r"NaN or infinite entries, the first one at index \(7"),
        (X0[:, :3], Y0, "the samples before have 7 features, these have 3"),
        (X0, None, "some samples have labels and some have none"),
        (X0, Y0[:5], "5 labels for 20 samples"),
        (X0, np.array(["a", "b"])[Y0 % 2], "of different types: text and numbers"),
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
    with pytest.raises(DataError, match="not of a subset"):
        made.without(Moments().partial_fit(X0[:1], [9]))


def test_moments_and_their_arrays_share_no_memory_and_hold_text_as_text() -> None:
    rng = np.random.default_rng(0)
    X, y, z = rng.normal(size=(20, 3)), np.array(["a", "b"] * 10, dtype=object), rng.normal(size=20)
    moments = Moments().partial_fit(X, y, targets=z)
    before, arrays = moments.cross.copy(), moments.as_arrays()
    assert arrays["classes"].dtype.kind == "U"
    for array in arrays.values():
        array.flags.writeable = False
    Moments.from_arrays(arrays).partial_fit(X + 5, y, targets=z)
    np.testing.assert_array_equal(moments.cross, before)

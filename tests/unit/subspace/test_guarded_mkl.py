"""Guarded MKL: the rule by hand, the average to the last bit, kernels of noise, and real digits."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from mklearn.base.folds import inner_folds
from mklearn.errors import DataError, NotApplicable
from mklearn.kernels.specs import StackTransform
from mklearn.nearest_neighbour import nearest_neighbour_predictions
from mklearn.subspace.guarded_mkl import CANDIDATES, GuardedMKL, choose_by_paired_difference
from mklearn.subspace.kfd import KernelFDA
from mklearn.subspace.loo_mkl import LeaveOneOutMKL


def outcomes(*shares):
    """Outcomes of 100 samples in one repeat: the first ones are right."""
    return {name: np.arange(100)[None] < share for name, share in zip(CANDIDATES[: len(shares)], shares, strict=True)}


# --- the rule


def test_paired_differences_by_hand():
    """Ten samples gained and four lost of 100: 0.06, with s^2 = (0.14 - 0.06^2) 100/99."""
    right = {"uniform": np.zeros((1, 100), dtype=bool), "learned": np.zeros((1, 100), dtype=bool)}
    right["uniform"][0, :4] = True
    right["learned"][0, 4:14] = True
    choice, (step,) = choose_by_paired_difference(right)
    assert (choice, step.candidate, step.against, step.taken) == ("learned", "learned", "uniform", True)
    assert step.difference == pytest.approx(0.06)
    assert step.standard_error == pytest.approx(np.sqrt((0.14 - 0.0036) / 99))
    assert choose_by_paired_difference(right, 0.99 * 0.06 / step.standard_error)[0] == "learned"
    assert choose_by_paired_difference(right, 1.01 * 0.06 / step.standard_error)[0] == "uniform"


def test_repeats_of_a_sample_are_not_samples():
    """The same outcomes five times are no more evidence than once."""
    rng = np.random.default_rng(0)
    once = {name: rng.random((1, 60)) < p for name, p in (("uniform", 0.5), ("learned", 0.6))}
    again = {name: np.repeat(right, 5, axis=0) for name, right in once.items()}
    (one,), (many,) = choose_by_paired_difference(once)[1], choose_by_paired_difference(again)[1]
    assert one.standard_error == pytest.approx(many.standard_error)
    assert one.difference == pytest.approx(many.difference)


@pytest.mark.parametrize(
    ("shares", "choice", "against"),
    [
        ((60, 60, 60), "uniform", ["uniform", "uniform"]),
        ((60, 50, 40), "uniform", ["uniform", "uniform"]),
        ((60, 61, 61), "uniform", ["uniform", "uniform"]),  # one sample gained is exactly one standard error
        ((60, 70, 70), "halfway", ["uniform", "halfway"]),
        ((60, 70, 71), "halfway", ["uniform", "halfway"]),
        ((60, 70, 80), "learned", ["uniform", "halfway"]),
        ((60, 61, 62), "learned", ["uniform", "uniform"]),
    ],
)
def test_each_step_away_from_equal_weights_has_to_earn_it(shares, choice, against):
    found, steps = choose_by_paired_difference(outcomes(*shares))
    assert found == choice
    assert [step.against for step in steps] == against


# --- the estimator


@pytest.fixture(scope="module")
def digits():
    """Ten samples of each digit; kernels on pixels, on rows of them (the first six) and on noise (the last six)."""
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    X = np.hstack([X, rng.normal(size=(len(y), 60))])
    train = np.concatenate([rng.choice(np.flatnonzero(y == k), 10, replace=False) for k in range(10)])
    test = np.setdiff1d(np.arange(len(y)), train)
    scale = {"kind": "gaussian", "centre": True, "normalise": "centred_trace"}
    specs = [
        *({"id": f"pixels {b}", "columns": list(range(64)), "bandwidth": b, **scale} for b in (0.5, 1.0)),
        *({"id": f"rows {r}", "columns": list(range(16 * r, 16 * r + 16)), **scale} for r in range(4)),
        *({"id": f"noise {k}", "columns": list(range(64 + 10 * k, 74 + 10 * k)), **scale} for k in range(6)),
    ]
    transform = StackTransform(specs).fit(X[train])
    return transform.stack_train_.as_last_axis(), y[train], transform.transform(X[test]).as_last_axis(), y[test]


def accuracy(model, K_test, y, y_test):
    return np.mean(nearest_neighbour_predictions(model.embedding_, y, model.transform(K_test), "cosine") == y_test)


def test_kernels_of_noise_earn_learned_weights(digits):
    K, y, K_test, y_test = digits
    model = GuardedMKL(ridge=1e-2, scaling="within").fit(K, y)
    learned = LeaveOneOutMKL(ridge=1e-2, scaling="within").fit(K, y)
    assert model.choice_ != "uniform"
    weights = {"learned": learned.kernel_weights_, "halfway": (learned.shares_ + np.full(12, 1 / 12)) / 2}
    np.testing.assert_allclose(model.kernel_weights_, weights[model.choice_], rtol=1e-6)
    if model.choice_ == "learned":
        np.testing.assert_array_equal(model.embedding_, learned.embedding_)
    average = KernelFDA(ridge=1e-2, scaling="within").fit(K, y)
    assert accuracy(model, K_test, y, y_test) > accuracy(average, K_test, y, y_test) + 0.01
    first = model.steps_[0]
    assert first.taken
    assert first.difference == pytest.approx(model.scores_["halfway"] - model.scores_["uniform"])
    assert first.difference > first.standard_error > 0
    assert model.message_.startswith(model.choice_.capitalize())


@pytest.mark.full
@pytest.mark.parametrize("bar", [1.0, np.float64(50)])
def test_weights_that_earn_nothing_are_the_average_to_the_last_bit(digits, bar):
    """Near copies of one kernel at the usual bar, or any kernels at one that nothing reaches."""
    K, y, K_test, _ = digits
    if bar == 1:
        K, K_test = (np.stack([k[..., 1], k[..., 1], k[..., 1]], axis=-1) for k in (K, K_test))
    model, average = GuardedMKL(standard_errors=bar).fit(K, y), KernelFDA().fit(K, y)
    assert model.choice_ == "uniform"
    np.testing.assert_array_equal(model.kernel_weights_, average.kernel_weights_)
    np.testing.assert_array_equal(model.coefficients_, average.coefficients_)
    np.testing.assert_array_equal(model.embedding_, average.embedding_)
    np.testing.assert_array_equal(model.transform(K_test), average.transform(K_test))
    assert not any(step.taken for step in model.steps_)
    assert list(model.scores_) == list(CANDIDATES)


def test_scores_are_those_of_the_candidates_fitted_on_the_folds(digits):
    """By the public estimators, in the same folds: no sample is classified by weights that it helped to learn."""
    K, y, _, _ = digits
    model = GuardedMKL(folds=3, repeats=1, random_state=4).fit(K, y)
    _, first = np.unique(y, return_index=True)
    codes = np.argsort(np.argsort(first))[y]
    seed = np.random.RandomState(4).randint(np.iinfo(np.int32).max, size=1)
    right = dict.fromkeys(("uniform", "learned"), 0)
    for train, rest in inner_folds(codes, 3, int(seed[0])):
        for name, fitted in (("uniform", KernelFDA()), ("learned", LeaveOneOutMKL())):
            fitted.fit(K[np.ix_(train, train)], y[train])
            right[name] += accuracy(fitted, K[np.ix_(rest, train)], y[train], y[rest]) * len(rest)
    for name, count in right.items():
        assert model.scores_[name] == pytest.approx(count / len(y))


@pytest.mark.full
def test_the_number_of_components_and_names_of_classes_do_not_change_the_choice(digits):
    K, y, _, _ = digits
    base = GuardedMKL().fit(K, y)
    fewer = GuardedMKL(3).fit(K, y)
    named = clone(base).fit(K, np.array([f"digit {9 - k}" for k in range(10)])[y])
    for other in (fewer, named):
        assert (other.scores_, other.steps_) == (base.scores_, base.steps_)
        np.testing.assert_allclose(other.kernel_weights_, base.kernel_weights_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(fewer.embedding_, base.embedding_[:, :3])


def test_a_class_of_one_sample_gives_the_average_and_says_so(digits):
    K, y, _, _ = digits
    rows = np.sort(np.concatenate([np.flatnonzero(y == k)[: 3 if k else 1] for k in range(10)]))
    K, y = K[np.ix_(rows, rows)], y[rows]
    with pytest.warns(UserWarning, match="class 0 has one training sample") as caught:
        model = GuardedMKL().fit(K, y)
    assert caught[0].filename == __file__
    assert model.choice_ == "uniform"
    assert "class 0 has one training sample" in model.message_
    assert (model.scores_, model.steps_) == ({}, [])
    np.testing.assert_array_equal(model.embedding_, KernelFDA().fit(K, y).embedding_)


def test_one_kernel_is_the_discriminant(digits):
    K, y, _, _ = digits
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = GuardedMKL().fit(K[..., :1], y)
    np.testing.assert_array_equal(model.embedding_, KernelFDA().fit(K[..., :1], y).embedding_)
    assert "one kernel" in model.message_


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"y": np.zeros(100)}, NotApplicable, "class"),
        ({"y": None}, DataError, "requires y"),
        ({"K": np.ones((100, 100, 2))}, NotApplicable, "constant|direction"),
        ({"standard_errors": -1.0}, ValueError, "standard_errors"),
        ({"folds": 1}, ValueError, "folds"),
        ({"repeats": 0}, ValueError, "repeats"),
        ({"neighbour": "nearest"}, ValueError, "neighbour"),
    ],
)
@pytest.mark.filterwarnings("ignore:equal kernel weights")
def test_messages_name_the_error(digits, change, error, message):
    data = {"K": digits[0][..., :2], "y": digits[1]} | {key: change[key] for key in ("K", "y") if key in change}
    with pytest.raises(error, match=message):
        GuardedMKL(**{key: value for key, value in change.items() if key not in data}).fit(data["K"], data["y"])

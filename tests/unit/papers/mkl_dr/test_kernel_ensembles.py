"""Voting and SAMME over kernels: the rules on cases made by hand, references from scratch, and real digits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold

from mklearn.errors import NotApplicable
from mklearn.kernels.transform import StackTransform
from mklearn.nearest_neighbour import nearest_neighbour_predictions
from mklearn.papers.mkl_dr.kernel_ensembles import KernelSAMME, KernelVoting, resolve_votes, samme
from mklearn.subspace.kernel_lde import KernelLDE
from mklearn.subspace.kfd import KernelFDA

BOTH = [KernelVoting, KernelSAMME]


# ------------------------------------------------------------------------------------------------------------- voting


@settings(max_examples=100)
@given(st.integers(0, 10_000))
def test_votes_against_a_reference_from_scratch(seed):
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 5))
    votes = rng.integers(0, n_classes, size=(6, 5, int(rng.integers(1, 5))))
    winners, depths = resolve_votes(votes, n_classes)
    for ballots, winner, depth in zip(votes, winners, depths, strict=True):
        expected, at = None, 0
        for r in range(1, 6):
            counts = [int((ballots[:r] == k).sum()) for k in range(n_classes)]
            assert sum(counts) == r * votes.shape[2]
            if counts.count(max(counts)) == 1:
                expected, at = counts.index(max(counts)), r
                break
        if expected is None:
            first = [int((ballots[:1] == k).sum()) for k in range(n_classes)]
            expected = first.index(max(first))
        assert (winner, depth) == (expected, at)


@pytest.fixture(scope="module")
def digits():
    """Noisy digits (no equal distances): kernels on rows of pixels, of unequal worth."""
    X, y = load_digits(return_X_y=True)
    X = X + np.random.default_rng(0).normal(size=X.shape)
    specs = [
        *({"id": f"rows {r}", "kind": "gaussian", "columns": list(range(16 * r, 16 * r + 16))} for r in range(4)),
        {"id": "all", "kind": "gaussian", "bandwidth": 2.0},
    ]
    rng = np.random.default_rng(1)
    train = np.concatenate([rng.choice(np.flatnonzero(y == k), 15, replace=False) for k in range(10)])
    test = np.setdiff1d(np.arange(len(y)), train)[:300]
    transform = StackTransform(specs).fit(X[train])
    return transform.stack_train_.as_last_axis(), y[train], transform.transform(X[test]).as_last_axis(), y[test]


@pytest.mark.parametrize("rule", ["cosine", "euclidean"])
def test_voting_is_the_rule_of_the_paper_on_digits(digits, rule):
    K, y, K_test, y_test = digits
    K, K_test = K[..., :4], K_test[..., :4]  # an even number of middling kernels ties often
    model = KernelVoting(neighbour=rule).fit(K, y)
    orders = []
    for m in range(4):
        single = KernelFDA().fit(K[..., m], y)
        Z, Z_test = single.embedding_, single.transform(K_test[..., m])
        if rule == "cosine":
            centre = Z.mean(axis=0)
            Z, Z_test = ((z - centre) / np.linalg.norm(z - centre, axis=1)[:, None] for z in (Z, Z_test))
        orders.append(np.linalg.norm(Z_test[:, None] - Z[None], axis=-1).argsort(axis=1))
    predictions = model.predict(K_test)
    winners, depths = resolve_votes(np.stack([y[order] for order in orders], axis=-1), 10)
    np.testing.assert_array_equal(predictions, winners)
    assert np.mean(depths > 1) > 0.1, "the kernels were chosen so that votes tie"
    for m in range(4):
        single = KernelFDA().fit(K[..., m], y)
        alone = nearest_neighbour_predictions(single.embedding_, y, single.transform(K_test[..., m]), rule)
        assert np.mean(predictions == y_test) > np.mean(alone == y_test) + 0.05


# -------------------------------------------------------------------------------------------------------------- SAMME


@pytest.mark.parametrize(
    ("options", "picks", "status"),
    [
        ({}, [0, 2, 1], "exhausted"),
        ({"eligible": np.array([True, True, False])}, [0, 1], "exhausted"),
        ({"max_iter": 1}, [0], "max_iter"),
    ],
)
def test_samme_takes_eligible_learners_in_so_many_steps(options, picks, status):
    misses = np.zeros((3, 10), dtype=bool)
    misses[0, [0, 1]] = misses[1, [1, 2, 3]] = misses[2, [1, 4]] = True
    found = samme(misses, 3, **options)
    assert (found.picks.tolist(), found.status) == (picks, status)


@settings(max_examples=100)
@given(seed=st.integers(0, 10_000))
def test_samme_against_a_reference_from_scratch(seed):
    rng = np.random.default_rng(seed)
    c, n, M = int(rng.integers(2, 6)), 30, 5
    misses = rng.random((M, n)) < rng.uniform(0.05, 0.9, size=(M, 1))
    found = samme(misses, c)
    w, left, picks, alphas, expected, status = [1 / n] * n, list(range(M)), [], [], [], "exhausted"
    while left:
        errors = {m: sum(w[i] for i in range(n) if misses[m][i]) / sum(w) for m in left}
        best = min(m for m in left if errors[m] <= min(errors.values()) + 1e-10)
        if errors[best] >= (c - 1) / c - 1e-10:
            status = "chance"
            break
        expected.append(errors[best])
        err = max(errors[best], 1 / (2 * n))
        alphas.append(np.log((1 - err) / err) + np.log(c - 1))
        picks.append(best)
        w = [w[i] * (np.exp(alphas[-1]) if misses[best][i] else 1.0) for i in range(n)]
        left.remove(best)
    if picks:
        assert (found.picks.tolist(), found.status) == (picks, status)
        np.testing.assert_allclose(found.errors, expected, rtol=1e-9)
        np.testing.assert_allclose(found.alphas, alphas, rtol=1e-9, atol=1e-12)
        assert (found.alphas > 0).all()
    else:
        assert found.status == "fallback"
        assert found.picks[0] == misses.mean(axis=1).argmin()


def test_samme_is_boosting_on_cross_validated_errors(digits):
    K, y, K_test, y_test = digits
    model = KernelSAMME(random_state=3).fit(K, y)
    misses = np.empty((5, len(y)), dtype=bool)
    for train, test in StratifiedKFold(3, shuffle=True, random_state=3).split(K, y):
        for m in range(5):
            fda = KernelFDA().fit(K[np.ix_(train, train)][..., m], y[train])
            Z = fda.transform(K[np.ix_(test, train)][..., m])
            misses[m, test] = nearest_neighbour_predictions(fda.embedding_, y[train], Z, "cosine") != y[test]
    np.testing.assert_allclose(model.cv_errors_, misses.mean(axis=1))
    reference = samme(misses, 10)
    np.testing.assert_array_equal(model.picks_, reference.picks)
    np.testing.assert_allclose(model.alphas_, reference.alphas)
    np.testing.assert_allclose(model.errors_, reference.errors)
    assert model.picks_[0] == 4
    expected = np.zeros(5)
    expected[reference.picks] = reference.alphas / reference.alphas.sum()
    np.testing.assert_allclose(model.kernel_weights_, expected)
    # The decision is the weighted vote of models fitted on all samples.
    votes = np.zeros((len(y_test), 10))
    for m, alpha in zip(reference.picks, reference.alphas, strict=True):
        fda = KernelFDA().fit(K[..., m], y)
        nearest = nearest_neighbour_predictions(fda.embedding_, y, fda.transform(K_test[..., m]), "cosine")
        votes[np.arange(len(y_test)), nearest] += alpha
    np.testing.assert_allclose(model.decision_function(K_test), votes / reference.alphas.sum(), atol=1e-12)
    np.testing.assert_array_equal(model.predict(K_test), votes.argmax(axis=1))
    assert len(model.estimators_) == model.n_iter_ == len(model.picks_)


def test_only_uninformative_kernels_raise_a_warning():
    y = np.arange(30) % 3
    K = np.stack([np.eye(30), 2 * np.eye(30)], axis=-1)
    with pytest.warns(UserWarning, match="better than chance"):
        model = KernelSAMME().fit(K, y)
    assert model.status_ == "fallback"
    assert model.kernel_weights_.tolist() == [1.0, 0.0]
    assert set(model.predict(K)) <= {0, 1, 2}


# --------------------------------------------------------------------------------------------------------------- both


@pytest.mark.parametrize("method", BOTH)
@pytest.mark.parametrize("rule", ["cosine", "euclidean"])
@pytest.mark.parametrize(("name", "discriminant"), [("fisher", KernelFDA), ("local", KernelLDE)])
def test_one_kernel_is_the_single_kernel_model(digits, method, rule, name, discriminant):
    K, y, K_test, _ = digits
    single = discriminant(ridge=1e-2).fit(K[..., 4], y)
    expected = nearest_neighbour_predictions(single.embedding_, y, single.transform(K_test[..., 4]), rule)
    model = method(name, ridge=1e-2, neighbour=rule).fit(K[..., 4], y)
    np.testing.assert_array_equal(model.predict(K_test[..., 4]), expected)
    np.testing.assert_array_equal(model.kernel_weights_, [1.0])


def test_samme_uses_no_more_folds_than_the_smallest_class_has_samples():
    y = np.append(np.arange(30) % 3, 3)
    X = np.random.default_rng(0).normal(size=(31, 4)) + 3 * np.eye(4)[y]
    lonely = KernelSAMME().fit(X @ X.T, y)  # boosts on the other classes, but may name this one
    assert lonely.n_splits_ == 3
    assert set(lonely.predict((X @ X.T)[-1:])) == {3}
    assert round(lonely.cv_errors_[0] * 30, 9).is_integer()
    y[0] = 3
    assert KernelSAMME().fit(X @ X.T, y).n_splits_ == 2
    with pytest.raises(NotApplicable, match="one sample only"):
        KernelSAMME().fit(X @ X.T, np.arange(31))

"""The choice that inner folds lead to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mklearn.base.folds import inner_folds
from mklearn.errors import DataError, NotApplicable, SolverFailed
from mklearn.nearest_neighbour import accuracy_by_dimension
from mklearn.study.evaluation.selection import (
    choose,
    hardest_first,
    select_by_leaving_one_out,
    select_by_race,
    select_by_scores,
)


def test_choose_takes_the_best_then_the_fewest_dimensions_then_the_first():
    assert choose([[0.1, 0.2, 0.9], [0.3, 0.9, 0.1]]) == (1, 2)
    assert choose([[0.1, 0.9, 0.9], [0.1, 0.9, 0.9]]) == (0, 2)
    assert choose([[np.nan, np.nan], [0.1, np.nan]]) == (1, 1)
    exact, rounded = (0.1 + 0.2) / 3, 0.3 / 3  # equal fractions that differ in the last bit
    assert exact != rounded
    assert choose([[rounded, exact]]) == choose([[exact, rounded]]) == (0, 1)


def test_choose_takes_the_most_dimensions_within_one_standard_error():
    curve = [0.5, 0.9, 0.8, 0.88, 0.86, np.nan]
    error = np.sqrt(0.9 * 0.1 / 100)
    assert error == pytest.approx(0.03)
    assert choose([curve], "one_standard_error", 100) == (0, 4)
    assert choose([curve], "one_standard_error", 50) == (0, 5)
    assert choose([curve], "one_standard_error", 10**6) == (0, 2)
    assert choose([[0.2, 0.3, 0.9], [0.5, 0.9, 0.8], [0.9, 0.9, 0.2]], "one_standard_error", 100) == (
        2,
        2,
    )  # candidate first
    assert choose([[0.5, 1.0, 0.99]], "one_standard_error", 10) == (0, 2)  # no error at all: nothing is as good
    assert choose([[-0.9, -0.8], [-0.5, -0.6]], "one_standard_error", 10) == (1, 1)  # R^2 may be negative


def test_choose_compares_candidates_at_all_their_dimensions():
    assert choose([[0.9, 0.5, np.nan], [0.1, 0.6, 0.7], [0.1, 0.9, 0.7]], "all") == (1, 3)
    assert choose([[0.9, 0.8, np.nan], [0.1, 0.6, 0.7]], "all") == (0, 2)
    assert choose([[np.nan, np.nan], [0.1, np.nan]], "all") == (1, 1)


def test_choose_needs_a_score():
    with pytest.raises(SolverFailed, match="no score"):
        choose([[np.nan, -np.inf]])
    with pytest.raises(DataError, match="non-empty"):
        choose(np.zeros((0, 3)))


def select_by_every_fold(evaluate, candidates, folds, components="best"):
    """Choose from the scores of every candidate on every fold: what a race must agree with."""
    found = []
    for candidate in candidates:
        try:
            found.append([np.atleast_1d(evaluate(candidate, *fold)) for fold in folds])
        except (NotApplicable, SolverFailed) as error:
            found.append(str(error))
    return select_by_scores(found, components, sum(len(validation) for _, validation in folds))


def score_of(selection):
    return selection.mean_scores[selection.candidate, selection.dimension - 1]


def test_selection_averages_folds_over_common_dimensions():
    folds = inner_folds([0, 0, 1, 1, 0, 1], 3, 0)
    lengths = iter([4, 3, 3])

    def evaluate(candidate, train, validation):
        assert not set(train) & set(validation)
        if candidate == "fails":
            raise NotApplicable("too few samples")
        if candidate == "long":
            return np.linspace(0.1, 0.4, next(lengths))
        return [0.2, 0.3 + 0.1 * (0 in validation), 0.2]

    chosen = select_by_every_fold(evaluate, ["fails", "long", "good"], folds)
    assert (chosen.candidate, chosen.dimension) == (1, 3)
    assert score_of(chosen) == pytest.approx((0.3 + 0.4 + 0.4) / 3)
    np.testing.assert_allclose(chosen.mean_scores[2], [0.2, 0.3 + 0.1 / 3, 0.2])
    assert np.isnan(chosen.mean_scores[0]).all()
    assert chosen.failures == {0: "too few samples"}


def refits_of(Z, limit=None, order=None):
    for i in range(len(Z)) if order is None else order:
        width = Z.shape[1] if limit is None else limit(i)
        yield i, np.delete(Z, i, axis=0)[:, :width], Z[i : i + 1, :width]


def test_leaving_one_out_counts_what_single_samples_get():
    y = np.array([0, 0, 1, 1])
    Z = np.array([[0.0, 5.0], [1.0, 0.0], [1.4, 5.0], [9.0, 0.0]])
    found = select_by_leaving_one_out(lambda _: refits_of(Z), ["only"], y, ["euclidean", "cosine"])
    # In one dimension 0 has 1 and 1 has 1.4 as neighbour, 1.4 has 1, 9 has 1.4; in two 0 -> 2, 1 -> 2, 2 -> 0, 3 -> 1.
    np.testing.assert_allclose(found["euclidean"].mean_scores, [[0.5, 0.0]])
    assert (found["euclidean"].dimension, set(found)) == (1, {"euclidean", "cosine"})


def test_leaving_one_out_ends_where_the_shortest_refit_does():
    y = np.array([0, 0, 1])
    Z = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [3.0, 1.0, 1.0]])
    found = select_by_leaving_one_out(lambda _: refits_of(Z, lambda i: 3 - i), ["only"], y, ["euclidean"])
    assert found["euclidean"].mean_scores.shape == (1, 1)


@settings(max_examples=40)
@given(st.integers(0, 10_000))
def test_a_race_chooses_what_trying_everything_does(seed):
    """In whatever order, and leaves the hopeless early: noise is not tried on every sample."""
    random = np.random.default_rng(seed)
    y = np.arange(24) % 4
    spread = random.permutation([0.1, 0.6, 1.0, 3.0, 9.0])
    embeddings = [np.eye(4)[y] @ random.normal(size=(4, 3)) + s * random.normal(size=(24, 3)) for s in spread]
    tried = dict.fromkeys(range(5), 0)

    def counted(position):
        for refit in refits_of(embeddings[position], order=random.permutation(24)):
            tried[position] += 1
            yield refit

    found = select_by_leaving_one_out(counted, range(5), y, ["euclidean"])["euclidean"]
    curves = [
        np.mean(
            [accuracy_by_dimension(Z, np.delete(y, i), z, y[i : i + 1]) for i, Z, z in refits_of(E)],
            axis=0,
        )
        for E in embeddings
    ]
    assert (found.candidate, found.dimension) == choose(curves)
    assert score_of(found) == pytest.approx(np.max(curves))
    assert tried[int(np.argmax(spread))] < 24 or score_of(found) < 0.6


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.sampled_from(["all", "one_standard_error", "best"]))
def test_a_race_over_folds_chooses_what_trying_everything_does(seed, components):
    """By every rule, with candidates that fail, of different numbers of dimensions, and equally good ones."""
    random = np.random.default_rng(seed)
    n_folds, levels = 6, random.permutation([0.2, 0.5, 0.5, 0.8, 0.8, 0.8])
    table = {
        rule: [
            [
                np.round(np.clip(level + 0.1 * random.normal(size=random.integers(2, 5)), 0, 1), 1)
                for _ in range(n_folds)
            ]
            for level in levels
        ]
        for rule in ("a", "b")
    }
    broken, tried = int(random.integers(-1, 6)), []

    def curves(candidate):
        for fold in range(n_folds):
            if candidate == broken and fold == 3:
                raise SolverFailed("no solution")
            tried.append((candidate, fold))
            yield {rule: table[rule][candidate][fold] for rule in table}

    found = select_by_race(curves, range(6), n_folds, ["a", "b"], components, 60)
    assert len(set(tried)) == len(tried)
    for rule, chosen in found.items():

        def evaluate(candidate, fold, _, rule=rule):
            if candidate == broken and fold == 3:
                raise SolverFailed("no solution")
            return table[rule][candidate][fold]

        wanted = select_by_every_fold(evaluate, range(6), [(fold, range(10)) for fold in range(n_folds)], components)
        assert (chosen.candidate, chosen.dimension) == (wanted.candidate, wanted.dimension)
        assert score_of(chosen) == pytest.approx(score_of(wanted))


def test_a_race_over_folds_leaves_the_hopeless_early():
    tried = []

    def curves(candidate):
        for fold in range(10):
            tried.append((candidate, fold))
            yield {"": [[0.9, 0.3][candidate]]}

    assert select_by_race(curves, range(2), 10, [""])[""].candidate == 0
    assert max(fold for candidate, fold in tried if candidate == 1) < 2


def test_hard_samples_come_first():
    """Nearer to another class than to their own; a sample that is alone in its class before all, equal ones last."""
    y = np.array([0, 0, 0, 1, 1, 2, 3, 3])
    X = np.array([[0.0], [1.0], [4.0], [5.0], [8.0], [30.0], [60.0], [60.0]])
    order = hardest_first(X @ X.T, y).tolist()
    assert sorted(order) == list(range(8))
    assert order[:3] == [5, 2, 3]  # alone; 1 against 3 from others and own; 1 against 3, the tie by position
    assert order[-2:] == [6, 7]


def test_a_race_over_hard_samples_first_is_shorter():
    """Candidates that differ little: one falls behind by its mistakes, which are among the hard samples."""
    random = np.random.default_rng(0)
    y = np.repeat(np.arange(8), 6)
    embeddings = [np.eye(8)[y] * 3.0 + spread * random.normal(size=(48, 8)) for spread in (0.6, 0.8, 0.9, 1.0)]

    def race(order_of):
        tried = []

        def refits(position):
            Z = embeddings[position]
            for refit in refits_of(Z, order=order_of(Z)):
                tried.append(position)
                yield refit

        chosen = select_by_leaving_one_out(refits, range(4), y, ["euclidean"])["euclidean"]
        return chosen.candidate, chosen.dimension, len(tried)

    *plain, before = race(lambda Z: range(48))
    *sorted_, after = race(lambda Z: hardest_first(Z @ Z.T, y))
    assert plain == sorted_
    assert after < 0.8 * before


def test_a_race_without_a_candidate_left():
    def failing(_):
        raise NotApplicable("one class only")
        yield

    with pytest.raises(SolverFailed, match="one class only"):
        select_by_leaving_one_out(failing, ["a", "b"], np.array([0, 1]), ["euclidean"])

    def broken(_):
        raise ZeroDivisionError("broken")
        yield

    with pytest.raises(ZeroDivisionError):
        select_by_leaving_one_out(broken, ["a", "b"], np.array([0, 1]), ["euclidean"])


def test_without_a_number_of_samples_the_standard_error_is_zero() -> None:
    assert choose([[0.5, 0.9, 0.89]], "one_standard_error") == (0, 2)

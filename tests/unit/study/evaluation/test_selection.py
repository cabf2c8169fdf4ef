"""The choice that inner folds lead to."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mklearn.errors import NotApplicable, SolverFailed
from mklearn.nearest_neighbour import accuracy_by_dimension
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.selection import choose, mean_curves, race, select


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
    several = [[0.2, 0.3, 0.9], [0.5, 0.9, 0.8], [0.9, 0.9, 0.2]]
    assert choose(several, "one_standard_error", 100) == (2, 2)  # candidate first
    assert choose([[0.5, 1.0, 0.99]], "one_standard_error", 10) == (0, 2)  # no error at all: nothing is as good
    assert choose([[-0.9, -0.8], [-0.5, -0.6]], "one_standard_error", 10) == (1, 1)  # R^2 may be negative


def test_choose_compares_candidates_at_all_their_dimensions():
    assert choose([[0.9, 0.5, np.nan], [0.1, 0.6, 0.7], [0.1, 0.9, 0.7]], "all") == (1, 3)
    assert choose([[0.9, 0.8, np.nan], [0.1, 0.6, 0.7]], "all") == (0, 2)
    assert choose([[np.nan, np.nan], [0.1, np.nan]], "all") == (1, 1)
    with pytest.raises(SolverFailed, match="no score"):
        choose([[np.nan, -np.inf]])


def test_the_mean_is_of_the_dimensions_that_every_fold_has():
    long = [np.linspace(0.1, 0.4, length) for length in (4, 3, 3)]
    curves = mean_curves(["too few samples", long, [np.array([0.2, 0.3, 0.2]), np.array([0.2, 0.4, 0.2])]])
    np.testing.assert_allclose(curves[1:], [[0.1, (0.2 + 0.25 * 2) / 3, (0.3 + 0.4 * 2) / 3], [0.2, 0.35, 0.2]])
    assert np.isnan(curves[0]).all()
    assert select(curves, "best", 6) == (1, -1)  # all that it has: of another fit, the last
    assert select(curves[[0, 2]], "best", 6) == (1, 1)
    with pytest.raises(SolverFailed, match="first because: too few samples"):
        mean_curves(["too few samples", "rank"])


def refits_of(Z, limit=None, order=None):
    for i in range(len(Z)) if order is None else order:
        width = Z.shape[1] if limit is None else limit(i)
        yield i, np.delete(Z, i, axis=0)[:, :width], Z[i : i + 1, :width]


def winner(refits, y):
    scores = race(refits, y, ["euclidean"], metric_named("accuracy"))["euclidean"]
    return select(mean_curves(scores), "best", len(y))


def test_leaving_one_out_counts_what_single_samples_get():
    y = np.array([0, 0, 1, 1])
    Z = np.array([[0.0, 5.0], [1.0, 0.0], [1.4, 5.0], [9.0, 0.0]])
    # In one dimension 0 has 1 and 1 has 1.4 as neighbour, 1.4 has 1, 9 has 1.4; in two 0 -> 2, 1 -> 2, 2 -> 0, 3 -> 1.
    assert winner([refits_of(Z)], y) == (0, 0)
    assert winner([refits_of(Z, lambda i: 1 + (i < 2))], y) == (0, -1)  # where the shortest refit ends
    assert set(race([refits_of(Z)], y, ["euclidean", "cosine"], metric_named("accuracy"))) == {"euclidean", "cosine"}


@settings(max_examples=40)
@given(st.integers(0, 10_000))
def test_a_race_chooses_what_trying_everything_does(seed):
    random = np.random.default_rng(seed)
    y = np.arange(24) % 4
    spread = random.permutation([0.1, 0.6, 1.0, 3.0, 9.0])
    embeddings = [np.eye(4)[y] @ random.normal(size=(4, 3)) + s * random.normal(size=(24, 3)) for s in spread]
    tried = dict.fromkeys(range(5), 0)

    def counted(position):
        for refit in refits_of(embeddings[position], order=random.permutation(24)):
            tried[position] += 1
            yield refit

    candidate, position = winner([counted(position) for position in range(5)], y)
    curves = [
        np.mean([accuracy_by_dimension(Z, np.delete(y, i), z, y[i : i + 1]) for i, Z, z in refits_of(E)], axis=0)
        for E in embeddings
    ]
    best, dimension = choose(curves)
    assert (candidate, range(3)[position]) == (best, dimension - 1)
    assert tried[int(np.argmax(spread))] < 24 or np.max(curves) < 0.6


def test_a_race_without_a_candidate_left():
    def failing(error):
        raise error
        yield

    of_errors = {NotApplicable("no rank"): SolverFailed, ZeroDivisionError("no rank"): ZeroDivisionError}
    for error, expected in of_errors.items():
        with pytest.raises(expected, match="no rank"):
            winner([failing(error), failing(error)], np.array([0, 1]))

"""Nearest-neighbour sweeps agree with brute force, with scikit-learn, and with the invariances of both rules."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.neighbors import KNeighborsClassifier

from mklearn import nearest_neighbour as module
from mklearn.errors import DataError
from mklearn.nearest_neighbour import (
    RULES,
    nearest_neighbour_indices,
    nearest_neighbour_predictions,
    nearest_neighbour_predictions_by_dimension,
)


@pytest.fixture
def problem():
    generator = np.random.default_rng(3)
    y = np.repeat(np.arange(6), 9)
    centres = generator.normal(size=(6, 12))
    Z = centres[y] + generator.normal(size=(54, 12)) + 5.0  # far from the origin: the centring matters
    order = generator.permutation(54)
    return Z[order[:30]], y[order[:30]], Z[order[30:]], y[order[30:]]


def accuracies(problem, rule):
    *embedded, y_test = problem
    return (nearest_neighbour_predictions_by_dimension(*embedded, rule) == y_test).mean(axis=1)


def test_every_dimension_equals_scikit_learn(problem):
    Z_train, y_train, Z_test, y_test = problem
    centre = Z_train.mean(axis=0)

    def score(q, metric, centre):
        classifier = KNeighborsClassifier(1, algorithm="brute", metric=metric)
        return classifier.fit((Z_train - centre)[:, :q], y_train).score((Z_test - centre)[:, :q], y_test)

    expected = [score(q, "euclidean", 0) for q in range(1, 13)]
    np.testing.assert_array_equal(accuracies(problem, "euclidean"), expected)
    expected = [score(q, "cosine", centre) for q in range(2, 13)]
    np.testing.assert_array_equal(accuracies(problem, "cosine")[1:], expected)
    assert score(12, "cosine", 0) != expected[-1], "the fixture must tell centred from uncentred"


def test_cosine_on_a_line_is_the_euclidean_rule(problem):
    """There a cosine about the mean is a sign, and nearly all samples are tied; constant columns don't change that."""
    Z_train, y_train, Z_test, _ = (np.array(part) for part in problem)
    Z_train[:, 1:3] = Z_test[:, 1:3] = 0.1
    swept = {rule: nearest_neighbour_predictions_by_dimension(Z_train, y_train, Z_test, rule) for rule in RULES}
    np.testing.assert_array_equal(swept["cosine"][:3], swept["euclidean"][:3])
    assert (swept["cosine"][3:] != swept["euclidean"][3:]).any()
    for width in (1, 3):
        pair = Z_train[:, :width], Z_test[:, :width]
        found = {rule: nearest_neighbour_indices(*pair, rule) for rule in RULES}
        np.testing.assert_array_equal(found["cosine"], found["euclidean"])


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=30)
@given(data=st.data())
def test_no_prediction_depends_on_the_order_of_training_samples(rule, data):
    """Small integers: many samples of two classes coincide, or are at the same distance."""
    n, p = data.draw(st.integers(2, 12)), data.draw(st.integers(1, 3))
    Z_train = data.draw(hnp.arrays(float, (n, p), elements=st.integers(-2, 2)))
    Z_test = data.draw(hnp.arrays(float, (6, p), elements=st.integers(-2, 2)))
    y_train = data.draw(hnp.arrays(int, n, elements=st.integers(0, 2)))
    order = data.draw(st.permutations(range(n)))
    for predict in (nearest_neighbour_predictions, nearest_neighbour_predictions_by_dimension):
        found = predict(Z_train, y_train, Z_test, rule)
        np.testing.assert_array_equal(predict(Z_train[order], y_train[order], Z_test, rule), found)


@pytest.mark.parametrize("rule", RULES)
def test_rounding_decides_no_tie(rule):
    """A sample on the axis of a regular simplex is as near to each vertex, and so it is after a rotation."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        rotation = np.linalg.qr(rng.normal(size=(9, 9)))[0]
        Z_train, Z_test = (Z @ rotation for Z in (np.eye(9) - 1 / 9, np.full((2, 9), [[1.0], [-3.0]])))
        for predict in (
            nearest_neighbour_predictions,
            lambda *each: nearest_neighbour_predictions_by_dimension(*each)[-1],
        ):
            assert predict(Z_train, np.arange(9), Z_test, rule).tolist() == [0, 0]


@pytest.mark.parametrize("rule", RULES)
def test_a_sweep_has_the_predictions_of_each_dimension(problem, rule, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK_ENTRIES", 61)  # several blocks of test rows
    Z_train, y_train, Z_test, _ = problem
    swept = nearest_neighbour_predictions_by_dimension(Z_train, y_train, Z_test, rule)
    assert swept.shape == (12, 24)
    assert swept.dtype == y_train.dtype
    for q in range(1, 13):
        labels = nearest_neighbour_predictions(Z_train[:, :q], y_train, Z_test[:, :q], rule)
        np.testing.assert_array_equal(swept[q - 1], labels)


def test_zero_vectors_have_zero_similarity():
    Z_train = np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.0, -1.0]])  # 1, 3 at the mean
    Z_test = np.array([[0.0, 0.0], [3.0, 0.0], [-3.0, 0.0]])
    np.testing.assert_array_equal(nearest_neighbour_indices(Z_train, Z_test, "cosine"), [0, 2, 0])


FLOATS = st.integers(-50, 50).map(float)


@settings(max_examples=60)
@given(
    hnp.arrays(float, (7, 3), elements=FLOATS),
    hnp.arrays(float, (5, 3), elements=FLOATS),
    st.sampled_from([0.25, 2.0, 1024.0]),
)
def test_euclidean_is_exact_brute_force_and_scale_free(Z_train, Z_test, scale):
    squared = ((Z_test[:, None, :] - Z_train[None]) ** 2).cumsum(axis=2)  # integers: no rounding at all
    for q in (1, 2, 3):
        expected = squared[:, :, q - 1].argmin(axis=1)
        for factor in (1, scale):
            indices = nearest_neighbour_indices(factor * Z_train[:, :q], factor * Z_test[:, :q], "euclidean")
            np.testing.assert_array_equal(indices, expected)


@settings(max_examples=60)
@given(
    hnp.arrays(float, (8, 3), elements=FLOATS),
    hnp.arrays(float, (5, 3), elements=FLOATS),
    hnp.arrays(float, (3,), elements=FLOATS),
    st.floats(0.1, 30.0),
)
def test_cosine_ignores_a_shift_of_all_and_the_length_of_a_test_vector(Z_train, Z_test, shift, stretch):
    centre = Z_train.mean(axis=0)
    first = nearest_neighbour_indices(Z_train, Z_test, "cosine")
    chosen = _similarity(Z_train[first] - centre, Z_test - centre)
    best = np.max(
        [_similarity(np.broadcast_to(row, Z_test.shape), Z_test - centre) for row in Z_train - centre], axis=0
    )
    np.testing.assert_allclose(chosen, best, atol=1e-9)
    moved = nearest_neighbour_indices(Z_train + shift, centre + stretch * (Z_test - centre) + shift, "cosine")
    np.testing.assert_allclose(_similarity(Z_train[moved] - centre, Z_test - centre), best, atol=1e-6)


def _similarity(a, b):
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    noise = 1e-10
    return np.where(lengths > noise, (a * b).sum(axis=1) / np.where(lengths > noise, lengths, 1.0), 0.0)


def test_messages_name_the_error(problem):
    Z_train, y_train, Z_test, _ = problem
    wrong = {
        "rule 'manhattan' is unknown": {"rule": "manhattan"},
        "Z_train has 12 columns and Z_test 11": {"Z_test": Z_test[:, 1:]},
        "y_train has shape": {"y_train": y_train[:-1]},
        "is empty": {"Z_train": Z_train[:, :0]},
    }
    right = {"Z_train": Z_train, "y_train": y_train, "Z_test": Z_test}
    for message, changed in wrong.items():
        with pytest.raises(DataError, match=message):
            nearest_neighbour_predictions_by_dimension(**right | changed)

"""GLRAM, 2DLDA and 2DMMC by their definitions, in loops, and what all of them do."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits

from mklearn.errors import ConfigError, DataError, NotApplicable, SolverFailed
from mklearn.papers.two_d_mmc import GLRAM, TwoDLDA, TwoDMMC, iterations_figure

METHODS = [GLRAM, TwoDLDA, TwoDMMC]
SCALINGS = ["within", "total", "unit", "orthonormal"]
every_method = pytest.mark.parametrize("method", METHODS)


def make_images(seed: int, classes: int = 4, per_class: int = 6, rows: int = 7, cols: int = 5, noise: float = 1.0):
    """Random class means and unequal noise; class sizes differ by one."""
    rng = np.random.default_rng(seed)
    counts = per_class + np.arange(classes) % 2
    y = rng.permutation(np.repeat(np.arange(classes), counts))
    means = rng.normal(size=(classes, rows, cols))
    spread = noise * rng.uniform(0.3, 1.5, size=(rows, cols))
    return means[y] + spread * rng.normal(size=(len(y), rows, cols)) + 3.0, y


@pytest.fixture(scope="module")
def images():
    """(26, 7, 5) images of four classes."""
    return make_images(0)


# --- against loops


def moments(X, R):
    return sum(A @ R @ R.T @ A.T for A in X)


def one_sided(X, y, R):
    """S_b^R and S_w^R of equations (3) to (5)."""
    mean, between, within = X.mean(axis=0), 0.0, 0.0
    for k in np.unique(y):
        class_mean = X[y == k].mean(axis=0)
        between = between + np.sum(y == k) * moments([class_mean - mean], R)
        within = within + moments(X[y == k] - class_mean, R)
    return between, within


def scatters(X, y, U, V):
    return tuple(np.trace(U.T @ S @ U) for S in one_sided(X, y, V))


def leading(S, size):
    V = np.linalg.eigh(S)[1][:, -size:]
    return V, np.trace(V.T @ S @ V)


def fisher_step(X, y, R, size, ridge, scaling):
    between, within = one_sided(X, y, R)
    regular = within + ridge * np.trace(within) / len(within) * np.eye(len(within))
    V = scipy.linalg.eigh(between, regular)[1][:, : -size - 1 : -1]
    if scaling == "total":
        V = V / np.sqrt(np.diag(V.T @ (between + regular) @ V))
    elif scaling == "unit":
        V = V / np.linalg.norm(V, axis=0)
    elif scaling == "orthonormal":
        V = np.linalg.qr(V)[0]
    return V, np.trace(V.T @ between @ V) / np.trace(V.T @ regular @ V)


CASES: list[tuple[Any, Any]] = [
    (GLRAM(), lambda X, y, R, size: leading(moments(X, R), size)),
    (TwoDMMC(trade_off=0.7), lambda X, y, R, size: leading(np.tensordot([1, -0.7], one_sided(X, y, R), 1), size)),
    *(
        (TwoDLDA(ridge=r, scaling=s), lambda X, y, R, size, r=r, s=s: fisher_step(X, y, R, size, r, s))
        for r in (0.0, 1e-10, 0.1, 1.0)
        for s in SCALINGS
    ),
]


@pytest.mark.parametrize(("model", "step"), CASES, ids=[str(model) for model, _ in CASES])
def test_equals_explicit_loops(images, model, step):
    """Values are of (U1, V0), (U1, V1), (U2, V1), ...; GLRAM starts with the other side."""
    X, y = images
    first = isinstance(model, GLRAM)
    size, other = ((2, 3), (3, 2))[first], ((3, 2), (2, 3))[first]
    A = X.transpose(0, 2, 1) if first else X
    R, values = np.eye(A.shape[2], size[0]), []
    for _ in range(3):
        L, value = step(A, y, R, other[0])
        R, second = step(A.transpose(0, 2, 1), y, L, other[1])
        values += [value, second]
    model = clone(model).set_params(n_components=(3, 2), max_iter=3, tol=0.0).fit(X, y)
    np.testing.assert_allclose(model.objective_history_, values, rtol=1e-7)
    columns = (model.right_components_, model.left_components_)[:: 1 if first else -1]
    for ours, theirs in zip(columns, (L, R), strict=True):
        if isinstance(model, TwoDLDA):  # up to signs of columns
            np.testing.assert_allclose(np.abs(ours), np.abs(theirs), rtol=1e-6, atol=1e-8)
        else:
            np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-10)


@settings(max_examples=40)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 5),
    st.one_of(st.just("trace_ratio"), st.floats(0, 20)),
)  # fmt: skip
def test_every_half_step_increases_the_objective(seed, l1, l2, trade_off):
    X, y = make_images(seed, rows=6, noise=2.0)
    margin = TwoDMMC((l1, l2), trade_off=trade_off, tol=0.0).fit(X, y)
    total = scatters(X, y, np.eye(6), np.eye(5))
    assert margin.trade_off_ == pytest.approx(total[0] / total[1] if trade_off == "trace_ratio" else trade_off)
    weights = np.array([1.0, -margin.trade_off_])
    glram = GLRAM((l1, l2), tol=0.0).fit(X)
    for model, value, scale in (
        (margin, lambda L, R: weights @ scatters(X, y, L, R), np.abs(weights) @ total),
        (glram, lambda L, R: np.trace(L.T @ moments(X, R) @ L), np.sum(X**2)),
    ):
        L, R, history = model.left_components_, model.right_components_, model.objective_history_
        assert len(history) == 2 * model.n_iter_
        assert (np.diff(history) >= -1e-12 * scale).all()
        assert history[-1] == pytest.approx(value(L, R), rel=1e-9, abs=1e-11 * scale)
        np.testing.assert_allclose(L.T @ L, np.eye(l1), atol=1e-12)
        np.testing.assert_allclose(R.T @ R, np.eye(l2), atol=1e-12)


def test_vectors_are_images_of_one_column(images):
    """Then GLRAM is uncentred PCA, 2DMMC is MMC, and 2DLDA is LDA."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    X, y = images
    flat = X.reshape(len(X), -1)
    between, within = one_sided(flat[:, :, None], y, np.eye(1))
    for model, expected in (
        (GLRAM(3), np.linalg.svd(flat)[2][:3]),
        (TwoDMMC(3, trade_off=1.0), np.linalg.eigh(between - within)[1][:, :-4:-1].T),
    ):
        fitted = model.fit(flat, y)
        assert fitted.right_components_.shape == (1, 1)
        np.testing.assert_allclose(np.abs(expected @ fitted.left_components_), np.eye(3), atol=1e-7)
    X, y = make_images(2, per_class=12, rows=6, cols=1)
    model = TwoDLDA(3, ridge=0.0).fit(X[:, :, 0], y)
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(X[:, :, 0], y).scalings_[:, :3]
    cosines = np.sum(model.left_components_ * theirs, axis=0)
    cosines /= np.linalg.norm(model.left_components_, axis=0) * np.linalg.norm(theirs, axis=0)
    np.testing.assert_allclose(np.abs(cosines), 1, atol=1e-8)


# --- what all of them do


@every_method
def test_shapes_and_signs(method, images):
    X, y = images
    whole = method((3, 2)).fit(X, y)
    assert whole.shape_ == (7, 5)
    assert whole.n_features_in_ == 35
    np.testing.assert_array_equal(whole.transform(X.reshape(len(X), -1)), whole.transform(X))
    # features are L'XR, row by row
    first = whole.left_components_.T @ X[0] @ whole.right_components_
    np.testing.assert_allclose(whole.transform(X)[0], first.ravel(), atol=1e-12)
    for columns in (whole.left_components_, whole.right_components_):
        assert (columns[np.abs(columns).argmax(axis=0), np.arange(columns.shape[1])] > 0).all()


@every_method
def test_blank_margins_do_not_stop_the_alternation(method) -> None:
    """Kills: the start (I, 0)', which sees the margin alone: every objective is 0, which is "converged"."""
    X, y = make_images(0)
    fitted = method(2).fit(np.pad(X, ((0, 0), (3, 3), (3, 3))), y)
    assert fitted.objective_history_[-1] > 0
    assert fitted.embedding_.std(axis=0).min() > 1e-6


def test_figure_shows_accuracy_by_iteration() -> None:
    digits = load_digits()
    X, y = digits.images[:60], digits.target[:60]
    ids, test = np.array([f"d{number}" for number in range(60)]), np.arange(60) >= 40
    row = {"dataset": "d", "protocol": "p", "train_size": 4, "method": "m"}
    predictions = SimpleNamespace(by_rule=lambda keys: pd.DataFrame({"repeat": 0, "fold": 0, "sample": ids[test]}))
    samples: Any = {"d": SimpleNamespace(images=X, y=y, ids=ids)}
    results: Any = SimpleNamespace(samples=samples, scores=pd.DataFrame([row]), predictions=predictions)
    (drawn,) = iterations_figure.iterations_figure(results).figures
    values = pd.DataFrame(drawn.draw()["data"]["values"])
    assert len(values) == len(iterations_figure.METHODS) * iterations_figure.ITERATIONS
    for label, method in iterations_figure.METHODS.items():
        model = clone(method).set_params(max_iter=3, tol=0.0).fit(X[~test], y[~test])
        third = values[values["k"].eq(label) & values["x"].eq(3)]["y"].iloc[0]
        assert third == pytest.approx(100 * np.mean(model.predict(X[test]) == y[test]), abs=0.06)


# --- errors


def test_classes_without_variation() -> None:
    X, y = np.random.default_rng(0).normal(size=(3, 4, 4)).repeat(2, axis=0), np.repeat([0, 1, 2], 2)
    for method in (TwoDLDA, TwoDMMC):
        with pytest.raises(NotApplicable, match="no class varies"):
            method(2).fit(X, y)
    assert TwoDMMC(2, trade_off=1.0).fit(X, y).embedding_.shape == (6, 4)
    X, y = make_images(0, classes=2, per_class=2, rows=12, cols=3)
    with pytest.raises(SolverFailed, match="ridge"):
        TwoDLDA(1, ridge=0.0).fit(X, y)
    assert np.isfinite(TwoDLDA(1, ridge=1e-10, scaling="orthonormal").fit(X, y).embedding_).all()


@every_method
@pytest.mark.parametrize(
    ("n_components", "error", "message"),
    [
        (6, NotApplicable, "at most 7 components on the left and 5 on the right"),
        ((8, 5), NotApplicable, "n_components"),
        ((1, 2, 3), ConfigError, "two integers >= 1"),
        ((7.0, 5.0), ConfigError, "two integers >= 1"),
        ((0, 2), ConfigError, "n_components"),
    ],
)
def test_wrong_numbers_of_components(method, n_components, error, message, images):
    with pytest.raises(error, match=message):
        method(n_components).fit(*images)


@every_method
def test_images_of_another_shape_are_refused(method, images):
    with pytest.raises(DataError, match="fitted with"):
        method(2).fit(*images).transform(images[0].transpose(0, 2, 1))

"""The localized MKL SVM as an estimator: what gates, scaling, several classes, restarts, limits and errors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits

from mklearn.classifiers import LMKLSVC, KernelSVC
from mklearn.errors import ConfigError, DataError
from mklearn.kernels import Pairwise, StackTransform, Views
from mklearn.kernels.feature_scaling import FeatureScaler
from mklearn.optimize.gating import gated_kernel
from mklearn.study.evaluation.fitted import lookup_of
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.outputs import MethodOutput

SPECS = [
    {"kind": "gaussian", "bandwidth": 0.3},
    {"kind": "gaussian", "bandwidth": 2.0},
    {"kind": "linear", "normalise": "centred_trace"},
]
RIDGED = {"gate": "sigmoid", "gate_scale": "average", "solver": "lbfgs", "ridge": 0.1}


def stacks(X, n):
    transform = StackTransform(SPECS).fit(X[:n])
    return np.array(transform.stack_train_.as_last_axis()), np.array(transform.transform(X[n:]).as_last_axis())


@pytest.fixture(scope="module")
def cancer():
    """Kernels of all features, gating by the first five, in two units and one of them constant."""
    X, y = load_breast_cancer(return_X_y=True)
    G = np.column_stack([X[:, :4], 1000 * X[:, 4], np.full(len(X), 7.0)])
    K, K_test = stacks(X, 200)
    return K, K_test, G[:200], G[200:], y[:200], y[200:]


@pytest.mark.parametrize("options", [{}, {"gate": "sigmoid"}, RIDGED], ids=["softmax", "sigmoid", "ridge"])
def test_decisions_by_hand(cancer, options):
    K, K_test, G, G_test, y, y_test = cancer
    model = LMKLSVC(C=2.0, random_state=3, **options).fit(K, y, gating=G)
    values = model.decision_function(K_test, gating=G_test)
    np.testing.assert_array_equal(model.predict(K_test, gating=G_test), (values > 0).astype(int))
    assert np.mean((values > 0) == y_test) > 0.9
    deviation = G.std(axis=0, ddof=1)
    deviation[5] = 1.0
    Z, Z_test = ((part - G.mean(axis=0)) / deviation for part in (G, G_test))
    (V,) = model.machines_.V
    a, a_test = (np.column_stack([np.ones(len(part)), part]) @ V.T for part in (Z, Z_test))
    if options:
        scale = 2 / np.sqrt(3) if "gate_scale" in options else 1.0
        eta, eta_test = (scale / (1 + np.exp(-part)) for part in (a, a_test))
    else:
        eta, eta_test = (np.exp(part) / np.exp(part).sum(axis=1, keepdims=True) for part in (a, a_test))
    np.testing.assert_allclose(model.machines_.eta[0], eta, atol=1e-12)
    np.testing.assert_allclose(model.localized_weights(gating=G_test), eta_test, atol=1e-12)
    np.testing.assert_allclose(model.localized_weights(K_test, gating=G_test), eta_test, atol=1e-12)
    kernel = np.einsum("im,ijm,jm->ij", eta_test, K_test, eta)
    by_hand = kernel @ model.machines_.dual[0] + model.machines_.intercept[0]
    np.testing.assert_allclose(values, by_hand, atol=1e-9)
    assert model.objective_ == model.objective_history_[0][-1] < model.objective_history_[0][0]
    np.testing.assert_allclose(model.kernel_weights_, eta.mean(axis=0) / eta.mean(axis=0).sum())
    # the machine is scikit-learn's on the gated kernel
    gated = gated_kernel(np.ascontiguousarray(np.moveaxis(K, -1, 0)), eta)
    alone = KernelSVC(C=2.0, C_scale="none").fit(gated, y)
    np.testing.assert_allclose(alone.decision_function(kernel), values, atol=2e-2)


VIEWS = [{"kind": "gaussian", "view": "d", "bandwidth": width} for width in (0.5, 2.0)]


@pytest.fixture(scope="module")
def views():
    """Distances among a hundred samples, and features that gate."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:150], y[:150]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return Views({"d": Pairwise(cdist(Z, Z, "sqeuclidean")), "gates": X[:, :4]}), X[:, :4], y


@pytest.mark.parametrize("options", [{}, RIDGED], ids=["softmax", "ridge"])
def test_a_view_gates_as_the_features_given_to_fit(views, options):
    X, G, y = views
    train, test = slice(0, 100), slice(100, None)
    given = LMKLSVC(kernels=VIEWS, **options).fit(X[train], y[train], gating=G[train])
    model = clone(LMKLSVC(kernels=VIEWS, gating="gates", **options)).fit(X[train], y[train])
    values = model.decision_function(X[test])
    np.testing.assert_array_equal(values, given.decision_function(X[test], gating=G[test]))
    np.testing.assert_array_equal(model.predict(X[test]), given.predict(X[test], gating=G[test]))
    np.testing.assert_array_equal(model.localized_weights(X[test]), given.localized_weights(gating=G[test]))
    np.testing.assert_array_equal(model.localized_weights(gating=G[test]), given.localized_weights(gating=G[test]))
    assert model.gating_source_ == "gating"
    assert len(np.unique(model.localized_weights(X[test]))) > 2
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X[test]), values)
    output = MethodOutput(y[train], y[test], model.predict(X[test]), lookup_of(model, 100, X[test]))
    assert metric_named("auc").score(output) > 0.95
    assert metric_named("support_vector_share").score(output) == pytest.approx(len(model.support_) / 100)


def test_a_view_that_gates_is_completed_by_the_training_samples(views):
    """Columns, missing values and scaling as in the spec of a kernel."""
    X, G, y = views
    gaps = G.copy()
    gaps[::7, 1] = np.nan
    X = Views({"d": X["d"], "gates": gaps})
    train, test = slice(0, 100), slice(100, None)
    spec = {"view": "gates", "columns": [1, 2], "impute": "median", "feature_scaling": "rank"}
    model = LMKLSVC(kernels=VIEWS, gating=spec, **RIDGED).fit(X[train], y[train])
    filled = np.where(np.isnan(gaps), np.nanmedian(gaps[train], axis=0), gaps)[:, [1, 2]]
    scaler = FeatureScaler("rank").fit(filled[train])
    given = LMKLSVC(kernels=VIEWS, **RIDGED).fit(X[train], y[train], gating=scaler.transform(filled[train]))
    expected = given.decision_function(X[test], gating=scaler.transform(filled[test]))
    np.testing.assert_array_equal(model.decision_function(X[test]), expected)
    with pytest.raises(DataError, match="gates"):
        LMKLSVC(kernels=VIEWS, gating="gates").fit(X, y)


@pytest.mark.parametrize(
    ("gating", "error", "message"),
    [
        ("others", DataError, "there is no view 'others'; available: 'd', 'gates'"),
        ({"columns": [0]}, ConfigError, "`gating` names no view"),
        ({"view": "gates", "scale": 1}, ConfigError, "`gating` has the unknown key 'scale'"),
        ("d", DataError, r"view 'd' is Pairwise\(150 samples, 150 columns\) and has no features"),
    ],
)
def test_views_that_can_not_gate(views, gating, error, message):
    X, G, y = views
    with pytest.raises(error, match=message):
        LMKLSVC(kernels=VIEWS, gating=gating).fit(X, y)
    with pytest.raises(DataError, match="given twice"):
        LMKLSVC(kernels=VIEWS, gating="gates").fit(X, y, gating=G)


def test_default_start_is_the_documented_one(cancer):
    K, _, G, _, y, _ = cancer
    V0 = np.random.default_rng(5).uniform(-0.01, 0.01, (3, 7))
    given = LMKLSVC(V0=V0).fit(K, y, gating=G)
    drawn = LMKLSVC(random_state=5).fit(K, y, gating=G)
    np.testing.assert_array_equal(given.machines_.V, drawn.machines_.V)
    stopped = LMKLSVC(random_state=5, max_iter=0).fit(K, y, gating=G)
    np.testing.assert_array_equal(stopped.machines_.V[0], V0)


def test_units_and_order_of_gating_features_do_not_matter(cancer):
    K, K_test, G, G_test, y, _ = cancer
    start = np.random.default_rng(0).uniform(-0.01, 0.01, (3, 7))
    order = [4, 2, 0, 5, 1, 3]
    one = LMKLSVC(V0=start).fit(K, y, gating=G)
    two = LMKLSVC(V0=np.hstack([start[:, :1], start[:, 1:][:, order]])).fit(K, y, gating=3 * G[:, order] + 1)
    expected = one.decision_function(K_test, gating=G_test)
    np.testing.assert_allclose(two.decision_function(K_test, gating=3 * G_test[:, order] + 1), expected, atol=1e-6)


def test_features_gate_themselves_and_kernels_by_their_average(cancer):
    X, y = load_breast_cancer(return_X_y=True)
    itself = LMKLSVC(kernels=SPECS).fit(X[:200], y[:200])
    beside = LMKLSVC(kernels=SPECS).fit(X[:200], y[:200], gating=X[:200])
    assert (itself.gating_source_, beside.gating_source_) == ("features", "gating")
    np.testing.assert_array_equal(itself.decision_function(X), beside.decision_function(X, gating=X))
    np.testing.assert_array_equal(itself.localized_weights(X), beside.localized_weights(gating=X))
    K, K_test, _, _, y, _ = cancer
    itself = LMKLSVC().fit(K, y)
    beside = LMKLSVC().fit(K, y, gating=K.mean(axis=2))
    assert itself.gating_source_ == "kernel"
    expected = beside.decision_function(K_test, gating=K_test.mean(axis=2))
    np.testing.assert_allclose(itself.decision_function(K_test), expected, atol=1e-8)


@pytest.mark.parametrize("gate", ["softmax", "sigmoid"])
def test_uniform_is_the_machine_on_the_uniform_average(cancer, gate):
    K, K_test, G, G_test, y, _ = cancer
    for solver in ("line_search", "lbfgs"):
        options = {"gate": gate, "ridge": "uniform", "solver": solver, "C": 3.0}
        limit = LMKLSVC(gate_scale="average", **options).fit(K, y, gating=G)
        plain = KernelSVC(C=3.0, C_scale="none").fit(K, y)
        np.testing.assert_array_equal(limit.predict(K_test, gating=G_test), plain.predict(K_test))
        expected = plain.decision_function(K_test)
        np.testing.assert_allclose(limit.decision_function(K_test, gating=G_test), expected, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(limit.support_, np.sort(plain.support_))
        np.testing.assert_allclose(limit.localized_weights(gating=G_test), 1 / np.sqrt(3))
        assert (limit.status_, limit.n_svm_) == ("uniform", 1)
        published = LMKLSVC(**options).fit(K, y, gating=G)
        scale = 1 / 3 if gate == "softmax" else 3 / 4
        rescaled = KernelSVC(C=3.0 * scale, C_scale="none").fit(K, y)
        difference = published.decision_function(K_test, gating=G_test) - rescaled.decision_function(K_test)
        assert abs(difference).max() < 1e-2


def test_more_classes_have_a_machine_each():
    X, y = load_digits(n_class=3, return_X_y=True)
    K, K_test = stacks(X, 120)
    G, G_test = X[:120, 20:24], X[120:, 20:24]
    model = LMKLSVC(n_restarts=1).fit(K, y[:120], gating=G)
    values = model.decision_function(K_test, gating=G_test)
    assert values.shape == (len(K_test), 3)
    assert model.localized_weights(gating=G_test).shape == (3, len(K_test), 3)
    assert np.mean(model.predict(K_test, gating=G_test) == y[120:]) > 0.9
    for code in range(3):
        alone = LMKLSVC().fit(K, y[:120] == code, gating=G)
        np.testing.assert_allclose(alone.decision_function(K_test, gating=G_test), values[:, code], atol=1e-9)


def test_restarts_choose_nothing(cancer):
    K, _, G, _, y, _ = cancer
    alone = LMKLSVC(C=100.0).fit(K, y, gating=G)
    model = LMKLSVC(C=100.0, n_restarts=2).fit(K, y, gating=G)
    np.testing.assert_array_equal(model.machines_.V, alone.machines_.V)
    objectives = [float(each.objective[0]) for each in (model.machines_, *model.restarts_)]
    assert len(set(objectives)) == 3


def test_clipped_gates(cancer):
    K, _, G, _, y, _ = cancer
    eta = LMKLSVC(C=100.0, clip_gates=True).fit(K, y, gating=G).machines_.eta
    assert ((eta == 0) | (eta >= 1e-3)).all()
    assert ((eta == 1) | (eta <= 1 - 1e-3)).all()


@pytest.mark.parametrize(
    ("change", "gating", "message"),
    [
        ({}, np.full((30, 2), np.nan), "gating features are not finite"),
        ({}, np.ones((29, 2)), "29 samples for 30 samples"),
        ({"V0": np.zeros((2, 3))}, np.ones((30, 4)), "V0"),
        ({"gating": "gates"}, None, "names the view 'gates', but X is one table"),
    ],
)
def test_messages_name_the_error(change, gating, message):
    with pytest.raises(DataError, match=message):
        LMKLSVC(**change).fit(np.eye(30), np.arange(30) % 2, gating=gating)


def test_gating_features_that_can_not_be_applied(cancer, views):
    K, K_test, G, G_test, y, _ = cancer
    model, plain = LMKLSVC(max_iter=1).fit(K, y, gating=G), LMKLSVC(max_iter=1).fit(K, y)
    X, of_views, classes = views
    by_view = LMKLSVC(kernels=VIEWS, gating="gates", max_iter=1).fit(X, classes)
    for fitted, new, gating, message in (
        (model, K_test, None, "to `fit` only"),
        (plain, K_test, G_test, "not to `fit`"),
        (model, K_test, G_test[:, :5], "5 gating features: expected 6"),
        (model, K_test, G_test[:-1], "samples"),
        (by_view, X, of_views, "given twice"),
        (by_view, Views({"d": X["d"]}), None, "there is no view 'gates'"),
    ):
        with pytest.raises(DataError, match=message):
            fitted.predict(new, gating=gating)
    with pytest.raises(DataError, match="Neither"):
        model.localized_weights()

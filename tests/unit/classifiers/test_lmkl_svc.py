"""The localized MKL SVM as an estimator: what gates, scaling, several classes, limits and errors."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer

from mklearn.classifiers import LMKLSVC, KernelSVC
from mklearn.errors import ConfigError, DataError
from mklearn.kernels import Pairwise, StackTransform, Views
from mklearn.kernels.feature_scaling import FeatureScaler
from mklearn.optimize.gating import gated_kernel

SPECS = [
    {"kind": "gaussian", "view": "X", "bandwidth": 0.3},
    {"kind": "gaussian", "view": "X", "bandwidth": 2.0},
    {"kind": "linear", "view": "X", "normalise": "centred_trace"},
]
RIDGED = {"gate": "sigmoid", "gate_scale": "average", "solver": "lbfgs", "ridge": 0.1}
TRAIN, TEST = slice(0, 200), slice(200, None)


def gated(**options):
    return LMKLSVC(kernels=SPECS, gating="gates", **options)


@pytest.fixture(scope="module")
def cancer():
    """Views: all features, and five that gate, in two units, with a constant; and labels."""
    X, y = load_breast_cancer(return_X_y=True)
    return Views({"X": X, "gates": np.column_stack([X[:, :4], 1000 * X[:, 4], np.full(len(X), 7.0)])}), y


def stacks(views):
    transform = StackTransform(SPECS).fit(views[TRAIN])
    return transform.stack_train_.as_last_axis(), transform.transform(views[TEST]).as_last_axis()


@pytest.mark.parametrize("options", [{}, {"gate": "sigmoid"}, RIDGED], ids=["softmax", "sigmoid", "ridge"])
def test_decisions_by_hand(cancer, options):
    views, y = cancer
    model = clone(gated(C=2.0, random_state=3, **options)).fit(views[TRAIN], y[TRAIN])
    values = model.decision_function(views[TEST])
    np.testing.assert_array_equal(model.predict(views[TEST]), (values > 0).astype(int))
    assert np.mean((values > 0) == y[TEST]) > 0.9
    G, G_test = views["gates"][TRAIN], views["gates"][TEST]
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
    np.testing.assert_allclose(model.localized_weights(views[TEST]), eta_test, atol=1e-12)
    K, K_test = stacks(views)
    kernel = np.einsum("im,ijm,jm->ij", eta_test, K_test, eta)
    by_hand = kernel @ model.machines_.dual[0] + model.machines_.intercept[0]
    np.testing.assert_allclose(values, by_hand, atol=1e-9)
    assert model.objective_ == model.objective_history_[0][-1] < model.objective_history_[0][0]
    np.testing.assert_allclose(model.kernel_weights_, eta.mean(axis=0) / eta.mean(axis=0).sum())
    # the machine is scikit-learn's on the gated kernel
    training = gated_kernel(np.ascontiguousarray(np.moveaxis(K, -1, 0)), eta)
    alone = KernelSVC(C=2.0, C_scale="none").fit(training, y[TRAIN])
    np.testing.assert_allclose(alone.decision_function(kernel), values, atol=2e-2)


def test_a_view_that_gates_is_completed_by_the_training_samples(cancer):
    views, y = cancer
    gaps = views["gates"].copy()
    gaps[::7, 1] = np.nan
    spec = {"view": "gates", "columns": [1, 2], "impute": "median", "feature_scaling": "rank"}
    with_gaps = Views({"X": views["X"], "gates": gaps})
    model = LMKLSVC(kernels=SPECS, gating=spec, **RIDGED).fit(with_gaps[TRAIN], y[TRAIN])
    filled = np.where(np.isnan(gaps), np.nanmedian(gaps[TRAIN], axis=0), gaps)[:, [1, 2]]
    scaled = Views({"X": views["X"], "gates": FeatureScaler("rank").fit(filled[TRAIN]).transform(filled)})
    expected = gated(**RIDGED).fit(scaled[TRAIN], y[TRAIN]).decision_function(scaled[TEST])
    np.testing.assert_array_equal(model.decision_function(with_gaps[TEST]), expected)


@pytest.mark.parametrize(
    ("gating", "error", "message"),
    [
        ("others", DataError, "there is no view 'others'; available: 'X', 'gates', 'gaps', 'd'"),
        ({"columns": [0]}, ConfigError, "`gating` names no view"),
        ({"view": "gates", "scale": 1}, ConfigError, "`gating` has the unknown key 'scale'"),
        ("d", DataError, r"view 'd' is Pairwise\(569 samples, 569 columns\) and has no features"),
        ("gaps", DataError, "gaps"),
    ],
)
def test_views_that_can_not_gate(cancer, gating, error, message):
    views, y = cancer
    gaps = np.where(np.arange(len(y)) % 7, 1.0, np.nan)[:, None]
    others = {"gaps": gaps, "d": Pairwise(np.eye(len(y)))}
    with pytest.raises(error, match=message):
        LMKLSVC(kernels=SPECS, gating=gating).fit(Views({name: views[name] for name in views.names} | others), y)
    with pytest.raises(DataError, match="names the view 'gates', but X is one table"):
        LMKLSVC(gating="gates").fit(np.eye(30), np.arange(30) % 2)
    words = pd.DataFrame({"a": np.arange(30.0), "b": ["u", "v"] * 15})
    with pytest.raises(DataError, match="columns that are no numbers"):
        LMKLSVC(kernels={"a": {"columns": ["a"]}}).fit(words, np.arange(30) % 2)


def test_start_is_the_documented_one(cancer):
    views, y = cancer
    stopped = gated(random_state=5, max_iter=0).fit(views[TRAIN], y[TRAIN])
    np.testing.assert_array_equal(stopped.machines_.V[0], np.random.default_rng(5).uniform(-0.01, 0.01, (3, 7)))


def test_features_gate_themselves_and_kernels_by_their_average(cancer):
    views, y = cancer
    X = views["X"]
    specs = [{name: value for name, value in spec.items() if name != "view"} for spec in SPECS]
    itself = LMKLSVC(kernels=specs).fit(X[TRAIN], y[TRAIN])
    beside = Views({"X": X, "gates": X})
    expected = gated().fit(beside[TRAIN], y[TRAIN]).decision_function(beside[TEST])
    np.testing.assert_array_equal(itself.decision_function(X[TEST]), expected)
    K, K_test = stacks(views)
    rows = Views({"X": X, "gates": np.concatenate([K.mean(axis=2), K_test.mean(axis=2)])})
    expected = gated().fit(rows[TRAIN], y[TRAIN]).decision_function(rows[TEST])
    of_kernels = LMKLSVC().fit(K, y[TRAIN]).decision_function(K_test)
    np.testing.assert_allclose(of_kernels, expected, atol=1e-6)
    of_views = LMKLSVC(kernels=SPECS).fit(views[TRAIN], y[TRAIN]).decision_function(views[TEST])
    np.testing.assert_allclose(of_views, expected, atol=1e-6)


@pytest.mark.parametrize("gate", ["softmax", "sigmoid"])
def test_uniform_is_the_machine_on_the_uniform_average(cancer, gate):
    views, y = cancer
    for solver in ("line_search", "lbfgs"):
        options = {"gate": gate, "ridge": "uniform", "solver": solver, "C": 3.0}
        limit = gated(gate_scale="average", **options).fit(views[TRAIN], y[TRAIN])
        plain = KernelSVC(kernels=SPECS, C=3.0, C_scale="none").fit(views[TRAIN], y[TRAIN])
        expected = plain.decision_function(views[TEST])
        np.testing.assert_allclose(limit.decision_function(views[TEST]), expected, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(limit.support_, np.sort(plain.support_))
        np.testing.assert_allclose(limit.localized_weights(views[TEST]), 1 / np.sqrt(3))
        assert limit.status_ == "uniform"
        published = gated(**options).fit(views[TRAIN], y[TRAIN])
        scale = 1 / 3 if gate == "softmax" else 3 / 4
        rescaled = KernelSVC(kernels=SPECS, C=3.0 * scale, C_scale="none").fit(views[TRAIN], y[TRAIN])
        difference = published.decision_function(views[TEST]) - rescaled.decision_function(views[TEST])
        assert abs(difference).max() < 1e-2

"""F-SVM and machines on kernel principal components: scikit-learn, attributes, invariance, many classes, messages."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.svm import SVC

from mklearn.classifiers import FSVC, KernelPCAClassifier, KernelSVC
from mklearn.classifiers.kernel_pca_classifier import fit_path
from mklearn.errors import ConfigError
from mklearn.optimize.fsvm import zero_threshold
from mklearn.papers.fsvm import RMMSVC, RSVMPlusMu
from mklearn.study.method import Method
from mklearn.subspace import KernelPCA

BREAST = load_breast_cancer(return_X_y=True)
WINE = load_wine(return_X_y=True)
IRIS = load_iris(return_X_y=True)


def halves(data):
    X, y = data
    return X[::2], y[::2], X[1::2], y[1::2]


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_exact_equals_scikit_learns_svc_on_whitened_features(C):
    X, y, X_test, _ = halves(BREAST)
    # PCA(whiten) has variance n / (n - 1) in each of r = 30 directions; here the mean squared norm is 1.
    factor = np.sqrt(len(X) / (len(X) - 1) / 30)
    whitened = PCA(whiten=True, svd_solver="full").fit(X)
    reference = SVC(kernel="linear", C=C, tol=1e-6).fit(whitened.transform(X) * factor, y)
    outputs = FSVC(C).fit(X, y).decision_function(X_test)
    expected = reference.decision_function(whitened.transform(X_test) * factor)
    np.testing.assert_allclose(outputs, expected, rtol=0, atol=2e-3 * np.abs(expected).max())


@pytest.mark.parametrize("scaling", ["minmax", "standard"])
def test_power_zero_is_scikit_learns_svc(scaling):
    X, y, X_test, _ = halves(BREAST)
    shift, spread = (X.min(axis=0), np.ptp(X, axis=0)) if scaling == "minmax" else (X.mean(axis=0), X.std(axis=0))
    Z, Z_test = (X - shift) / spread, (X_test - shift) / spread
    level = np.sqrt(((Z - Z.mean(axis=0)) ** 2).sum(axis=1).mean())
    reference = SVC(kernel="linear", C=5.0, tol=1e-6).fit(Z / level, y)
    found = FSVC(5.0, power=0.0, feature_scaling=scaling).fit(X, y)
    expected = reference.decision_function(Z_test / level)
    np.testing.assert_allclose(found.decision_function(X_test), expected, rtol=0, atol=1e-3 * np.abs(expected).max())


def test_one_against_one():
    X, y, X_test, y_test = halves(WINE)
    found = FSVC(3.0).fit(X, y)
    np.testing.assert_array_equal(found.pairs_, list(combinations(range(3), 2)))
    outputs = found.outputs(X_test)
    for column, (first, second) in enumerate(found.pairs_):
        rows = np.isin(y, (first, second))
        pair = FSVC(3.0).fit(X[rows], y[rows])
        np.testing.assert_allclose(pair.decision_function(X_test), -outputs[:, column], atol=1e-4)
        assert pair.optimum_[0] == pytest.approx(found.optimum_[column], rel=1e-6)
    votes = [np.argmax(np.bincount(np.where(row > 0, *found.pairs_.T), minlength=3)) for row in outputs]
    winners = [np.bincount(np.where(row > 0, *found.pairs_.T), minlength=3).max() for row in outputs]
    clear = np.array(winners) == 2
    np.testing.assert_array_equal(found.predict(X_test)[clear], np.array(votes)[clear])
    assert found.score(X_test, y_test) > 0.93


@pytest.mark.parametrize("data", [WINE, BREAST], ids=["wine", "breast"])
def test_exact_is_affinely_invariant(data):
    X, y, X_test, _ = halves(data)
    X, X_test = ((Z - X.mean(axis=0)) / X.std(axis=0) for Z in (X, X_test))
    rng = np.random.default_rng(0)
    A, shift = rng.normal(size=(X.shape[1], X.shape[1])) + 4 * np.eye(X.shape[1]), rng.normal(size=X.shape[1])
    one, two = (FSVC(10.0).fit(f(X), y).outputs(f(X_test)) for f in (lambda Z: Z, lambda Z: Z @ A + shift))
    np.testing.assert_allclose(
        one, two, rtol=0, atol=1e-4 * np.abs(one).max()
    )  # the solver's; 2e-5 to 3e-5 by processor


def test_attributes_of_the_joint_problem():
    X, y = WINE
    found = FSVC(4.0).fit(X, y)
    assert len(found.diagnostics_) == 3
    for number, entry in enumerate(found.diagnostics_):
        assert (entry["C"], entry["rises"], entry["zero"], entry["simplex"]) == (4.0, 0, False, False)
        assert entry["equivalent_C"] == found.equivalent_C_[number] > entry["C0"] == found.C0_[number]
        assert np.isnan([entry["start"], entry["end"]]).all()
    small = FSVC(1e-3).fit(X, y)
    np.testing.assert_allclose(small.equivalent_C_, small.C0_, rtol=1e-3)
    np.testing.assert_allclose(small.C0_, found.C0_)
    fit = found._joint_fits[0]
    np.testing.assert_allclose(fit.Z.T @ fit.Z, np.eye(13), atol=1e-9)
    assert found.C0_[0] == zero_threshold(fit.Z, fit.y)
    other = FSVC(2.0, power=0.25).fit(X, y)
    assert np.isnan([other.optimum_, other.C0_]).all()
    assert other.diagnostics_ == found.history_ == []


@pytest.mark.parametrize("step", ["decaying", "armijo"])
def test_alternating_solves_the_same_problem(step):
    X, y = WINE
    found = FSVC(4.0, solver="alternating", step=step, n_iter=10).fit(X, y)
    np.testing.assert_allclose(found.optimum_, FSVC(4.0).fit(X, y).optimum_, rtol=1e-9)
    for history, entry, optimum in zip(found.objective_history_, found.diagnostics_, found.optimum_, strict=True):
        assert history.shape == (11,)
        np.testing.assert_allclose((entry["start"], entry["end"]), history[[0, -1]] / optimum - 1)
        assert history.min() >= optimum * (1 - 1e-9)
        assert history[-1] < history[0]
        assert step != "armijo" or not entry["rises"]
    assert [entry["objective"] for entry in found.history_] == pytest.approx(sum(found.objective_history_))
    assert {entry["optimum"] for entry in found.history_} == {found.optimum_.sum()}
    np.testing.assert_array_equal(found.objectives_, [history[-1] for history in found.objective_history_])


def test_constant_columns_are_ignored_and_named():
    X, y = WINE
    padded = np.column_stack([np.full(len(X), 3.0), X, np.zeros(len(X))])
    found = FSVC().fit(padded, y)
    np.testing.assert_array_equal(found.constant_features_, [0, 14])
    assert "constant over the training samples, so ignored: 2 of 15 columns (0, 14)" in found.message_
    assert found.status_ == "ok"
    np.testing.assert_allclose(found.coef_[:, 1:-1], FSVC().fit(X, y).coef_, rtol=1e-4, atol=1e-8)
    assert not found.coef_[:, [0, 14]].any()


def test_classes_of_one_sample_are_named():
    X, y = IRIS
    found = FSVC().fit(np.vstack([X, [[9.0, 9.0, 9.0, 9.0]]]), np.append(y, 7))
    assert "only one training sample of class 7" in found.message_
    assert found.predict([[9.0, 9.0, 9.0, 9.0]]) == 7
    assert found.status_ == "ok"


def test_with_more_features_than_samples_the_direction_does_not_depend_on_C():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 40)), np.repeat([0, 1], 10)
    one, two = FSVC(1.0).fit(X, y), FSVC(1e3).fit(X, y)
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-5 * np.abs(one.coef_).max())
    assert "rank n - 1 in 1 of 1 pairs of classes" in one.message_
    np.testing.assert_allclose(two.decision_function(X), np.where(y == 1, 1, -1), atol=1e-5)
    assert not FSVC(power=0.25).fit(X, y).message_


def test_collinear_columns_give_the_solution_of_smallest_norm():
    X, y = WINE
    one = FSVC(feature_scaling="none").fit(X, y)
    two = FSVC(feature_scaling="none").fit(np.column_stack([X, X]), y)
    np.testing.assert_allclose(two.coef_, np.hstack([one.coef_, one.coef_]) / 2, rtol=1e-4, atol=1e-8)


def test_status_follows_the_gap(monkeypatch):
    monkeypatch.setattr("mklearn.optimize.hinge_program._ITERATIONS", 3)
    found = FSVC().fit(*IRIS)
    assert found.status_ == "inaccurate"
    assert "relative duality gap is" in found.message_


# --- kernel principal components

X, y = load_wine(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
GAUSSIAN = [{"kind": "gaussian"}]
TWO = [{"kind": "gaussian"}, {"kind": "linear", "normalise": "centred_trace"}]
MACHINES = [FSVC(power=0.25), FSVC(solver="alternating"), RMMSVC(B=1.5), RSVMPlusMu(4.0)]


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_equals_the_linear_classifier_on_kernel_principal_components(machine):
    found = KernelPCAClassifier(8, machine=machine, kernels=TWO).fit(X[::2], y[::2])
    assert machine.feature_scaling == "minmax"
    assert not hasattr(machine, "classes_")
    linear = clone(machine).set_params(feature_scaling="none")
    pca = KernelPCA(8, kernels=TWO).fit(X[::2])
    expected = linear.fit(pca.transform(X[::2]), y[::2]).decision_function(pca.transform(X[1::2]))
    np.testing.assert_allclose(found.decision_function(X[1::2]), expected, atol=1e-5)
    np.testing.assert_array_equal(found.predict(X[1::2]), linear.predict(pca.transform(X[1::2])))
    np.testing.assert_allclose(found.kernel_weights_, 0.5)
    assert found.n_components_ == 8
    assert found.gap_.max() <= 1e-6
    assert found.status_ == "ok"


@pytest.mark.parametrize(
    "model",
    [
        KernelPCAClassifier("all", kernels=GAUSSIAN, machine=FSVC(5.0, power=0.0)),
        KernelPCAClassifier("all", kernels=GAUSSIAN, machine=RMMSVC(5.0, B="inf")),
    ],
)
def test_all_components_without_whitening_are_the_kernel_svm(model):
    kept = y < 2
    reference = KernelSVC(kernels=GAUSSIAN, C=5.0).fit(X[kept][::2], y[kept][::2])
    found = model.set_params(kernels=GAUSSIAN).fit(X[kept][::2], y[kept][::2])
    np.testing.assert_allclose(
        found.decision_function(X[kept]), reference.decision_function(X[kept]), rtol=0, atol=5e-3
    )


@pytest.mark.parametrize("solver", ["exact", "alternating"])
def test_path_over_components_equals_fits_of_their_own(solver):
    machine = {"implementation": "mklearn.classifiers.fsvc:FSVC", "C": 3.0, "solver": solver, "n_iter": 3}
    unfitted = KernelPCAClassifier(7, machine=machine, kernels=GAUSSIAN)
    found = fit_path(unfitted, X[::2], y[::2], sizes=[2, 5, 500])
    assert not hasattr(unfitted, "machine_")
    assert unfitted.n_components == 7
    assert [model.n_components_ for model in found] == [2, 5, len(X[::2]) - 1]
    for size, model in zip([2, 5, 500], found, strict=True):
        alone = KernelPCAClassifier(size, machine=machine, kernels=GAUSSIAN).fit(X[::2], y[::2])
        assert model.get_params() == alone.get_params()
        np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=1e-12)
        np.testing.assert_equal(model.diagnostics_, alone.diagnostics_)


def planned(n_components, **machine):
    fields = {"kind": "kernel_pca_classifier", "n_components": n_components, "machine": {"kind": "fsvc", **machine}}
    return Method.model_validate(fields)


def test_a_list_of_components_is_swept():
    swept = planned([20, 5, 5], C=[1.0, 8.0])
    assert swept.refit().sizes == [5, 20]
    assert list(swept.grid()) == ["machine"]
    assert "n_components" not in swept.parameters()
    assert swept.component_choice(None) == "best"
    for fixed in (20, "all"):
        assert planned(fixed).refit() is None
        assert planned(fixed).parameters()["n_components"] == fixed
    mixed = planned([5, "all"], C=[1.0, 8.0]).grid()
    assert list(mixed) == ["n_components", "machine"]
    assert mixed["n_components"] == [5, "all"]


def test_a_study_names_a_machine_and_its_candidates():
    one, several = planned(5, power=0.25), planned(5, C=[1.0, 8.0], power=[0.0, 0.5])
    assert one.parameters()["machine"]["implementation"] == "mklearn.classifiers.fsvc:FSVC"
    assert KernelPCAClassifier(machine=one.parameters()["machine"])._machine().power == 0.25
    assert not one.grid()
    assert "machine" not in several.parameters()
    machines = [KernelPCAClassifier(machine=machine)._machine() for machine in several.grid()["machine"]]
    assert [(machine.C, machine.power) for machine in machines] == [(1.0, 0.0), (1.0, 0.5), (8.0, 0.0), (8.0, 0.5)]
    assert planned(5).parameters()["machine"] == {"implementation": "mklearn.classifiers.fsvc:FSVC"}


@pytest.mark.parametrize(
    ("machine", "sentence"),
    [
        (KernelSVC(), "expected a linear classifier of one class against one"),
        ({"implementation": "mklearn.classifiers.baselines:linear_svc"}, "expected a linear classifier"),
        ({"implementation": "mklearn.classifiers.fsvc:FSVC", "B": 2}, "FSVC can't be made from {'B': 2}: "),
        ({"C": 2}, "invalid implementation ''"),
    ],
)  # fmt: skip
def test_a_machine_that_does_not_fit_is_refused(machine, sentence):
    with pytest.raises(ConfigError, match=sentence):
        KernelPCAClassifier(machine=machine, kernels=GAUSSIAN).fit(X, y)

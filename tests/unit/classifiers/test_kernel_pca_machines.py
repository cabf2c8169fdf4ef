"""Machines on kernel principal components: steps by hand, invariances, sweeps, messages."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine

from mklearn.classifiers import FSVC, KernelPCAClassifier, KernelSVC
from mklearn.errors import ConfigError
from mklearn.papers.fsvm import RMMSVC, RSVMPlusMu
from mklearn.study.method import Method
from mklearn.subspace import KernelPCA

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


@pytest.mark.parametrize("machine", [FSVC(5.0, power=0.0), RMMSVC(5.0, B="inf")], ids=str)
def test_all_components_without_whitening_are_the_kernel_svm(machine):
    kept = y < 2
    reference = KernelSVC(kernels=GAUSSIAN, C=5.0).fit(X[kept][::2], y[kept][::2])
    found = KernelPCAClassifier("all", kernels=GAUSSIAN, machine=machine).fit(X[kept][::2], y[kept][::2])
    outputs, expected = (model.decision_function(X[kept]) for model in (found, reference))
    np.testing.assert_allclose(outputs, expected, rtol=0, atol=5e-3)


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
        (KernelSVC(), "expected a linear one-vs-one classifier"),
        ({"implementation": "mklearn.classifiers.baselines:linear_svc"}, "expected a linear one-vs-one classifier"),
        ({"implementation": "mklearn.classifiers.fsvc:FSVC", "B": 2}, "FSVC can't be made from {'B': 2}: "),
        ({"C": 2}, "invalid implementation ''"),
    ],
)  # fmt: skip
def test_a_machine_that_does_not_fit_is_refused(machine, sentence):
    with pytest.raises(ConfigError, match=sentence):
        KernelPCAClassifier(machine=machine, kernels=GAUSSIAN).fit(X, y)

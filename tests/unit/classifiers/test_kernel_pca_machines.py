"""F-SVM, RMM and R-SVM+ on kernel principal components."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from mklearn.classifiers import (
    FSVC,
    RMMSVC,
    KernelFSVC,
    KernelRMMSVC,
    KernelRSVMPlus,
    KernelRSVMPlusMu,
    KernelSVC,
    RSVMPlus,
    RSVMPlusMu,
)
from mklearn.classifiers.fsvc import RegularSimplexWarning
from mklearn.classifiers.kernel_pca_classifier import fit_path
from mklearn.study.registry import registered
from mklearn.subspace import KernelPCA

X, y = load_wine(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
GAUSSIAN = [{"kind": "gaussian"}]
TWO = [{"kind": "gaussian"}, {"kind": "linear", "normalise": "centred_trace"}]
PAIRS = [
    (KernelFSVC(8, kernels=TWO, C=3.0), FSVC(3.0, feature_scaling="none")),
    (KernelFSVC(8, kernels=TWO, power=0.25), FSVC(power=0.25, feature_scaling="none")),
    (KernelFSVC(8, kernels=TWO, solver="alternating"), FSVC(solver="alternating", feature_scaling="none")),
    (KernelRMMSVC(8, kernels=TWO, B=1.5), RMMSVC(B=1.5, feature_scaling="none")),
    (KernelRSVMPlus(8, kernels=TWO, lam=0.3), RSVMPlus(lam=0.3, feature_scaling="none")),
    (KernelRSVMPlusMu(8, kernels=TWO, C=4.0), RSVMPlusMu(4.0, feature_scaling="none")),
]


@pytest.mark.parametrize(("kernel", "linear"), PAIRS, ids=str)
def test_equals_the_linear_classifier_on_kernel_principal_components(kernel, linear):
    found = kernel.fit(X[::2], y[::2])
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
    [KernelFSVC("all", kernels=GAUSSIAN, power=0.0, C=5.0), KernelRMMSVC("all", kernels=GAUSSIAN, B="inf", C=5.0)],
)
def test_all_components_without_whitening_are_the_kernel_svm(model):
    kept = y < 2
    reference = KernelSVC(kernels=GAUSSIAN, C=5.0).fit(X[kept][::2], y[kept][::2])
    found = model.set_params(kernels=GAUSSIAN).fit(X[kept][::2], y[kept][::2])
    np.testing.assert_allclose(
        found.decision_function(X[kept]), reference.decision_function(X[kept]), rtol=0, atol=5e-3
    )


def test_direction_of_all_components_whitened_does_not_depend_on_C():
    with pytest.warns(RegularSimplexWarning):
        one, two = (KernelFSVC("all", kernels=GAUSSIAN, C=C).fit(X[::2], y[::2]) for C in (1.0, 100.0))
    for first, second in zip(one.machine_.coef_, two.machine_.coef_, strict=True):
        assert first @ second / np.linalg.norm(first) / np.linalg.norm(second) > 1 - 1e-8


def test_more_components_than_there_are():
    linear = [{"kind": "linear"}]
    assert KernelFSVC(50, kernels=linear).fit(X, y).n_components_ == 13
    assert KernelFSVC("all", kernels=linear).fit(X, y).n_components_ == 13


def test_joint_problem_is_that_of_the_linear_classifier():
    found = KernelFSVC(6, kernels=GAUSSIAN, solver="alternating", n_iter=4).fit(X, y)
    assert found.machine_.distance_from_optimum_[0].shape == (5,)
    assert (found.machine_.equivalent_C_ > found.machine_.C0_).all()


@pytest.mark.parametrize("solver", ["exact", "alternating"])
def test_path_over_components_equals_fits_of_their_own(solver):
    unfitted = KernelFSVC(7, kernels=GAUSSIAN, C=3.0, solver=solver, n_iter=3)
    found = fit_path(unfitted, X[::2], y[::2], sizes=[2, 5, 500])
    assert not hasattr(unfitted, "machine_")
    assert unfitted.n_components == 7
    assert [model.n_components_ for model in found] == [2, 5, len(X[::2]) - 1]
    for size, model in zip([2, 5, 500], found, strict=True):
        alone = KernelFSVC(size, kernels=GAUSSIAN, C=3.0, solver=solver, n_iter=3).fit(X[::2], y[::2])
        assert model.get_params() == alone.get_params()
        np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=1e-12)
        np.testing.assert_equal(model.diagnostics_, alone.diagnostics_)


def test_a_list_of_components_is_swept():
    common = {"kind": "kernel_fsvc", "C": [1.0, 8.0]}
    swept = registered("methods")["kernel_fsvc"].model_validate(common | {"n_components": [20, 5, 5]})
    assert swept.sweep().parameters["sizes"] == [5, 20]
    assert swept.grid() == {"C": [1.0, 8.0]}
    assert "n_components" not in swept.parameters()
    assert swept.component_choice() == "best"
    for fixed in (20, "all"):
        alone = registered("methods")["kernel_fsvc"].model_validate(common | {"n_components": fixed})
        assert alone.sweep().implementation == "mklearn.evaluation.sweeps:Predictions"
        assert alone.parameters()["n_components"] == fixed
    mixed = registered("methods")["kernel_fsvc"].model_validate(common | {"n_components": [5, "all"]})
    assert mixed.grid() == {"n_components": [5, "all"], "C": [1.0, 8.0]}


def test_messages_and_invalid_parameters():
    names = np.array(["setosa", "versicolor", "virginica"])
    data, labels = load_iris(return_X_y=True)
    assert "class virginica" in KernelFSVC(kernels=GAUSSIAN).fit(data[:101], names[labels[:101]]).message_
    for wrong in (0, -1, "most", 2.5):
        with pytest.raises(ValueError, match="'n_components' parameter of KernelFSVC"):
            KernelFSVC(wrong, kernels=GAUSSIAN).fit(data, labels)

"""Kernel Fisher discriminant analysis: against linear discriminant analysis, invariances, and its errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.spatial.distance import pdist
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from tests.unit.subspace.problems import fit_changed, gaussian, scatters

from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.subspace.kfd import KernelFDA


@pytest.mark.parametrize("ridge", [0.0, 1e-11])
def test_linear_kernel_is_linear_discriminant_analysis(wine, ridge):
    X, y = wine
    model = KernelFDA(ridge=ridge).fit(X @ X.T, y)
    directions = X.T @ model.coefficients_
    reference = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    assert subspace_angles(directions, reference.scalings_[:, :2]).max() < 1e-5
    # The eigenvalues too: within over total = 1 / (1 + between/within).
    share = reference.explained_variance_ratio_
    between_over_within = 1 / model.eigenvalues_ - 1
    np.testing.assert_allclose(between_over_within / between_over_within.sum(), share[:2], rtol=1e-6)
    # And the distances, in scikit-learn's scale: unit within-class covariance.
    Z = KernelFDA(ridge=max(ridge, 1e-11), scaling="within").fit(X @ X.T, y).embedding_
    ratio = pdist(reference.transform(X)) / pdist(Z)
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-5)


def test_embedding_has_the_scatters_that_the_scaling_says(wine):
    X, y = wine
    K = gaussian(X)
    model = KernelFDA(ridge=1e-9).fit(K, y)
    penalty = model.ridge_amount_ * model.coefficients_.T @ model.coefficients_
    between, within = scatters(model.embedding_, y)
    np.testing.assert_allclose(2 * (between + within) + penalty, np.eye(2), atol=1e-8)
    np.testing.assert_allclose(2 * within + penalty, np.diag(model.eigenvalues_), atol=1e-8)


def test_transform_projects_new_rows(wine):
    X, y = wine
    model = KernelFDA().fit(gaussian(X[:150]), y[:150])
    rows = gaussian(X[150:], X[:150])
    np.testing.assert_allclose(model.transform(rows), rows @ model.coefficients_)
    np.testing.assert_allclose(model.transform(gaussian(X[:150])), model.embedding_)


def test_scale_of_the_kernel_does_not_matter(wine):
    X, y = wine
    K = gaussian(X)
    np.testing.assert_allclose(KernelFDA().fit(K, y).embedding_, KernelFDA().fit(1e-3 * K, y).embedding_, atol=1e-9)


def test_kernel_specs_compute_the_kernels_and_those_of_new_samples():
    X, y = load_iris(return_X_y=True)
    plain = {"centre": False, "normalise": "none"}
    specs = [{"kind": "gaussian", "bandwidth": 5.0, "bandwidth_rule": "absolute", **plain}]
    model = KernelFDA(kernels=specs).fit(X[::2], y[::2])
    by_hand = KernelFDA().fit(gaussian(X[::2], gamma=5.0), y[::2])
    expected = by_hand.transform(gaussian(X[1::2], X[::2], gamma=5.0))
    np.testing.assert_allclose(model.transform(X[1::2]), expected, atol=1e-6)


def test_a_kernel_of_small_rank_gives_fewer_components_by_default_and_an_error_on_demand():
    X, y = load_iris(return_X_y=True)
    one = X[:, :1]
    assert KernelFDA().fit(one @ one.T, y).embedding_.shape == (150, 1)
    with pytest.raises(NotApplicable, match="1 discriminating directions, fewer than n_components=2"):
        KernelFDA(2).fit(one @ one.T, y)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"y": np.zeros(30)}, NotApplicable, "class"),
        ({"n_components": 3}, NotApplicable, "at most 2"),
        ({"y": np.arange(29) % 3}, DataError, "29 labels for 30 samples"),
        ({"y": None}, DataError, "requires y"),
        ({"y": np.linspace(0, 1, 30)}, DataError, "class labels"),
        ({"X": np.ones((30, 20, 1))}, DataError, "square"),
        ({"X": np.full((30, 30), np.nan)}, DataError, "NaN"),
        ({"X": np.triu(np.ones((30, 30)))}, DataError, "not symmetric"),
        ({"X": np.ones((30, 30))}, NotApplicable, "constant"),
        ({"X": np.ones((30, 30, 1, 1))}, DataError, "n_kernels"),
        ({"kernel_weights": [1, 2]}, ConfigError, "1 kernels"),
        ({"kernel_weights": [-1]}, ConfigError, "nonnegative"),
        ({"kernel_weights": "best"}, ConfigError, "uniform"),
        ({"kernel_weights": 1}, ConfigError, "numbered"),
        ({"X": np.ones((30, 4)), "kernels": []}, ConfigError, "empty"),
        ({"scaling": "none"}, ValueError, "scaling"),
        ({"ridge": -1.0}, ValueError, "ridge"),
    ],
)
def test_errors(change, error, message):
    X = gaussian(np.random.default_rng(0).normal(size=(30, 4)))
    with pytest.raises(error, match=message):
        fit_changed(KernelFDA, change, X, np.arange(30) % 3)


def test_transform_refuses_other_kernels():
    X = np.random.default_rng(0).normal(size=(30, 4))
    K = np.stack([gaussian(X), gaussian(X, gamma=1.0)], axis=-1)
    model = KernelFDA().fit(K, np.arange(30) % 3)
    with pytest.raises(DataError, match="fitted with 2"):
        model.transform(K[:5, :, :1])
    with pytest.raises(DataError, match="features"):
        model.transform(K[:5, :7])

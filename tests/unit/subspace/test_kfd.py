"""Kernel Fisher discriminant analysis: against linear discriminant analysis, invariances, and its errors."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.spatial.distance import pdist
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from tests.unit.subspace.problems import fit_changed, gaussian, scatters

from mklearn.errors import ConfigError, NotApplicable
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


def test_a_kernel_of_small_rank_gives_fewer_components_by_default_and_an_error_on_demand():
    X, y = load_iris(return_X_y=True)
    one = X[:, :1]
    assert KernelFDA().fit(one @ one.T, y).embedding_.shape == (150, 1)
    with pytest.raises(NotApplicable, match="1 discriminating directions, fewer than n_components=2"):
        KernelFDA(2).fit(one @ one.T, y)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"kernel_weights": [1, 2]}, ConfigError, "1 kernels"),
        ({"kernel_weights": "best"}, ConfigError, "uniform"),
    ],
)
def test_errors(change, error, message):
    X = gaussian(np.random.default_rng(0).normal(size=(30, 4)))
    with pytest.raises(error, match=message):
        fit_changed(KernelFDA, change, X, np.arange(30) % 3)

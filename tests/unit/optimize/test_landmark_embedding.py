"""The embedding problem from moments of explicit features equals that of the kernels that they make up."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from tests.unit.optimize.explicit_features import exact_features
from tests.unit.subspace.problems import LABELS, gaussian_kernels

from mklearn.base.moments import Moments
from mklearn.graphs import GraphPair, lda_graph, pca_graph
from mklearn.kernels.matrices import centre_kernel
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.graph_embedding import KernelProblem
from mklearn.optimize.landmark_embedding import LandmarkProblem

WEIGHTS = [np.full(3, 1 / 3), np.array([0.2, 0.7, 0.1]), np.array([0.0, 0.6, 0.4])]


def problems(graph: str = "lda", centre: bool = True) -> tuple[KernelProblem, LandmarkProblem, np.ndarray]:
    """The same problem of three Gaussian kernels: dense, and from moments; with the features, centred or not."""
    dense = list(np.moveaxis(gaussian_kernels(0), -1, 0))
    Phi, blocks = exact_features(dense)
    moments = Moments().partial_fit(Phi, LABELS)
    if centre:
        dense = [centre_kernel(K) for K in dense]
    pair: GraphPair = lda_graph(LABELS) if graph == "lda" else pca_graph(len(LABELS))
    offset = np.zeros(Phi.shape[1]) if centre else moments.mean
    between = moments.between if graph == "lda" else None
    small = LandmarkProblem(len(LABELS), blocks, moments.scatter, between, offset)
    return KernelProblem(KernelStack(dense), pair), small, Phi - Phi.mean(axis=0) * centre


@pytest.mark.parametrize("centre", [True, False])
@pytest.mark.parametrize("graph", ["lda", "pca"])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_ratio_trace_step_and_its_matrices(weights, graph, centre):
    dense, small, Phi = problems(graph, centre)
    expected = dense.ratio_trace_step(weights, 2, ridge=1e-2)
    found = small.ratio_trace_step(weights, 2, ridge=1e-2)
    assert found.ridge_amount == pytest.approx(expected.ridge_amount, rel=1e-11)
    assert small.ridge_amount(weights, 1e-2) == pytest.approx(dense.ridge_amount(weights, 1e-2), rel=1e-11)
    np.testing.assert_allclose(found.eigenvalues, expected.eigenvalues, rtol=1e-8)
    embedded = Phi @ small.feature_coefficients(weights, found.coefficients)
    dense_embedded = dense.combined(weights) @ expected.coefficients
    np.testing.assert_allclose(np.abs(embedded), np.abs(dense_embedded), atol=1e-7 * np.abs(dense_embedded).max())
    np.testing.assert_allclose(  # the ridge: A'A = a'a
        np.abs(found.coefficients.T @ found.coefficients),
        np.abs(expected.coefficients.T @ expected.coefficients),
        atol=1e-7 * np.abs(expected.coefficients.T @ expected.coefficients).max(),
    )
    for one, other in zip(
        small.weight_matrices(found.coefficients, 1e-2), dense.weight_matrices(expected.coefficients, 1e-2), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-7)
    for one, other in zip(
        small.projected_scatters(weights, found.coefficients, found.ridge_amount),
        dense.projected_scatters(weights, expected.coefficients, expected.ridge_amount),
        strict=True,
    ):
        np.testing.assert_allclose(np.abs(one), np.abs(other), atol=1e-8 * np.abs(other).max())


@pytest.mark.parametrize("centre", [True, False])
def test_start_of_the_paper(centre):
    dense, small, _ = problems(centre=centre)
    for one, other in zip(small.initial_weight_matrices(1e-2), dense.initial_weight_matrices(1e-2), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_trace_ratio_step(weights):
    dense, small, Phi = problems()
    expected = dense.trace_ratio_step(weights, 2, ridge=1e-2)
    found = small.trace_ratio_step(weights, 2, ridge=1e-2)
    np.testing.assert_allclose(found.eigenvalues, expected.eigenvalues, rtol=1e-8)
    embedded = Phi @ small.feature_coefficients(weights, found.coefficients)
    assert subspace_angles(embedded, dense.combined(weights) @ expected.coefficients).max() < 1e-6


def test_without_ridge_it_is_the_pencil_of_the_scatters():
    dense, small, Phi = problems()
    expected, found = (one.ratio_trace_step(WEIGHTS[0], 2, ridge=0.0) for one in (dense, small))
    np.testing.assert_allclose(found.eigenvalues, expected.eigenvalues, atol=1e-7)
    embedded = Phi @ small.feature_coefficients(WEIGHTS[0], found.coefficients)
    assert embedded.shape == (len(LABELS), 2)

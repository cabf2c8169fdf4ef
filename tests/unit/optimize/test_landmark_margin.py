"""The margin criterion from scatters of explicit features equals that of the kernels that they make up."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.optimize.explicit_features import exact_features
from tests.unit.subspace.problems import LABELS, gaussian_kernels

from mklearn.base.moments import Moments
from mklearn.graphs import mmc_graph
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.landmark_embedding import LandmarkProblem
from mklearn.optimize.landmark_margin import LandmarkMargin
from mklearn.optimize.margin import margin_step
from mklearn.papers.mkmmc.mkmmc import margin_matrices


@pytest.mark.parametrize("constraint", ["rkhs", "coef", "sample"])
@pytest.mark.parametrize("weights", [[0.2, 0.7, 0.1], [0.0, 0.6, 0.4]])
@pytest.mark.parametrize("trade_off", [1.0, 0.3])
def test_step_and_quadratic_forms(weights, constraint, trade_off):
    dense = list(np.moveaxis(gaussian_kernels(0), -1, 0))
    Phi, blocks = exact_features(dense)
    moments = Moments().partial_fit(Phi, LABELS)
    problem = LandmarkProblem(len(LABELS), blocks, moments.scatter, moments.between, moments.mean)
    steps = LandmarkMargin(problem, constraint, 1e-10)
    values, V = steps.solve(np.array(weights), 2, trade_off)
    theta = problem.spread(weights)

    kernel = np.tensordot(weights, dense, 1)
    operator = mmc_graph(LABELS, trade_off).L
    dense_values, A = margin_step(kernel, operator, 2, constraint)
    np.testing.assert_allclose(values, dense_values, rtol=1e-8)
    embedded, dense_embedded = Phi @ (theta[:, None] * V), kernel @ A
    if constraint == "sample":  # equal eigenvalues, ordered by norms that differ by rounding only
        assert np.linalg.norm(embedded, axis=0) == pytest.approx([1.0, 1.0])
        return
    np.testing.assert_allclose(np.abs(embedded), np.abs(dense_embedded), atol=1e-6 * np.abs(dense_embedded).max())
    found = steps.quadratic_forms(V, trade_off)
    np.testing.assert_allclose(found, margin_matrices(KernelStack(dense), operator, A), rtol=1e-5, atol=1e-8)

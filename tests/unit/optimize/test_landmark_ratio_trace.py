"""The convex ratio trace from scatters of explicit features equals that of the kernels that they make up."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.optimize.explicit_features import exact_features
from tests.unit.subspace.problems import LABELS, gaussian_kernels

from mklearn.base.moments import Moments
from mklearn.graphs import lda_graph
from mklearn.optimize.convex_ratio_trace import (
    LandmarkRatioTrace,
    RatioTraceObjective,
    between_factor,
    convex_ratio_trace,
)


def objectives(side: str, ridge: float = 1e-1) -> tuple[RatioTraceObjective, LandmarkRatioTrace, np.ndarray]:
    """The same objective of three Gaussian kernels: dense, and from scatters; and the features."""
    dense = list(np.moveaxis(gaussian_kernels(0), -1, 0))
    Phi, blocks = exact_features(dense)
    moments = Moments().partial_fit(Phi, LABELS)
    graph = lda_graph(LABELS)
    between = moments.between
    scatter = moments.scatter - (between @ between.T if side == "within" else 0.0)
    classes = graph.lda_classes
    assert classes is not None
    operator = graph.L if side == "within" else graph.L_prime
    return (
        RatioTraceObjective(dense, between_factor(classes), operator, ridge),
        LandmarkRatioTrace(blocks, scatter, between, ridge),
        Phi,
    )


@pytest.mark.parametrize("side", ["total", "within"])
@pytest.mark.parametrize("theta", [[0.2, 0.5, 0.3], [0.4, 0.0, 0.6], [0.0, 0.0, 1.0]])
def test_value_and_derivatives(side, theta):
    dense, small, Phi = objectives(side)
    expected, found = dense.evaluate(theta), small.evaluate(theta)
    assert found.value == pytest.approx(expected.value, rel=1e-10)
    np.testing.assert_allclose(found.B, Phi.T @ expected.B, atol=1e-8 * np.abs(expected.B).max())
    for one, other in zip(small.derivatives(found), dense.derivatives(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9 * np.abs(other).max())


@pytest.mark.parametrize("side", ["total", "within"])
@pytest.mark.parametrize("p", [1.0, 2.0])
def test_optimum_and_directions(side, p):
    dense, small, Phi = objectives(side)
    expected, found = convex_ratio_trace(dense, p=p), convex_ratio_trace(small, p=p)
    assert found.value == pytest.approx(expected.value, rel=1e-10)
    np.testing.assert_allclose(found.weights, expected.weights, atol=1e-6)
    (omega, V), (dense_omega, A) = small.directions(found.evaluation, 2), dense.directions(expected.evaluation, 2)
    np.testing.assert_allclose(omega, dense_omega, rtol=1e-6)
    np.testing.assert_allclose(np.abs(V), np.abs(Phi.T @ A), atol=1e-5 * np.abs(V).max())

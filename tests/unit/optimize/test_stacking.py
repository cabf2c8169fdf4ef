"""Stacking weights: against a general solver, the optimality conditions, and in limits that are known."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from mklearn.optimize.stacking import stacking_weights

N, E = 30, 6
RNG = np.random.default_rng(0)
TARGETS = RNG.normal(size=(N, 2))
OUTPUTS = 0.5 * TARGETS + RNG.normal(size=(E, N, 2)) * np.arange(1, E + 1)[:, None, None] / E
PRIOR = np.array([0.5, 0.5, 0, 0, 0, 0])
LEARNED = np.array([0, 8, 0, 0, 0, 0])
WEIGHTS = RNG.uniform(0.5, 2, N)


def objective(w: np.ndarray, root: np.ndarray, noise: float) -> float:
    misfit = root[:, None] * (TARGETS - np.tensordot(w, OUTPUTS, 1))
    return float((misfit**2).sum() + noise * (5 * ((w - PRIOR) ** 2).sum() + 2 * LEARNED @ w))


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("groups", [None, np.arange(N) % 7, "opposite"])
def test_weights_minimise_the_objective_over_the_simplex(weights: Any, groups: Any) -> None:
    root = np.ones(N) if weights is None else np.sqrt(weights)
    best = (TARGETS - OUTPUTS)[((root[:, None] * (TARGETS - OUTPUTS)) ** 2).sum(axis=(1, 2)).argmin()]
    if isinstance(groups, str):  # pairs of opposite errors, as of tumour and normal tissue, count as two
        groups = np.argsort(np.argsort(best[:, 0])) % (N // 2)
    weighted = root[:, None] ** 2 * best
    sums = pd.DataFrame(weighted).groupby(np.arange(N) if groups is None else groups).sum().to_numpy()
    noise = np.maximum((sums**2).sum(axis=0), (weighted**2).sum(axis=0)).sum() / (root**2).sum()
    w = stacking_weights(OUTPUTS, TARGETS, PRIOR, LEARNED, sample_weight=weights, groups=groups)
    best = minimize(
        objective, np.full(E, 1 / E), (root, noise), bounds=[(0, 1)] * E, options={"ftol": 1e-14, "maxiter": 500},
        constraints={"type": "eq", "fun": lambda each: each.sum() - 1}, method="SLSQP",
    )  # fmt: skip
    assert w.sum() == pytest.approx(1)
    assert 0 < np.count_nonzero(w) < E
    np.testing.assert_allclose(w, best.x, atol=1e-5)
    gradient = np.array([objective(w + step, root, noise) - objective(w - step, root, noise) for step in np.eye(E) / 2])
    np.testing.assert_allclose(gradient[w > 0], gradient[w > 0][0], atol=1e-6)
    assert (gradient >= gradient[w > 0].max() - 1e-6).all()


def test_equal_predictors_have_prior_weights_and_learned_parameters_cost() -> None:
    same = np.repeat(OUTPUTS[:1], 2, axis=0)
    np.testing.assert_allclose(stacking_weights(same, TARGETS, [0.7, 0.3]), [0.7, 0.3], atol=1e-6)
    np.testing.assert_allclose(stacking_weights(same, TARGETS, [0.5, 0.5], [0, 2]), [0.7, 0.3], atol=1e-6)
    np.testing.assert_allclose(stacking_weights(same, TARGETS, [0.5, 0.5], [0, 10]), [1.0, 0.0], atol=1e-6)
    exact = np.stack([TARGETS, OUTPUTS[0]])
    np.testing.assert_allclose(stacking_weights(exact, TARGETS, [0.0, 1.0]), [1.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(stacking_weights(exact[[0, 0]], TARGETS, [0.2, 0.8]), [0.2, 0.8])

"""How much one evaluation of localized MKL costs, in solves of the SVM itself; its gradient against matrix products.

Medians of CPU times taken in turn on one thread, so that other work on the machine hits all alike. L-BFGS and the line
search are compared by the SVMs that they need to equal J and by accuracy: the lower J is not the better accuracy.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC
from tests.benchmarks.test_distance_speed import seconds

from mklearn.optimize.gating import gate_gradient, gated_cross_kernel, gates
from mklearn.optimize.localized_mkl import GatedSVM, localized_mkl

REPEATS = 25
LIMITS = {5: 1.8, 16: 2.5, 64: 6.0}
"""SVM solves of one evaluation (gated kernel, SVM, gradient), by number of kernels."""
SIGNAL = {5: 0.45, 16: 0.35, 64: 0.32}
"""Distance of the classes in each kernel, such that a quarter of the samples become support vectors."""


def problem(n, P, d=16, seed=0):
    """Linear kernels of rows of norm 1, which know the classes of some samples: a quarter are support vectors."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    G = np.column_stack([np.ones(n), rng.normal(size=(n, d))])
    parts = rng.normal(size=(P, n, 24)) + SIGNAL[P] * y[:, None] * rng.normal(size=(P, 1, 24)) * (G[:, 1:2] > -1)
    parts /= np.linalg.norm(parts, axis=2, keepdims=True)
    return parts @ parts.transpose(0, 2, 1), y, G


@pytest.mark.benchmark
@pytest.mark.parametrize("P", sorted(LIMITS))
def test_one_evaluation(P, record_property):
    kernels, y, G = problem(280, P)
    kernels = kernels.astype(np.float32) if P > 8 else kernels
    task = GatedSVM(kernels, y, G, 10.0, gate_scale="average")
    V = np.random.default_rng(0).uniform(-0.01, 0.01, (P, G.shape[1]))
    at = task.evaluate(V)
    combined = np.einsum("im,mij,jm->ij", at.eta, kernels, at.eta)
    S, c = at.solution.support, at.solution.dual

    def batched():
        weighted = at.eta[S] * c[S, None]
        return weighted * (kernels[:, S[:, None], S] @ weighted.T[:, :, None])[:, :, 0].T

    def batched_on_all():
        weighted = at.eta * c[:, None]
        return weighted * (kernels @ weighted.T[:, :, None].astype(kernels.dtype))[:, :, 0].T

    taken = seconds(
        {
            "svm": lambda: SVC(C=10.0, kernel="precomputed", tol=1e-3, cache_size=1000).fit(combined, y),
            "evaluation": lambda: task.gradient(task.evaluate(V)),
            "gradient": lambda: gate_gradient(kernels, at.eta, c, S, G, "softmax", task.factor),
            "batched": batched,
            "batched_on_all": batched_on_all,
        }
    )
    ratio = taken["evaluation"] / taken["svm"]
    record_property("n_support", len(S))
    record_property("svm_ms", 1000 * taken["svm"])
    record_property("evaluation_in_svms", ratio)
    record_property("batched_over_gradient", taken["batched"] / taken["gradient"])
    record_property("batched_on_all_over_gradient", taken["batched_on_all"] / taken["gradient"])
    assert ratio <= LIMITS[P], taken
    assert taken["gradient"] < taken["batched_on_all"], taken
    assert 40 < len(S) < 130


@pytest.mark.benchmark
@pytest.mark.parametrize("gate", ["softmax", "sigmoid"])
def test_svm_solves_to_equal_objective(gate, record_property):
    """What is recorded, not a race: how many SVMs L-BFGS needs for the line search's J, and both accuracies."""
    kernels, y, G = problem(420, 16, seed=1)
    train, test = np.arange(280), np.arange(280, 420)
    inner, cross = (np.ascontiguousarray(kernels[:, rows][:, :, train]) for rows in (train, test))
    V0 = np.random.default_rng(0).uniform(-0.01, 0.01, (16, G.shape[1]))
    found = {}
    for solver, tol, svm_tol in (("line_search", 1e-3, 1e-3), ("lbfgs", 1e-5, 1e-5)):
        task = GatedSVM(inner, y[train], G[train], 10.0, gate=gate, gate_scale="average", svm_tol=svm_tol)
        solves = []
        result = localized_mkl(task, V0, solver=solver, tol=tol, callback=lambda _, s=solves, t=task: s.append(t.n_svm))
        eta_test = gates(G[test], result.V, gate, task.factor)
        values = gated_cross_kernel(cross, eta_test, result.eta) @ result.solution.dual + result.solution.intercept
        accuracy = float(np.mean(np.sign(values) == y[test]))
        found[solver] = (result, solves, accuracy)
        record_property(f"{solver}_svms", result.n_svm)
        record_property(f"{solver}_accuracy", accuracy)
    (line, _, line_accuracy), (smooth, solves, smooth_accuracy) = found["line_search"], found["lbfgs"]
    reached = np.flatnonzero(smooth.history <= line.objective)
    record_property("lbfgs_over_line_objective", smooth.objective / line.objective)
    record_property("lbfgs_svms_to_the_lines_objective", solves[reached[0]] if len(reached) else -1)
    assert min(line_accuracy, smooth_accuracy) > 0.6
    assert line.objective < line.history[0]
    assert smooth.objective < smooth.history[0]

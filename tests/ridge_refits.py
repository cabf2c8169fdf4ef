"""Kernel ridge regression with a free intercept by its linear equations, and refits without each sample or group."""

import numpy as np


def ridge_outputs(
    K: np.ndarray, rows: np.ndarray, Y: np.ndarray, ridge: float, weights: np.ndarray | None = None
) -> np.ndarray:
    """Predict from kernel rows, (m, n), by (K + ridge W^-1) A + 1 b' = Y, 1'A = 0; Y is (n,) or (n, c)."""
    n, targets = len(K), Y.reshape(len(K), -1)
    inside = K + ridge * np.diag(np.ones(n) if weights is None else 1 / weights)
    system = np.block([[inside, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.vstack([targets, np.zeros((1, targets.shape[1]))]))
    return (rows @ solution[:-1] + solution[-1]).reshape(len(rows), *Y.shape[1:])


def left_out_outputs(
    K: np.ndarray, Y: np.ndarray, ridge: float, weights: np.ndarray | None = None, groups: np.ndarray | None = None
) -> np.ndarray:
    """Predict each sample, or group, from one refit on the others."""
    names, outputs = np.arange(len(K)) if groups is None else groups, np.empty(Y.shape)
    for name in np.unique(names):
        rest, out = names != name, names == name
        own = None if weights is None else weights[rest]
        outputs[out] = ridge_outputs(K[np.ix_(rest, rest)], K[np.ix_(out, rest)], Y[rest], ridge, own)
    return outputs

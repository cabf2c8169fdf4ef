"""Real data that everything registered is tried on."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.split_stacks import split_stacks

from mklearn.kernels.distances import MEASURES

SPECS: list[dict[str, Any]] = [
    {"id": "narrow", "view": "squared_euclidean", "kind": "gaussian", "bandwidth": 0.5},
    {"id": "wide", "view": "squared_euclidean", "kind": "gaussian", "bandwidth": 2.0, "psd": "none"},
    {"id": "chi2", "view": "chi2", "kind": "gaussian", "measure": "chi2", "normalise": "centred_trace"},
    {"id": "linear", "view": "inner_product", "kind": "linear", "centre": True, "normalise": "centred_trace"},
]


@dataclass(frozen=True)
class Digits:
    """Four classes of digits: 60 training samples, 40 for the test, features, pictures and pairwise matrices of all."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    pairwise: dict[str, NDArray[np.float64]]

    @cached_property
    def stacks(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Training and test kernels, (n, n, M) and (m, n, M), as the fit step makes them."""
        train, test, _ = split_stacks(self.pairwise, SPECS, self.train, self.test)
        return train.as_last_axis(), test.as_last_axis()

    def samples(self, takes: str) -> NDArray[np.float64]:
        return self.X.copy() if takes == "features" else self.X.reshape(-1, 8, 8).copy()

    def inputs(self, takes: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """Training and test samples in the form that a family of methods takes."""
        if takes == "kernels":
            return self.stacks[0].copy(), self.stacks[1].copy()
        samples = self.samples(takes)
        return samples[self.train], samples[self.test]


@pytest.fixture(scope="session")
def digits() -> Digits:
    from sklearn.datasets import load_digits

    X, y = load_digits(n_class=4, return_X_y=True)
    chosen = np.concatenate([np.flatnonzero(y == code)[:25] for code in range(4)])
    X, y = X[chosen], y[chosen].astype(np.int64)
    train = np.flatnonzero(np.arange(100) % 25 < 15)
    test = np.setdiff1d(np.arange(100), train)
    return Digits(X, y, train, test, {name: measure(X) for name, measure in MEASURES.items()})

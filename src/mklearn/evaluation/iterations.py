"""Accuracy after each iteration of an alternating method: what its convergence is worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.contract.loading import load
from mklearn.nearest_neighbour import nearest_neighbour_predictions


def accuracy_by_iteration(
    estimator: Any,
    train: NDArray[Any],
    test: NDArray[Any],
    y_train: NDArray[Any],
    y_test: NDArray[Any],
    spec: Mapping[str, Any],
    rule: str,
) -> dict[int, NDArray[np.float64]]:
    """Accuracy of the 1-nearest-neighbour rule by the estimator as it stands after 1, 2, ... iterations.

    Parameters
    ----------
    estimator : unfitted, with ``n_components`` and ``max_iter``
    train, test : arrays, samples first
    y_train, y_test : labels
    spec : dict
        ``sizes``: values of ``n_components``; those larger than the images are left out. ``implementation``:
        "module:function" that gives one fitted estimator for each iteration (estimator, X, y, iterations).
    rule : "euclidean" or "cosine"

    Returns
    -------
    curves : dict from size to array of shape (max_iter,)
    """
    fit_iterations = load(spec["implementation"])
    curves = {}
    for size in spec["sizes"]:
        if size > min(train.shape[1:]):
            continue
        models = fit_iterations(estimator.set_params(n_components=size), train, y_train, estimator.max_iter)
        hits = [
            nearest_neighbour_predictions(model.embedding_, y_train, model.transform(test), rule) == y_test  # type: ignore[arg-type]
            for model in models
        ]
        curves[int(size)] = np.mean(hits, axis=1)
    return curves

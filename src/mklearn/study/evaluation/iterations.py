"""Predictions after each iteration of an alternating method."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.contract.fit_spec import Implementation
from mklearn.contract.loading import load
from mklearn.kernels.views import Views
from mklearn.study.evaluation.rules import predictions
from mklearn.study.evaluation.sweeps import image_side


def labels_by_iteration(
    estimator: Any,
    train: Views,
    test: Views,
    y_train: NDArray[Any],
    iterations: Implementation,
    rule: str,
) -> dict[int, NDArray[Any]]:
    """Predict the test samples by the estimator as it stands after 1, 2, ... iterations.

    Parameters
    ----------
    estimator : unfitted, with ``n_components`` and ``max_iter``
    train, test : Views
        Images, the only view.
    y_train : labels
    iterations : Implementation
        A function that returns one fitted estimator for each iteration (estimator, X, y, iterations). Its parameter
        ``sizes`` holds values of ``n_components``; those larger than the images are left out.
    rule : see :func:`mklearn.study.evaluation.rules.predictions_by_dimension`

    Returns
    -------
    labels : dict from size to array of shape (max_iter, m)
    """
    fit_iterations = load(iterations.implementation)
    labels = {}
    for size in iterations.parameters["sizes"]:
        if size > image_side(train):
            continue
        models = fit_iterations(estimator.set_params(n_components=size), train, y_train, estimator.max_iter)
        labels[int(size)] = np.array([
            predictions(model.embedding_, y_train, model.transform(test), rule) for model in models
        ])  # fmt: skip
    return labels

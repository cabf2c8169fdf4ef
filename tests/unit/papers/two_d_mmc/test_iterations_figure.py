"""Accuracy by iteration equals that of single fits with as many iterations."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from mklearn.nearest_neighbour import nearest_neighbour_predictions
from mklearn.papers.two_d_mmc import iterations_figure as figure


def test_curves_are_those_of_single_fits() -> None:
    digits = load_digits()
    images, y = digits.images[:60], digits.target[:60]
    ids = np.array([f"d{number}" for number in range(60)])
    test = np.arange(60) >= 40
    samples: Any = SimpleNamespace(images=images, y=y, ids=ids)
    row = {"dataset": "d", "protocol": "p", "train_size": 4, "method": "m"}
    predicted = pd.DataFrame({"repeat": 0, "fold": 0, "sample": ids[test]})
    predictions = SimpleNamespace(of=lambda keys: predicted)
    results: Any = SimpleNamespace(samples={"d": samples}, scores=pd.DataFrame([row]), predictions=predictions)
    (drawn,) = figure.iterations_figure(results).figures
    values = pd.DataFrame(drawn.draw()["data"]["values"])
    assert len(values) == len(figure.METHODS) * figure.ITERATIONS
    for label, method in figure.METHODS.items():
        single = clone(method).set_params(max_iter=3, tol=0.0).fit(images[~test], y[~test])
        labels = nearest_neighbour_predictions(single.embedding_, y[~test], single.transform(images[test]))
        third = values[values["k"].eq(label) & values["x"].eq(3)]["y"].iloc[0]
        assert third == pytest.approx(100 * np.mean(labels == y[test]), abs=0.06)

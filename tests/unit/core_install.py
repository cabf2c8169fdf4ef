"""Fit every public estimator in an install of the core; the last line is JSON: how each fit ends."""

import importlib.util
import json
from typing import Any


def estimators() -> list[Any]:
    """Return every public estimator; in an install of the core without those of papers."""
    from sklearn.base import BaseEstimator

    from mklearn.methods import METHODS

    names = sorted({row.implementation.rpartition(".")[0] for row in METHODS.values()})
    papers = importlib.util.find_spec("mklearn.papers") is not None
    rooms = [importlib.import_module(name) for name in names if papers or not name.startswith("mklearn.papers.")]
    public = [getattr(room, name) for room in rooms for name in room.__all__]
    return [each for each in public if isinstance(each, type) and issubclass(each, BaseEstimator)]


def endings() -> dict[str, str]:
    """Fit every public estimator on 40 digits; the message where an extra is missing, else "ok"."""
    import numpy as np
    from sklearn.datasets import load_digits

    from mklearn.errors import MissingExtra

    digits = load_digits()
    rows = np.concatenate([np.flatnonzero(digits.target == c)[:20] for c in (3, 8)])
    found = {}
    for kind in estimators():
        X = digits.images[rows] if ".two_d_mmc" in kind.__module__ else digits.data[rows] / 16
        estimator = kind()
        if "kernels" in estimator.get_params():
            estimator.set_params(kernels=["gaussian", "linear"])
        try:
            estimator.fit(X, digits.target[rows])
            found[kind.__name__] = "ok"
        except MissingExtra as error:
            found[kind.__name__] = str(error)
    return found


if __name__ == "__main__":
    print(json.dumps(endings()))

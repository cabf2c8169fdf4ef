"""What an install gives: every module of other packages is refused, and estimators are fitted or code is run.

Usage: ``python core_install.py [--hide] [estimators] [others]``; the last line is JSON: how the fit of each public
estimator ends, and how a part of each extra. Without ``--hide`` nothing is refused, for environments of few packages.
``python core_install.py blocks MODULE ...`` runs a JSON list of texts from its input, one after the other in one
namespace, where these modules are there beside those of the core; the last line is JSON: what each has printed.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
import json
import sys
import tempfile
from collections.abc import Callable, Iterable
from typing import Any

CORE = {"cloudpickle", "joblib", "lazy_loader", "mklearn", "narwhals", "numpy", "packaging", "scipy", "sklearn",
        "threadpoolctl"}  # fmt: skip
"""Modules that `pip install mklearn` brings."""


class OnlyThese:
    """Finder of modules that hides those of packages that the install does not have."""

    def __init__(self, more: Iterable[str] = ()) -> None:
        self.hidden = set(importlib.metadata.packages_distributions()) - CORE.union(more)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        top = name.split(".")[0]
        if top in self.hidden and top not in sys.stdlib_module_names and not top.startswith("_"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def ending(work: Callable[[], Any]) -> str:
    """Return "ok", or the sentence of a missing extra."""
    from mklearn.errors import MissingExtra

    try:
        work()
    except MissingExtra as error:
        return str(error)
    return "ok"


def rooms() -> list[Any]:
    """Return the packages of public estimators: of the library, and of the papers."""
    from mklearn.contract.extensions import own_registries

    papers = sorted({point.module for point in own_registries("methods")})
    return [
        importlib.import_module(name)
        for name in ("mklearn.subspace", "mklearn.classifiers", "mklearn.regressors", *papers)
    ]


def estimators() -> dict[str, str]:
    """Fit every public estimator on 40 digits."""
    import numpy as np
    from sklearn.base import BaseEstimator
    from sklearn.datasets import load_digits

    digits = load_digits()
    rows = np.concatenate([np.flatnonzero(digits.target == c)[:20] for c in (3, 8)])
    found = {}
    for room in rooms():
        for name in room.__all__:
            kind = getattr(room, name)
            if isinstance(kind, type) and issubclass(kind, BaseEstimator):
                X = digits.images[rows] if room.__name__.endswith("two_d_mmc") else digits.data[rows] / 16
                estimator = kind()
                if "kernels" in estimator.get_params():
                    estimator.set_params(kernels=["gaussian", "linear"])
                found[name] = ending(lambda of=estimator, X=X: of.fit(X, digits.target[rows]))
    return found


def others() -> dict[str, str]:
    """Use something of each extra, and the chi-squared distance, which scikit-learn computes where numba is missing."""
    import numpy as np

    from mklearn.descriptors.hog import hog
    from mklearn.descriptors.sift_grid import sift_grid
    from mklearn.kernels import chi2_distance
    from mklearn.optimize import kernel_weights

    S = np.array([[2.0, 0.3], [0.3, 1.0]])
    histograms, images = np.full((2, 4), 0.25), np.random.default_rng(0).random((2, 48, 48))
    asked: dict[str, Callable[[], Any]] = {
        "exact": lambda: kernel_weights(S, np.eye(2)),
        "sdp": lambda: kernel_weights(S, np.eye(2), method="sdp"),
        "chi2": lambda: chi2_distance(histograms, histograms),
        "hog": lambda: hog(images),
        "sift_grid": lambda: sift_grid(images),
        "datasets": lambda: importlib.import_module("mklearn.study.data"),
        "report": lambda: importlib.import_module("mklearn.study.report"),
        "study": lambda: importlib.import_module("mklearn.study.config.model"),
        "models": _save,
        "predict": lambda: importlib.import_module("mklearn.study.prediction"),
    }
    return {name: ending(work) for name, work in asked.items()}


def _save() -> None:
    from sklearn.preprocessing import StandardScaler

    from mklearn.saved_models import load_model, save_model

    with tempfile.TemporaryDirectory() as folder:
        save_model(StandardScaler().fit([[0.0], [1.0]]), f"{folder}/x.mklearn", {})
        load_model(f"{folder}/x.mklearn")


def blocks() -> list[str]:
    """Run the texts of the input, and return what each prints."""
    names: dict[str, Any] = {}
    found = []
    for text in json.load(sys.stdin):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(text, names)
        found.append(printed.getvalue())
    return found


if __name__ == "__main__":
    if sys.argv[1:2] == ["blocks"]:
        sys.meta_path.insert(0, OnlyThese(sys.argv[2:]))  # type: ignore[arg-type]
        print(json.dumps(blocks()))
        raise SystemExit
    if "--hide" in sys.argv:
        sys.meta_path.insert(0, OnlyThese())  # type: ignore[arg-type]
    parts = {"estimators": estimators, "others": others}
    print(json.dumps({name: part() for name, part in parts.items() if name in sys.argv}))

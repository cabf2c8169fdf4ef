"""What the scaling that training samples choose is worth, beside fixed ones and one for all views together.

One Gaussian kernel for each view, their average, three classifiers; five splits of view sets, six of UCI tables (one
view). On an idle machine a minute of processor time.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.benchmarks.test_noise_views import split
from tests.golden.test_view_sets import registered

from mklearn.base.scaling_choice import RIDGES, choose_scaling
from mklearn.classifiers import KernelSVC
from mklearn.contract.fit_spec import AUTO_SCALINGS
from mklearn.kernels import StackTransform, Views
from mklearn.nearest_neighbour import nearest_neighbour_predictions
from mklearn.optimize.ridge_path import ridge_path
from mklearn.subspace import KernelFDA

VIEW_SETS = [
    ("mfeat", 5), ("mfeat", 10), ("mfeat", 20), ("protein_fold", 5), ("protein_fold", 10), ("three_sources", 4),
    ("three_sources", 8), ("nutrimouse", 4), ("bace", 20),
]  # fmt: skip
TABLES = ["breast", "german", "glass", "heart", "ionosphere", "iris", "new-thyroid", "pima", "segment", "sonar", "wine"]
SETTINGS = [(*setting, 5) for setting in VIEW_SETS] + [(name, 20, 6) for name in TABLES]
MOST_TESTED = 400


def error(K: np.ndarray, Y: np.ndarray) -> float:
    return float(ridge_path(K / len(K), Y, RIDGES).errors.sum(axis=1).min())


def accuracies(K: np.ndarray, K_new: np.ndarray, y: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Return those of kernel ridge, an SVC and KFD with the cosine's nearest neighbour, on one kernel."""
    classes = np.unique(y)
    ridge = ridge_path(K, (y[:, None] == classes).astype(float), RIDGES)
    kfd = KernelFDA(kernels="precomputed", ridge=1e-2).fit(K, y)
    predicted = {
        "ridge": classes[(K_new @ ridge.coefficients + ridge.intercept).argmax(axis=1)],
        "SVC": KernelSVC(C=10, kernels="precomputed").fit(K, y).predict(K_new),
        "KFD": nearest_neighbour_predictions(kfd.transform(K), y, kfd.transform(K_new), "cosine"),
    }
    return {name: 100 * float((labels == truth).mean()) for name, labels in predicted.items()}


def on_split(views: Views, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> pd.DataFrame:
    """Return the accuracy of each classifier (columns) with each way to scale (rows)."""
    known, asked = {}, {}
    for scaling in AUTO_SCALINGS:
        specs = {name: {"kind": "gaussian", "view": name, "feature_scaling": scaling} for name in views.names}
        transform = StackTransform(specs)
        known[scaling] = dict(zip(specs, transform.fit_transform(views[train]).matrices, strict=True))
        asked[scaling] = dict(zip(specs, transform.transform(views[test]).matrices, strict=True))
    Y = (y[train][:, None] == np.unique(y[train])) / np.sqrt(np.unique(y[train], return_counts=True)[1])
    averages = {scaling: np.mean(list(kernels.values()), axis=0) for scaling, kernels in known.items()}
    together = min(AUTO_SCALINGS, key=lambda scaling: error(averages[scaling], Y))
    ways = {scaling: dict.fromkeys(views.names, scaling) for scaling in AUTO_SCALINGS}
    ways["each view"] = {name: choose_scaling(views[name][train], y[train]) for name in views.names}
    ways["all views together"] = dict.fromkeys(views.names, together)
    rows = {}
    for way, chosen in ways.items():
        K, K_new = (
            np.mean([kernels[scaling][name] for name, scaling in chosen.items()], axis=0) for kernels in (known, asked)
        )
        rows[way] = accuracies(K, K_new, y[train], y[test])
    return pd.DataFrame(rows).T


@pytest.mark.benchmark
def test_it_is_above_every_fixed_scaling_on_average(mirror: Path, record_property) -> None:
    found = {}
    for name, per_class, n_splits in SETTINGS:
        samples = registered(name, mirror)
        used = ["features"] if name in TABLES else samples.tables
        views = Views({key: np.asarray(samples.tables[key], dtype=float) for key in used})
        parts = [split(samples.y, per_class, seed) for seed in range(n_splits)]
        tables = [on_split(views, samples.y, train, test[:MOST_TESTED]) for train, test in parts]
        found[f"{name}, {per_class}"] = sum(tables) / n_splits
    every = pd.concat(found).unstack()
    print(f"\n{every['ridge'].round(1).to_string()}")
    for classifier in ("ridge", "SVC", "KFD"):
        fixed = every[classifier][list(AUTO_SCALINGS)].max(axis=1)
        table = pd.DataFrame({
            "mean": every[classifier].mean(), "below the best fixed": every[classifier].rsub(fixed, axis=0).mean(),
            "worst": every[classifier].rsub(fixed, axis=0).max(),
        })  # fmt: skip
        record_property(classifier, table.round(2).to_dict())
        print(f"\n{classifier}\n{table.round(2).to_string()}")
        assert table.loc["each view", "mean"] >= table.loc[list(AUTO_SCALINGS), "mean"].max()
        assert table.loc["each view", "mean"] >= table.loc["all views together", "mean"] - 0.2

"""Measure what noise views and missing views cost the multi-view classifier, on public data sets, five splits.

Noise views are 50 columns of independent normal numbers each, with as many kernels as any view. With ``all views`` the
classifier keeps them (``least_agreement=0``). With gaps, each training and test sample lacks each view with a
probability of 20 %.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

from mklearn.base.kernel_source import present_views
from mklearn.classifiers import MultiViewClassifier
from mklearn.descriptors.hog import hog
from mklearn.descriptors.lbp import lbp
from mklearn.kernels import Views
from mklearn.kernels.dictionary import kernel_dictionary

SETTINGS = [
    ("three_sources", 4), ("three_sources", 8), ("protein_fold", 5), ("protein_fold", 10), ("mfeat", 5), ("mfeat", 10),
    ("mfeat", 20), ("digits", 5), ("digits", 10), ("digits", 20),
]  # fmt: skip
N_SPLITS = 5
MOST_TESTED = 1000
Tables = dict[str, np.ndarray]


def read(mirror: Path, name: str) -> tuple[Tables, np.ndarray]:
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        images = X.reshape(-1, 8, 8) / 16
        return {"pixels": X, "hog": hog(images, cell=4), "lbp": lbp(images, grid=2)}, y
    folder = mirror / "multiview" / name
    files = sorted(path for path in folder.glob("*.csv.gz") if not path.name.startswith("kernel_"))
    tables = {path.name.removesuffix(".csv.gz"): pd.read_csv(path, index_col=0).to_numpy(float) for path in files}
    return tables, pd.read_csv(folder / "samples.csv")["label"].astype(str).to_numpy()


def split(y: np.ndarray, per_class: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    members = [rng.permutation(np.flatnonzero(y == label)) for label in np.unique(y)]
    train = np.sort(np.concatenate([each[: min(per_class, len(each) - 1)] for each in members]))
    rest = np.setdiff1d(np.arange(len(y)), train)
    return train, np.random.default_rng(1).permutation(rest)[:MOST_TESTED]


def with_noise(tables: Tables, n_views: int, seed: int) -> Views:
    rng = np.random.default_rng(seed)
    n = len(next(iter(tables.values())))
    return Views({**tables, **{f"noise{number}": rng.normal(size=(n, 50)) for number in range(n_views)}})


def with_gaps(tables: Tables, seed: int) -> Views:
    rng = np.random.default_rng(seed)
    return Views({name: np.where(rng.random((len(t), 1)) < 0.2, np.nan, t) for name, t in tables.items()})


def accuracy(X: Views, y: np.ndarray, train: np.ndarray, test: np.ndarray, **parameters: Any) -> float:
    test = test[present_views(X[test], list(X.names)).any(axis=1)]  # without any view there is no prediction
    return 100 * MultiViewClassifier(**parameters).fit(X[train], y[train]).score(X[test], y[test])


def table_row(setting: str, rows: list[list[float]], record_property: Callable[[str, object], None]) -> np.ndarray:
    """Return the means of rows, and print them as a row of a Markdown table."""
    means = np.mean(rows, axis=0)
    record_property(setting, means.tolist())
    print(f"| {setting} | " + " | ".join(f"{value:.1f}" for value in means) + " |", flush=True)
    return means


@pytest.mark.benchmark
def test_noise_views_cost_at_most_three_points_and_gaps_eight(mirror: Path, record_property) -> None:
    print("\n| | 0 noise views | 5 | 20 | all views: 0 | 5 | 20 | 20 % missing |\n|" + " --- |" * 8)
    for name, per_class in SETTINGS:
        tables, y = read(mirror, name)
        rows = []
        for seed in range(N_SPLITS):
            samples = split(y, per_class, seed)
            inputs = [with_noise(tables, n_views, seed) for n_views in (0, 5, 20)]
            values = [accuracy(X, y, *samples, **kept) for kept in ({}, {"least_agreement": 0.0}) for X in inputs]
            rows.append([*values, accuracy(with_gaps(tables, seed), y, *samples)])
        plain, few, many, every, *_, gaps = table_row(f"{name}, {per_class} per class", rows, record_property)
        assert gaps > plain - 8.0, name  # a fifth fewer training samples alone cost up to 2.5
        assert plain > every - 0.2, name
        assert few > plain - 1.5, name
        assert many > plain - 3.0, name


def refitted(tables: Tables, y: np.ndarray, train: np.ndarray, present: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Predict each test sample by a classifier of the views that it has, fitted to complete training samples."""
    predicted = np.empty(len(test), dtype=y.dtype)
    for pattern in np.unique(present, axis=0):
        rows = (present == pattern).all(axis=1)
        views = Views({name: table for (name, table), has in zip(tables.items(), pattern, strict=True) if has})
        predicted[rows] = MultiViewClassifier().fit(views[train], y[train]).predict(views[test[rows]])
    return predicted


@pytest.mark.benchmark
def test_gaps_cost_less_than_fewer_samples_and_views(mirror: Path, record_property) -> None:
    """Compare with classifiers on each test sample's own views, fitted to all or four fifths of complete samples."""
    print("\n| | complete | gaps | own views, all training samples | four fifths | at the mean |\n|" + " --- |" * 6)
    for name, per_class in [*SETTINGS[:4], ("digits", 5), ("digits", 10)]:
        tables, y = read(mirror, name)
        rows, many = [], len(tables) > 6  # of twelve views nearly each sample has others: as many fits as samples
        for seed in range(2 if many else N_SPLITS):
            train, test = split(y, per_class, seed)
            fewer = np.sort(np.random.default_rng(seed).permutation(train)[: round(0.8 * len(train))])
            X, complete = with_gaps(tables, seed), Views(tables)
            test = test[: 100 if many else None]
            present = present_views(X[test], list(tables))
            test, present = test[present.any(axis=1)], present[present.any(axis=1)]
            row = [accuracy(each, y, train, test) for each in (complete, X)]
            row += [100 * np.mean(refitted(tables, y, some, present, test) == y[test]) for some in (train, fewer)]
            rows.append([*row, accuracy(X, y, train, test, kernels=kernel_dictionary(X[train]))])
        means = table_row(f"{name}, {per_class} per class", rows, record_property)
        assert means[1] > means[3], name

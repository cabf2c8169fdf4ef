"""How much views that say nothing, and views that lack, cost the multi-view classifier: the visible sets, five splits.

Noise views are 50 columns of independent normal numbers each, with as many kernels as any view. With ``all views`` the
classifier keeps them (``least_agreement=0``). Of the lacking views each sample lacks each with a probability of 20 %,
in training and test samples.
"""

from __future__ import annotations

from pathlib import Path

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


def accuracies(tables: Tables, y: np.ndarray, per_class: int, seed: int) -> list[float]:
    """Return those without noise, with 5 and with 20 noise views; the same of all views; and with lacking views."""
    train, test = split(y, per_class, seed)
    inputs = [with_noise(tables, n_views, seed) for n_views in (0, 5, 20)]
    found = []
    for least in (MultiViewClassifier().least_agreement, 0.0):
        for X in inputs:
            found.append(MultiViewClassifier(least_agreement=least).fit(X[train], y[train]).score(X[test], y[test]))
    X = with_gaps(tables, seed)
    return [*found, MultiViewClassifier().fit(X[train], y[train]).score(X[test], y[test])]


@pytest.mark.benchmark
def test_noise_views_cost_at_most_three_points_and_gaps_eight(mirror: Path, record_property) -> None:
    print("\n| | 0 noise views | 5 | 20 | all views: 0 | 5 | 20 | 20 % lacking |\n|" + " --- |" * 8)
    rows = {}
    for name, per_class in SETTINGS:
        tables, y = read(mirror, name)
        row = 100 * np.mean([accuracies(tables, y, per_class, seed) for seed in range(N_SPLITS)], axis=0)
        rows[f"{name}, {per_class} per class"] = row
        record_property(f"{name} {per_class}", row.tolist())
        print(f"| {name}, {per_class} per class | " + " | ".join(f"{value:.1f}" for value in row) + " |", flush=True)
    for setting, (plain, few, many, every, *_, lacking) in rows.items():
        assert lacking > plain - 8.0, setting  # a fifth fewer training samples alone cost up to 2.5
        assert plain > every - 0.2, setting
        assert few > plain - 1.5, setting
        assert many > plain - 3.0, setting


def refitted(tables: Tables, y: np.ndarray, train: np.ndarray, present: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Predict each test sample by a classifier of the views that it has, fitted to complete training samples."""
    predicted = np.empty(len(test), dtype=y.dtype)
    for pattern in np.unique(present, axis=0):
        own = (present == pattern).all(axis=1)
        views = Views({name: table for (name, table), has in zip(tables.items(), pattern, strict=True) if has})
        predicted[own] = MultiViewClassifier().fit(views[train], y[train]).predict(views[test[own]])
    return predicted


@pytest.mark.benchmark
def test_gaps_cost_less_than_fewer_samples_and_views(mirror: Path, record_property) -> None:
    """Beside gaps: classifiers of each test sample's own views, fitted to all or four fifths of complete samples."""
    print("\n| | complete | gaps | own views, all training samples | four fifths | at the mean |\n|" + " --- |" * 6)
    for name, per_class in [*SETTINGS[:4], ("digits", 5), ("digits", 10)]:
        tables, y = read(mirror, name)
        rows, many = [], len(tables) > 6  # of twelve views nearly each sample has others: as many fits as samples
        for seed in range(2 if many else N_SPLITS):
            train, test = split(y, per_class, seed)
            fewer = np.sort(np.random.default_rng(seed).permutation(train)[: round(0.8 * len(train))])
            X, complete = with_gaps(tables, seed), Views(tables)
            test = test[: 100 if many else None]
            test = test[present_views(X[test], list(tables)).any(axis=1)]
            present = present_views(X[test], list(tables))
            models = [MultiViewClassifier().fit(each[train], y[train]) for each in (complete, X)]
            found = [models[0].predict(complete[test]), models[1].predict(X[test])]
            found += [refitted(tables, y, known, present, test) for known in (train, fewer)]
            at_mean = MultiViewClassifier(kernels=kernel_dictionary(X[train])).fit(X[train], y[train])
            found.append(at_mean.predict(X[test]))
            rows.append([100 * np.mean(each == y[test]) for each in found])
        row = np.mean(rows, axis=0)
        record_property(f"{name} {per_class}", row.tolist())
        print(f"| {name}, {per_class} per class | " + " | ".join(f"{value:.1f}" for value in row) + " |", flush=True)
        assert row[1] > row[3], name

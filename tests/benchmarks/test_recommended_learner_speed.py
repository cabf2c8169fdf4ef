"""Processor time and accuracy of the multi-view classifier beside himalaya's random search and an SVC on mfeat.

All three get the same training samples of six views and standardise the features. himalaya's ridge regression of the
one-hot classes searches weights of one Gaussian kernel per view, 100 draws and its 5 folds; scikit-learn's SVC has a
grid of 4 C and 3 gamma on the views side by side, 5 folds. Ratios are printed: run with ``-s``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mklearn import MultiViewClassifier, Views
from mklearn.kernels import StackTransform

pytestmark = pytest.mark.benchmark
PER_CLASS = 50
Predictions = Callable[[Views, np.ndarray, Views], np.ndarray]


def read(mirror: Path) -> tuple[Views, np.ndarray, Views, np.ndarray]:
    folder = mirror / "multiview" / "mfeat"
    views = Views(
        {path.name[:3]: pd.read_csv(path, index_col=0).to_numpy() for path in sorted(folder.glob("*.csv.gz"))}
    )
    y = pd.read_csv(folder / "samples.csv")["label"].astype(str).to_numpy()
    rng = np.random.default_rng(0)
    train = np.concatenate([rng.permutation(np.flatnonzero(y == label))[:PER_CLASS] for label in np.unique(y)])
    test = np.setdiff1d(np.arange(len(y)), train)
    return views[train], y[train], views[test], y[test]


def multi_view(train: Views, y: np.ndarray, test: Views) -> np.ndarray:
    return np.asarray(MultiViewClassifier().fit(train, y).predict(test))


def svc(train: Views, y: np.ndarray, test: Views) -> np.ndarray:
    side_by_side = [np.hstack([views[name] for name in views.names]) for views in (train, test)]
    width = side_by_side[0].shape[1]
    grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [factor / width for factor in (0.1, 1, 10)]}
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=5).fit(side_by_side[0], y)
    return np.asarray(search.predict(side_by_side[1]))


def random_search(train: Views, y: np.ndarray, test: Views) -> np.ndarray:
    from himalaya.kernel_ridge import MultipleKernelRidgeCV

    transform = StackTransform({name: {"kind": "gaussian", "feature_scaling": "standard"} for name in train.names})
    labels, codes = np.unique(y, return_inverse=True)
    options = {"alphas": np.logspace(-4, 2, 13), "n_iter": 100, "progress_bar": False}
    model = MultipleKernelRidgeCV("precomputed", solver="random_search", solver_params=options, random_state=0)
    one_hot = np.eye(len(labels))[codes]
    model.fit(transform.fit_transform(train).matrices, one_hot - one_hot.mean(axis=0))
    outputs = model.predict(transform.transform(test).matrices) + one_hot.mean(axis=0)
    return np.asarray(labels[outputs.argmax(axis=1)])


def measured(method: Predictions, data: tuple[Views, np.ndarray, Views, np.ndarray]) -> tuple[float, float]:
    """Return processor seconds of fit and prediction, and the accuracy."""
    train, y, test, expected = data
    start = time.process_time()
    predicted = method(train, y, test)
    return time.process_time() - start, float(np.mean(predicted == expected))


@pytest.mark.parametrize("other", [random_search, svc])
def test_ratio_of_processor_times_on_mfeat(mirror: Path, other: Predictions) -> None:
    if other is random_search:
        pytest.importorskip("himalaya", reason="himalaya is not installed: pip install himalaya")
    data = read(mirror)
    multi_view(*data[:3])  # imports and compiled loops
    seconds, accuracy = measured(multi_view, data)
    other_seconds, other_accuracy = measured(other, data)
    print(
        f"\n{other.__name__}: {other_accuracy:.2%} in {other_seconds:.1f} s; multi-view classifier {accuracy:.2%} in "
        f"{seconds:.1f} s: ratio {other_seconds / seconds:.1f}"
    )
    assert accuracy > other_accuracy - 0.01

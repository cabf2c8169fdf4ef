"""The bilinear rows of the 2DMMC paper's tables, on the pictures that `test_calibration` shows to be the paper's.

GLRAM reproduces the published value in every cell. 2DMMC and 2DLDA are held to what correct implementations reach on
these pictures (the prototype's means of 100 splits): the published 2DMMC is 1 to 3 points higher throughout, and 2DLDA
depends on a scale and a ridge that the paper does not state.
"""

from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from tests.golden.conftest import Faces

from mklearn.papers.two_d_mmc.bilinear import (
    Array,
    BilinearEmbedding,
    Scatter,
    alternate,
    class_differences,
    energy,
    trace_step,
)
from mklearn.papers.two_d_mmc.glram import GLRAM
from mklearn.papers.two_d_mmc.two_d_lda import TwoDLDA
from mklearn.papers.two_d_mmc.two_d_mmc import TwoDMMC
from mklearn.study.data.draw_splits import random_per_class

CELLS = [("orl", 2), ("orl", 3), ("orl", 4), ("yale", 2), ("yale", 3), ("yale", 4)]
cells = pytest.mark.parametrize(
    "cell",
    [
        pytest.param(number, id=f"{name}-{size}", marks=[pytest.mark.smoke] if (name, size) == ("yale", 2) else [])
        for number, (name, size) in enumerate(CELLS)
    ],
)
PUBLISHED_SPLITS, MEASURED_SPLITS = 20, 100

# accuracy (%) in the order of CELLS, and the standard deviation over splits
GLRAM_PUBLISHED = ([71.30, 79.84, 84.73, 49.33, 54.17, 57.76], [2.65, 2.40, 2.39, 3.91, 3.56, 3.15])
TWO_D_MMC = ([77.34, 86.15, 90.87, 53.34, 61.27, 65.77], [3.19, 2.53, 2.31, 4.98, 4.13, 3.89])
TWO_D_LDA_RIDGE = ([79.81, 87.39, 91.03, 51.59, 59.36, 63.54], [2.98, 2.42, 2.04, 4.75, 4.76, 4.59])
TWO_D_LDA_ORTHONORMAL = ([78.49, 87.94, 91.97, 43.96, 53.35, 58.71], [3.22, 2.96, 2.37, 5.03, 4.51, 4.56])

# Not all of 1..20, to be quick: the curves are flat about their maxima.
ROWS: dict[str, tuple[BilinearEmbedding, list[int], int, tuple[list[float], list[float]], int]] = {
    "GLRAM, published": (GLRAM(), [5, 6, 7, 10, 14, 18], 20, GLRAM_PUBLISHED, PUBLISHED_SPLITS),
    "2DMMC": (TwoDMMC(), [6, 7, 8, 10, 12, 14, 16], 20, TWO_D_MMC, MEASURED_SPLITS),
    "2DLDA, ridge 1": (TwoDLDA(), [4, 5, 6, 8], 8, TWO_D_LDA_RIDGE, MEASURED_SPLITS),
    "2DLDA, orthonormal": (
        TwoDLDA(ridge=1e-10, scaling="orthonormal"), [10, 14, 19], 8, TWO_D_LDA_ORTHONORMAL, MEASURED_SPLITS,
    ),
}  # fmt: skip


def nearest_neighbour_rate(Z: np.ndarray, y: np.ndarray, Z_test: np.ndarray, y_test: np.ndarray) -> float:
    nearest = ((Z**2).sum(axis=1) - 2 * Z_test @ Z.T).argmin(axis=1)
    return 100 * float(np.mean(y[nearest] == y_test))


def embedded(X_train: Array, codes: np.ndarray, X: Array, size: int, *, exchanged: bool) -> Array:
    """U'XV, row by row, of 2DMMC with the scatters as they should be or as printed."""
    first, second = class_differences(X_train, codes)
    trade_off = energy(first) / energy(second)
    if exchanged:
        first, second = second, first
    step = partial(trace_step, Scatter((1.0, first), (-trade_off, second)))
    found = alternate(step, energy(first), np.eye(32, size), "right", (size, size), max_iter=20, tol=0.0)
    return (found.left.T @ X @ found.right).reshape(len(X), -1)


@pytest.mark.parametrize("row", ROWS)
@cells
def test_accuracy(row: str, cell: int, faces: Faces) -> None:
    estimator, sizes, repeats, (targets, deviations), splits_behind_target = ROWS[row]
    name, train_size = CELLS[cell]
    X, y = faces(name)
    rates = np.empty((repeats, len(sizes)))
    for split in random_per_class(y, train_size, repeats, seed=0, name=name):
        for column, size in enumerate(sizes):
            model = clone(estimator).set_params(n_components=size).fit(X[split.train], y[split.train])
            rates[split.repeat, column] = nearest_neighbour_rate(
                model.embedding_, y[split.train], model.transform(X[split.test]), y[split.test]
            )
            if not isinstance(model, TwoDLDA):
                steps = np.diff(model.objective_history_)
                assert (steps >= -1e-12 * np.sum(X[split.train] ** 2)).all()
    best = rates.mean(axis=0).max()
    tolerance = 3 * deviations[cell] * np.sqrt(1 / repeats + 1 / splits_behind_target)
    assert abs(best - targets[cell]) <= tolerance


def test_printed_equation_7_selects_what_does_not_discriminate(faces: Faces) -> None:
    """Equations (7), (8) and Algorithm 1 call the within-class scatter S_b and the between-class scatter S_w."""
    X, y = faces("orl")
    right, printed = [], []
    for split in random_per_class(y, 2, 4, seed=0, name="orl"):
        X_train, y_train = X[split.train], y[split.train]
        rate = partial(nearest_neighbour_rate, y=y_train, y_test=y[split.test])
        codes = np.unique(y_train, return_inverse=True)[1]
        for rates, exchanged in ((right, False), (printed, True)):
            features = embedded(X_train, codes, X, 12, exchanged=exchanged)
            rates.append(rate(Z=features[split.train], Z_test=features[split.test]))
        model = TwoDMMC(12, tol=0.0).fit(X_train, y_train)
        assert right[-1] == rate(Z=model.embedding_, Z_test=model.transform(X[split.test]))
    assert np.mean(right) > 70
    assert np.mean(printed) < 30


@cells
def test_the_printed_algorithm_reaches_15_to_44_per_cent(cell: int, faces: Faces) -> None:
    """Check the claim of the study: the best of sizes 1 to 20. Kills scatters that are exchanged back."""
    name, train_size = CELLS[cell]
    X, y = faces(name)
    sizes = (10, 11, 14, 20)
    rates = np.empty((20, len(sizes)))
    for split in random_per_class(y, train_size, 20, seed=0, name=name):
        y_train = y[split.train]
        codes = np.unique(y_train, return_inverse=True)[1]
        for column, size in enumerate(sizes):
            Z = embedded(X[split.train], codes, X, size, exchanged=True)
            rates[split.repeat, column] = nearest_neighbour_rate(Z[split.train], y_train, Z[split.test], y[split.test])
    expected = (15.3, 28.8, 39.1, 22.6, 37.0, 43.5)[cell]
    assert abs(rates.mean(axis=0).max() - expected) < 1

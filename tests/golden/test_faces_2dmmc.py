"""The bilinear rows of the 2DMMC paper's tables, on the images that PCA in `test_faces_mkmmc` shows to be its.

GLRAM reproduces the published value in every cell. 2DMMC and 2DLDA are held to what correct implementations reach on
these pictures (the prototype's means of 100 splits): the published 2DMMC is 1 to 3 points higher throughout, and 2DLDA
depends on a scale and a ridge that the paper does not state. As printed, S_b and S_w exchanged, 2DMMC is far below.
"""

import numpy as np
import pytest
from sklearn.base import clone
from tests.golden.conftest import Faces

from mklearn.papers.two_d_mmc.bilinear import BilinearEmbedding
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
TWO_D_MMC_PRINTED = ([15.3, 28.8, 39.1, 22.6, 37.0, 43.5], [1.0] * 6)  # independent code, the same splits
TWO_D_LDA_RIDGE = ([79.81, 87.39, 91.03, 51.59, 59.36, 63.54], [2.98, 2.42, 2.04, 4.75, 4.76, 4.59])
TWO_D_LDA_ORTHONORMAL = ([78.49, 87.94, 91.97, 43.96, 53.35, 58.71], [3.22, 2.96, 2.37, 5.03, 4.51, 4.56])

# Not all of 1..20, to be quick: the curves are flat about their maxima.
ROWS: dict[str, tuple[BilinearEmbedding, list[int], int, tuple[list[float], list[float]], int]] = {
    "GLRAM, published": (GLRAM(), [5, 6, 7, 10, 14, 18], 20, GLRAM_PUBLISHED, PUBLISHED_SPLITS),
    "2DMMC": (TwoDMMC(), [6, 7, 8, 10, 12, 14, 16], 20, TWO_D_MMC, MEASURED_SPLITS),
    "2DMMC as printed": (TwoDMMC(exchanged=True), [10, 11, 14, 20], 20, TWO_D_MMC_PRINTED, PUBLISHED_SPLITS),
    "2DLDA, ridge 1": (TwoDLDA(), [4, 5, 6, 8], 8, TWO_D_LDA_RIDGE, MEASURED_SPLITS),
    "2DLDA, orthonormal": (
        TwoDLDA(ridge=1e-10, scaling="orthonormal"), [10, 14, 19], 8, TWO_D_LDA_ORTHONORMAL, MEASURED_SPLITS,
    ),
}  # fmt: skip


def nearest_neighbour_rate(Z: np.ndarray, y: np.ndarray, Z_test: np.ndarray, y_test: np.ndarray) -> float:
    nearest = ((Z**2).sum(axis=1) - 2 * Z_test @ Z.T).argmin(axis=1)
    return 100 * float(np.mean(y[nearest] == y_test))


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

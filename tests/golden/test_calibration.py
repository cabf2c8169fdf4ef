"""Raw-pixel nearest neighbour reproduces the PCA rows of the MKMMC and 2DMMC papers: we have their pictures.

PCA of full rank changes no distance, so its published accuracies are those of the raw pixels. Another crop of the same
faces is 10 to 20 points higher: no other number may be compared with the papers' before this test passes.
"""

import numpy as np
import pytest
from tests.golden.conftest import Faces

from mklearn.kernels.distances import squared_euclidean
from mklearn.study.data.draw_splits import random_per_class

REPEATS = 20
# data set, training samples per class, published accuracy (%), standard deviation over splits (200 splits, measured)
PUBLISHED = [
    ("orl", 2, 70.67, 2.90),
    ("orl", 3, 78.88, 2.53),
    ("orl", 4, 84.21, 2.34),
    ("yale", 2, 46.04, 3.96),
    ("yale", 3, 49.96, 3.69),
    ("yale", 4, 55.67, 3.61),
]


@pytest.mark.parametrize(("name", "train_size", "published", "deviation"), PUBLISHED)
def test_raw_pixels_give_pca_row(name: str, train_size: int, published: float, deviation: float, faces: Faces) -> None:
    images, y = faces(name)
    distances = squared_euclidean(images.reshape(len(images), -1))
    measured = np.empty(REPEATS)
    for split in random_per_class(y, train_size, REPEATS, seed=0, name=name):
        nearest = split.train[distances[np.ix_(split.test, split.train)].argmin(axis=1)]
        measured[split.repeat] = 100 * (y[nearest] == y[split.test]).mean()
    # both sides are means of 20 splits: three standard errors of their difference
    assert abs(measured.mean() - published) < 3 * deviation * np.sqrt(2 / REPEATS)
    assert 0.5 * deviation < measured.std(ddof=1) < 1.7 * deviation

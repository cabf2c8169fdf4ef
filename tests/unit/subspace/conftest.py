"""Real data that tests of several embeddings share."""

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler


@pytest.fixture(scope="session")
def wine() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y

"""What 1,000 landmarks give up and gain against kernel matrices: MKL-DR on USPS, three Gaussians, 1-NN.

CPU seconds of `fit` on one thread, on the same samples: landmarks in double and in single precision, these without the
features of small eigenvalues, and kernel matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import blas, eigh
from scipy.linalg.lapack import dpotrf, dpotri
from threadpoolctl import threadpool_limits

from mklearn.descriptors.hog import hog
from mklearn.kernels.views import Views
from mklearn.study.data.read import read_dataset
from mklearn.study.data.registry import entry
from mklearn.subspace.mkldr import MKLDR

KERNELS = {name: {"view": name} for name in ("pixels", "means", "hog")}
L = 1_000
LANDMARKS = {
    "double": {"n": L},
    "single": {"n": L, "dtype": "float32"},
    "fewer features": {"n": L, "dtype": "float32", "rank_tolerance": 3e-4},
}
TIMES_AS_FAST = {"double": 10, "single": 10, "fewer features": 20}


@pytest.fixture(scope="module")
def usps(mirror: Path) -> tuple[Views, NDArray[np.int64]]:
    """All 9,298 images: pixels, means of 2 x 2 pixels and HOG."""
    samples = read_dataset(entry("usps").spec(), {"usps.h5": mirror / "usps" / "usps.h5"})
    images = np.asarray(samples.images, dtype=np.float32)
    n = len(images)
    means = images.reshape(n, 8, 2, 8, 2).mean(axis=(2, 4)).reshape(n, 64)
    views = {"pixels": images.reshape(n, 256), "means": means, "hog": hog(images, cell=4).astype(np.float32)}
    return Views(views), samples.y


def fitted(views: Views, y: NDArray[np.int64], train: NDArray[np.intp], landmarks: Any) -> tuple[MKLDR, float]:
    with threadpool_limits(1):
        start = process_time()
        model = MKLDR(kernels=KERNELS, landmarks=landmarks).fit(views[train], y[train])
        return model, process_time() - start


def unavoidable_seconds(n: int, ranks: Sequence[int], steps: int, dtype: str) -> float:
    """CPU seconds of what remains of `fit` if nothing but LAPACK and products of whole matrices took time.

    Per kernel the eigenvectors among landmarks and the product of the first of them with the kernel values; the scatter
    of D features; their inverse Gram matrix; one Cholesky factorisation of D x D for each A-step.
    """
    rng = np.random.default_rng(0)
    Z, values = rng.normal(size=(L, 50)), rng.normal(size=(n, L)).astype(dtype)
    features = rng.normal(size=(n, sum(ranks))).astype(dtype)
    symmetric = np.asfortranarray(features.T.astype(np.float64) @ features)
    with threadpool_limits(1):
        start = process_time()
        for rank in ranks:
            values @ eigh(Z @ Z.T)[1][:, :rank].astype(dtype)
        (blas.dsyrk if dtype == "float64" else blas.ssyrk)(1.0, features.T)
        factor, _ = dpotrf(symmetric, lower=True)
        dpotri(factor, lower=True)
        for _ in range(steps):
            dpotrf(symmetric, lower=True)
        return process_time() - start


@pytest.mark.benchmark
def test_landmarks_are_as_accurate_as_the_dense_method(usps, record_property) -> None:
    """Five splits with 3,000 training images each, in pairs: the dense method on all would take minutes for each."""
    views, y = usps
    found: dict[str, list[float]] = {"dense": [], **{name: [] for name in LANDMARKS}}
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(y))
        train, test = order[:3000], order[3000:]
        for name, landmarks in [("dense", None), *LANDMARKS.items()]:
            model, _ = fitted(views, y, train, landmarks)
            found[name].append(100 * model.score(views[test], y[test]))
    means = {name: round(float(np.mean(values)), 2) for name, values in found.items()}
    record_property("accuracy", means)
    print(f"\n{means}, { ({name: np.round(values, 2).tolist() for name, values in found.items()}) }")
    for name in LANDMARKS:
        assert abs(means[name] - means["dense"]) <= 0.5


@pytest.mark.benchmark
def test_landmarks_are_ten_to_twenty_times_as_fast_as_the_dense_method(usps, record_property) -> None:
    """With as many training samples as the standard split, 7,291.

    Beside each the products and factorisations that it can't do without: `unavoidable_seconds`.
    """
    views, y = usps
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:7291], order[7291:]
    found = {}
    for name, landmarks in [*LANDMARKS.items(), ("dense", None)]:
        model, taken = fitted(views, y, train, landmarks)
        found[name] = taken
        record_property(name, taken)
        accuracy = 100 * model.score(views[test], y[test])
        print(f"\n{name}: {taken:.1f} s, {accuracy:.2f} %, {len(model.history_)} half-steps")
        if landmarks:
            steps = sum(half_step["step"] == "a" for half_step in model.history_)
            ranks = model.landmark_features_.ranks_
            floor = unavoidable_seconds(len(train), ranks, steps, landmarks.get("dtype", "float64"))
            record_property(f"{name}, unavoidable", floor)
            print(f"{sum(ranks)} features; unavoidable: {floor:.1f} s")
    for name, times in TIMES_AS_FAST.items():
        assert found["dense"] >= times * found[name]

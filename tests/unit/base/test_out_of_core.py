"""Samples that do not fit into memory: memory-mapped files, Parquet by batches, Dask arrays on a cluster."""

from __future__ import annotations

import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest
from sklearn.datasets import load_digits

from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.base.moments import Moments
from mklearn.classifiers.kernel_ridge import KernelRidgeClassifier
from mklearn.subspace.mkldr import MKLDR

pytestmark = pytest.mark.full

KERNELS = {"narrow": {"bandwidth": 0.5}, "wide": {"bandwidth": 2.0}}
N = 100_000
Samples = tuple[np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def many() -> Samples:
    """100,000 digits, 26 MB: the first ones real, the others with seeded noise."""
    X, y = load_digits(return_X_y=True)
    rows = np.arange(N) % len(X)
    noise = np.random.default_rng(0).normal(size=(N, 64)).astype(np.float32)
    noise[: len(X)] = 0
    return X.astype(np.float32)[rows] + noise, y[rows]


@pytest.fixture(scope="module")
def features(many: Samples) -> LandmarkFeatures:
    X, y = many
    return LandmarkFeatures(KERNELS, n=20, dtype="float32").fit(X[:1000], y[:1000])


@pytest.fixture(scope="module")
def moments(many: Samples, features: LandmarkFeatures) -> Moments:
    """The moments of all samples at once."""
    X, y = many
    return Moments().partial_fit(features.transform(X), y)


def assert_same_predictions(features: LandmarkFeatures, found: Moments, expected: Moments, X: np.ndarray) -> None:
    assert found.n_samples_ == expected.n_samples_
    for method in (KernelRidgeClassifier, MKLDR):
        one, other = (method().fit_moments(features, each) for each in (found, expected))
        assert (one.predict(X) == other.predict(X)).mean() > 0.999


def test_a_memory_mapped_file_is_never_in_memory(tmp_path: Path, many, features, moments) -> None:
    X, y = many
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    found = Moments()
    tracemalloc.start()
    for start in range(0, N, 10_000):
        rows = slice(start, start + 10_000)
        found.partial_fit(features.transform(mapped[rows]), y[rows])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes / 3
    assert_same_predictions(features, found, moments, X[:1000])


def test_parquet_files_are_in_memory_one_at_a_time(tmp_path: Path, many, features, moments) -> None:
    """By fragments: `to_batches` of the whole dataset reads all ten files ahead."""
    X, y = many
    for start in range(0, N, 10_000):
        rows = slice(start, start + 10_000)
        table = pyarrow.table({f"pixel_{i}": column for i, column in enumerate(X[rows].T)} | {"label": y[rows]})
        pyarrow.parquet.write_table(table, tmp_path / f"{start}.parquet", use_dictionary=False)
    del table
    before, most, found = pyarrow.total_allocated_bytes(), 0, Moments()
    for fragment in pyarrow.dataset.dataset(tmp_path, format="parquet").get_fragments():
        for batch in fragment.to_batches():
            frame = batch.to_pandas()
            most = max(most, pyarrow.total_allocated_bytes() - before)
            found.partial_fit(features.transform(frame.drop(columns="label").to_numpy()), frame["label"])
    assert most < X.nbytes / 3
    assert_same_predictions(features, found, moments, X[:1000])


def gathered_by_dask(features: LandmarkFeatures, X: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """Gather moments on a local cluster: blocks are tasks, and their moments are merged two by two."""
    from dask import array, delayed
    from distributed import Client, LocalCluster

    @delayed
    def gathered(block: np.ndarray, labels: np.ndarray) -> Moments:
        return Moments().partial_fit(features.transform(block), labels)

    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        blocks = array.from_array(X, chunks=(3_000, 64)).to_delayed().ravel()
        labels = array.from_array(y, chunks=3_000).to_delayed()
        parts = [gathered(*pair) for pair in zip(blocks, labels, strict=True)]
        while len(parts) > 1:
            pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
            parts = [delayed(Moments.merge)(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
        return parts[0].compute().as_arrays()


def test_dask_arrays_on_a_local_cluster(many, features) -> None:
    """Nothing of Dask is in mklearn. In a process of its own: its import changes how all exceptions are pickled."""
    X, y = (each[:20_000] for each in many)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        found = Moments.from_arrays(pool.submit(gathered_by_dask, features, X, y).result())
    assert_same_predictions(features, found, Moments().partial_fit(features.transform(X), y), X[:1000])

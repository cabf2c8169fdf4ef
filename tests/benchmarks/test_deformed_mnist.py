"""The images of the study of a million samples: each depends on the seed, its original and its copy alone."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.unit.study.data.test_registered import write_mnist

from mklearn.study.data.readers.registered import mnist

pytestmark = pytest.mark.benchmark
SIDE = 12


def test_a_sample_depends_on_seed_original_and_copy_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parent / "million"), *sys.path])
    deformed = importlib.import_module("deformed_mnist")
    monkeypatch.setattr(deformed, "BATCH", 4)  # a generator for the first four of the six originals, one for two
    files = write_mnist(tmp_path, SIDE, train=[3, 1, 3, 0], t10k=[1, 0])
    originals, whole = mnist(files), deformed.read(files, n_samples=20)
    source = np.arange(20) % 6
    np.testing.assert_array_equal(whole.groups, originals.ids[source])
    np.testing.assert_array_equal(whole.labels, originals.classes[originals.y[source]])
    assert whole.ids[[0, 5, 6, 17]].tolist() == ["train/1", "test/2", "train/1-1", "test/2-2"]
    np.testing.assert_array_equal(whole.images[:6], originals.images)
    assert len(np.unique(whole.images.reshape(20, -1), axis=0)) == 20
    rows = np.array([1, 5, 7, 8, 10, 19])
    some = deformed.read(files, n_samples=20, choose=lambda labels: rows)
    np.testing.assert_array_equal(some.ids, whole.ids[rows])
    np.testing.assert_array_equal(some.images, whole.images[rows])
    draws = deformed.draw_displacements(np.random.default_rng([0, 1, 1]), 2, (SIDE, SIDE))
    np.testing.assert_array_equal(whole.images[10:12], deformed.deform(whole.images[4:6], draws))

"""Studies of a user's images and tables that end with a model, run in this process."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits
from tests.unit.study.small_study import run_study, write_tables

CLASSES = (0, 1, 4, 7)


def digits() -> tuple[Any, Any, Any]:
    """80 training samples and 20 that are held back of four classes: images of 8 bits, labels, held back or not."""
    X, y = load_digits(return_X_y=True)
    rows = np.concatenate([np.flatnonzero(y == digit)[:25] for digit in CLASSES])
    images = (X[rows].reshape(-1, 8, 8) * 15).astype(np.uint8)
    return images, y[rows], np.arange(len(rows)) % 5 == 0


def write_images(folder: Path, images: Any, names: list[str]) -> None:
    for image, name in zip(images, names, strict=True):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(path)


def make(study: dict[str, Any], folder: Path) -> Path:
    (job,) = run_study(folder, study, last="model").of("model")
    return folder / job.outputs["model"]


METHODS: dict[str, Any] = {
    "kfd": {"kind": "kernel_fda"},
    "words": {"kind": "linear_svc", "descriptor": "words"},
}


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with training images in `train`, the held-back ones in `new`, and `models`."""
    folder = tmp_path_factory.mktemp("pictures")
    images, y, held = digits()
    names = [f"{label}/{number}.png" for number, label in enumerate(y)]
    write_images(folder / "train", images[~held], [names[k] for k in np.flatnonzero(~held)])
    write_images(folder / "new", images[held], [f"some/where/{k}.png" for k in np.flatnonzero(held)])
    for method in METHODS:
        study = {
            "study": method,
            "datasets": {"own": {"kind": "image_folder", "path": "train", "resize": {"shape": [16, 16]}}},
            "descriptors": {
                "pixels": {"kind": "pixels"},
                "hog": {"kind": "hog", "cell": 4},
                "words": {"kind": "dense_sift", "n_words": 12, "step": 4, "sizes": [8]},
            },
            "kernels": {"gauss": {"kind": "gaussian", "descriptor": ["pixels", "hog"]}},
            "methods": {method: METHODS[method]},
            "protocols": {"folds": {"kind": "k_fold", "folds": 2}},
            "final": {"method": method},
        }
        make(study, folder)
    return folder


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two tables of training samples in `train`, those of held-back ones in `new`, and `results`."""
    folder = tmp_path_factory.mktemp("tables")
    images, y, held = digits()
    X = images.reshape(len(images), -1) / 16.0
    labels = np.array([f"digit {label}" for label in y])
    ids = np.array([f"s{k}" for k in range(len(y))])
    for part, rows in {"train": ~held, "new": held}.items():
        (folder / part).mkdir()
        write_tables(folder / part, {"upper": X[rows, :32]}, ids[rows], label=labels[rows])
        write_tables(folder / part, {"lower": X[rows, 32:]}, ids[rows])
    make(cells(), folder)
    return folder


def cells() -> dict[str, Any]:
    return {
        "study": "cells",
        "datasets": {"own": {"kind": "feature_tables", "tables": {n: f"train/{n}.csv" for n in ("upper", "lower")}}},
        "kernels": {"gauss": {"kind": "gaussian", "feature_scaling": "standard"}},
        "methods": {"svc": {"kind": "kernel_svc"}},
        "protocols": {"folds": {"kind": "k_fold", "folds": 2}},
        "final": {},
    }

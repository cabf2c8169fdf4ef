"""A checkout, results and data in folders with spaces and letters of many scripts; own files that become older."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.workflow.conftest import Checkout

pytestmark = pytest.mark.full

RNG = np.random.default_rng(0)
IDS = [f"s{k}" for k in range(24)]
FITS = ("--until", "fit")
NAME = "my folder of Größe 猫's & $HOME #1"


class AwkwardCheckout(Checkout):
    """A checkout with an environment of its own, whose Python has the path's special characters too."""

    def command(self, *arguments: str) -> list[str]:
        return [str(self.folder / ".venv/bin/python"), *super().command(*arguments)[1:]]


def table(shift: float) -> pd.DataFrame:
    labels = ["a", "b"] * 12
    X = RNG.normal(size=(24, 3)) + shift * (np.array(labels) == "a")[:, None]
    return pd.DataFrame(X, columns=["x", "y", "z"]).assign(id=IDS, label=labels)


def splits() -> pd.DataFrame:
    return pd.DataFrame({"id": IDS, "role": ["train", "train", "test", "test"] * 6})


def write_kernel(path: Path, shift: float) -> None:
    K = np.eye(24) + shift
    np.savez(path, K=K, id=np.array(IDS))


def study(results: str) -> dict[str, Any]:
    return {
        "study": "awkward",
        "results": results,
        "datasets": {
            "mine": {"kind": "feature_tables", "tables": {"t": "own data/täble.csv"}},
            "matrix": {"kind": "precomputed", "matrices": {"k": "own data/k é.npz"}, "labels": "own data/läbels.csv"},
        },
        "methods": {"average": {"kind": "kernel_fda"}},
        "protocols": {
            "given": {"kind": "given", "path": "own data/splits ß.csv", "datasets": ["mine"]},
            "folds": {"kind": "k_fold", "folds": 2, "datasets": ["matrix"]},
        },
    }


@pytest.fixture(scope="module")
def awkward(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Checkout:
    """A finished study in such a place."""
    made = AwkwardCheckout(tmp_path_factory.mktemp("places") / NAME, repository)
    (made.folder / ".venv").symlink_to(sys.prefix)
    (made.folder / "own data").mkdir()
    table(1.0).to_csv(made.folder / "own data/täble.csv", index=False)
    splits().to_csv(made.folder / "own data/splits ß.csv", index=False)
    write_kernel(made.folder / "own data/k é.npz", 0.5)
    table(0.0)[["id", "label"]].to_csv(made.folder / "own data/läbels.csv", index=False)
    made.write(study("the results ñ"))
    made.snakemake("--cores", "2", *FITS)  # a process of this Python
    return made


def test_such_a_study_is_run_and_up_to_date(awkward: Checkout) -> None:
    assert len(list((awkward.folder / "the results ñ/cache/fits").rglob("*.predictions.npz"))) == 2
    assert awkward.planned(*FITS) == {}


OTHERS: dict[str, Callable[[Path], None]] = {
    "täble.csv": lambda path: table(3.0).to_csv(path, index=False),
    "splits ß.csv": lambda path: splits().iloc[::-1].assign(id=IDS).to_csv(path, index=False),
    "k é.npz": lambda path: write_kernel(path, 0.7),
    "läbels.csv": lambda path: table(0.0)[["id", "label"]].iloc[::-1].to_csv(path, index=False),
}
"""What writes another content of a file."""


@pytest.mark.parametrize(
    ("names", "first"),
    [
        (["splits ß.csv", "k é.npz"], {"read": 1, "split": 2}),  # one of another data set than the other
        (["täble.csv", "läbels.csv"], {"read": 2, "split": 2}),
    ],
    ids=["splits and matrix", "tables"],
)
def test_an_older_file_in_the_place_of_a_newer_one_is_noticed(
    awkward: Checkout, names: list[str], first: dict[str, int]
) -> None:
    paths = [awkward.folder / "own data" / name for name in names]
    for path in paths:
        shutil.copy2(path, path.with_suffix(".kept"))
    try:
        for path in paths:
            OTHERS[path.name](path)
            os.utime(path, (1e9, 1e9))
        assert first.items() <= awkward.planned(*FITS).items()
        for path in paths:
            shutil.copy(path.with_suffix(".kept"), path)  # a newer time, the content as it was
            os.utime(path, (1e9, 1e9))
        assert awkward.planned(*FITS) == {}
    finally:
        for path in paths:
            shutil.copy2(path.with_suffix(".kept"), path)

"""A checkout, results and data in folders with spaces and letters of many scripts; own files that become older."""

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.workflow.conftest import Checkout

pytestmark = pytest.mark.full

IDS = [f"s{k}" for k in range(24)]
FITS = ("--until", "fit")
NAME = "my folder of Größe 猫's & $HOME #1"


class AwkwardCheckout(Checkout):
    """A checkout with an environment of its own, whose Python has the path's special characters too."""

    def command(self, *arguments: str) -> list[str]:
        return [str(self.folder / ".venv/bin/python"), *super().command(*arguments)[1:]]


def table() -> pd.DataFrame:
    labels = np.array(["a", "b"] * 12)
    X = np.random.default_rng(0).normal(size=(24, 3)) + (labels == "a")[:, None]
    return pd.DataFrame(X, columns=["x", "y", "z"]).assign(id=IDS, label=labels)


def splits() -> pd.DataFrame:
    return pd.DataFrame({"id": IDS, "role": ["train", "train", "test", "test"] * 6})


def write_kernel(path: Path, shift: float) -> None:
    np.savez(path, K=np.eye(24) + shift, id=np.array(IDS))


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
    made = AwkwardCheckout(tmp_path_factory.mktemp("places") / NAME, repository)
    (made.folder / ".venv").symlink_to(sys.prefix)
    (made.folder / "own data").mkdir()
    table().to_csv(made.folder / "own data/täble.csv", index=False)
    splits().to_csv(made.folder / "own data/splits ß.csv", index=False)
    write_kernel(made.folder / "own data/k é.npz", 0.5)
    table()[["id", "label"]].to_csv(made.folder / "own data/läbels.csv", index=False)
    made.write(study("the results ñ"))
    made.snakemake("--cores", "2", *FITS)  # a process of this Python
    return made


def test_such_a_study_is_run_and_up_to_date(awkward: Checkout) -> None:
    assert len(list((awkward.folder / "the results ñ/cache/fits").rglob("*.predictions.npz"))) == 2
    assert awkward.planned(*FITS) == {}


def test_an_older_file_in_the_place_of_a_newer_one_is_noticed(awkward: Checkout) -> None:
    own = awkward.folder / "own data"
    before = {name: (own / name).read_bytes() for name in ("splits ß.csv", "k é.npz")}
    splits().iloc[::-1].assign(id=IDS).to_csv(own / "splits ß.csv", index=False)
    write_kernel(own / "k é.npz", 0.7)
    for content, expected in ((None, {"read": 1, "split": 2, "fit": 2}), (before, {})):
        for name, bytes_before in (content or {}).items():
            (own / name).write_bytes(bytes_before)
        for name in before:
            os.utime(own / name, (1e9, 1e9))
        assert {rule: n for rule, n in awkward.planned(*FITS).items() if rule in ("read", "split", "fit")} == expected

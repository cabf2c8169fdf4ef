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
STUDY: dict[str, Any] = {
    "study": "awkward",
    "results": "the results ñ",
    "datasets": {
        "mine": {"kind": "precomputed", "matrices": {"k": "own data/k é.npz"}, "labels": "own data/läbels.csv"},
    },
    "methods": {"average": {"kind": "kernel_fda"}},
    "protocols": {"given": {"kind": "given", "path": "own data/splits ß.csv"}},
}


class AwkwardCheckout(Checkout):
    """A checkout with an environment of its own, whose Python has the path's special characters too."""

    def command(self, *arguments: str) -> list[str]:
        return [str(self.folder / ".venv/bin/python"), *super().command(*arguments)[1:]]


def write_data(folder: Path, shift: float, ids: list[str]) -> None:
    np.savez(folder / "k é.npz", K=np.eye(24) + shift, id=np.array(IDS))
    splits = pd.DataFrame({"id": ids, "role": ["train", "train", "test", "test"] * 6})
    splits.to_csv(folder / "splits ß.csv", index=False)


@pytest.fixture(scope="module")
def awkward(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Checkout:
    made = AwkwardCheckout(tmp_path_factory.mktemp("places") / NAME, repository)
    (made.folder / ".venv").symlink_to(sys.prefix)
    own = made.folder / "own data"
    own.mkdir()
    write_data(own, 0.5, IDS)
    pd.DataFrame({"id": IDS, "label": ["a", "b"] * 12}).to_csv(own / "läbels.csv", index=False)
    made.write(STUDY)
    made.snakemake("--cores", "2", *FITS)  # a process of this Python
    return made


def test_such_a_study_is_run_and_up_to_date(awkward: Checkout) -> None:
    assert len(list((awkward.folder / "the results ñ/cache/fits").rglob("*.predictions.npz"))) == 1
    assert awkward.planned(*FITS) == {}


def test_an_older_file_in_the_place_of_a_newer_one_is_noticed(awkward: Checkout) -> None:
    own = awkward.folder / "own data"
    before = {path: path.read_bytes() for path in (own / "splits ß.csv", own / "k é.npz")}
    write_data(own, 0.7, IDS[::-1])
    after = {path: path.read_bytes() for path in before}
    split = {"split": 1, "fit": 1}
    for name, expected in (("splits ß.csv", split), ("k é.npz", {"read": 1, **split}), ("", {})):
        for path, content in before.items():
            path.write_bytes(after[path] if path.name == name else content)
            os.utime(path, (1e9, 1e9))
        assert {rule: n for rule, n in awkward.planned(*FITS).items() if rule in ("read", "split", "fit")} == expected

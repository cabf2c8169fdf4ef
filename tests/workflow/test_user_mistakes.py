"""Broken input of every kind in one run: each has a sentence with its file on the terminal, and none is a traceback."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from tests.workflow.conftest import SMOKE, Checkout

from mklearn.study.data.registry import entry

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> tuple[str, Path]:
    """What a run over five broken data sets says, and its folder."""
    checkout = Checkout(tmp_path_factory.mktemp("broken") / "checkout", repository)
    folder = checkout.folder
    ids = [f"s{number}" for number in range(12)]
    labels = ["a", "b"] * 6
    features = pd.DataFrame({"id": ids, "label": labels, "x": np.arange(12.0), "y": np.arange(12.0)[::-1]})
    features.assign(x=features["x"].where(features["id"] != "s3")).to_parquet(folder / "nan.parquet")
    features[["id", "label"]].to_csv(folder / "labels.csv", index=False)
    np.savez(folder / "rectangle.npz", matrix=np.ones((12, 11)), ids=np.array(ids))
    for name in ("cat", "dog"):
        (folder / "photos" / name).mkdir(parents=True)
        for number in range(3):
            pixels = np.full((20, 20), 40 * number, dtype=np.uint8)
            Image.fromarray(pixels).save(folder / "photos" / name / f"{number}.png")
    whole = (folder / "photos" / "dog" / "1.png").read_bytes()
    (folder / "photos" / "dog" / "1.png").write_bytes(whole[: len(whole) // 2])
    for name, content in (("orl", b"not the faces"), ("yale", b"")):
        place = folder / "mirror" / str(entry(name).files[0].mirror)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    study = {key: SMOKE[key] for key in ("methods", "protocols")} | {
        "study": "broken",
        "mirror": "mirror",
        "datasets": {
            "nan": {"kind": "feature_tables", "tables": {"nan": "nan.parquet"}},
            "square": {"kind": "precomputed", "labels": "labels.csv", "matrices": {"k": "rectangle.npz"}},
            "photos": {"kind": "image_folder", "path": "photos"},
            "orl": None,
            "yale": None,
        },
    }
    checkout.write(study)
    environment = {"MKLEARN_MIRROR": "", "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    done = checkout.ended("snakemake", "--cores", "2", "--until", "read", **environment)
    assert done.returncode != 0
    return done.stderr, folder


@pytest.mark.parametrize(
    "words",
    [
        ("nan.parquet", "s3", "x"),
        ("rectangle.npz", "12", "11", "square"),
        ("photos/dog/1.png",),
        ("ORL_32x32.mat", "sha256", "put the file at"),
        ("Yale_32x32.mat", "sha256", "put the file at"),
    ],
    ids=lambda words: words[0],
)
def test_each_has_its_sentence(broken: tuple[str, Path], words: tuple[str, ...]) -> None:
    said, _ = broken
    # Two jobs write at once: a sentence ends where the next one begins, if not at an empty line.
    sentences = [part.split("\n\n")[0] for part in said.split("mklearn, ")[1:]]
    assert any(all(word in sentence for word in words) for sentence in sentences), "\n\n".join(sentences)


def test_no_traceback_and_nothing_half_written(broken: tuple[str, Path]) -> None:
    said, folder = broken
    assert "Traceback" not in said
    left = [path for path in (folder / "results").rglob("*") if path.is_file()]
    assert [path.name for path in left] == [".lock"]

"""A study with `final` as a user runs it, and `mklearn predict` on new images in a process of its own."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.unit.study.prediction.conftest import digits, write_images
from tests.workflow.conftest import Checkout

from mklearn.descriptors.multiresolution import multiresolution
from mklearn.descriptors.pixels import pixels
from mklearn.kernels import Views
from mklearn.study.data.resizing import resize_images
from mklearn.subspace import KernelFDA

pytestmark = pytest.mark.full

STUDY = {
    "study": "photos",
    "datasets": {"photos": {"kind": "image_folder", "path": "photos", "resize": {"shape": [16, 16]}}},
    "descriptors": {"pixels": {"kind": "pixels"}, "blocks": {"kind": "multiresolution", "resolutions": [2, 4]}},
    "methods": {"average": {"kind": "kernel_fda", "ridge": [1e-3, 1e-2]}},
    "protocols": {"folds": {"kind": "k_fold", "folds": 2}},
    "final": {"method": "average"},
}


def test_a_run_ends_with_a_model_that_predicts(tmp_path: Path, repository: Path) -> None:
    checkout = Checkout(tmp_path / "checkout", repository)
    images, y, held = digits()
    write_images(checkout.folder / "photos", images[~held], [f"{c}/{k}.png" for k, c in enumerate(y[~held])])
    write_images(tmp_path / "new", images[held], [f"{k}.png" for k in range(held.sum())])
    checkout.write(STUDY)
    said = checkout.said("snakemake", "--cores", "2", "--quiet")
    assert "results/photos/model.mklearn (mklearn predict results/photos/model.mklearn NEW)" in said
    model = checkout.folder / "results" / "photos" / "model.mklearn"
    assert "Expected accuracy" in model.with_suffix(".md").read_text(encoding="utf-8")
    assert checkout.planned() == {}, "nothing is left to do"
    words = [sys.executable, "-m", "mklearn", "predict", str(model), str(tmp_path / "new")]
    done = subprocess.run(words, cwd=tmp_path, env=checkout.environment, capture_output=True, text=True, check=True)
    frame = pd.read_csv(io.StringIO(done.stdout), dtype={"label": str})
    assert frame["id"].tolist() == [f"{k}.png" for k in range(20)]
    large = resize_images(images, shape=(16, 16))
    views = Views({"pixels": pixels(large), "blocks": multiresolution(large, resolutions=[2, 4])})
    labels = [
        KernelFDA(kernels={"pixels": "gaussian", "blocks": "gaussian"}, ridge=ridge)
        .fit(views[~held], y[~held].astype(str))
        .predict(views[held])
        .tolist()
        for ridge in (1e-3, 1e-2)
    ]
    assert frame["label"].tolist() in labels
    assert np.mean(frame["label"].to_numpy() == y[held].astype(str)) >= 0.8
    content = bytearray(model.read_bytes())
    content[-100] ^= 1
    model.write_bytes(content)
    assert checkout.answer("predict", str(model), str(tmp_path / "new"), code=1).splitlines() == [
        f"mklearn: {model}: its checksum is not the one that it was saved with; copy or save it again"
    ]

"""The wheel in empty environments: the core, each extra alone, and a study in an empty folder."""

from __future__ import annotations

import functools
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.unit.study.prediction.conftest import digits, make, write_images
from tests.unit.test_documentation import blocks

from mklearn.study.prediction import predict

pytestmark = pytest.mark.full

STUDY = """\
study: cells
datasets:
  cells: {kind: feature_tables, tables: {shape: shape.csv}}
methods:
  average: {kind: kernel_fda}
protocols:
  halves: {kind: k_fold, folds: 2}
"""


class Environment:
    """A virtual environment with the wheel, and the lock's versions of what it needs.

    That of an extra begins as a copy of the core's, with what Python has compiled there.
    """

    def __init__(
        self, folder: Path, uv: Callable[..., str], wheel: Path, lock: Path, extra: str, core: Environment | None
    ) -> None:
        self.folder = folder
        if core is None:
            uv("venv", "--python", sys.executable, str(folder))
        else:
            shutil.copytree(core.folder, folder, symlinks=True, copy_function=os.link)
        package = f"mklearn[{extra}] @ {wheel.as_uri()}" if extra else f"mklearn @ {wheel.as_uri()}"
        self.installed = uv(
            "pip", "install", "--python", self.program("python"), "-c", str(lock), "--reinstall-package", "mklearn",
            package,
        )  # fmt: skip

    def program(self, name: str) -> str:
        return str(self.folder / "bin" / name)

    def run(self, program: str, *arguments: str, folder: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, with nothing of this one."""
        kept = {name: os.environ[name] for name in ("HOME", "TMPDIR", "LANG") if name in os.environ}
        done = subprocess.run(
            [self.program(program), *arguments], cwd=folder, capture_output=True, text=True,
            env=kept | {"PATH": os.defpath, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"},
        )  # fmt: skip
        assert done.returncode == code, done.stdout[-2000:] + done.stderr[-4000:]
        return done

    def endings(self, script: Path, *parts: str) -> dict[str, dict[str, str]]:
        """Return what the script of the core install prints."""
        return json.loads(self.run("python", str(script), *parts, folder=self.folder).stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def uv(repository: Path) -> Callable[..., str]:
    program = shutil.which("uv") or shutil.which("uv", path=repository / ".tools" / "bin")
    if program is None:
        pytest.skip("uv is not installed (`make setup` installs it)")

    def call(*arguments: str) -> str:
        done = subprocess.run([program, *arguments], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stderr

    return call


@pytest.fixture(scope="module")
def environment(
    uv: Callable[..., str], repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Environment]:
    """Environments by extra, each made once."""
    folder, lock = tmp_path_factory.mktemp("wheel"), repository / "requirements.lock"
    try:
        uv("pip", "install", "--dry-run", "--target", str(folder / "probe"), "-c", str(lock), "lazy-loader")
    except AssertionError as error:
        pytest.skip(f"no package index is reachable: {str(error).strip()[-200:]}")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist")], cwd=repository,
        check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = (folder / "dist").glob("*.whl")

    @functools.cache
    def made(extra: str) -> Environment:
        return Environment(folder / f"env-{extra}", uv, wheel, lock, extra, made("") if extra else None)

    return made


@pytest.fixture(scope="module")
def script(repository: Path) -> Path:
    return repository / "tests" / "unit" / "core_install.py"


def missing(endings: dict[str, str]) -> set[str]:
    """Return the extras that sentences name."""
    return {name for text in endings.values() for name in re.findall(r"mklearn\[(\w+)\]", text)}


@pytest.mark.benchmark
def test_the_core_is_imported_in_a_moment(environment: Callable[[str], Environment]) -> None:
    core = environment("")
    timed = "import time; t = time.process_time(); import mklearn; print(time.process_time() - t)"
    assert min(float(core.run("python", "-c", timed, folder=core.folder).stdout) for _ in range(3)) < 0.3


def test_the_core_is_small_and_has_the_estimators(environment: Callable[[str], Environment], script: Path) -> None:
    core = environment("")
    packages = re.findall(r"^ \+ (\S+)==", core.installed, flags=re.MULTILINE)
    assert len(packages) <= 15, packages
    megabytes = sum(path.stat().st_size for path in core.folder.rglob("*") if path.is_file()) / 1e6
    assert megabytes < 400
    print(f"core: {len(packages)} packages, {megabytes:.0f} MB")
    endings = core.endings(script, "estimators", "others")
    assert {name for name, text in endings["estimators"].items() if text != "ok"} == {
        "LMKLSVC", "RSVMPlusMu"
    }  # fmt: skip
    assert missing(endings["others"]) == {"sdp", "images", "workflow", "models", "predict"}
    assert 'pip install "mklearn[workflow]"' in core.run("mklearn", "run", folder=core.folder, code=1).stderr


@pytest.mark.parametrize(
    ("extra", "parts"),
    [
        ("sdp", {"sdp"}),
        ("images", {"hog", "sift_grid"}),
        ("report", {"report"}),
        ("models", {"models"}),
        ("predict", {"hog", "models", "predict"}),
    ],
)
def test_an_extra_alone_has_its_part(
    extra: str, parts: set[str], environment: Callable[[str], Environment], script: Path
) -> None:
    endings = environment(extra).endings(script, "others")["others"]
    assert {name for name in parts if endings[name] != "ok"} == set()
    assert missing(endings) & {extra} == set()


def test_an_install_that_predicts_is_small(environment: Callable[[str], Environment], tmp_path: Path) -> None:
    """Photos and tables, by models whose kernels are chi-squared too, and a sentence for what is not in it."""
    predicts = environment("predict")
    megabytes = sum(path.stat().st_size for path in predicts.folder.rglob("*") if path.is_file()) / 1e6
    print(f"predict: {megabytes:.0f} MB")
    assert megabytes < 400  # compiled modules, which pip writes, come to it
    images, labels, held = digits()
    names = np.array([f"{label}/{number}.png" for number, label in enumerate(labels)])
    write_images(tmp_path / "train", images[~held], names[~held].tolist())
    write_images(tmp_path / "new", images[held], names[held].tolist())
    table = pd.DataFrame(images.reshape(len(images), -1)).add_prefix("x").assign(id=names, label=labels.astype(str))
    table[~held].to_csv(tmp_path / "train.csv", index=False)
    table[held].to_csv(tmp_path / "new.csv", index=False)
    table[held].to_parquet(tmp_path / "new.parquet")
    shared = {"methods": {"all": {"kind": "multi_view"}}, "protocols": {"halves": {"kind": "k_fold", "folds": 2}}}
    photos = {"kind": "image_folder", "path": "train", "resize": {"shape": [16, 16]}}
    tables = {"kind": "feature_tables", "tables": {"pixels": "train.csv"}}
    described = {"descriptors": {"lbp": {"kind": "lbp"}, "hog": {"kind": "hog", "cell": 4}}}
    for name, data, new, more in (("photos", photos, "new", described), ("rows", tables, "new.csv", {})):
        model = make({"study": name, "datasets": {"own": data}, "final": {}, **shared, **more}, tmp_path)
        expected = predict(model, tmp_path / new)
        said = predicts.run("mklearn", "predict", str(model), new, folder=tmp_path)
        found = pd.read_csv(io.StringIO(said.stdout))
        assert found["label"].astype(str).tolist() == expected["label"].tolist()
        np.testing.assert_allclose(found.filter(like="probability_"), expected.filter(like="probability_"), atol=1e-9)
    refused = predicts.run("mklearn", "predict", str(model), "new.parquet", folder=tmp_path, code=1)
    assert refused.stderr.count("\n") == 1
    assert 'pip install "mklearn[workflow]"' in refused.stderr


def test_an_install_of_models_says_what_predicting_needs(
    environment: Callable[[str], Environment], tmp_path: Path
) -> None:
    images, labels, _ = digits()
    table = pd.DataFrame(images.reshape(len(images), -1)).add_prefix("x").assign(label=labels.astype(str))
    table.to_csv(tmp_path / "t.csv", index_label="id")
    tables = {"kind": "feature_tables", "tables": {"pixels": "t.csv"}}
    shared = {"methods": {"all": {"kind": "multi_view"}}, "protocols": {"halves": {"kind": "k_fold", "folds": 2}}}
    model = make({"study": "rows", "datasets": {"own": tables}, "final": {}, **shared}, tmp_path)
    said = environment("models").run("mklearn", "predict", str(model), "t.csv", folder=tmp_path, code=1).stderr
    assert said.count("\n") == 1
    assert 'pip install "mklearn[predict]"' in said


def test_the_readmes_example_runs(environment: Callable[[str], Environment], repository: Path, tmp_path: Path) -> None:
    (tmp_path / "example.py").write_text(blocks(repository / "README.md", "python")[0], encoding="utf-8")
    printed = environment("images").run("python", "example.py", folder=tmp_path).stdout
    assert printed in blocks(repository / "README.md", "")


def test_a_study_in_an_empty_folder(
    environment: Callable[[str], Environment], repository: Path, tmp_path: Path
) -> None:
    rows = "".join(f"s{k},{'ab'[k % 2]},{k % 2 + (k % 7) / 9},{k % 5}\n" for k in range(24))
    (tmp_path / "shape.csv").write_text(f"id,label,x,y\n{rows}", encoding="utf-8")
    workflow = environment("workflow")
    workflow.run("mklearn", "init", "shape.csv", folder=tmp_path)
    (tmp_path / "cells.yaml").write_text(STUDY, encoding="utf-8")
    said = workflow.run("mklearn", "run", "cells.yaml", "--cores", "2", folder=tmp_path).stderr
    assert "results/cells/report/index.html" in said
    assert (tmp_path / "results" / "cells" / "report" / "index.html").is_file()
    record = json.loads((tmp_path / "results" / "cells" / "run.json").read_text(encoding="utf-8"))
    assert record["command"] == "mklearn run cells.yaml --cores 2"
    # A checkout of the same code has nothing to do: keys and triggers are the same.
    for call in ([workflow.program("mklearn")], [sys.executable, "-m", "mklearn"]):
        done = subprocess.run(
            [*call, "run", "cells.yaml", "--dry-run"], cwd=tmp_path, capture_output=True, text=True,
            env=os.environ | ({"PYTHONPATH": str(repository / "src")} if len(call) > 1 else {"PYTHONPATH": ""}),
        )  # fmt: skip
        assert "Nothing to be done" in done.stdout + done.stderr, done.stdout + done.stderr

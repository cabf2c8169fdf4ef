"""The wheel in empty environments: the core fits estimators, and the workflow runs a study in an empty folder."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

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


def built(source: Path, folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(repository, tmp_path_factory.mktemp("wheel"))


def test_the_example_of_a_package_can_be_installed(repository: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(built(repository / "tests" / "outside_package", tmp_path)) as package:
        assert {"outside_package/parts.py", "outside_package/registry.yaml"} <= set(package.namelist())


def installed(wheel: Path, extra: str, repository: Path, folder: Path) -> Path:
    """Return the programs of an environment with the wheel, and the lock's versions of what it needs."""
    uv = shutil.which("uv") or shutil.which("uv", path=repository / ".tools" / "bin")
    if uv is None:
        pytest.skip("uv is not installed (`make setup` installs it)")
    subprocess.run([uv, "venv", "--python", sys.executable, str(folder)], check=True, capture_output=True)
    done = subprocess.run(
        [uv, "pip", "install", "--python", str(folder / "bin" / "python"), "-c", str(repository / "requirements.lock"),
         f"mklearn{extra} @ {wheel.as_uri()}"], capture_output=True, text=True,
    )  # fmt: skip
    if "error sending request" in done.stderr or "Failed to fetch" in done.stderr:
        pytest.skip(f"no package index is reachable: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr[-4000:]
    return folder / "bin"


def run(*command: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("HOME", "TMPDIR", "LANG") if name in os.environ}
    done = subprocess.run(
        list(map(str, command)), cwd=folder, capture_output=True, text=True,
        env=kept | {"PATH": os.defpath, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done


def test_the_core_is_small_and_has_the_estimators(wheel: Path, repository: Path, tmp_path: Path) -> None:
    programs = installed(wheel, "", repository, tmp_path / "core")
    script = repository / "tests" / "unit" / "core_install.py"
    endings = json.loads(run(programs / "python", script, folder=tmp_path).stdout.splitlines()[-1])
    assert {name for name, text in endings.items() if text != "ok"} == {"LMKLSVC", "RSVMPlusMu"}
    assert sum(path.stat().st_size for path in programs.parent.rglob("*") if path.is_file()) < 400e6


def test_a_study_in_an_empty_folder(wheel: Path, repository: Path, tmp_path: Path) -> None:
    programs = installed(wheel, "[workflow]", repository, tmp_path / "environment")
    folder = tmp_path / "study"
    folder.mkdir()
    rows = "".join(f"s{k},{'ab'[k % 2]},{k % 2 + (k % 7) / 9},{k % 5}\n" for k in range(24))
    (folder / "shape.csv").write_text(f"id,label,x,y\n{rows}", encoding="utf-8")
    (folder / "cells.yaml").write_text(STUDY, encoding="utf-8")
    run(programs / "mklearn", "run", "cells.yaml", "--cores", "2", folder=folder)
    assert (folder / "results" / "cells" / "report" / "index.html").is_file()
    code = "from mklearn.study.data.readers.views import mfeat_500; print(len(mfeat_500(tables=['mor']).ids))"
    assert run(programs / "python", "-c", code, folder=folder).stdout == "500\n"
    again = run(programs / "mklearn", "run", "cells.yaml", "--dry-run", folder=folder)
    assert "Nothing to be done" in again.stdout + again.stderr

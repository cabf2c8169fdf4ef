"""What unit tests of several rooms share: one run of every step, and the scripts in docs."""

from __future__ import annotations

import fcntl
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class EveryStep:
    """A folder in which every step of the workflow has run, and what is known of each job (see every_step.py)."""

    folder: Path
    records: list[dict[str, Any]]
    environment: dict[str, str]


@pytest.fixture(scope="session")
def every_step(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> EveryStep:
    """Every step on small data; a download too where there is a mirror. Workers of one session share it."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "every-step"
    folder.mkdir(exist_ok=True)
    environment = os.environ | {"PYTHONPATH": str(repository / "src"), "OMP_NUM_THREADS": "1"}
    mirror = Path(os.environ.get("MKLEARN_MIRROR") or repository.parent / "shared" / "data")
    environment.pop("MKLEARN_MIRROR", None)
    if (mirror / "MANIFEST.csv").exists():
        environment["MKLEARN_MIRROR"] = str(mirror)
    script = Path(__file__).with_name("every_step.py")
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "records.json").exists():
            done = subprocess.run(
                [sys.executable, str(script), str(folder)], env=environment, capture_output=True, text=True, timeout=900
            )
            assert done.returncode == 0, done.stderr[-6000:]
    return EveryStep(folder, json.loads((folder / "records.json").read_text(encoding="utf-8")), environment)


@pytest.fixture(scope="session")
def import_from_docs(repository: Path) -> Callable[[str], Any]:
    """Import a script in docs, which may import its neighbours, by its name."""

    def imported(name: str) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(str(repository / "docs"))
            return importlib.import_module(name)

    return imported

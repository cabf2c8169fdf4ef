"""The locks and environments agree with each other, and no file knows the machine it came from."""

import re
import runpy
import subprocess
from pathlib import Path
from typing import Any

import pytest

LOCKS = ("requirements.lock", "envs/bootstrap.lock", "envs/docs.lock", "envs/slurm.lock")
PLACES = re.compile(rb"(?<![\w.])/(work|home/[a-z]\w*|Users|root)/")
"""Folders that exist on one machine only."""


@pytest.fixture(scope="module")
def from_lock(repository: Path) -> dict[str, Any]:
    return runpy.run_path(str(repository / "envs" / "from_lock.py"))


def test_conda_environment_is_made_from_the_lock(repository: Path, from_lock: dict[str, Any]) -> None:
    text = (repository / "envs" / "mklearn.yaml").read_text(encoding="utf-8")
    assert text == from_lock["environment"](), "run `make lock` (or python envs/from_lock.py)"


@pytest.mark.parametrize("name", LOCKS)
def test_locks_pin_every_package_by_hash_and_agree(repository: Path, from_lock: dict[str, Any], name: str) -> None:
    text = (repository / name).read_text(encoding="utf-8")
    assert "://" not in text
    entries = [entry for entry in re.split(r"\n(?=\S)", text.strip()) if not entry.startswith("#")]
    assert entries
    for entry in entries:
        assert re.match(r"[a-z0-9._-]+==\S+", entry), entry[:80]
        assert "--hash=sha256:" in entry, entry[:80]
    if name != "envs/bootstrap.lock":
        ours, more = (from_lock["locked"](repository / each) for each in (LOCKS[0], name))
        assert {package: version for package, version in more.items() if ours.get(package, version) != version} == {}


def test_no_file_names_a_place_of_one_machine_or_is_large(repository: Path) -> None:
    done = subprocess.run(["git", "-C", str(repository), "ls-files", "-z"], capture_output=True)
    if done.returncode:
        pytest.skip("not a checkout")
    kept = [repository / name for name in done.stdout.decode().split("\0") if name and (repository / name).is_file()]
    assert [path for path in kept if path.name != Path(__file__).name and PLACES.search(path.read_bytes())] == []
    assert [path for path in kept if path.stat().st_size > 1_000_000 and "oracle" not in path.parts] == []

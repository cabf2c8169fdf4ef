"""The environments agree with each other, the Makefile explains itself, and no file knows the machine it came from."""

from __future__ import annotations

import itertools
import re
import runpy
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

EXTRAS = {
    "docs": {
        "accessible-pygments",
        "alabaster",
        "babel",
        "beautifulsoup4",
        "contourpy",
        "cycler",
        "fonttools",
        "imagesize",
        "kiwisolver",
        "matplotlib",
        "mdit-py-plugins",
        "myst-parser",
        "numpydoc",
        "pydata-sphinx-theme",
        "pyparsing",
        "roman-numerals",
        "snowballstemmer",
        "soupsieve",
        "sphinx",
        "sphinx-gallery",
        "sphinx-mathjax-offline",
        "sphinxcontrib-applehelp",
        "sphinxcontrib-devhelp",
        "sphinxcontrib-htmlhelp",
        "sphinxcontrib-jsmath",
        "sphinxcontrib-qthelp",
        "sphinxcontrib-serializinghtml",
    },
    "slurm": {"snakemake-executor-plugin-slurm", "snakemake-executor-plugin-slurm-jobstep"},
}
"""Extras with a lock of their own, and the packages that each adds."""
LOCKS = ("requirements.lock", "envs/bootstrap.lock", *(f"envs/{extra}.lock" for extra in EXTRAS))
PLACES = re.compile(rb"(?<![\w.])/(work|home/[a-z]\w*|Users|root)/")
"""Folders that exist on one machine only."""


@pytest.fixture(scope="module")
def from_lock(repository: Path) -> dict:
    return runpy.run_path(str(repository / "envs" / "from_lock.py"))


@pytest.fixture(scope="module")
def kept(repository: Path) -> list[Path]:
    """Files that are committed or would be."""
    done = subprocess.run(
        ["git", "-C", str(repository), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
    )
    if done.returncode:
        pytest.skip("not a checkout")
    files = [repository / name for name in done.stdout.decode().split("\0") if name]
    return [path for path in files if path.is_file() and not path.is_symlink()]


def test_conda_environment_is_made_from_the_lock(repository: Path, from_lock: dict) -> None:
    text = (repository / "envs" / "mklearn.yaml").read_text(encoding="utf-8")
    assert text == from_lock["environment"](), "run `make lock` (or python envs/from_lock.py)"


def test_conda_environment_pins_every_dependency_as_the_lock_does(repository: Path, from_lock: dict) -> None:
    """The same, computed another way: a mistake in from_lock.py would go unnoticed above."""
    environment = yaml.safe_load((repository / "envs" / "mklearn.yaml").read_text(encoding="utf-8"))
    by_conda = [entry for entry in environment["dependencies"] if isinstance(entry, str)]
    by_pip = [name for entry in environment["dependencies"] if isinstance(entry, dict) for name in entry["pip"]]
    pinned = dict(re.split(" ?==", entry) for entry in (*by_conda, *by_pip) if "==" in entry)
    lines = (repository / "requirements.lock").read_text(encoding="utf-8").splitlines()
    versions = {line.split("==")[0]: line.split("==")[1].split()[0] for line in lines if re.match(r"\w.*==", line)}
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    every = [*project["dependencies"], *itertools.chain(*project["optional-dependencies"].values())]
    wanted = {re.split(r"[<>=[]", line)[0] for line in every} - {"mklearn"}.union(*EXTRAS.values())
    renamed = {name: from_lock["CONDA_NAMES"].get(name, name) for name in wanted}
    assert pinned == {renamed[name]: versions[name] for name in wanted}


def test_container_is_made_from_the_lock_and_the_package(repository: Path) -> None:
    """Every file that the recipe copies is there, and what it installs is pinned by the lock's hashes."""
    text = (repository / "envs" / "apptainer.def").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^%(\w+)[^\n]*\n(.*?)(?=^%|\Z)", text, flags=re.MULTILINE | re.DOTALL))
    copied = [line.split()[0] for line in sections["files"].splitlines() if line.strip()]
    assert all((repository / name).exists() for name in copied)
    included = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    wheel = included["targets"]["wheel"]["force-include"]
    assert {"requirements.lock", "pyproject.toml", "src"} <= set(copied)
    assert all(any(Path(name).is_relative_to(copy) for copy in copied) for name in wheel)
    installed = [line for line in sections["post"].splitlines() if "pip install" in line]
    assert len(installed) == 2
    assert "--require-hashes -r" in installed[0]
    assert "--no-deps" in installed[1]
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    base = re.search(r"^# python:(\d+)\.(\d+)\.\d+-slim.*\nFrom: python@sha256:[0-9a-f]{64}$", text, flags=re.MULTILINE)
    assert base is not None
    minimum = re.search(r"(\d+)\.(\d+)", project["requires-python"])
    assert minimum is not None
    assert tuple(map(int, base.groups())) >= tuple(map(int, minimum.groups()))


@pytest.mark.parametrize("name", LOCKS)
def test_locks_pin_every_package_by_hash_and_name_no_address(repository: Path, name: str) -> None:
    text = (repository / name).read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"^\s*(-i|-f|--index|--extra-index|--find-links|--trusted)", text, flags=re.MULTILINE)
    entries = re.split(r"\n(?=\S)", text.strip())
    entries = [entry for entry in entries if not entry.startswith("#")]
    assert entries
    for entry in entries:
        assert re.match(r"[a-z0-9._-]+==\S+", entry), entry[:80]
        assert "--hash=sha256:" in entry, entry[:80]


@pytest.mark.parametrize("extra", EXTRAS)
def test_locks_agree_with_each_other(repository: Path, from_lock: dict, extra: str) -> None:
    ours, more = (from_lock["locked"](repository / name) for name in ("requirements.lock", f"envs/{extra}.lock"))
    assert {name: version for name, version in more.items() if name in ours and ours[name] != version} == {}
    assert set(more) - set(ours) == EXTRAS[extra]


def test_every_separate_extra_has_a_lock_and_a_target(repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(EXTRAS) < set(project["optional-dependencies"])
    makefile = (repository / "Makefile").read_text(encoding="utf-8")
    for extra in EXTRAS:
        assert f"--require-hashes -r envs/{extra}.lock" in makefile
        assert f"--extra all --extra {extra} -c requirements.lock pyproject.toml -o envs/{extra}.lock" in makefile


def test_make_help_lists_every_target(repository: Path) -> None:
    text = (repository / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", text, flags=re.MULTILINE)
    assert phony is not None
    done = subprocess.run(["make", "-s", "help"], cwd=repository, capture_output=True, text=True, check=True)
    listed = {line.split()[0] for line in done.stdout.splitlines()}
    assert listed == set(phony.group(1).split())
    assert all(len(line.split(maxsplit=1)) == 2 for line in done.stdout.splitlines())


def test_make_calls_only_commands_that_there_are(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from mklearn.__main__ import main

    text = (repository / "Makefile").read_text(encoding="utf-8")
    for command in re.findall(r"-m mklearn (\w+)", text):
        with pytest.raises(SystemExit) as caught:  # what --help ends with
            main([command, "--help"])
        assert caught.value.code == 0, f"the Makefile calls `python -m mklearn {command}`"
    capsys.readouterr()


def test_no_file_names_a_place_of_one_machine(kept: list[Path], repository: Path) -> None:
    named = [path for path in kept if path.name != Path(__file__).name and PLACES.search(path.read_bytes())]
    assert [str(path.relative_to(repository)) for path in named] == []


def test_no_data_and_nothing_large_is_kept(kept: list[Path], repository: Path) -> None:
    suffixes = {".mat", ".npz", ".npy", ".parquet", ".zip", ".gz", ".bz2", ".h5", ".pkl", ".lic"}
    found = [path for path in kept if path.suffix in suffixes or path.stat().st_size > 1_000_000]
    of_oracle = {path.relative_to(repository).as_posix() for path in (repository / "tests/oracle").glob("*.parquet")}
    assert {path.relative_to(repository).as_posix() for path in found} == of_oracle
    assert sum((repository / name).stat().st_size for name in of_oracle) < 2_000_000

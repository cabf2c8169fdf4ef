"""A study in a folder of its own, and Snakemake on it as a user calls it."""

from __future__ import annotations

import compileall
import copy
import fcntl
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from tests.commands import Commands

SMOKE: dict[str, Any] = yaml.safe_load(
    (Path(__file__).resolve().parents[2] / "workflow" / "studies" / "smoke.yaml").read_text(encoding="utf-8")
)

TABLES = ("results/smoke/scores.parquet", "results/smoke/summary.parquet")
"""Tables of a study of this name: all but the report, which takes half of a short run's time."""

PARTS = ("Snakefile", "workflow", "envs", "profiles", "src", "config.yaml", "pyproject.toml")

HALF_WRITTEN = shutil.ignore_patterns(".*.tmp*", "*.pyc.*")
"""Temporary files of another worker in the caches of the source tree, which it renames."""


@functools.cache
def compiled(package: Path) -> None:
    """Compile a package once for all copies of it: jobs write no bytecode here, and would compile what they import."""
    compileall.compile_dir(package, quiet=2)


class Checkout:
    """A working copy of the project's files, with its own results, and a package path of its own."""

    def __init__(self, folder: Path, repository: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        compiled(repository / "src")
        for name in PARTS:
            source = repository / name
            if source.is_symlink():
                (folder / name).symlink_to(os.readlink(source))
            elif source.is_dir():
                shutil.copytree(source, folder / name, ignore=HALF_WRITTEN)
            else:
                shutil.copy(source, folder / name)

    @classmethod
    def of(cls, folder: Path) -> Checkout:
        made = cls.__new__(cls)
        made.folder = folder
        return made

    def copy(self, folder: Path) -> Checkout:
        made = copy.copy(self)
        made.folder = folder
        shutil.copytree(self.folder, folder, symlinks=True)
        return made

    def write(self, study: Any, name: str = "config.yaml") -> Path:
        path = self.folder / name
        path.write_text(study if isinstance(study, str) else yaml.safe_dump(study, sort_keys=False), encoding="utf-8")
        return path

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SNAKEMAKE", "PYTEST"))}
        return kept | {"PYTHONPATH": str(self.folder / "src"), "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1"}

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "snakemake", *arguments]

    def snakemake(self, *arguments: str, check: bool = True, **more: Any) -> subprocess.CompletedProcess[str]:
        """Run Snakemake as a user would, in new processes; ``check`` shows its output when it fails."""
        done = subprocess.run(
            self.command(*(arguments or ("--cores", "2"))), cwd=self.folder, env=self.environment | more.pop("env", {}),
            capture_output=True, text=True, **more,
        )  # fmt: skip
        if check and done.returncode:
            raise AssertionError(
                f"snakemake {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr[-6000:]}"
            )
        return done

    def start(self) -> subprocess.Popen[bytes]:
        """Start Snakemake on two cores, in a group of its own that heeds interrupts."""
        return subprocess.Popen(
            self.command("--cores", "2"), cwd=self.folder, env=self.environment, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # which a shell's background jobs ignore
        )  # fmt: skip

    def ended(self, program: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Return exit status and output of snakemake or mklearn, without the start of a process (tests/commands.py)."""
        environment = self.environment | environment
        code, text = _commands().run(program, *arguments, folder=self.folder, environment=environment)
        return subprocess.CompletedProcess([program, *arguments], code, stderr=text)

    def output(self, program: str, *arguments: str, code: int = 0) -> str:
        """Return the output of snakemake or mklearn, which has to end with this code."""
        done = self.ended(program, *arguments)
        if done.returncode != code:
            raise AssertionError(f"{' '.join(done.args)} ended with {done.returncode}:\n{done.stderr[-6000:]}")
        return str(done.stderr)

    def planned(self, *arguments: str) -> dict[str, int]:
        return jobs_by_rule(self.output("snakemake", "--quiet", "host", "--cores", "1", "--dry-run", *arguments))

    def edit(self, name: str, text: str = "\n# an edit\n") -> None:
        """Append to a file."""
        with (self.folder / name).open("a", encoding="utf-8") as file:
            file.write(text)

    @contextmanager
    def edited(self, *names: str) -> Iterator[None]:
        """Edit files, and take it back."""
        before = {name: (self.folder / name).read_bytes() for name in names}
        for name in names:
            self.edit(name)
        try:
            yield
        finally:
            for name, content in before.items():
                (self.folder / name).write_bytes(content)


class EmptyFolder(Checkout):
    """A folder that is no checkout, with a profile of another workflow; the code is the repository's."""

    def __init__(self, folder: Path, repository: Path) -> None:
        self.folder, self.repository = folder, repository
        (folder / "profiles" / "default").mkdir(parents=True)
        self.write("no-such-option: 1\n", "profiles/default/config.yaml")

    @property
    def environment(self) -> dict[str, str]:
        return super().environment | {"PYTHONPATH": str(self.repository / "src")}


def jobs_by_rule(output: str) -> dict[str, int]:
    """The numbers of jobs in the first table that Snakemake prints, without their total."""
    table = re.search(r"^job +count\n(.*?)^total ", output, re.DOTALL | re.MULTILINE)
    rows = re.findall(r"^(\w+) +(\d+)$", table[1], re.MULTILINE) if table else []
    return {rule: int(number) for rule, number in rows}


@functools.cache
def _commands() -> Commands:
    """The process that runs commands for all tests of this one, with what every run imports, other than mklearn."""
    return Commands(
        "nbformat", "packaging.version", "platformdirs", "pyarrow.parquet", "skops.io", "smart_open", "snakemake.cli",
        "snakemake.profiles", "snakemake.report.html_reporter", "snakemake.storage",
    )  # fmt: skip


def tables(checkout: Checkout, study: str = "smoke") -> dict[str, bytes]:
    """The final tables of a study as bytes, times and memory aside: what two runs are compared by."""
    folder = checkout.folder / "results" / study
    scores = pd.read_parquet(folder / "scores.parquet").drop(columns=["commit", "fit_seconds"])
    summary = pd.read_parquet(folder / "summary.parquet").drop(columns=["fit_seconds", "time_ratio"])
    return {"scores": scores.to_csv(index=False).encode(), "summary": summary.to_csv(index=False).encode()}


@pytest.fixture
def checkout(tmp_path: Path, repository: Path) -> Checkout:
    made = Checkout(tmp_path / "checkout", repository)
    made.write(SMOKE)
    return made


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Checkout:
    """A copy in which the smoke study has been run, once for all workers. Shared: change a ``copy`` of it."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "smoke"
    shared.mkdir(exist_ok=True)
    mine = tmp_path_factory.mktemp("finished") / "checkout"
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (shared / "checkout").exists():
            return Checkout.of(shared / "checkout").copy(mine)
        made = Checkout(mine, repository)
        made.write(SMOKE)
        made.output("snakemake", "--cores", "2")
        made.copy(shared / "checkout")
    return made

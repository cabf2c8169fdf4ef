"""Runs through SLURM, on a node that the tests start: the tables of a local run, whatever happens to the jobs."""

import importlib.util
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.workflow.conftest import SMOKE, TABLES, Checkout, tables

from mklearn.atomic import read_npz, read_parquet

pytestmark = pytest.mark.full

FEW: dict[str, Any] = SMOKE | {
    "descriptors": {"blocks": SMOKE["descriptors"]["blocks"]},
    "kernels": {"gauss": {"kind": "gaussian", "bandwidth": [0.5, 2]}},
    "methods": {
        "average": SMOKE["methods"]["average"], "mkl-lda": SMOKE["methods"]["mkl-lda"],
        "many": {"kind": "kernel_fda", "landmarks": 20},
    },
    "blocks": 2,
    "protocols": {"random": {"kind": "random_per_class", "train_size": [4], "repeats": 2}},
}  # fmt: skip
"""Few jobs, as each starts Snakemake twice; one method with landmarks on two blocks of samples."""
IMPATIENT = Path(__file__).resolve().parents[1] / "slurm" / "impatient.py"
LONGEST = 1500
"""Seconds of a run."""
LIVE = ("PENDING", "RUNNING", "COMPLETING")
FIT_MB = 300
"""Less than a fit of the smoke study with its worker and Snakemake takes (300 to 400), more than their start."""


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Iterator[Path]:
    if os.geteuid():
        pytest.skip("SLURM's daemons are started by root only")
    missing = [program for program in ("slurmctld", "slurmd", "munged") if shutil.which(program) is None]
    if missing:
        pytest.skip(f"there is no {', '.join(missing)} (Debian: apt-get install slurm-wlm munge)")
    if importlib.util.find_spec("snakemake_executor_plugin_slurm") is None:
        pytest.skip("there is no snakemake-executor-plugin-slurm (make slurm)")
    folder = tmp_path_factory.getbasetemp() / "slurm"
    folder.mkdir()
    script = [str(repository / "tests" / "slurm" / "start.sh"), str(folder)]
    started = subprocess.run(script, capture_output=True, text=True)
    if started.returncode:
        pytest.skip(f"SLURM does not start here: {started.stderr.strip()}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
        yield folder
    subprocess.run([*script, "stop"], check=True)


# --- runs on it


class Cluster:
    """A checkout whose runs go through SLURM."""

    def __init__(self, checkout: Checkout) -> None:
        self.checkout = checkout

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, str(IMPATIENT), *arguments, "--workflow-profile", "workflow/profiles/slurm", *TABLES]
        environment = self.checkout.environment | {"PYTHONDONTWRITEBYTECODE": ""}  # compiled once, not in every job
        return subprocess.Popen(
            command, cwd=self.checkout.folder, env=environment, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # which a shell's background jobs ignore
        )  # fmt: skip

    def run(self, *arguments: str, succeeds: bool = True) -> str:
        """Return the output of a run that ends in time, as expected."""
        process = self.start(*arguments)
        try:
            output, _ = process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            raise AssertionError(f"the run has not ended after {LONGEST} seconds:\n{output[-6000:]}") from None
        assert (process.returncode == 0) == succeeds, f"ended with {process.returncode}:\n{output[-6000:]}"
        return output

    def jobs(self, *states: str) -> list[str]:
        queue = subprocess.run(
            ["squeue", "--noheader", "--states=all", "--format=%i|%T|%Z"], capture_output=True, text=True, check=True
        ).stdout
        rows = [line.split("|", 2) for line in queue.splitlines()]
        return [number for number, state, folder in rows if state in states and Path(folder) == self.checkout.folder]

    def read_files(self) -> None:
        """Read all results: none is half written."""
        for read, suffix in ((read_npz, "npz"), (read_parquet, "parquet")):
            for path in (self.checkout.folder / "results").rglob(f"[!.]*.{suffix}"):
                read(path)


@pytest.fixture(scope="module")
def local(finished: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    made = finished.copy(tmp_path_factory.mktemp("local") / "checkout")
    made.write(FEW)
    made.output("snakemake", "--cores", "2", *TABLES)
    return made


@pytest.fixture
def one_unfitted(slurm: Path, local: Checkout, tmp_path: Path) -> Cluster:
    """All is there but a fit of MKL-LDA and the tables."""
    made = local.copy(tmp_path / "one-unfitted")
    shutil.rmtree(made.folder / "results/smoke")
    for path in [*made.folder.glob("results/cache/fits/*/*/mkl-lda-*"), *made.folder.glob("logs/fit/*/*/*")]:
        path.unlink()
    return Cluster(made)


@pytest.fixture
def fresh(slurm: Path, repository: Path, tmp_path: Path) -> Cluster:
    made = Checkout(tmp_path / "fresh", repository)
    made.write(FEW)
    return Cluster(made)


# --- the tests


def test_tables_are_those_of_a_local_run_byte_for_byte(fresh: Cluster, local: Checkout) -> None:
    output = fresh.run()
    assert "has been submitted with SLURM jobid" in output
    assert tables(fresh.checkout) == tables(local)
    assert fresh.checkout.planned(*TABLES) == {}


def test_a_job_over_its_memory_ends_the_run_and_retries_complete_it(one_unfitted: Cluster, local: Checkout) -> None:
    output = one_unfitted.run("--retries", "0", "--set-resources", f"fit:mem_mb={FIT_MB}", succeeds=False)
    logs = "".join(path.read_text() for path in (one_unfitted.checkout.folder / "logs" / "slurm").rglob("*.log"))
    assert "exceeded memory limit" in output + logs
    one_unfitted.read_files()
    rows = pd.read_parquet(one_unfitted.checkout.folder / TABLES[0])
    lost = rows[rows["value"].isna() & rows["status"].ne("not_applicable")]
    assert set(lost["status"]) == {"missing"}
    assert lost["message"].str.contains("logs/fit/").all()
    output = one_unfitted.run("--set-resources", f"fit:mem_mb={FIT_MB} * attempt")
    assert "Trying to restart job" in output
    assert tables(one_unfitted.checkout) == tables(local)


def test_ten_kills_change_nothing(fresh: Cluster, local: Checkout) -> None:
    chance = random.Random(20081208)
    kills = 0
    while kills < 10:
        process = fresh.start()
        time.sleep(chance.uniform(4, 40))
        if process.poll() is None:
            process.send_signal((signal.SIGINT, signal.SIGTERM, signal.SIGKILL)[kills % 3])
            kills += 1
        try:
            process.communicate(timeout=120)
        except subprocess.TimeoutExpired:  # a user would kill it
            process.kill()
            process.communicate()
        if left := fresh.jobs(*LIVE):
            subprocess.run(["scancel", *left], check=True)
        while fresh.jobs(*LIVE):
            time.sleep(0.3)
        fresh.read_files()
        if process.returncode == 0:  # all was done: from the start
            shutil.rmtree(fresh.checkout.folder / "results")
    fresh.run()
    assert tables(fresh.checkout) == tables(local)
    assert fresh.checkout.planned(*TABLES) == {}

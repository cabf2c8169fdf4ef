"""A run that is killed at any moment, and then run again, ends with the tables of an undisturbed run."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable

import pytest
from tests.workflow.conftest import TABLES, Checkout, end, tables
from tests.workflow.test_failures import FAILING


@pytest.mark.parametrize("runs", [1, pytest.param(10, marks=pytest.mark.full)])
def test_kills_change_nothing(checkout: Checkout, finished: Checkout, runs: int) -> None:
    """SIGKILL to Snakemake alone and to the whole group in turn: no lock, marker or half file stops the plain rerun."""
    chance = random.Random(20081208)
    kills = 0
    for number in range(runs):
        process = checkout.start()
        time.sleep(chance.uniform(1.0, 4.0))
        if process.poll() is None:
            kills += 1
            (os.killpg if number % 2 else os.kill)(process.pid, signal.SIGKILL)
        process.wait()
    checkout.said("snakemake", "--cores", "2", *TABLES)
    assert tables(checkout) == tables(finished)
    assert kills >= runs / 2
    assert checkout.planned(*TABLES) == {}


@pytest.mark.full
def test_an_interrupted_run_leaves_nothing_in_the_way_and_reports_nothing_as_lost(
    finished: Checkout, copy_of: Callable[[Checkout], Checkout]
) -> None:
    """In the first fits after an edit; until there are others, the tables of the former run stay."""
    checkout, code = copy_of(finished), "src/mklearn/subspace/kfd.py"
    whole = checkout.edit(code, FAILING.format(name="KernelFDA", what="time.sleep(300)"))
    began = time.time()
    process = checkout.start(stderr=subprocess.PIPE)
    while not any(log.stat().st_mtime > began for log in (checkout.folder / "logs").glob("fit/*/*/*.log")):
        assert process.poll() is None
        time.sleep(0.1)
    time.sleep(1)
    said = end(process, signal.SIGINT)
    assert process.returncode != 0
    assert "the run ended early" in said
    assert tables(checkout) == tables(finished)
    (checkout.folder / code).write_text(whole, encoding="utf-8")
    assert checkout.planned()["fit"] > 0, "the fits that were interrupted"
    checkout.said("snakemake", "--cores", "2")
    assert tables(checkout) == tables(finished)
    assert checkout.planned() == {}

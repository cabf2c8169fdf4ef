"""A run that is killed at any moment, and then run again, ends with the tables of an undisturbed run."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Callable

import pytest
from tests.workflow.conftest import Checkout, end, tables


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_ten_kills_change_nothing(checkout: Checkout, finished: Checkout) -> None:
    """SIGKILL to Snakemake alone and to the whole group in turn: no lock, marker or half file stops the plain rerun."""
    chance = random.Random(20081208)
    kills = 0
    for number in range(10):
        process = checkout.start()
        time.sleep(chance.uniform(1.0, 7.0))
        if process.poll() is None:
            kills += 1
            if number % 2:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.wait()
    checkout.snakemake("--cores", "2")
    assert tables(checkout) == tables(finished)
    assert kills >= 5
    assert checkout.planned() == {}


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_interrupts_leave_nothing_in_the_way(
    finished: Checkout, copy_of: Callable[[Checkout], Checkout], sent: signal.Signals
) -> None:
    """In the first fits of a study, whose kernels are there."""
    checkout = copy_of(finished)
    for name in ("results/cache/fits", "results/smoke", "logs"):
        shutil.rmtree(checkout.folder / name)
    process = checkout.start()
    began = time.monotonic()
    while not list((checkout.folder / "logs").glob("fit/*/*/*.log")):
        assert time.monotonic() < began + 200
        time.sleep(0.1)
    time.sleep(1)
    end(process, sent)
    assert process.returncode != 0
    checkout.said("snakemake", "--cores", "2", "results/smoke/summary.parquet")
    assert tables(checkout) == tables(finished)

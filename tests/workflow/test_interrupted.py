"""A run that is killed at any moment, and then run again, ends with the tables of an undisturbed run."""

from __future__ import annotations

import os
import random
import signal
import time

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
def test_interrupts_leave_nothing_in_the_way(checkout: Checkout, finished: Checkout, sent: signal.Signals) -> None:
    process = checkout.start()
    time.sleep(5)
    end(process, sent)
    checkout.snakemake("--cores", "2")
    assert tables(checkout) == tables(finished)

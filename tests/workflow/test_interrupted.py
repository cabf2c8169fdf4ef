"""A run that is killed at any moment, and then run again, ends with the tables of an undisturbed run."""

import os
import random
import signal
import time

import pytest
from tests.workflow.conftest import TABLES, Checkout, tables


@pytest.mark.parametrize("runs", [1, pytest.param(12, marks=pytest.mark.full)])
def test_kills_change_nothing(checkout: Checkout, finished: Checkout, runs: int) -> None:
    """SIGKILL to Snakemake alone and to the group, and Ctrl-C: no lock, marker or half file stops the plain rerun."""
    chance = random.Random(20081208)
    kills = 0
    for number in range(runs):
        process = checkout.start()
        time.sleep(chance.uniform(1.0, 4.0))
        if process.poll() is None:
            kills += 1
            sent, to_group = ((signal.SIGKILL, False), (signal.SIGKILL, True), (signal.SIGINT, True))[number % 3]
            (os.killpg if to_group else os.kill)(process.pid, sent)
        process.wait(timeout=600)
        assert process.returncode == 0 or not (checkout.folder / TABLES[0]).exists(), "tables of a run that ended early"
    checkout.output("snakemake", "--cores", "2", *TABLES)
    assert tables(checkout) == tables(finished)
    assert kills >= runs / 2
    assert checkout.planned(*TABLES) == {}

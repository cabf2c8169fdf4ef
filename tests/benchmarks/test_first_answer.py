"""Processor time from a user's files to predictions, by the commands of the pages: at most a minute.

With that of the processes that fit the methods.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable

import pytest
from tests.unit.study import test_journeys as journeys
from tests.unit.study.test_journeys import folder, mirror  # noqa: F401

MOST_SECONDS = 60


def processor_seconds() -> float:
    """Of this process and of those that it started and that have ended."""
    return sum(os.times()[:4])


@pytest.mark.benchmark
@pytest.mark.parametrize(
    "journey",
    [
        journeys.test_photos_in_colour_to_probabilities,
        journeys.test_tables_with_gaps_and_patients_to_probabilities,
    ],
    ids=["photos", "tables"],
)
def test_a_first_answer_takes_a_minute(
    journey: Callable, request: pytest.FixtureRequest, record_property: Callable
) -> None:
    arguments = {name: request.getfixturevalue(name) for name in inspect.signature(journey).parameters}
    started = processor_seconds()
    journey(**arguments)
    seconds = processor_seconds() - started
    record_property("seconds", round(seconds, 1))
    assert seconds < MOST_SECONDS

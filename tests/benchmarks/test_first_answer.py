"""Processor time from a user's files to predictions, by the commands of the pages: at most a minute."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable

import pytest
from tests.unit.study import test_journeys as journeys
from tests.unit.study.test_journeys import folder, mirror  # noqa: F401

MOST_SECONDS = 60


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
    started = time.process_time()
    journey(**arguments)
    seconds = time.process_time() - started
    record_property("seconds", round(seconds, 1))
    assert seconds < MOST_SECONDS

"""A study of thousands of jobs is planned in seconds."""

import resource
from typing import Any

import pytest
from tests.workflow.conftest import Checkout, jobs_by_rule

METHODS = 40
PLANNING_SECONDS = 30
"""Processor time for 5,000 fits, on a machine with nothing else to do."""


LARGE: dict[str, Any] = {
    "study": "large",
    "datasets": {f"d{i}": {"name": "digits", "per_class": 20 + i} for i in range(25)},
    "descriptors": {"pixels": {"kind": "pixels"}, "blocks": {"kind": "multiresolution", "resolutions": [2, 4]}},
    "methods": {f"m{i}": {"kind": "mkl_dr", "ridge": 1e-3 * (i + 1)} for i in range(METHODS)},
    "protocols": {f"p{size}": {"kind": "random_per_class", "train_size": size, "repeats": 2} for size in range(4, 9)},
}


@pytest.mark.benchmark
def test_thousands_of_jobs_are_planned_in_seconds(checkout: Checkout) -> None:
    checkout.write(LARGE)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = checkout.snakemake("--cores", "1", "--dry-run", "--quiet", "host")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert jobs_by_rule(done.stdout + done.stderr)["fit"] == 125 * METHODS
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < PLANNING_SECONDS

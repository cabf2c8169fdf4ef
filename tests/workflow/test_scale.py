"""A study of thousands of jobs is planned in seconds, and reading a study imports nothing numerical."""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
from typing import Any

import pytest
from tests.workflow.conftest import Checkout, jobs_by_rule

METHODS = 40
PLANNING_SECONDS, PARSING_SECONDS = 30, 4
"""Of processor time, for 5,000 fits, on a machine with nothing else to do."""
HEAVY = ("numpy", "scipy", "sklearn", "pandas", "pyarrow", "cvxpy", "numba", "cv2", "skimage", "matplotlib",
         "requests", "h5py", "PIL")  # fmt: skip
"""pydantic is allowed: it is what checks a study."""


def large_study(n_methods: int = METHODS) -> dict[str, Any]:
    """25 data sets x 5 protocols x so many methods."""
    methods: dict[str, Any] = {f"m{i}": {"kind": "mkl_dr", "ridge": 1e-3 * (i + 1)} for i in range(n_methods - 1)}
    return {
        "study": "large",
        "datasets": {f"d{i}": {"name": "digits", "per_class": 20 + i} for i in range(25)},
        "descriptors": {"pixels": {"kind": "pixels"}, "blocks": {"kind": "multiresolution", "resolutions": [2, 4]}},
        "methods": {"average": {"kind": "kernel_fda"}, **methods},
        "protocols": {
            f"p{size}": {"kind": "random_per_class", "train_size": size, "repeats": 2} for size in (4, 5, 6, 7, 8)
        },
    }


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.full
def test_a_thousand_jobs_are_planned(checkout: Checkout) -> None:
    checkout.write(large_study(8))
    done = checkout.snakemake("--cores", "1", "--dry-run", "--quiet", "host")
    assert jobs_by_rule(done.stdout + done.stderr)["fit"] == 125 * 8


@pytest.mark.benchmark
def test_thousands_of_jobs_are_planned_in_seconds(checkout: Checkout) -> None:
    checkout.write(large_study())
    before = processor_seconds()
    done = checkout.snakemake("--cores", "1", "--dry-run", "--quiet", "host")
    took = processor_seconds() - before
    assert jobs_by_rule(done.stdout + done.stderr)["fit"] == 125 * METHODS
    assert took < PLANNING_SECONDS


@pytest.mark.benchmark
def test_mklearns_share_of_it_is_small(checkout: Checkout) -> None:
    assert questions_of_the_rules(checkout)[0] < PARSING_SECONDS


@pytest.mark.benchmark
def test_a_finished_study_is_opened_in_a_moment(finished: Checkout) -> None:
    """The start of each job of a cluster run: reading the study through Snakemake's own parser."""
    before = processor_seconds()
    finished.snakemake("--list-rules")
    assert processor_seconds() - before < 2 * PARSING_SECONDS


@pytest.mark.benchmark
def test_a_second_run_ends_in_seconds(finished: Checkout) -> None:
    before = processor_seconds()
    finished.snakemake("--cores", "2")
    assert processor_seconds() - before < 10


@pytest.mark.full
def test_planning_imports_nothing_numerical(checkout: Checkout) -> None:
    _, packages, modules = questions_of_the_rules(checkout, n_methods=2)
    assert not set(HEAVY) & set(packages)
    rooms = ("mklearn.subspace", "mklearn.classifiers", "mklearn.optimize", "mklearn.study.report")
    assert not [name for name in modules if name.startswith(rooms) or re.match(r"mklearn\.papers\.\w+\.", name)]


def questions_of_the_rules(checkout: Checkout, n_methods: int = METHODS) -> tuple[float, list[str], list[str]]:
    """Read and plan a large study, and ask of the plan all that the rules ask.

    Returns processor seconds, imported packages and modules.
    """
    checkout.write(large_study(n_methods))
    source = """
import json, sys, time
from mklearn.study.config.reading import read_study
from mklearn.study.plan.plan import plan_study
from mklearn.study.stages.targets import Targets
targets = Targets(plan_study(read_study("config.yaml")))
targets.wildcard_constraints()
rules = {rule.name: rule for rule in targets.rules()}
for stage in ("describe", "pairwise", "fit", "report", "summary", "run_record"):
    inputs, asked = rules[stage].inputs, rules[stage].params
    for job in targets.jobs(stage):
        for ask in (*inputs.values(), *asked.values()):
            ask(job.wildcards)
targets.everything()
print(json.dumps([time.process_time(), sorted({name.split(".")[0] for name in sys.modules}), list(sys.modules)]))
"""
    done = subprocess.run(
        [sys.executable, "-c", source], cwd=checkout.folder, env=checkout.environment, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    seconds, packages, modules = json.loads(done.stdout)
    return seconds, packages, modules

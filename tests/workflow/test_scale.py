"""A study of thousands of jobs is planned in seconds, and reading a study imports nothing numerical."""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import time
from typing import Any

import pytest
from tests.workflow.conftest import Checkout, jobs_by_rule

METHODS = 40
START_SECONDS, PLANNING_SECONDS = 4, 26
"""Of processor time, to start and for 5,000 fits, on a machine with nothing else to do."""
PARSING_SECONDS = 4
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


def slowness() -> float:
    """Return how many times longer a computation takes now than on an idle machine, at least 1."""
    source = (
        "import time; began = time.process_time()\n"
        "for _ in range(12): {str(i): [i, (i, str(i))] for i in range(100_000)}\n"
        "print(time.process_time() - began)"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    return max(1.0, float(done.stdout) / ALONE)


ALONE = 1.0
"""Seconds of that computation on an idle core of the machine that the budget was set on."""


@pytest.mark.slow
@pytest.mark.parametrize("n_methods", [8, pytest.param(METHODS, marks=pytest.mark.exhaustive)])
def test_thousands_of_jobs_are_planned_in_seconds(checkout: Checkout, n_methods: int) -> None:
    checkout.write(large_study(n_methods))
    before = processor_seconds()
    done = checkout.snakemake("--cores", "1", "--dry-run", "--quiet", "host")
    took = processor_seconds() - before
    counts = jobs_by_rule(done.stdout + done.stderr)
    assert counts["fit"] == 125 * n_methods
    assert took < (START_SECONDS + PLANNING_SECONDS * n_methods / METHODS) * slowness(), (
        f"{took:.1f} s of processor time"
    )


def test_the_plan_is_a_small_part_of_it(checkout: Checkout) -> None:
    """mklearn's own share: reading and planning the study, and everything that the rules ask of the plan."""
    checkout.write(large_study())
    source = """
import json, sys, time
from mklearn.study.config.reading import read_study
from mklearn.study.plan.plan import plan_study
from mklearn.study.stages.targets import Targets
targets = Targets(plan_study(read_study("config.yaml")))
targets.wildcard_constraints()
rules = {rule.name: rule for rule in targets.rules()}
for stage in ("describe", "pairwise", "fit", "report", "summary", "run_record"):
    inputs, asked = rules[stage].inputs(ancient=lambda given: given), rules[stage].params
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
    assert not set(HEAVY) & set(packages)
    rooms = ("mklearn.subspace", "mklearn.classifiers", "mklearn.optimize", "mklearn.study.report")
    assert not [name for name in modules if name.startswith(rooms) or re.match(r"mklearn\.papers\.\w+\.", name)]
    assert seconds < PARSING_SECONDS * slowness(), f"{seconds:.1f} s of processor time"


def test_a_finished_study_is_opened_in_a_moment(finished: Checkout) -> None:
    """The start of each job of a cluster run: reading the study through Snakemake's own parser."""
    began, before = time.monotonic(), processor_seconds()
    finished.snakemake("--list-rules")
    assert processor_seconds() - before < 2 * PARSING_SECONDS * slowness(), f"{time.monotonic() - began:.1f} s"

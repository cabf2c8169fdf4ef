"""A study with every kind of artefact, small enough to run in the process of a test; and its jobs one by one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from tests.unit.planned_jobs import PlannedJob, planned_jobs

SINGLE = ["folds", "random"]
ON_DIGITS: dict[str, Any] = {"datasets": ["digits"], "protocols": SINGLE}
STUDY: dict[str, Any] = {
    "study": "small",
    "blocks": 2,
    "datasets": {
        "digits": {"per_class": 4, "resize": {"shape": [40, 36]}},
        "more": {"name": "digits", "per_class": 5, "resize": {"shape": [8, 10]}},
    },
    "descriptors": {
        "pixels": {"kind": "pixels"},
        "blur": {"kind": "geometric_blur", "n_points": 6, "n_components": 4, "datasets": ["digits"]},
        "words": {"kind": "dense_sift", "n_words": 6, "datasets": ["digits"]},
    },
    "methods": {
        "average": {"kind": "kernel_fda", **ON_DIGITS},
        "single": {"kind": "kernel_fda", "kernels": ["gaussian-pixels"], **ON_DIGITS},
        "many": {"kind": "kernel_fda", "kernels": ["gaussian-pixels"], "landmarks": 12, **ON_DIGITS},
        "pca": {"kind": "pca", "descriptor": "pixels", "protocols": SINGLE},
        "svm": {"kind": "fsvc", "power": 0, "descriptor": ["pixels", "words"], **ON_DIGITS, "protocols": ["pairs"]},
    },
    "kernels": {"gaussian": {"kind": "gaussian"}},
    "protocols": {
        "folds": {"kind": "k_fold", "folds": 2},
        "random": {"kind": "random_per_class", "train_size": 2, "repeats": 1, "datasets": ["digits"]},
        "pairs": {"kind": "verification", "path": "pairs.csv", "components": 2, "datasets": ["digits"]},
    },
}


@dataclass
class SmallStudy:
    """A folder in which the study has run, and its jobs in an order in which they can run."""

    folder: Path
    jobs: list[PlannedJob]

    def copy(self, folder: Path) -> SmallStudy:
        shutil.copytree(self.folder, folder, copy_function=os.link)
        return SmallStudy(folder, self.jobs)

    def run(self, *jobs: PlannedJob) -> None:
        with working_in(self.folder):
            for job in jobs:
                job.run()

    def of(self, rule: str) -> list[PlannedJob]:
        return [job for job in self.jobs if job.rule == rule]


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def write_pairs() -> None:
    """Write a list of pairs in two folds, as a user could: digits come in the order 0, ..., 9, 0, ..., 9, ..."""
    lines = [f"{int(number > 4)},{number},{number + step}" for number in range(1, 10) for step in (10, 11)]
    Path("pairs.csv").write_text("\n".join(["fold,first,second", *lines]), encoding="utf-8")


def write_tables(
    folder: Path, views: dict[str, Any], ids: Any, *, without: dict[str, Any] | None = None, **columns: Any
) -> dict[str, str]:
    """Write a table of each view with further columns, without the samples at some positions, and name the files."""
    for name, values in views.items():
        frame = pd.DataFrame(values, pd.Index(ids, name="id")).add_prefix(name).assign(**columns)
        frame.drop(index=frame.index[(without or {}).get(name, [])]).to_csv(folder / f"{name}.csv")
    return {name: f"{name}.csv" for name in views}


def run_study(folder: Path, study: dict[str, Any], last: str = "page") -> SmallStudy:
    """Run a study in a folder up to the jobs of one of its rules."""
    with working_in(folder):
        made = SmallStudy(folder, planned_jobs(study))
    made.run(*made.jobs[: 1 + max(number for number, job in enumerate(made.jobs) if job.rule == last)])
    return made

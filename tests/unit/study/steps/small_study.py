"""A study with every kind of artefact, small enough to run in the process of a test; and its jobs one by one."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.every_step import data_jobs, model_jobs, table_jobs

from mklearn.study.artefacts import read_arrays, read_record, read_table
from mklearn.study.stages.order import ARTEFACTS
from mklearn.study.steps.runner import call
from mklearn.study.steps.scores import MEASURED

SINGLE = ["folds", "random"]
STUDY: dict[str, Any] = {
    "study": "small",
    "rows_per_block": 20,
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
        "average": {"kind": "kernel_fda", "datasets": ["digits"], "protocols": SINGLE},
        "single": {"kind": "kernel_fda", "kernels": ["gaussian-pixels"], "datasets": ["digits"], "protocols": SINGLE},
        "many": {
            "kind": "kernel_fda",
            "kernels": ["gaussian-pixels"],
            "landmarks": 12,
            "datasets": ["digits"],
            "protocols": SINGLE,
        },
        "pca": {"kind": "pca", "descriptor": "pixels", "protocols": SINGLE},
        "svm": {
            "kind": "fsvc",
            "power": 0,
            "descriptor": ["pixels", "words"],
            "datasets": ["digits"],
            "protocols": ["pairs"],
        },
    },
    "kernels": {"gaussian": {"kind": "gaussian"}},
    "protocols": {
        "folds": {"kind": "k_fold", "folds": 2},
        "random": {"kind": "random_per_class", "train_size": 2, "repeats": 1, "datasets": ["digits"]},
        "pairs": {"kind": "verification", "path": "pairs.csv", "components": 2, "datasets": ["digits"]},
    },
    "report": {"thumbnails": 2},
}
UNREPEATABLE = {"utc", "stages", "inputs"}
"""What differs between two run records: times, and the scores, whose rows have times."""


@dataclass
class SmallStudy:
    """A folder in which the study has run, and its jobs in an order in which they can run."""

    folder: Path
    jobs: list[dict[str, Any]]

    def copy(self, folder: Path) -> SmallStudy:
        """Return a copy in another folder. Files are links to the same ones: replace them, write into none."""
        shutil.copytree(self.folder, folder, copy_function=os.link)
        return SmallStudy(folder, self.jobs)

    def run(self, job: dict[str, Any]) -> None:
        """Run a job as Snakemake does: in the study's folder, its former outputs removed."""
        with working_in(self.folder):
            for path in job["outputs"].values():
                Path(path).unlink(missing_ok=True)
            call(job["step"], job["inputs"], job["outputs"], job["spec"])

    def of_kind(self, kind: str) -> list[str]:
        """Return the artefacts of a kind that jobs of the study read, in the order of the jobs that make them."""
        made = [path for job in self.jobs for path in job["outputs"].values()]
        return [path for path in made if kind_of(path) == kind]

    def maker(self, path: str) -> dict[str, Any]:
        """Return the job that makes a file."""
        return next(job for job in self.jobs if path in job["outputs"].values())

    def readers(self, path: str) -> list[dict[str, Any]]:
        """Return the jobs that read a file."""
        return [job for job in self.jobs if path in inputs_of(job)]


def inputs_of(job: dict[str, Any]) -> list[str]:
    """Return all input files of a job."""
    return [path for files in job["inputs"].values() for path in ([files] if isinstance(files, str) else files)]


def kind_of(path: str) -> str:
    """Return the name in `ARTEFACTS` of a file: of several patterns that match, the longest."""
    found = [
        (len(pattern), name)
        for name, pattern in ARTEFACTS.items()
        if re.fullmatch("results/" + re.sub(r"\{\w+\}", "[^/]+", pattern), path)
    ]
    return max(found)[1]


def content_of(path: Path) -> Any:
    """Return what steps read of an artefact, verified, in a form that can be compared; times left out."""
    if path.suffix == ".npz":
        held = {name: untimed(name, array) for name, array in read_arrays(path).items()}
        return {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in held.items()}
    if path.suffix == ".json":
        return {name: value for name, value in read_record(path).items() if name not in UNREPEATABLE}
    frame, description = read_table(path)
    times = [name for name in (*MEASURED, "fit_seconds_mean", "seconds") if name in frame]
    return frame.drop(columns=times).to_csv(), description["spec"]


def untimed(name: str, array: np.ndarray) -> np.ndarray:
    """Return an array of landmarks or moments without the times that it holds."""
    return np.zeros_like(array) if name.rpartition("/")[2] == "seconds" else array


def plan_jobs(study: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the jobs of a study up to its fits, and those of its tables and report."""
    from mklearn.study.config.reading import check_study
    from mklearn.study.config.registry import registered
    from mklearn.study.plan.plan import plan_study
    from mklearn.study.stages.targets import Targets

    with pytest.MonkeyPatch.context() as patch:  # small data in several jobs too
        for kind in ("geometric_blur", "dense_sift"):
            patch.setattr(registered("descriptors")[kind], "images_per_job", 15)
        targets = Targets(plan_study(check_study(study)))
        return [*data_jobs(targets), *model_jobs(targets)], list(table_jobs(targets))


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Change the working folder, and back."""
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


def run_small_study(folder: Path) -> SmallStudy:
    """Run the study but for its report."""
    with working_in(folder):
        write_pairs()
        jobs, tables = plan_jobs(STUDY)
    study = SmallStudy(folder, [*jobs, *tables])
    for job in [*jobs, *tables[:-1]]:
        study.run(job)
    return study

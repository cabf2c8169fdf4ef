"""A study that was run: its record, tables and page, verified and of one run, and the data that it read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from mklearn.errors import ConfigError, DamagedArtefact, DataError
from mklearn.study.artefacts import read_record, read_table
from mklearn.study.config.reading import read_study
from mklearn.study.data.registry import MIRROR_VARIABLE
from mklearn.study.engine.integrity import verify_file
from mklearn.study.engine.workflow_files import study_file
from mklearn.study.plan.datasets import PlannedDataset
from mklearn.study.plan.plan import plan_study
from mklearn.study.provenance import digest, file_digest, names_below
from mklearn.study.stages.order import STAGES
from mklearn.study.stages.stage import Job, StudyFiles
from mklearn.study.stamps import BESIDE, load_beside, read_stamp
from mklearn.study.steps.read import image_digests

FINAL_STAGES = ("scores", "summary", "run_record", "final_model", "importances", "report")


@dataclass(frozen=True)
class UsedDataset:
    """A data set as the run read it.

    Attributes
    ----------
    planned : PlannedDataset
    downloaded : dict of str to str
        sha256 of each file of a registered data set, by its path in the results folder.
    own : dict of str to (Path, str)
        The user's own files, by name, with the sha256 that they had when they were read.
    labels : DataFrame
        Columns id, y, label of classes, and group where samples have one.
    """

    planned: PlannedDataset
    downloaded: dict[str, str]
    own: dict[str, tuple[Path, str]]
    labels: pd.DataFrame


@dataclass(frozen=True)
class FinishedStudy:
    """A study that was run.

    Attributes
    ----------
    source : Path
        The study file.
    folder : Path
        Of the study's results.
    record : dict
        Content of run.json.
    files : StudyFiles
    outputs : list of Path
        Tables, record, final model, the page and what lies beside it: verified.
    datasets : list of UsedDataset
    """

    source: Path
    folder: Path
    record: dict[str, Any]
    files: StudyFiles
    outputs: list[Path]
    datasets: list[UsedDataset]

    @property
    def title(self) -> str:
        """The title of the study, or its name."""
        return str(self.record["config"]["title"] or self.record["study"])


def finished_study(name: str | None) -> FinishedStudy:
    """Read what a run has left, and verify it.

    Parameters
    ----------
    name : str or None
        As in :func:`mklearn.study.engine.workflow_files.study_file`.

    Raises
    ------
    ConfigError
        No such study, or one with mistakes, or one that was changed since its run.
    DataError
        It was not run, a file is missing or damaged, or the files are not of one run.
    """
    source = study_file(name)
    study = read_study(source)
    files = StudyFiles(plan_study(study), STAGES, str(source))
    remedy = f"run the study (mklearn run {source})"
    try:
        outputs = list(_outputs(files, remedy))
        record = read_record(files.path("run_record"))
        if record["config"] != study.model_dump(mode="json"):
            raise ConfigError(f"{source}: not the study that was run at {record['utc']}: it was changed; {remedy}.")
        _check_one_run(files, remedy)
        datasets = [_used(files, dataset, remedy) for dataset in files.plan.datasets.values()]
    except DamagedArtefact as error:
        raise DataError(f"{error}. `mklearn verify` sets damaged files aside; then {remedy}.") from error
    return FinishedStudy(source, Path(files.path("run_record")).parent, record, files, outputs, datasets)


def _outputs(files: StudyFiles, remedy: str) -> Iterator[Path]:
    """Yield the files of the last stages, verified."""
    for job in (job for stage in FINAL_STAGES for job in files.jobs(stage)):
        for path in map(Path, job.outputs.values()):
            _check_there(path, remedy)
            yield path
    page = Path(files.path("report"))
    for path in map(Path, (files.path(name) for name in ("run_record", "scores", "predictions", "summary", "report"))):
        verify_file(path)
    if files.jobs("final_model"):
        verify_file(Path(files.path("final_model")))
    beside = page.with_name(BESIDE)
    yield beside
    yield from (page.parent / name for name in load_beside(beside)["files"] if name != page.name)


def _check_there(path: Path, remedy: str) -> None:
    if not path.is_file():
        raise DataError(f"{path} is missing: {remedy}.")


def _check_one_run(files: StudyFiles, remedy: str) -> None:
    """Check that the page was made from the tables and the record that lie there."""
    page = Path(files.path("report"))
    made_from = (read_stamp(page) or {}).get("inputs", {})
    present = {"scores": "scores", "summary": "summary", "predictions": "predictions", "record": "run_record"}
    for name, artefact in present.items():
        path = files.path(artefact)
        if made_from.get(name) != file_digest(path):
            raise DataError(f"{page} was not made from the present {path}: {remedy}.")


def _used(files: StudyFiles, dataset: PlannedDataset, remedy: str) -> UsedDataset:
    """Collect the files that a data set and its splits were read from, with their checksums at that time."""
    read = files.job("read", dataset=dataset.original)
    splits = [job for job in files.jobs("split") if job["dataset"] == dataset.key]
    jobs = [(read, Path(read.path("samples"))), *((job, Path(job.path("splits"))) for job in splits)]
    found: dict[str, str] = {}
    for job, made in jobs:
        _check_there(made, remedy)
        found |= _files_of(job, made)
    own_paths = [path for path in found if path not in dataset.downloads]
    own = {name: (path, found[str(path)]) for name, path in (names_below(own_paths) if own_paths else {}).items()}
    own |= _images(dataset, Path(read.path("samples")), remedy)
    labels = Path(read.path("labels"))
    _check_there(labels, remedy)
    downloaded = {path: sha256 for path, sha256 in found.items() if path in dataset.downloads}
    return UsedDataset(dataset, downloaded, own, read_table(labels)[0])


def _files_of(job: Job, made: Path) -> dict[str, str]:
    """Return the sha256 of the files that a job has read, by path."""
    given = job.input("files")
    present = names_below(given) if given else {}
    recorded = (read_stamp(made) or {}).get("inputs", {}).get("files", {})
    if job.dataset.downloads and set(present) != set(recorded):
        raise DataError(
            f"{job.dataset.id}: the run has read {', '.join(recorded)}, which another mirror has: set "
            f"{MIRROR_VARIABLE} as for the run."
        )
    return {str(path): recorded[name] for name, path in present.items() if name in recorded}


def _images(dataset: PlannedDataset, samples: Path, remedy: str) -> dict[str, tuple[Path, str]]:
    """Return the images of a user's folder, which must still be those that were read."""
    recorded = (read_stamp(samples) or {}).get("inputs", {}).get("images")
    if recorded is None:
        return {}
    root = Path((dataset.read.paths or {})["root"])
    images = image_digests(root)
    if digest(images) != recorded:
        raise DataError(f"{root}: not the images that the run has read: {remedy}.")
    return {name: (root / name, sha256) for name, sha256 in images}

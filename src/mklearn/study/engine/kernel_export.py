"""``mklearn kernel STUDY NAME``: write a kernel of a study, fitted to the training samples of a split."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklearn.atomic import write_npz, write_parquet
from mklearn.errors import ConfigError, DataError
from mklearn.kernels.specs import StackTransform
from mklearn.study.artefacts import read_table
from mklearn.study.config.reading import read_study
from mklearn.study.data.splits import Split, Splits
from mklearn.study.evaluation.candidates import Candidate, MethodOnViews
from mklearn.study.evaluation.scalings import with_chosen_scalings
from mklearn.study.evaluation.split import held_out_groups
from mklearn.study.plan.fits import PlannedFit
from mklearn.study.plan.plan import plan_study
from mklearn.study.stages.order import STAGES
from mklearn.study.stages.stage import Job, StudyFiles
from mklearn.study.steps.fit import read_views

Matrix = NDArray[np.floating[Any]]
FORMATS = (".npz", ".parquet")


@dataclass(frozen=True)
class Place:
    """Which kernel of a study is meant.

    Attributes
    ----------
    kernel : str
        Its name in the study.
    dataset, protocol : str, optional
        Names in the study; the first that has the kernel.
    split : int
        From 1, in the order of the protocol.
    """

    kernel: str
    dataset: str | None = None
    protocol: str | None = None
    split: int = 1


def export_kernel(study: Path, place: Place, out: Path) -> str:
    """Write a kernel between the training samples of a split, and between its test and training samples.

    Parameters
    ----------
    study : Path
        Of a study that was run: its features or distances are read from the folder of results.
    place : Place
    out : Path
        ``.npz``: arrays train (n, n), test (m, n), train_ids, test_ids, train_labels, test_labels; read by
        ``numpy.load``. ``.parquet``: a row for each sample with the columns id, label and part, and a column for each
        training sample, by its id. Labels are numbers where the study predicts numbers.

    Returns
    -------
    str
        What was written, in one sentence.

    Raises
    ------
    ConfigError
        No kernel, data set, protocol or split of that name; or another ending of `out`.
    DataError
        The study was not run yet, or the kernel is one of pairs or landmarks, which no matrix stands for.
    """
    if out.suffix not in FORMATS:
        raise ConfigError(f"{out}: a kernel is written as {' or '.join(FORMATS)}; end the name with one of them.")
    job, fit = _fit_with(StudyFiles(plan_study(read_study(study)), STAGES), place)
    inputs = {name: [found] if isinstance(found, str) else list(found) for name, found in job.inputs.items()}
    missing = [path for paths in inputs.values() for path in paths if not Path(path).is_file()]
    if missing:
        raise DataError(f"{missing[0]} is missing: run the study first (mklearn run {study}).")
    table, _ = read_table(inputs["labels"][0])
    split = _split(Path(inputs["splits"][0]), table, place.split)
    matrices, sources = ([Path(path) for path in inputs[name]] for name in ("matrices", "sources"))
    views = read_views(fit.spec, matrices, sources, table["id"].to_numpy(dtype=str))
    kernels = [kernel for kernel in fit.spec.kernels if kernel["id"] == place.kernel]
    problem = MethodOnViews(views, table["y"].to_numpy(), fit.spec.method, kernels)
    groups = table["group"].to_numpy(dtype=str) if "group" in table else None
    problem = with_chosen_scalings(problem, split.train, held_out_groups(split.train, split.test, groups))
    transform = StackTransform(problem.kernel_specs(Candidate({})))
    train = transform.fit_transform(problem.of(split.train)).matrices[0]
    test = transform.transform(problem.of(split.test)).matrices[0]
    _write(out, train, test, table.iloc[split.train], table.iloc[split.test])
    scaling = transform.infos[0].get("feature_scaling", "none")
    return (
        f"{out}: kernel {place.kernel} of {fit.dataset.id}, {fit.protocol_id}, {split.name}: {len(train)} training and "
        f"{len(test)} test samples; feature scaling: {scaling}."
    )


def _fit_with(files: StudyFiles, place: Place) -> tuple[Job, PlannedFit]:
    """Return a fit that takes the kernel, and its job.

    Raises
    ------
    ConfigError
        There is none; the message lists what there is.
    DataError
        Its kernels are among landmarks or pairs.
    """
    every = [(job, files.plan.fits[job.key]) for job in files.jobs("fit")]
    found = [
        (job, fit)
        for job, fit in every
        if place.dataset in {None, fit.dataset.id} and place.protocol in {None, fit.protocol_id}
        if any(kernel["id"] == place.kernel for kernel in fit.spec.kernels)
    ]
    if not found:
        there = {
            f"{kernel['id']} ({fit.dataset.id}, {fit.protocol_id})" for _, fit in every for kernel in fit.spec.kernels
        }
        asked = ", ".join(filter(None, (place.dataset, place.protocol)))
        raise ConfigError(
            f"no fit of the study takes kernel {place.kernel!r}{asked and f' ({asked})'}. Kernels: "
            f"{', '.join(sorted(there)) or 'none'}."
        )
    whole = [(job, fit) for job, fit in found if fit.spec.landmarks is None and fit.spec.pairs is None]
    if not whole:
        raise DataError(f"kernel {place.kernel!r} is one of landmarks or pairs of samples: no matrix stands for it.")
    return whole[0]


def _split(path: Path, table: pd.DataFrame, number: int) -> Split:
    drawn = Splits.load(path, table["id"].to_numpy(dtype=str)).splits
    if not 1 <= number <= len(drawn):
        raise ConfigError(f"--split {number}: the protocol has splits 1 to {len(drawn)}.")
    return drawn[number - 1]


def _write(out: Path, train: Matrix, test: Matrix, known: pd.DataFrame, new: pd.DataFrame) -> None:
    """Write both parts with the ids and labels of their samples, or with numbers as targets."""
    target, dtype = ("label", str) if "label" in known else ("y", float)
    if out.suffix == ".npz":
        named = {}
        for part, table in {"train": known, "test": new}.items():
            named[f"{part}_ids"] = table["id"].to_numpy(dtype=str)
            named[f"{part}_labels"] = table[target].to_numpy(dtype=dtype)
        write_npz(out, train=train, test=test, **named)
        return
    rows = pd.concat([known, new], ignore_index=True)
    named_rows = pd.DataFrame({"id": rows["id"].astype(str), "label": rows[target].astype(dtype)})
    named_rows["part"] = ["train"] * len(known) + ["test"] * len(new)
    columns = pd.DataFrame(np.concatenate([train, test]), columns=known["id"].to_numpy(dtype=str))
    write_parquet(out, pd.concat([named_rows, columns], axis=1))

"""Check of a study's data before a run: the user's own data are read and counted, and splits are drawn."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from mklearn.atomic import read_parquet
from mklearn.errors import DataError, UserError
from mklearn.study.data.draw_splits import draw_splits
from mklearn.study.data.read import labels_table, read_dataset
from mklearn.study.data.samples import SampleSet, natural_key, some
from mklearn.study.data.splits import Splits
from mklearn.study.evaluation.null_control import NullControl
from mklearn.study.jobs import Jobs, split_files, split_spec
from mklearn.study.plan.datasets import PlannedDataset
from mklearn.study.plan.fits import PlannedFit
from mklearn.study.plan.plan import Plan
from mklearn.study.resources import fit_mb
from mklearn.study.specs.data_specs import TargetKind

CLASSES_SHOWN = 12
FIRST = "first equal"
"""Column for the position of the first sample that equals this one in every view."""


@dataclass
class DataCheck:
    """Counts, notes and mistakes found in a study's data."""

    counts: list[str] = field(default_factory=list)
    """A line for each data set that could be read without downloads."""
    notes: list[str] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)
    """Sentences on files that can't be read, and on classes that are too small for a protocol."""


def check_data(plan: Plan) -> DataCheck:
    """Read the user's own data, count classes and draw the splits.

    Registered data sets are counted only if a run has already read them; nothing is downloaded.
    """
    checked, jobs = DataCheck(), Jobs(plan)
    tables = {dataset.id: _labels(plan, jobs, dataset, checked) for dataset in plan.datasets.values()}
    for key in jobs.keys("null_control"):
        path, control = Path(jobs.path("null_control", **key)), jobs.job("null_control", key).spec
        fitted = f"the run fits {control.fit.method.id} to {control.n_shuffles} shuffled targets too (null)"
        checked.notes.append(f"{control.fit.dataset}: {NullControl.read(path).sentence if path.is_file() else fitted}")
    for dataset in plan.datasets.values():
        table, reference = tables[dataset.id], tables.get(dataset.splits_from or "")
        if table is None:
            continue
        checked.counts.append(f"{dataset.id}: {target_counts(table, dataset.config.task_of_target)}")
        if dataset.splits_from and reference is None:
            continue
        fits = [fit for (name, _, _), fit in plan.fits.items() if name == dataset.key]
        checked.notes += _too_large(fits, len(table), dataset)
        for protocol in dict.fromkeys(fit.key[1] for fit in fits):
            files = [Path(path) for path in split_files(dataset, plan.protocols[protocol])]
            if not all(path.is_file() for path in files):
                continue
            names = sorted({fit.protocol.id for fit in fits if fit.key[1] == protocol})
            where = f"datasets.{dataset.id}, protocols.{', '.join(names)}"
            try:
                drawn = draw_splits(table, split_spec(dataset, plan.protocols[protocol]), files, reference)
            except UserError as error:
                checked.mistakes.append(f"{where}: {error}.")
                continue
            if drawn.samples is None:
                checked.notes += [f"{where}: {note}" for note in _split_notes(drawn, table, dataset)]
    return checked


def _too_large(fits: Sequence[PlannedFit], n: int, dataset: PlannedDataset) -> Iterator[str]:
    """Yield a sentence if fits to n samples need more memory than this machine has."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    needs = {fit.spec.method.id: fit_mb(fit.spec, n, n) / 2**10 for fit in fits}
    if large := [name for name, need in needs.items() if need > memory]:
        yield (
            f"{dataset.id}: fits of {some(large, 3)} need up to {max(needs.values()):,.0f} GB of memory, and this "
            f"machine has {memory:,.0f}; methods with `landmarks: 300` need less"
        )


def _split_notes(drawn: Splits, table: pd.DataFrame, dataset: PlannedDataset) -> Iterator[str]:
    """Yield a sentence if splits test classes that they do not train, divide groups, or divide equal samples."""
    if "label" in table:
        y = table["label"].to_numpy(dtype=str)
        lacking = [set(y[split.test]) - set(y[split.train]) for split in drawn]
        if n := sum(map(bool, lacking)):
            classes = some(sorted(set().union(*lacking)))
            yield f"{n} of {len(drawn)} splits have no training sample of a class that they test: {classes}"
    for column, what, keeps in (
        ("group", "samples of one group", "the protocol group_k_fold keeps"),
        (FIRST, "equal samples", "`duplicates: group` and the protocol group_k_fold keep"),
    ):
        together = column not in table or (column == FIRST and dataset.read.get("duplicates"))
        if not together and (n := drawn.n_dividing(table[column].to_numpy(dtype=str))):
            yield f"{n} of {len(drawn)} splits have {what} on both sides; {keeps} them together"


def target_counts(table: pd.DataFrame, target: TargetKind) -> str:
    """Return the number of samples, with class sizes (of many classes, the extreme ones), or the target's range."""
    start = f"{len(table)} samples" + (f" in {table['group'].nunique()} groups" if "group" in table else "")
    if target == "classes":
        ordered = sorted(Counter(map(str, table["label"])).items(), key=lambda item: (-item[1], natural_key(item[0])))
        sizes = [f"{name} {n}" for name, n in ordered]
        shown = sizes if len(sizes) <= CLASSES_SHOWN else [*sizes[:3], "...", *sizes[-3:]]
        return f"{start} of {len(sizes)} classes: {', '.join(shown)}"
    what, values = "numbers", table["y"]
    if target == "survival":
        start, what, values = f"{start}, {(values > 0).sum()} events", "times", values.abs()
    return f"{start}, {what} from {values.min():g} to {values.max():g}, median {values.median():g}"


def _labels(plan: Plan, jobs: Jobs, dataset: PlannedDataset, checked: DataCheck) -> pd.DataFrame | None:
    """Return the labels of a data set; None if they don't exist yet, or can't be read, which adds a mistake."""
    if dataset.downloads:
        path = Path(jobs.path("read", "labels", dataset=dataset.key))
        try:
            return read_parquet(path)[0] if path.is_file() else None
        except UserError:
            return None  # the run will make it again
    if "paths" not in dataset.read:
        return None
    try:
        data = read_dataset(dataset.read | {"resize": None})
        checked.notes += [f"{dataset.id}: {note}" for note in (*data.notes, *_notes_on_columns(plan, dataset, data))]
    except UserError as error:
        checked.mistakes.append(str(error))
        return None
    return labels_table(data).assign(**{FIRST: data.first_equal()})


def _notes_on_columns(plan: Plan, dataset: PlannedDataset, data: SampleSet) -> Iterator[str]:
    """Yield a note that counts the columns of descriptors, such as genes of sets, that their tables lack.

    Raise DataError if a table has none of a descriptor's columns.
    """
    views = [(view.id, view.spec["parameters"]) for (of, _), view in plan.descriptors.items() if of == dataset.key]
    named = {name: each for name, each in views if each.get("columns")}
    found = {name: np.isin(each["columns"], data.columns.get(each["table"], [])) for name, each in named.items()}
    if none := [name for name, there in found.items() if not there.any()]:
        raise DataError(f"descriptors {some(none)}: the table has none of these columns (genes of the set); omit them")
    if n := sum(int((~there).sum()) for there in found.values()):
        yield f"tables lack {n} of the columns (genes of sets) that descriptors name"

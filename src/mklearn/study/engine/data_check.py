"""Check of a study's data before it runs: every file of the user's own is opened, classes are counted, splits drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from mklearn.errors import UserError
from mklearn.kernels.feature_scaling import is_heavy_tailed
from mklearn.study.artefacts import read_table
from mklearn.study.data.draw_splits import draw_splits
from mklearn.study.data.read import read_dataset
from mklearn.study.data.readers.precomputed import is_bare
from mklearn.study.data.readers.table_files import Table, array_of_view
from mklearn.study.data.registry import LABELS_KEY
from mklearn.study.data.samples import SampleSet, natural_key
from mklearn.study.data.splits import Splits
from mklearn.study.jobs import Jobs, split_files, split_spec
from mklearn.study.plan.datasets import PlannedDataset
from mklearn.study.plan.plan import Plan

CLASSES_SHOWN = 12
FIRST = "first equal"
"""A column of the user's own data: position of the first sample that equals this one in every view."""


@dataclass
class DataCheck:
    """What the data of a study are, and what is wrong with them."""

    counts: list[str] = field(default_factory=list)
    """A line for each data set that could be read without network."""
    notes: list[str] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)
    """Sentences: files that can't be read, and protocols that the classes are too small for."""


def check_data(plan: Plan) -> DataCheck:
    """Read the user's own data, count classes and draw the splits.

    Registered data sets are counted if a run has read them already; nothing is downloaded.
    """
    found, jobs = DataCheck(), Jobs(plan)
    tables = {dataset.id: _labels(jobs, dataset, found) for dataset in plan.datasets.values()}
    for key, dataset in plan.datasets.items():
        table, reference = tables[dataset.id], tables.get(dataset.splits_from or "")
        if table is None:
            continue
        found.counts.append(f"{dataset.id}: {target_counts(table)}")
        if dataset.splits_from and reference is None:
            continue
        fits = [fit for (name, _, _), fit in plan.fits.items() if name == key]
        for protocol in dict.fromkeys(fit.protocol for fit in fits):
            files = [Path(path) for path in split_files(dataset, plan.protocols[protocol])]
            if not all(path.is_file() for path in files):
                continue
            names = sorted({fit.protocol_id for fit in fits if fit.protocol == protocol})
            where = f"datasets.{dataset.id}, protocols.{', '.join(names)}"
            try:
                drawn = draw_splits(table, split_spec(dataset, plan.protocols[protocol]), files, reference)
            except UserError as error:
                found.mistakes.append(f"{where}: {error}.")
                continue
            if drawn.samples is None:
                found.notes += [f"{where}: {note}" for note in _split_notes(drawn, table, dataset)]
    return found


def heavy_tailed_views(samples: SampleSet) -> list[str]:
    """Return a sentence for each table of features that logarithms suit."""
    return [
        f"view {name!r} is nonnegative and heavy-tailed: multi-view methods take its logarithms too, and kernels and "
        "other methods do so with `feature_scaling: log`"
        for name, table in samples.tables.items()
        if is_heavy_tailed(table)
    ]


def _split_notes(drawn: Splits, table: pd.DataFrame, dataset: PlannedDataset) -> Iterator[str]:
    """Yield a sentence for each thing that splits make of a data set and that a user may not expect."""
    column = dataset.read.options.get("group_column")
    if (column or dataset.read.duplicates) and "group" in table:
        said = f"group_column names {column!r}" if column else "duplicates: group makes equal samples one"
        if parted := _n_parted(drawn, table["group"]):
            yield (
                f"{parted} of {len(drawn)} splits have training and test samples of one group, although {said}; the "
                "protocol group_k_fold holds out whole groups"
            )
    if FIRST in table and not dataset.read.duplicates and (parted := _n_parted(drawn, table[FIRST])):
        yield (
            f"{parted} of {len(drawn)} splits have equal samples on both sides, which the model then has seen; "
            "`duplicates: group` in the data set and the protocol group_k_fold keep them together"
        )


def _n_parted(drawn: Splits, names: pd.Series) -> int:
    values = names.to_numpy(dtype=str)
    return sum(bool(np.isin(values[split.test], values[split.train]).any()) for split in drawn)


def target_counts(table: pd.DataFrame) -> str:
    """Return the number of samples, and of each class or the range of the numbers, by a table of targets."""
    if "label" in table:
        return class_counts(table["label"])
    y = table["y"]
    groups = f" in {table['group'].nunique()} groups" if "group" in table else ""
    return (
        f"{len(y)} samples{groups} with numbers to predict, from {y.min():g} to {y.max():g}, mean {y.mean():.4g}, "
        f"standard deviation {y.std():.3g}"
    )


def class_counts(labels: Iterable[object]) -> str:
    """Return the number of samples and of each class, or of the smallest ones of many."""
    counts = Counter(map(str, labels))
    n_samples = sum(counts.values())
    ordered = sorted(counts.items(), key=lambda item: (-item[1], natural_key(item[0])))
    start = f"{n_samples} samples of {len(counts)} classes"
    if len(counts) <= CLASSES_SHOWN:
        return f"{start}: " + ", ".join(f"{name} {n}" for name, n in ordered)
    (_, most), (_, least) = ordered[0], ordered[-1]
    if most == least:
        return f"{start}, {most} of each"
    smallest = ", ".join(f"{name} {n}" for name, n in ordered[::-1][:5])
    return f"{start}, {least} to {most} of each; the smallest: {smallest}"


def _labels(jobs: Jobs, dataset: PlannedDataset, found: DataCheck) -> pd.DataFrame | None:
    """Return the labels of a data set; None if it is not there yet or can't be read, which is added to the mistakes."""
    if dataset.downloads:
        path = Path(jobs.path("read", "labels", dataset=dataset.original))
        try:
            return read_table(path)[0] if path.is_file() else None
        except UserError:
            return None  # the run makes it again
    spec = dataset.read.as_dict()
    if not dataset.files and dataset.read.reader != "image_folder":
        return None
    try:
        data = read_dataset(spec)
    except UserError as error:
        broken = _broken_files(dataset) if dataset.files else ()
        found.mistakes += list(dict.fromkeys(broken)) or [str(error)]
        return None
    found.notes += [*data.notes, *heavy_tailed_views(data)]
    return data.labels_table().assign(**{FIRST: data.first_equal()})


def _broken_files(dataset: PlannedDataset) -> Iterator[str]:
    options = dataset.read.options
    id_column = options.get("id_column", "id")
    text = [options[name] for name in ("label_column", "group_column") if options.get(name)]
    for name, path in (dataset.read.paths or {}).items():
        file = Path(path)
        array = array_of_view(file, name, options.get("arrays", {}).get(name))
        try:
            is_matrix = dataset.read.reader == "precomputed" and name != LABELS_KEY
            table = Table(file, id_column, text, array=array, header=not (is_matrix and is_bare(file)))
            if name != LABELS_KEY:
                table.numbers()
        except UserError as error:
            yield str(error)

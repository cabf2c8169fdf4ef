"""Draw the splits of a data set by a protocol, or read them."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from mklearn.errors import ConfigError, DataError
from mklearn.rows import load
from mklearn.study.data.samples import some
from mklearn.study.data.splits import Splits, given, released
from mklearn.study.specs.data_specs import SplitSpec


def draw_splits(
    table: pd.DataFrame, spec: SplitSpec, files: Sequence[Path] = (), reference: pd.DataFrame | None = None
) -> Splits:
    """Draw the splits of a data set by its :func:`mklearn.study.data.read.labels_table`, or read them from files.

    `reference` is the table of the data set whose splits this one has: they are drawn there, and brought here by the
    ids; DataError names the first samples or labels that differ. Raise ConfigError for unknown classes to exclude,
    fewer than two that remain, or no released splits, and NotApplicable for a class that is too small.
    """
    if reference is not None:
        rows, drawn = _rows_of(reference, table, spec.dataset), draw_splits(reference, spec, files)
        return drawn.among(rows, len(table)) if drawn.samples is None else draw_splits(table, spec, files)
    ids, y = table["id"].to_numpy(dtype=str), table["y"].to_numpy()
    parameters = dict(spec.parameters)
    excluded = parameters.pop("exclude_classes", [])
    kept, classes = _kept(table, excluded, spec.dataset)
    if spec.kind == "given":
        drawn = given(files[0] if files else parameters["path"], ids)
    elif spec.kind == "released":
        if not files or spec.source is None:
            raise ConfigError(f"protocol released: no file of splits was released with data set {spec.dataset!r}.")
        read = load(spec.source)
        takes_ids = "ids" in inspect.signature(read).parameters
        drawn = released(read(files[0], ids=ids) if takes_ids else read(files[0]), ids)
    else:
        draw = load(spec.implementation)
        groups = table["group"].to_numpy(dtype=str)[kept] if "group" in table else None
        further = {"groups": groups, "ids": ids[kept], "files": list(files)}
        taken = inspect.signature(draw).parameters
        parameters = {name: value for name, value in parameters.items() if name != "path"}
        parameters |= {name: value for name, value in further.items() if name in taken}
        drawn = draw(y[kept], **parameters, seed=spec.seed, name=spec.dataset, classes=classes)
        return drawn.among(kept, len(y)) if excluded else drawn
    if not excluded:
        return drawn
    return Splits(tuple(split.converted(lambda part: part[np.isin(part, kept)]) for split in drawn), len(ids))


def _rows_of(reference: pd.DataFrame, table: pd.DataFrame, dataset: str) -> np.ndarray:
    """Return the rows in `table` of the samples of `reference`, which must be the same with the same labels."""
    here = f"these samples are not those of {dataset!r}, whose splits they are to have (splits_of)"
    ids, others = (pd.Index(frame["id"].astype(str)) for frame in (table, reference))
    extra, lacking = (some(one.difference(two, sort=False).to_numpy()) for one, two in ((ids, others), (others, ids)))
    if lacking or extra:
        raise DataError(f"{here}: it has {lacking or 'none'} that are not here, and lacks {extra or 'none'}")
    rows = ids.get_indexer(others)
    target = "label" if "label" in reference and "label" in table else "y"
    labels, expected = table[target].to_numpy()[rows], reference[target].to_numpy()
    differs = np.flatnonzero(labels != expected)
    if len(differs):
        names, one, other = others.to_numpy()[differs], str(labels[differs[0]]), str(expected[differs[0]])
        raise DataError(f"{here}: labels differ for {some(names)}; {names[0]!r} is {one!r} here and {other!r} there")
    return rows


def _kept(table: pd.DataFrame, excluded: Sequence[str], dataset: str) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the positions of the samples of other classes than the excluded ones, and the classes; None of numbers."""
    if "label" not in table:
        return np.arange(len(table)), None
    y = table["y"].to_numpy()
    classes = table.drop_duplicates("y").sort_values("y")["label"].to_numpy(dtype=str)
    where, unknown = f"exclude_classes of the protocol: data set {dataset!r}", sorted(set(excluded) - set(classes))
    if unknown:
        raise ConfigError(f"{where} has no class {', '.join(unknown)}; valid: {', '.join(classes)}.")
    kept = np.flatnonzero(~np.isin(classes[y], excluded))
    if (remaining := len(np.unique(y[kept]))) < 2:
        raise ConfigError(f"{where} keeps {remaining} of its {len(classes)} classes; expected at least two.")
    return kept, classes

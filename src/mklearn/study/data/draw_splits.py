"""Draw the splits of a data set by a protocol of :mod:`mklearn.study.data.protocols`, or read them from files.

Seed policy: every repeat has its own generator, ``default_rng([crc32(data set's name), size, repeat, seed])``, where
`size` is the number of training samples per class or of folds. The name is the registry's, or for a user's own data the
study's; variants of a data set with one name and the same labels have the same splits. A split thus depends on these
four only: more repeats do not change the first ones, and all methods see the same splits of a data set. (NumPy ignores
a trailing 0: seed 0 gives the splits of ``default_rng([crc32(name), size, repeat])``.)
"""

from __future__ import annotations

import inspect
import itertools
import os
import zlib
from collections.abc import Collection, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklearn.base.folds import group_folds, number_folds
from mklearn.base.parameters import Interval, ListOf, at_least, constrained, from_to
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.rows import load
from mklearn.study.data.readers.tables import column_text, read_frame, sample_positions, whole_numbers
from mklearn.study.data.samples import in_natural_order, some, target_of
from mklearn.study.data.splits import ROLES, Split, Splits, splits_of_frame
from mklearn.study.specs.data_specs import SplitSpec

LARGEST_NUMBER = 2**31 - 1
"""Largest number of a repeat or fold that tables of predictions hold."""
REPEATS = from_to(1, 10_000)
Rows = NDArray[np.intp]
Stratum = tuple[str, str]
"""Names of a group and a class; "" where samples have no groups."""


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
    kept, classes = _kept(table, spec.parameters.get("exclude_classes", []), spec.dataset)
    rows = np.arange(len(table)) if spec.kind == "given" else kept  # the user's file may name excluded samples
    draw, y = load(spec.implementation), table["y"].to_numpy()
    values = {
        **spec.parameters, "path": files[0] if files else spec.parameters.get("path"), "files": list(files),
        "ids": table["id"].to_numpy(dtype=str)[rows], "seed": spec.seed, "name": spec.dataset, "classes": classes,
        "source": spec.source, "groups": table["group"].to_numpy(dtype=str)[rows] if "group" in table else None,
    }  # fmt: skip
    drawn = draw(y[rows], **{name: values[name] for name in inspect.signature(draw).parameters if name in values})
    if len(kept) == len(table):
        return drawn
    if spec.kind == "given":
        return Splits(tuple(split.converted(lambda part: part[np.isin(part, kept)]) for split in drawn), len(y))
    return drawn.among(kept, len(y))


def _rows_of(reference: pd.DataFrame, table: pd.DataFrame, dataset: str) -> np.ndarray:
    """Return the rows in `table` of the samples of `reference`, which must be the same with the same labels."""
    here = f"these samples are not those of {dataset!r}, whose splits they take (splits_of)"
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


# --- protocols that draw


def generator(name: str, size: int, repeat: int, seed: int = 0) -> np.random.Generator:
    """Create the random generator of one repeat by the seed policy above."""
    return np.random.default_rng([zlib.crc32(name.encode()), size, repeat, seed])


@constrained(train_size=[at_least(1), ListOf(at_least(1))], repeats=[REPEATS])
def random_per_class(
    target: np.ndarray, train_size: int | Sequence[int], repeats: int = 10, seed: int = 0, name: str = "", *,
    classes: np.ndarray | None = None,
) -> Splits:  # fmt: skip
    """Draw a fixed number of training samples from each class; the rest are test samples.

    Raise NotApplicable, with the names in `classes`, if a class has no more samples than that.

    Parameters
    ----------
    train_size : int or sequence of int
        Training samples per class, or a list of sizes, which are drawn independently of each other. All sizes run in
        one job: to run a size as its own job, give it its own protocol.
    repeats : int
        Number of random splits of each size.
    seed : int
        Non-negative.
    """
    y, sizes = np.asarray(target), [int(size) for size in np.atleast_1d(train_size)]
    strata = _strata(y, classes)
    small = [key for key, rows in strata.items() if len(rows) <= max(sizes)]
    _refuse(small, strata, f"{max(sizes)} training samples per class (train_size) and at least one test sample")
    splits = []
    for size, repeat in itertools.product(sizes, range(repeats)):
        rng = generator(name, size, repeat, seed)
        members = [rng.permutation(rows) for rows in strata.values()]
        train, test = (np.sort(np.concatenate([each[part] for each in members]))
                       for part in (slice(size), slice(size, None)))  # fmt: skip
        splits.append(Split(repeat, 0, train, test, size))
    return Splits(tuple(splits), len(y))


@constrained(folds=[at_least(2)], repeats=[REPEATS])
def k_fold(
    target: np.ndarray, folds: int = 5, repeats: int = 1, seed: int = 0, name: str = "", *,
    classes: np.ndarray | None = None,
) -> Splits:  # fmt: skip
    """Draw folds for k-fold cross-validation, shuffled, with each class, or the range of numbers, spread evenly.

    Each fold gets one of every ``folds`` samples in the order of their numbers. Raise NotApplicable if a class has
    fewer samples than there are folds.

    Parameters
    ----------
    folds : int
        At least 2. Fold sizes differ by at most one sample, and so do the numbers of samples of a class per fold.
    repeats : int
        How often folds are drawn.
    """
    y = np.asarray(target)
    strata = {} if target_of(y) == "numbers" else _strata(y, classes)
    _refuse([key for key, rows in strata.items() if len(rows) < folds], strata, f"{folds} stratified folds")
    splits = []
    for repeat in range(repeats):
        rng = generator(name, folds, repeat, seed)
        if strata:  # Deal out the shuffled classes like cards; each class continues where the previous one stopped.
            fold_of = np.empty(len(y), dtype=np.intp)
            fold_of[np.concatenate([rng.permutation(rows) for rows in strata.values()])] = np.arange(len(y)) % folds
        else:
            fold_of = number_folds(y, folds, rng)
        splits += [Split(repeat, fold, np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold))
                   for fold in range(folds)]  # fmt: skip
    return Splits(tuple(splits), len(y))


@constrained(folds=[at_least(2)], repeats=[REPEATS])
def group_k_fold(
    target: np.ndarray, folds: int = 5, repeats: int = 1, seed: int = 0, name: str = "", *,
    classes: np.ndarray | None = None, groups: np.ndarray | None = None,
) -> Splits:  # fmt: skip
    """Draw folds that hold out whole groups, such as persons, with the classes spread evenly over them.

    Raise ConfigError without groups, and NotApplicable if a class has fewer groups than there are folds.

    Parameters
    ----------
    folds : int
        At least 2, and at most as many as the class with the fewest groups has.
    repeats : int
        How often folds are drawn.
    """
    y = np.asarray(target)
    if groups is None:
        raise ConfigError(
            f"protocol group_k_fold holds out whole groups, and data set {name!r} has none: name its group_column, or "
            "merge classes, which then are the groups"
        )
    splits = []
    for repeat in range(repeats):
        drawn_from = int(generator(name, folds, repeat, seed).integers(2**32))
        parts = group_folds(y, groups, folds, drawn_from, classes)
        splits += [Split(repeat, fold, *part) for fold, part in enumerate(parts)]
    return Splits(tuple(splits), len(y))


@constrained(
    folds=[at_least(2)],
    repeats=[REPEATS],
    deals=[REPEATS],
    test_share=[Interval(Real, 0, 1, closed="neither")],
    test_size=[at_least(1), None],
    in_order=["boolean"],
    first_seed=[at_least(0), None],
)
def validation_folds(
    target: np.ndarray, folds: int = 5, repeats: int = 1, seed: int = 0, name: str = "", *, test_share: float = 0.25,
    test_size: int | None = None, deals: int = 1, in_order: bool = False, first_seed: int | None = None,
    classes: np.ndarray | None = None, groups: np.ndarray | None = None,
) -> Splits:  # fmt: skip
    """Draw a test part and deal the rest into folds: a model for each fold trains on the others, is validated on it.

    This is how Gonen and Alpaydin evaluate (Localized Multiple Kernel Machines for Image Recognition). Every step is
    done in each class by itself, of each group where samples have groups, in natural order of their names ("2" before
    "10"). Raise NotApplicable if one has too few samples for a test sample and one in each fold.

    Parameters
    ----------
    folds : int
        At least 2. Remaining samples go to the last folds, with `in_order` to the first.
    repeats : int
        Number of test parts drawn. Models of one repeat have the same test part, and are numbered by ``Split.fold``.
    test_share : float
        Share of each class (of each group) that is the test part; rounded. It is the first of a random permutation.
    test_size : int, optional
        Number of test samples of each class (of each group), in place of `test_share`.
    deals : int
        How often the rest is dealt into folds; each deal gives a model for each fold.
    in_order : bool
        Whether the rest of a class (of a group) is dealt in the order of the data set, the j-th sample to fold j, in
        place of a random permutation that is cut into folds. All deals would be equal.
    first_seed : int, optional
        Repeat k has NumPy's ``default_rng(first_seed + k)``, in place of the study's seeds, to repeat splits that were
        drawn elsewhere.
    """
    y = np.asarray(target)
    strata = _strata(y, classes, groups)
    n_test = {key: test_size or round(len(rows) * test_share) for key, rows in strata.items()}
    small = [key for key, rows in strata.items() if n_test[key] < 1 or len(rows) - n_test[key] < folds]
    _refuse(small, strata, f"a test part and {folds} folds")
    splits: list[Split] = []
    for repeat in range(repeats):
        rng = generator(name, folds, repeat, seed) if first_seed is None else np.random.default_rng(first_seed + repeat)
        drawn = {key: rng.permutation(rows) for key, rows in strata.items()}
        test = np.sort(np.concatenate([rows[: n_test[key]] for key, rows in drawn.items()]))
        rest = [np.sort(rows[n_test[key] :]) for key, rows in drawn.items()]
        for deal in range(deals):
            if in_order:
                dealt = [[rows[fold::folds] for fold in range(folds)] for rows in rest]
            else:  # cut from the end: array_split makes the first parts the larger ones
                dealt = [np.array_split(rng.permutation(rows)[::-1], folds)[::-1] for rows in rest]
            for fold, parts in enumerate(zip(*dealt, strict=True)):
                validation = np.sort(np.concatenate(parts))
                train = np.setdiff1d(np.arange(len(y)), np.concatenate([test, validation]))
                splits.append(Split(repeat, deal * folds + fold, train, test, validation=validation))
    return Splits(tuple(splits), len(y))


def _strata(y: np.ndarray, classes: np.ndarray | None, groups: np.ndarray | None = None) -> dict[Stratum, Rows]:
    """Return the positions of the samples of each class, of each group where samples have groups."""
    strata = {}
    names = [""] if groups is None else in_natural_order(groups)
    for group, code in itertools.product(names, np.unique(y)):
        rows = np.flatnonzero((y == code) & (True if groups is None else groups == group))
        if len(rows):
            strata[group, str(code if classes is None else classes[code])] = rows
    return strata


def _refuse(small: Collection[Stratum], strata: Mapping[Stratum, Rows], wanted: str) -> None:
    """Raise NotApplicable if a stratum is too small, with the line of a study that leaves its class out."""
    if small:
        shown = [f"{f'group {key[0]} of ' if key[0] else ''}class {key[1]} ({len(strata[key])})" for key in small]
        listed = ", ".join(shown[:5]) + (f", ... ({len(shown)} in all)" if len(shown) > 5 else "")
        names = ", ".join(map(repr, dict.fromkeys(name for _, name in small)))
        raise NotApplicable(
            f"{wanted}: too few samples in {listed}; use smaller numbers, or leave out what is too small by "
            f"exclude_classes: [{names}] in the data set"
        )


# --- protocols that read


@constrained(path=[str])
def given(target: np.ndarray, path: str | os.PathLike[str], *, ids: np.ndarray) -> Splits:
    """Read splits from a Parquet, CSV or TSV file.

    Parameters
    ----------
    path : path
        Parquet, CSV or TSV file with columns ``role`` ("train", "test" or "validation"), and ``id`` or ``index``
        (position, from 0; ignored if there are ids); optionally ``repeat`` and ``fold``, 0 by default. Others are
        ignored.
    """
    path = Path(path)
    frame = read_frame(path, ("id", "role")).reset_index(drop=True)
    columns = set(frame.columns)
    if "role" not in columns or not columns & {"id", "index"}:
        raise DataError(f"{path}: splits need the columns role and id (or index); it has {some(list(frame.columns))}")
    frame["role"] = column_text(frame["role"], path, "role")
    wrong = sorted(set(frame["role"]) - set(ROLES))
    if wrong:
        raise DataError(f"{path}: unknown roles {some(wrong)}; valid: {', '.join(ROLES)}")
    if "id" in columns:
        frame["index"] = sample_positions(column_text(frame["id"], path, "id"), ids, path)
    frame["train_size"] = pd.NA  # a user's splits have no sizes
    for name in ("repeat", "fold", "index"):
        frame[name] = whole_numbers(frame[name], path, name) if name in frame else 0
        if not frame[name].between(0, LARGEST_NUMBER).all():
            raise DataError(f"{path}: column {name!r} has numbers outside 0 to {LARGEST_NUMBER}")
    try:
        return Splits(splits_of_frame(frame), len(ids))
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


def released(target: np.ndarray, *, ids: np.ndarray, files: Sequence[Path], source: str | None, name: str) -> Splits:
    """Read the splits that were released with a data set; all samples outside a test part are training samples.

    Each split, by the ids of its test samples, is a repeat of its own. Ids that the data set does not have, of which a
    study may take a part, are left out. `source`, such as ``"module:function"``, reads the ids of the test samples of
    each split from the first of `files`, with the ids of all samples.
    """
    if not files or source is None:
        raise ConfigError(f"protocol released: no file of splits was released with data set {name!r}.")
    tests = [np.isin(ids, part) for part in load(source)(files[0], ids)]
    parts: Any = (Split(repeat, 0, np.flatnonzero(~test), np.flatnonzero(test)) for repeat, test in enumerate(tests))
    return Splits(tuple(parts), len(ids))

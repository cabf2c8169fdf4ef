"""Drawing of splits by the protocols of :mod:`mklearn.study.data.protocols`, and reading of splits from files.

Seed policy: every repeat has its own generator, ``default_rng([crc32(name), size, repeat, seed])``. `name` is the
name of the data set in the registry, or in the study for a user's own data; `size` is the training size or the number
of folds. A split depends on these four values only: more repeats do not change the first ones,
all methods see the same splits, and variants of a data set with one name and the same labels share them. (NumPy ignores
a trailing 0: seed 0 gives the splits of ``default_rng([crc32(name), size, repeat])``.)
"""

from __future__ import annotations

import inspect
import itertools
import os
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklearn.base.folds import group_folds, groups_of_classes, number_folds
from mklearn.base.parameters import Interval, ListOf, at_least, constrained, from_to
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.rows import load
from mklearn.study.data.readers.frames import read_frame
from mklearn.study.data.readers.tables import column_text, sample_positions, whole_numbers
from mklearn.study.data.samples import in_natural_order, some, target_of
from mklearn.study.data.splits import ROLES, Split, Splits, splits_of_frame
from mklearn.study.specs.data_specs import SplitSpec

LARGEST_NUMBER = 2**31 - 1
"""Largest repeat or fold number that tables of predictions can store."""
REPEATS = from_to(1, 10_000)
FLIPPED = Interval(Real, 0, 1, closed="left")
Rows = NDArray[np.intp]
Stratum = tuple[str, str]
"""Names of a group ("" if samples have no groups) and of a class."""


def draw_splits(
    table: pd.DataFrame, spec: SplitSpec, files: Sequence[Path] = (), reference: pd.DataFrame | None = None
) -> Splits:
    """Draw the splits of a data set, or read them from files.

    `table` is made by :func:`mklearn.study.data.read.labels_table`. With `reference`, the table of another data set
    with the same samples, splits are drawn for that table and mapped to `table` by the ids.

    Raise DataError with the first samples or labels in which the two tables differ; ConfigError if an excluded class is
    unknown, or fewer than two classes remain; NotApplicable if a class is too small.
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
        "source": spec.source, "without_target": table.attrs.get("without_target", ()),
        "groups": table["group"].to_numpy(dtype=str)[rows] if "group" in table else None,
    }  # fmt: skip
    drawn = draw(y[rows], **{name: values[name] for name in inspect.signature(draw).parameters if name in values})
    if len(kept) == len(table):
        return drawn
    if spec.kind == "given":
        return Splits(tuple(split.converted(lambda part: part[np.isin(part, kept)]) for split in drawn), len(y))
    return drawn.among(kept, len(y))


def _rows_of(reference: pd.DataFrame, table: pd.DataFrame, dataset: str) -> np.ndarray:
    """Return the row in `table` of each sample of `reference`; raise DataError if samples or labels differ."""
    here = f"these samples are not those of {dataset!r}, whose splits they take (splits_of)"
    ids, others = (frame["id"].to_numpy(dtype=str) for frame in (table, reference))
    if len(differing := np.setxor1d(ids, others)):
        raise DataError(f"{here}: only one of the two has {some(differing)}")
    rows = pd.Index(ids).get_indexer(pd.Index(others))
    target = "label" if "label" in reference and "label" in table else "y"
    differs = table[target].to_numpy()[rows] != reference[target].to_numpy()
    if differs.any():
        raise DataError(f"{here}: labels differ for {some(others[differs])}")
    return rows


def _kept(table: pd.DataFrame, excluded: Sequence[str], dataset: str) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the positions of samples outside the excluded classes, and the class names (None for numbers)."""
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


def generators(
    name: str, sizes: int | Sequence[int], repeats: int, seed: int
) -> Iterator[tuple[int, int, np.random.Generator]]:
    """Yield each size and repeat with its random generator, by the seed policy of this module."""
    for size, repeat in itertools.product(map(int, np.atleast_1d(sizes)), range(repeats)):
        yield size, repeat, np.random.default_rng([zlib.crc32(name.encode()), size, repeat, seed])


@constrained(
    train_size=[at_least(1), ListOf(at_least(1))], repeats=[REPEATS], flipped=[FLIPPED], unlabelled=[at_least(0)]
)
def random_per_class(
    target: np.ndarray, train_size: int | Sequence[int], repeats: int = 10, seed: int = 0, name: str = "", *,
    flipped: float = 0.0, unlabelled: int = 0, classes: np.ndarray | None = None,
) -> Splits:  # fmt: skip
    """Draw a fixed number of training samples from each class; the rest are test samples.

    Raise NotApplicable, which names the classes, if a class has no more samples than `train_size` and `unlabelled`.

    Parameters
    ----------
    train_size : int or sequence of int
        Training samples per class, or a list of such sizes, which are drawn independently. All sizes run in one job; to
        run a training size as its own job, give it its own protocol.
    repeats : int
        Number of random splits of each size.
    seed : int
        Seed of the study, non-negative.
    flipped : float
        Share of the training samples whose class is replaced by another at random in each split. Fits and inner folds
        see the replaced classes; test samples, predictions and scores have the true ones.
    unlabelled : int
        Further training samples per class without a label. Unsupervised and semi-supervised methods are fitted to them
        too (``mkl_dr`` with the graphs ``sda``, ``lpp`` and ``pca``, ``kernel_pca``, ``pca``), other methods to the
        labelled samples only. Nearest neighbours are labelled samples.
    """
    y, largest = np.asarray(target), int(np.max(train_size))
    strata = _strata(y, classes)
    small = [key for key, rows in strata.items() if len(rows) <= largest + unlabelled]
    more = f", {unlabelled} unlabelled" if unlabelled else ""
    _refuse(small, strata, f"{largest} training samples per class (train_size){more} and at least one test sample")
    splits = []
    for size, repeat, rng in generators(name, train_size, repeats, seed):
        drawn = [rng.permutation(rows)[: size + unlabelled] for rows in strata.values()]
        train, hidden = (np.sort(np.concatenate([rows[part] for rows in drawn]))
                         for part in (slice(size), slice(size, None)))  # fmt: skip
        test = np.setdiff1d(np.arange(len(y)), np.concatenate(drawn))
        split = Split(repeat, 0, train, test, size, unlabelled=hidden if unlabelled else None)
        splits.append(split.flipped(y, flipped, rng) if flipped else split)
    return Splits(tuple(splits), len(y))


@constrained(train_size=[at_least(1), ListOf(at_least(1))], repeats=[REPEATS])
def clustering(
    target: np.ndarray, train_size: int | Sequence[int], repeats: int = 10, seed: int = 0, name: str = "", *,
    classes: np.ndarray | None = None,
) -> Splits:  # fmt: skip
    """Draw samples of each class to cluster: they are the training samples and the test samples.

    Methods get no labels: supervised ones have no value, and nothing can be chosen by inner cross-validation.

    Parameters
    ----------
    train_size : int or sequence of int
        Largest number of samples per class; a class with fewer gives all. Or a list of such numbers.
    repeats : int
        Number of random draws of each size.
    """
    y, splits = np.asarray(target), []
    for size, repeat, rng in generators(name, train_size, repeats, seed):
        rows = np.sort(np.concatenate([rng.permutation(rows)[:size] for rows in _strata(y, classes).values()]))
        splits.append(Split(repeat, 0, rows, rows, size))
    return Splits(tuple(splits), len(y))


@constrained(train_size=[at_least(1), ListOf(at_least(1))], repeats=[REPEATS], whole_groups=["boolean"])
def random(
    target: np.ndarray, train_size: int | Sequence[int], repeats: int = 10, seed: int = 0, name: str = "", *,
    whole_groups: bool = False, groups: np.ndarray | None = None,
) -> Splits:  # fmt: skip
    """Draw a fixed number of training samples, whatever their targets; the rest are test samples.

    Raise NotApplicable if `train_size` may leave no test sample, and ConfigError for `whole_groups` without groups.

    Parameters
    ----------
    train_size : int or sequence of int
        Number of training samples, or a list of such sizes, which are drawn independently.
    repeats : int
        Number of random splits of each size.
    whole_groups : bool
        Whether to hold out whole groups, such as persons. Training samples are then drawn group by group; samples of
        the last group that are not needed are in neither part.
    """
    of_groups = _present(groups, "random", name) if whole_groups else np.arange(len(target))
    _, codes, counts = np.unique(of_groups, return_inverse=True, return_counts=True)
    largest, most = int(np.max(train_size)), len(codes) - counts.max()
    if largest > most:
        kept = "the largest group, which may be the test group" if whole_groups else "one for testing"
        raise NotApplicable(f"train_size {largest}: expected 1 to {most}, the {len(codes)} samples without {kept}")
    splits = []
    for size, repeat, rng in generators(name, train_size, repeats, seed):
        place = rng.permutation(len(counts))
        train = np.sort(np.lexsort((rng.permutation(len(codes)), place[codes]))[:size])  # group by group
        splits.append(Split(repeat, 0, train, np.flatnonzero(~np.isin(codes, codes[train])), size))
    return Splits(tuple(splits), len(codes))


@constrained(folds=[at_least(2)], repeats=[REPEATS], flipped=[FLIPPED])
def k_fold(
    target: np.ndarray, folds: int = 5, repeats: int = 1, seed: int = 0, name: str = "", *,
    flipped: float = 0.0, classes: np.ndarray | None = None,
) -> Splits:  # fmt: skip
    """Draw shuffled, stratified folds for k-fold cross-validation.

    Classes are spread evenly over the folds. For numbers, samples are sorted by their target, and each fold gets one of
    every ``folds`` consecutive samples. Raise NotApplicable if a class has fewer samples than there are folds.

    Parameters
    ----------
    folds : int
        Number of folds, at least 2. Fold sizes differ by at most one sample, and so do the numbers of samples of a
        class per fold.
    repeats : int
        Number of times that folds are drawn.
    flipped : float
        As for `random_per_class`; only for classes.
    """
    y = np.asarray(target)
    if flipped and target_of(y) == "numbers":
        raise ConfigError(f"flipped: the target of {name!r} is numbers; only classes can be replaced by another")
    strata = {} if target_of(y) == "numbers" else _strata(y, classes)
    _refuse([key for key, rows in strata.items() if len(rows) < folds], strata, f"{folds} stratified folds")
    splits = []
    for _, repeat, rng in generators(name, folds, repeats, seed):
        if strata:  # Deal shuffled samples to the folds in turn; each class starts where the previous one stopped.
            fold_of = np.empty(len(y), dtype=np.intp)
            fold_of[np.concatenate([rng.permutation(rows) for rows in strata.values()])] = np.arange(len(y)) % folds
        else:
            fold_of = number_folds(y, folds, rng)
        drawn = [Split(repeat, fold, np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold))
                 for fold in range(folds)]  # fmt: skip
        splits += [split.flipped(y, flipped, rng) for split in drawn] if flipped else drawn
    return Splits(tuple(splits), len(y))


@constrained(folds=[at_least(2)], repeats=[REPEATS])
def group_k_fold(
    target: np.ndarray, folds: int = 5, repeats: int = 1, seed: int = 0, name: str = "", *,
    classes: np.ndarray | None = None, groups: np.ndarray | None = None,
) -> Splits:  # fmt: skip
    """Draw folds that hold out whole groups, such as persons, with the classes spread evenly over the folds.

    Raise ConfigError if samples have no groups, and NotApplicable if a class has fewer groups than there are folds.

    Parameters
    ----------
    folds : int
        Number of folds, at least 2 and at most the number of groups of the class with the fewest.
    repeats : int
        Number of times that folds are drawn.
    """
    y, groups, splits = np.asarray(target), _present(groups, "group_k_fold", name), []
    for _, repeat, rng in generators(name, folds, repeats, seed):
        parts = group_folds(y, groups, folds, int(rng.integers(2**32)), classes)
        splits += [Split(repeat, fold, *part) for fold, part in enumerate(parts)]
    return Splits(tuple(splits), len(y))


def leave_one_group_out(
    target: np.ndarray, name: str = "", *, classes: np.ndarray | None = None, groups: np.ndarray | None = None
) -> Splits:  # fmt: skip
    """Hold out each group once, such as a site: fold k tests the group that is k-th in the natural order of names.

    Raise ConfigError if samples have no groups, and NotApplicable if only one group has samples of a class.
    """
    y, names = np.asarray(target), _present(groups, "leave_one_group_out", name)
    few = np.array(groups_of_classes(np.zeros(len(y)) if target_of(y) == "numbers" else y, names)) < 2
    if few.any():
        rare = (
            "" if classes is None else f" of each class; {some(classes[np.unique(y)[few]])} has one (exclude_classes)"
        )
        raise NotApplicable(f"leave_one_group_out needs two groups{rare}")
    is_test = [names == group for group in in_natural_order(names)]
    parts = ((np.flatnonzero(~held_out), np.flatnonzero(held_out)) for held_out in is_test)
    return Splits(tuple(Split(0, fold, *part) for fold, part in enumerate(parts)), len(y))


def _present(groups: np.ndarray | None, kind: str, name: str) -> np.ndarray:
    if groups is None:
        raise ConfigError(
            f"protocol {kind} holds out whole groups, and data set {name!r} has none: name its group_column, or merge "
            "classes with class_groups: true"
        )
    return groups


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
    """Draw a test part and divide the rest into validation folds.

    One model per fold trains on the other folds and is validated on this one, as in Gonen and Alpaydin, Localized
    Multiple Kernel Machines for Image Recognition. Each class is divided separately; if samples have groups, each class
    within each group. These strata are taken in natural order of their names ("2" before "10"). Raise NotApplicable if
    a stratum has too few samples for the test part and one in each fold.

    Parameters
    ----------
    folds : int
        Number of folds, at least 2. If sizes differ, the last folds are larger; with `in_order` the first.
    repeats : int
        Number of test parts drawn. Models of one repeat share the test part and are numbered by ``Split.fold``.
    test_share : float
        Share of each stratum in the test part, rounded to whole samples: the first ones of a random permutation.
    test_size : int, optional
        Number of test samples of each stratum, in place of `test_share`.
    deals : int
        Number of times that the rest is divided into folds; each division gives one model per fold.
    in_order : bool
        Whether the rest of a stratum is assigned in the order of the data set, sample j to fold j modulo `folds`. By
        default a random permutation is cut into folds. With `in_order`, all `deals` would be equal.
    first_seed : int, optional
        Seed that reproduces splits drawn elsewhere: repeat k uses NumPy's ``default_rng(first_seed + k)`` in place of
        the seed policy of this module.
    """
    y = np.asarray(target)
    strata = _strata(y, classes, groups)
    n_test = {key: test_size or round(len(rows) * test_share) for key, rows in strata.items()}
    small = [key for key, rows in strata.items() if n_test[key] < 1 or len(rows) - n_test[key] < folds]
    _refuse(small, strata, f"a test part and {folds} folds")
    splits: list[Split] = []
    for _, repeat, rng in generators(name, folds, repeats, seed):
        rng = rng if first_seed is None else np.random.default_rng(first_seed + repeat)
        drawn = {key: rng.permutation(rows) for key, rows in strata.items()}
        test = np.sort(np.concatenate([rows[: n_test[key]] for key, rows in drawn.items()]))
        rest = [np.sort(rows[n_test[key] :]) for key, rows in drawn.items()]
        for deal in range(deals):
            if in_order:
                dealt = [[rows[fold::folds] for fold in range(folds)] for rows in rest]
            else:  # reversed, because array_split makes the first parts larger
                dealt = [np.array_split(rng.permutation(rows)[::-1], folds)[::-1] for rows in rest]
            for fold, parts in enumerate(zip(*dealt, strict=True)):
                validation = np.sort(np.concatenate(parts))
                train = np.setdiff1d(np.arange(len(y)), np.concatenate([test, validation]))
                splits.append(Split(repeat, deal * folds + fold, train, test, validation=validation))
    return Splits(tuple(splits), len(y))


def _strata(y: np.ndarray, classes: np.ndarray | None, groups: np.ndarray | None = None) -> dict[Stratum, Rows]:
    """Return the positions of the samples of each class, or of each class within each group if there are groups."""
    strata = {}
    names = [""] if groups is None else in_natural_order(groups)
    for group, code in itertools.product(names, np.unique(y)):
        rows = np.flatnonzero((y == code) & (True if groups is None else groups == group))
        if len(rows):
            strata[group, str(code if classes is None else classes[code])] = rows
    return strata


def _refuse(small: Collection[Stratum], strata: Mapping[Stratum, Rows], wanted: str) -> None:
    """Raise NotApplicable if a stratum is too small."""
    if small:
        shown = [f"{f'group {key[0]} of ' if key[0] else ''}class {key[1]} ({len(strata[key])})" for key in small]
        raise NotApplicable(
            f"{wanted}: too few samples in {some(shown)}; use smaller numbers, or exclude_classes of the data set"
        )


# --- protocols that read


@constrained(path=[str])
def given(target: np.ndarray, path: str | os.PathLike[str], *, ids: np.ndarray, without_target: Any = ()) -> Splits:
    """Read splits from a Parquet, CSV or TSV file. Rows of the ids `without_target` are ignored.

    Parameters
    ----------
    path : path
        Parquet, CSV or TSV file with a column ``role`` ("train", "test" or "validation") and a column ``id`` or
        ``index`` (position from 0; ignored if there is ``id``). Columns ``repeat`` and ``fold`` are optional, 0 by
        default. Other columns are ignored.
    """
    path = Path(path)
    frame = read_frame(path, ("id", "role")).reset_index(drop=True)
    columns = set(frame.columns)
    if "role" not in columns or not columns & {"id", "index"}:
        raise DataError(f"{path}: splits need the columns role and id (or index); it has {some(list(frame.columns))}")
    frame["role"] = column_text(frame["role"], path, "role")
    valid = ROLES[:3]
    wrong = sorted(set(frame["role"]) - set(valid))
    if wrong:
        raise DataError(f"{path}: unknown roles {some(wrong)}; valid: {', '.join(valid)}")
    if "id" in columns:
        frame = frame.assign(id=column_text(frame["id"], path, "id")).query("id not in @without_target")
        frame = frame.assign(index=sample_positions(frame["id"].to_numpy(dtype=str), ids, path))
    frame["train_size"] = pd.NA  # a user's splits have no sizes
    for name in ("repeat", "fold", "index"):
        frame[name] = whole_numbers(frame[name], path, name) if name in frame else 0
        if not frame[name].between(0, LARGEST_NUMBER).all():
            raise DataError(f"{path}: column {name!r} has numbers outside 0 to {LARGEST_NUMBER}")
    try:
        splits = Splits(splits_of_frame(frame.drop(columns="train_label", errors="ignore")), len(ids))
        if any(split.clusters for split in splits):
            raise DataError("splits: all samples are in several parts, train and test; use protocol clustering")
        return splits
    except DataError as error:
        twice = frame.get("id", pd.Series())[frame.duplicated(["repeat", "fold", "index"])]
        raise DataError(f"{path}: {error}{f'; by id: {some(twice.to_numpy())}' if len(twice) else ''}") from error


def released(target: np.ndarray, *, ids: np.ndarray, files: Sequence[Path], source: str) -> Splits:
    """Read the splits that were released with a data set; all samples outside the test part are training samples.

    Each split is one repeat. `source` (``"module:function"``) takes the first of `files` and the ids of all samples,
    and returns the ids of the test samples of each split. Ids that are not in `ids` are ignored, because a study may
    select a part of the data set.
    """
    tests = [np.isin(ids, part) for part in load(source)(files[0], ids)]
    parts: Any = (Split(repeat, 0, np.flatnonzero(~test), np.flatnonzero(test)) for repeat, test in enumerate(tests))
    return Splits(tuple(parts), len(ids))

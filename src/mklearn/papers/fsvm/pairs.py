"""Pairs of samples, as in Labelled Faces in the Wild: do both samples of a pair have the same class?

A pair is a sample with two views of a descriptor: the features of its first and of its second sample. With LFW's
official lists, parameters are chosen on View 1 (pairsDevTrain and pairsDevTest), and the ten folds of View 2
(pairs.txt) give the result. Other lists have folds only.
"""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from mklearn.atomic import existing_file
from mklearn.base.parameters import ListOf, PositiveInt, constrained, one_of
from mklearn.errors import DataError
from mklearn.kernels.views import LearnedView, Views
from mklearn.study.data.readers.frames import read_frame
from mklearn.study.data.readers.tables import column_text, require_columns, sample_positions, whole_numbers
from mklearn.study.data.samples import check_unique, some
from mklearn.study.data.splits import Split, Splits

Floats = NDArray[np.floating[Any]]
PairTerm = Literal["absolute_difference", "product"]
TERMS: tuple[PairTerm, ...] = ("absolute_difference", "product")
_POWER_ITERATIONS = 2
"""Power iterations of the randomised decomposition. More would take longer than most methods and change nothing. Each
is normalised: without, single precision loses components whose deviation is below a thirtieth of the largest."""
_KEPT = 8
"""Number of projections of a descriptor that are cached, because all candidates of a grid need the same ones."""
_SUFFIX = re.compile(r"(_\d+)\.[^/]*$")


class PairFeatures:
    """Features of pairs, by the principal components of the samples in the training pairs.

    A pair of samples with the components a and b has the features |a - b| and a b, component by component, or one of
    these. The order of the samples does not matter. The components come from a randomised singular value decomposition
    with a fixed seed, in single precision, and each training sample counts once. Fewer components are taken if there
    are not enough.

    Parameters
    ----------
    components : int or None
        Number of principal components of each descriptor; None: the features themselves, which are not whitened.
    square_root : bool
        Take the square roots of the features first, as suits histograms; they must not be negative.
    whiten, unit_length : bool
        Scale all components to the same variance; then scale the components of each sample to length 1.
    terms : sequence of {"absolute_difference", "product"}
    """

    def __init__(
        self, components: int | None = 200, *, square_root: bool = False, whiten: bool = True,
        unit_length: bool = True, terms: Sequence[PairTerm] = TERMS,
    ) -> None:  # fmt: skip
        self.components, self.square_root = components, square_root
        self.whiten, self.unit_length, self.terms = whiten, unit_length, terms

    def fit(self, pairs: PairView) -> Self:
        """Learn from the samples of the training pairs."""
        self._samples = np.unique([pairs.first, pairs.second]).tobytes()
        return self

    def transform(self, pairs: PairView) -> Floats:
        """Compute the features of pairs: (m, q) for each term, side by side."""
        values = pairs.projected(self._samples)
        a, b = values[pairs.first], values[pairs.second]
        return np.hstack([np.abs(a - b) if term == "absolute_difference" else a * b for term in self.terms])

    def project(self, table: NDArray[np.float32], samples: bytes) -> Floats:
        """Project all samples on the components of the samples at positions ``samples``; float64, shape (n, q)."""
        from sklearn.decomposition import PCA

        if self.square_root:
            if table.min() < 0:
                raise DataError("square_root: a descriptor has negative features; set square_root: false")
            table = np.sqrt(table)
        if self.components is None:
            projected = table.astype(np.float64)
        else:
            learned = table[np.frombuffer(samples, dtype=np.intp)]
            most = min(self.components, learned.shape[0] - 1, learned.shape[1])
            pca = PCA(
                most, svd_solver="randomized", iterated_power=_POWER_ITERATIONS, power_iteration_normalizer="LU",
                random_state=0,
            ).fit(learned)  # fmt: skip
            projected = pca.transform(table).astype(np.float64)
            if self.whiten:
                deviations = np.sqrt(pca.explained_variance_.astype(np.float64))
                kept = deviations > 1e-6 * deviations.max(initial=0.0)  # the others are rounding errors
                projected = projected[:, kept] / deviations[kept]
        if self.unit_length:
            lengths = np.linalg.norm(projected, axis=1, keepdims=True)
            projected = projected / np.where(lengths > 0, lengths, 1.0)
        return projected


class PairView(LearnedView):
    """Pairs of samples in one descriptor; the features that methods and kernels take are learned in their fit.

    ``first`` and ``second`` are positions of the samples of each pair, (m,), in the ``table`` of features, (n, d).
    """

    def __init__(self, first: ArrayLike, second: ArrayLike, table: ArrayLike, features: PairFeatures) -> None:
        self.first, self.second = np.asarray(first, dtype=np.intp), np.asarray(second, dtype=np.intp)
        self.features, self.shape = features, self.first.shape
        self.projected = lru_cache(_KEPT)(partial(features.project, np.asarray(table, dtype=np.float32)))

    def __getitem__(self, rows: Any) -> Self:
        chosen = copy.copy(self)
        chosen.first, chosen.second = self.first[rows], self.second[rows]
        chosen.shape = chosen.first.shape
        return chosen

    def transformer(self) -> PairFeatures:
        """Return the transformer that learns the components from the samples of the training pairs."""
        return copy.copy(self.features)


@dataclass(frozen=True)
class Pairs:
    """Pairs of samples of a data set, used as the samples of a protocol."""

    first: list[int]  # positions of the first samples; `second` likewise
    second: list[int]
    fold: list[int]  # from 0; -1 for pairs that only serve to choose parameters
    comparison: dict[str, Any]  # parameters of `PairFeatures`
    classes: ClassVar[tuple[str, ...]] = ("different", "same")

    def names(self, ids: NDArray[np.str_]) -> NDArray[np.str_]:
        """Return the id of each pair, ``first | second``, from the ids of the samples."""
        return np.array([f"{one} | {other}" for one, other in zip(ids[self.first], ids[self.second], strict=True)])

    def groups(self) -> NDArray[np.str_]:
        """Return the fold of each pair: the inner cross-validation holds out whole folds."""
        return np.array(self.fold).astype(str)

    def target(self, y: NDArray[Any]) -> NDArray[np.int64]:
        """Return the class code of each pair: 1 for samples of the same class."""
        return (y[self.first] == y[self.second]).astype(np.int64)

    def views(self, views: Views) -> Views:
        """Return the views of the pairs, from tables of all samples."""
        features = PairFeatures(**self.comparison)
        return Views({name: PairView(self.first, self.second, views[name], features) for name in views.names})


@constrained()
def verification(
    target: np.ndarray, components: PositiveInt | None = 200, square_root: bool = False, whiten: bool = True,
    unit_length: bool = True, terms: Annotated[Sequence[PairTerm], ListOf(one_of(PairTerm))] = TERMS, *,
    ids: np.ndarray, files: Sequence[str | os.PathLike[str]], seed: int = 0, name: str = "",
    classes: np.ndarray | None = None,
) -> Splits:  # fmt: skip
    """Read the pairs of a verification protocol; each fold is the test part of one split, without randomness.

    Raise `DataError` for an invalid list, or one that names samples that the data set lacks or contradicts the labels.

    Parameters
    ----------
    target, ids : arrays of shape (n,), int and str
        Class codes and ids of the data set.
    components, square_root, whiten, unit_length, terms
        How samples are compared: see `PairFeatures`.
    files : sequence of path
        The list whose folds give the result: a Parquet, CSV or TSV file with the columns ``fold`` (from 0), ``first``
        and ``second`` (ids), or a list in the format of LFW (.txt). With two more lists, parameters are chosen by
        training on the first of them and validating on the second, as in View 1 of LFW.
    seed, name, classes
        Ignored; every protocol takes them.
    """
    lists = [_pairs_of(Path(path), ids, target) for path in files]
    fold, n_folds = lists[0]["fold"].to_numpy(), lists[0]["fold"].nunique()
    if n_folds < 2 or set(fold) != set(range(n_folds)):
        raise DataError(f"{files[0]}: folds {some(np.unique(fold))}; at least two are needed, from 0 without a gap")
    splits = [Split(0, number, np.flatnonzero(fold != number), np.flatnonzero(fold == number))
              for number in range(n_folds)]  # fmt: skip
    every = pd.concat([lists[0], *(each.assign(fold=-1) for each in lists[1:])])
    comparison = {"components": components, "square_root": square_root, "whiten": whiten, "unit_length": unit_length}
    first, second, fold_of = (every[column].tolist() for column in ("first", "second", "fold"))
    pairs = Pairs(first, second, fold_of, comparison | {"terms": list(terms)})
    _, *choosing = np.split(np.arange(len(every)), np.cumsum([len(each) for each in lists[:-1]]))
    return Splits(tuple(splits), len(every), (choosing[0], choosing[1]) if choosing else None, pairs)


def _pairs_of(path: Path, ids: np.ndarray, y: np.ndarray) -> pd.DataFrame:
    """Read a list: positions of both samples and the fold of each pair."""
    if path.suffix == ".txt":
        ids = np.array([_SUFFIX.sub(r"\1", name) for name in ids.tolist()])
        check_unique(ids, f"{path}: names of images without suffix")
        frame = _lfw_list(path)
    else:
        frame = read_frame(path, ("first", "second"))
        require_columns(frame.columns, ("fold", "first", "second"), path)
        frame = frame.assign(fold=whole_numbers(frame["fold"], path, "fold"))
    first, second = (sample_positions(column_text(frame[name], path, name), ids, path) for name in ("first", "second"))
    if "contrasts" in frame and len(wrong := np.flatnonzero((y[first] != y[second]) != frame["contrasts"])):
        raise DataError(f"{path}: pairs that contradict the labels, in lines {some(wrong + 2)}")
    if len(alone := first[first == second]):
        raise DataError(f"{path}: samples paired with themselves: {some(ids[alone])}")
    either_way = pd.Series(list(zip(np.minimum(first, second), np.maximum(first, second), strict=True)), dtype=object)
    if either_way.duplicated().any():
        other = int(either_way.duplicated().argmax())
        one = int((either_way == either_way[other]).argmax())
        raise DataError(f"{path}: the same two samples are listed twice, as pair {one + 1} and as pair {other + 1}")
    return pd.DataFrame({"first": first, "second": second, "fold": frame["fold"].to_numpy()})


def _lfw_list(path: Path) -> pd.DataFrame:
    """Read a list in the format of Labelled Faces in the Wild.

    The first line has the number of folds and n, or n alone. Each fold has n lines ``NAME I J`` and then n lines
    ``NAME I OTHER J``, separated by tabs: image I of NAME has the id ``NAME/NAME_000I``, with any suffix.
    """

    def images(name: str, number: str, *others: str) -> tuple[str, str]:
        if len(others) not in (1, 2):
            raise ValueError(f"a line of {name!r} has {len(others) + 2} columns; expected 3 or 4")
        return _image(name, number), _image(*others) if len(others) == 2 else _image(name, others[0])

    existing_file(path)
    try:
        header, *lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        n_folds, n = (1, *map(int, header))[-2:]
        names = [images(*line) for line in lines]
    except (TypeError, ValueError) as error:  # invalid integers, characters or columns
        raise DataError(f"{path}: not a list of pairs as LFW has them ({error})") from error
    if len(names) != 2 * n * n_folds:
        raise DataError(f"{path}: {len(names)} pairs; the first line says {n_folds} x 2 x {n}")
    fold, contrasts = np.repeat(np.arange(n_folds), 2 * n), np.tile(np.repeat([False, True], n), n_folds)
    return pd.DataFrame(names, columns=["first", "second"]).assign(fold=fold, contrasts=contrasts)


def _image(name: str, number: str) -> str:
    return f"{name}/{name}_{int(number):04d}"

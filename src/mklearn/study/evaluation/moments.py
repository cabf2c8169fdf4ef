"""Methods with landmarks on samples in blocks: moments of each block, and fits to their sums.

Moments are summed by inner fold, so the total without one fold gives the moments of an inner training part. Candidates
are compared on a random subset of the training samples, whose landmark features are stored.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mklearn.atomic import read_npz
from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.base.landmark_input import landmark_features
from mklearn.base.moments import ARRAYS, Moments
from mklearn.errors import DataError, NotApplicable, SolverFailed
from mklearn.rows import load
from mklearn.saved_models import from_bytes
from mklearn.study.data.description import rows_of_part
from mklearn.study.data.splits import Split
from mklearn.study.evaluation.candidates import Candidate, MethodOnViews, candidates
from mklearn.study.evaluation.fit_records import FitAtSize
from mklearn.study.evaluation.fitted import Fitted, lookup_of
from mklearn.study.evaluation.split import (
    Choice,
    Parts,
    SplitResult,
    SplitSamples,
    check_classes,
    choose_once,
    evaluate_split,
    folds_of_training,
)
from mklearn.study.log import logged_warnings, logger, progress
from mklearn.study.specs.fit_spec import SAMPLE, MomentsSpec, specs_by_name

Indices = NDArray[np.intp]
Block = tuple[Indices, Mapping[str, NDArray[Any]]]
"""Positions of consecutive samples of the data set, and their views."""
CHOICE_SAMPLE = 10_000
"""Maximum number of training samples on which candidates are compared."""


def read_block(files: Sequence[Path], descriptors: Sequence[str], ids: NDArray[np.str_], part: str) -> Block:
    """Read one block, such as ``"2of8"``, from the same part of each descriptor.

    `DataError` is raised if a file has other samples than this part of the data set, or features that are not finite.
    """
    place, views = rows_of_part(len(ids), part), {}
    for name, path in zip(descriptors, files, strict=True):
        stored = read_npz(path, ("features", "ids"))
        if not np.array_equal(stored["ids"].astype(ids.dtype), ids[place]):
            raise DataError(f"{path}: not the samples of part {part} of the data set; delete the file and run again.")
        finite = np.isfinite(stored["features"]).all(axis=1)
        if not finite.all():
            raise DataError(f"{path}: the features of sample {str(stored['ids'][finite.argmin()])!r} are not finite.")
        views[name] = stored["features"]
    return np.arange(place.start, place.stop), views


def read_blocks(files: Sequence[Path], descriptors: Sequence[str], ids: NDArray[np.str_]) -> Iterator[Block]:
    """Yield all blocks in order; ``files`` lists the parts of the first descriptor, then of the second, and so on."""
    n_blocks = len(files) // len(descriptors)
    for number in range(n_blocks):
        yield read_block(files[number::n_blocks], descriptors, ids, f"{number + 1}of{n_blocks}")


def choose_landmarks(
    splits: Sequence[Split], y: NDArray[Any], blocks: Iterator[Block], spec: MomentsSpec
) -> list[LandmarkFeatures | str]:
    """Choose the landmarks of each split and fit the kernels' parameters; a split without landmarks has the reason."""
    drawn = [_landmark_candidates(split.train, y, spec) for split in splits]
    rows = np.unique(np.concatenate(drawn))
    tables: dict[str, list[NDArray[Any]]] = {}
    for positions, views in blocks:
        for name, table in views.items():
            tables.setdefault(name, []).append(table[np.isin(positions, rows, assume_unique=True)])
    joined = {name: np.concatenate(parts) for name, parts in tables.items()}
    landmarks: list[LandmarkFeatures | str] = []
    for split, samples in zip(progress(splits, len(splits), "landmarks: split"), drawn, strict=True):
        training = {name: table[np.searchsorted(rows, samples)] for name, table in joined.items()}
        try:
            with logged_warnings(split.name):
                features = landmark_features(specs_by_name(spec.kernels), spec.landmarks)
                landmarks.append(features.fit(training, y[samples]))
        except NotApplicable as reason:
            logger.warning("%s: no landmarks: %s", split.name, reason)
            landmarks.append(str(reason))
        except DataError as error:
            raise DataError(f"{split.name}: {error}") from error
    return landmarks


def read_landmarks(path: Path) -> list[LandmarkFeatures | str]:
    """Read the landmarks of each split, or the reason why it has none, from the moments of the first block."""
    return from_bytes(read_npz(path, ("landmarks",))["landmarks"].tobytes(), str(path))


def _landmark_candidates(train: Indices, y: NDArray[Any], spec: MomentsSpec) -> Indices:
    """Draw 20,000 training samples, or more if there are more landmarks, and add one of each class that is missing."""
    size = max(SAMPLE, spec.landmarks["n"])
    if len(train) <= size:
        return train
    drawn = np.random.default_rng(spec.seed).choice(train, size, replace=False)
    _, first = np.unique(y[train], return_index=True)
    return np.sort(np.concatenate([drawn, train[first[~np.isin(y[train[first]], y[drawn])]]]))


class Folds(NamedTuple):
    """The inner folds of a split's training samples, and the samples on which candidates are compared."""

    number: NDArray[np.int64]  # (n,) fold of every sample of the data set; -1 outside the training part
    n_folds: int  # 1 if inner cross-validation is impossible, see `reason`
    sample: Indices  # positions of the compared samples, ascending
    reason: str = ""

    @classmethod
    def of(cls, y: NDArray[Any], split: Split, n_folds: int, seed: int, groups: NDArray[np.str_] | None) -> Folds:
        """Draw the folds as `mklearn.study.evaluation.split.inner_parts` does, and the compared samples."""
        train, number = split.train, np.full(len(y), -1)
        number[train] = 0
        sample = train
        if len(train) > CHOICE_SAMPLE:
            sample = np.sort(np.random.default_rng(seed).choice(train, CHOICE_SAMPLE, replace=False))
        try:
            parts = folds_of_training(y, train, split.test, n_folds, seed, groups)
        except NotApplicable as reason:
            return cls(number, 1, sample, str(reason))
        for fold, (_, validation) in enumerate(parts):
            number[validation] = fold
        return cls(number, len(parts), sample)

    @property
    def parts(self) -> Parts:
        """Compared samples outside and inside each fold; empty without inner folds."""
        if self.reason:
            return []
        of_sample = self.number[self.sample]
        return [(self.sample[of_sample != fold], self.sample[of_sample == fold]) for fold in range(self.n_folds)]


def block_moments(features: LandmarkFeatures, block: Block, y: NDArray[Any], folds: Folds) -> dict[str, NDArray[Any]]:
    """Compute the moments of a block's training samples by inner fold, and the features of the compared samples."""
    started = time.process_time()
    rows, views = block
    moments = [Moments() for _ in range(folds.n_folds)]
    used = np.flatnonzero(folds.number[rows] >= 0)
    training = {name: table[used] for name, table in views.items()} if len(used) < len(rows) else views
    nothing = [(slice(0), np.empty((0, features.blocks_[-1].stop), dtype=features.dtype))]
    kept = []
    for part, made in features.transform_blocks(training) if len(used) else nothing:
        positions = rows[used[part]]
        for fold, each in enumerate(moments):
            members = folds.number[positions] == fold
            each.partial_fit(made[members], y[positions[members]])
        kept.append(made[np.isin(positions, folds.sample, assume_unique=True)])
    return {
        **{f"fold{k}/{name}": array for k, fold in enumerate(moments) for name, array in fold.as_arrays().items()},
        "sample": np.concatenate(kept),
        "seconds": np.array(time.process_time() - started),
    }


def read_moments(blocks: Sequence[Path], number: int, n_folds: int) -> tuple[list[Moments], NDArray[Any], float]:
    """Sum the moments of split ``number`` over the blocks, by fold.

    Also return the features of the compared samples, (s, D), and the processor time of the passes in seconds.
    """
    totals, samples, seconds = list[Moments](), [], 0.0
    for path in blocks:
        names = {(k, name): f"{number}/fold{k}/{name}" for k in range(n_folds) for name in ARRAYS}
        rest = [f"{number}/sample", f"{number}/seconds"]
        stored = read_npz(path, (*names.values(), *rest))
        folds = [Moments.from_arrays({name: stored[names[k, name]] for name in ARRAYS}) for k in range(n_folds)]
        totals = [total.merge(fold) for total, fold in zip(totals, folds, strict=True)] if totals else folds
        samples.append(stored[rest[0]])
        seconds += float(stored[rest[1]])
    return totals, np.concatenate(samples), seconds


@dataclass(frozen=True)
class FitToMoments(FitAtSize):
    """A method with landmarks at one training size; moments and features of only one split are in memory."""

    every_split: Sequence[Split] = ()
    landmarks: Sequence[LandmarkFeatures | str] = ()
    """Fitted landmarks of each split in ``every_split``, or the reason why it has none."""
    ids: NDArray[np.str_] = field(default_factory=lambda: np.array([], dtype=str))
    moments: Sequence[Path] = ()
    blocks: Sequence[Path] = ()
    """Files with the features of each block of samples, descriptor by descriptor."""

    def _result(self, split: Split, choice: Choice | None) -> SplitResult:
        problem, evaluation, number = self.problem, self.spec.evaluation, self.every_split.index(split)
        features, n_folds = self.landmarks[number], evaluation.inner_folds
        if isinstance(features, str):
            raise NotApplicable(features)
        if split.clusters or split.unlabelled is not None:
            raise NotApplicable("moments need labels of all samples: set blocks: 1")
        check_classes(problem.y[split.train])
        assert isinstance(n_folds, int)
        folds = Folds.of(problem.y, split, n_folds, self.spec.seed, problem.groups)
        moments, sample, seconds = read_moments(self.moments, number, folds.n_folds)
        if sum(fold.n_samples_ for fold in moments) != len(split.train):
            raise DataError(f"{self.moments[0].parent}: not the moments of {split.name}; delete the folder, run again.")
        read = partial(read_blocks, self.blocks, self.spec.descriptors, self.ids)
        sums = SplitSums(features, folds, moments, sample, seconds, read)
        problem = replace(problem, samples_of=partial(SummedSamples, sums))
        if folds.reason and len(candidates(problem.method, len(problem.kernels))) > 1:
            raise NotApplicable(folds.reason)
        choice = choose_once(problem, folds.parts, evaluation=evaluation)
        sums.moments, sums.sample = [], sums.sample[:0]
        return evaluate_split(
            problem, split.train, split.test, evaluation=evaluation, seed=self.spec.seed, choice=choice
        )


@dataclass
class SplitSums:
    """Moments of the training samples of a split, and the blocks of all samples for prediction."""

    features: LandmarkFeatures
    folds: Folds
    moments: list[Moments]  # of each fold
    sample: NDArray[Any]  # features of the compared samples
    seconds: float  # processor time of the pass over the samples, shared by methods on the same landmarks
    blocks: Callable[[], Iterable[Block]]  # reads one block at a time

    def __post_init__(self) -> None:
        self.total = functools.reduce(Moments.merge, self.moments)


class SummedSamples(SplitSamples):
    """Training and test samples of a split, or compared samples of an inner fold, whose fits use summed moments."""

    def __init__(self, sums: SplitSums, problem: MethodOnViews, train: Indices, test: Indices) -> None:
        self.sums, self.problem, self.y_train, self.rows = sums, problem, problem.y[train], (train, test)

    def fit(self, candidate: Candidate) -> Fitted:
        """Fit a candidate to the moments of all folds except the fold of the test samples, if they are in one."""
        sums, problem = self.sums, self.problem
        fold = int(sums.folds.number[self.rows[1][0]])  # -1: the split's own test samples
        moments = sums.total if fold < 0 else sums.total.without(sums.moments[fold])
        parameters = dict(candidate.parameters)
        if candidate.kernel is not None:  # a single kernel: all other weights are 0
            parameters["kernel_weights"] = np.eye(len(problem.kernels))[candidate.kernel].tolist()
        started = time.process_time()
        try:
            estimator = load(problem.method.implementation)(**parameters).fit_moments(sums.features, moments)
        except np.linalg.LinAlgError as reason:
            raise SolverFailed(f"linear algebra failed: {reason}") from reason
        seconds = sums.seconds + time.process_time() - started
        if fold < 0:
            outputs = self._outputs(estimator, np.concatenate(self.rows))
            train, test = (outputs[rows].astype(np.float64) for rows in self.rows)
        else:
            of_sample = np.asarray(estimator.outputs_of_features(sums.sample))
            train, test = (of_sample[np.searchsorted(sums.folds.sample, rows)] for rows in self.rows)
        fitted = Fitted(self.y_train, [estimator], [], [], seconds, weights=estimator.kernel_weights_)
        if hasattr(estimator, "transform"):
            fitted.components, fitted.embeddings = [train.shape[1]], [(train, test)]
            fitted.lookups = [lookup_of(estimator, self.y_train)]
        else:
            fitted.labels = [estimator.labels_of(estimator.decision_of(test))]
            fitted.lookups = [lookup_of(estimator, self.y_train, scores=test)]
        return fitted

    def _outputs(self, estimator: Any, used: Indices) -> NDArray[np.floating[Any]]:
        """Compute the embedding or class scores, (n, p), in single precision; rows not in ``used`` are undefined."""
        n = len(self.problem.y)
        outputs = np.empty((n, estimator.coefficients_.shape[1]), dtype=np.float32)
        in_split = np.zeros(n, dtype=bool)
        in_split[used] = True
        for rows, views in self.sums.blocks():
            inside = np.flatnonzero(in_split[rows])
            samples = {name: table[inside] for name, table in views.items()} if len(inside) < len(rows) else views
            for part, features in estimator.landmark_features_.transform_blocks(samples) if len(inside) else ():
                outputs[rows[inside[part]]] = estimator.outputs_of_features(features)
            del views, samples  # before the next block is read
        return outputs

"""Methods on landmarks, on one split: fitted to moments, chosen by the moments of folds, evaluated by embeddings.

What `mklearn.study.evaluation.split` does with kernels of the training samples, without ever holding all samples: the
moments of all folds but one are those of the training part of an inner fold. Candidates are compared on a random sample
of the training samples, whose landmark features are kept.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.base.moments import ARRAYS, Moments
from mklearn.classifiers.class_scores import ClassScores
from mklearn.errors import NotApplicable, SolverFailed
from mklearn.loading import load
from mklearn.study.data.samples import target_of
from mklearn.study.data.splits import Split
from mklearn.study.evaluation.candidates import Candidate, candidates
from mklearn.study.evaluation.fitted import Fitted, lookup_of
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.selection import Scores, mean_curves, select
from mklearn.study.evaluation.split import RuleResult, SplitResult, folds_of_training
from mklearn.study.specs.fit_spec import NUMBER_OF_LANDMARKS, EvaluationSpec, MethodSpec

Indices = NDArray[np.intp]
Block = tuple[Indices, Mapping[str, NDArray[Any]]]
"""Positions of some samples, and their views."""
CHOICE_SAMPLE = 10_000
"""Training samples at most by which candidates are compared."""


@dataclass(frozen=True)
class Folds:
    """The inner folds of a split's training samples, and the samples by which candidates are compared.

    Attributes
    ----------
    number : (n,) int array
        Fold of every sample of the data set; -1 outside the training part.
    n_folds : int
        1 if there can be no inner cross-validation; ``reason`` then says why.
    chosen_by : int array
        Positions of the compared samples, ascending.
    """

    number: NDArray[np.int64]
    n_folds: int
    chosen_by: Indices
    reason: str = ""

    @classmethod
    def of(cls, y: NDArray[Any], split: Split, n_folds: int, seed: int, groups: NDArray[np.str_] | None) -> Folds:
        """Draw the folds as `mklearn.study.evaluation.split.evaluate_split` does, and the sample at random."""
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


@dataclass(frozen=True)
class SplitMoments:
    """What is known of the training samples of one split, or of a block of them.

    Attributes
    ----------
    folds : sequence of Moments
        Of the landmark features, by inner fold; with class codes as labels, or numbers as targets.
    sample_features : (s, D) array
        Landmark features of the samples by which candidates are compared.
    sample_y, sample_folds : (s,) arrays
        Their class codes or numbers, and their folds.
    seconds : float
        Processor time that it took.
    reason : str
        Why there is only one fold, if so.
    """

    folds: Sequence[Moments]
    sample_features: NDArray[np.floating[Any]]
    sample_y: NDArray[Any]
    sample_folds: NDArray[np.int64]
    seconds: float = 0.0
    reason: str = ""

    @classmethod
    def of_rows(
        cls, features: LandmarkFeatures, views: Mapping[str, NDArray[Any]], rows: Indices, y: NDArray[Any],
        folds: Folds,
    ) -> SplitMoments:  # fmt: skip
        """Gather the moments of some samples, given their views, positions and the target of all samples."""
        started = time.process_time()
        moments = [Moments() for _ in range(folds.n_folds)]
        used = np.flatnonzero(folds.number[rows] >= 0)
        sampled = np.isin(rows[used], folds.chosen_by, assume_unique=True)
        kept = [np.empty((0, features.blocks_[-1].stop), dtype=features.dtype)]
        own = {name: table[used] for name, table in views.items()} if len(used) < len(rows) else views
        for block, made in features.transform_blocks(own) if len(used) else ():
            positions = rows[used[block]]
            for fold, each in enumerate(moments):
                members = folds.number[positions] == fold
                _add(each, made[members], y[positions[members]])
            kept.append(made[sampled[block]])
        if not len(used):
            for each in moments:
                _add(each, kept[0], y[:0])
        chosen = rows[used[sampled]]
        return cls(
            moments, np.concatenate(kept), y[chosen], folds.number[chosen], time.process_time() - started, folds.reason
        )

    @cached_property
    def total(self) -> Moments:
        """Of all training samples."""
        found = self.folds[0]
        for each in self.folds[1:]:
            found = found.merge(each)
        return found

    def added(self, other: SplitMoments) -> SplitMoments:
        """Return what is known of the samples of both."""
        return SplitMoments(
            [mine.merge(theirs) for mine, theirs in zip(self.folds, other.folds, strict=True)],
            np.concatenate([self.sample_features, other.sample_features]),
            np.concatenate([self.sample_y, other.sample_y]),
            np.concatenate([self.sample_folds, other.sample_folds]),
            self.seconds + other.seconds,
            self.reason,
        )

    @staticmethod
    def array_names(n_folds: int) -> list[str]:
        """Return the names of the arrays of so many folds."""
        of_folds = [f"fold{k}/{name}" for k in range(n_folds) for name in ARRAYS]
        return [*of_folds, "sample_features", "sample_y", "sample_folds", "seconds", "reason"]

    def as_arrays(self) -> dict[str, NDArray[Any]]:
        """Return arrays from which `from_arrays` makes the same again."""
        found = {
            f"fold{k}/{name}": each for k, fold in enumerate(self.folds) for name, each in fold.as_arrays().items()
        }
        return found | {
            "sample_features": self.sample_features,
            "sample_y": self.sample_y,
            "sample_folds": self.sample_folds,
            "seconds": np.array(self.seconds),
            "reason": np.array(self.reason),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], n_folds: int) -> SplitMoments:
        """Return what `as_arrays` has written; of so many folds the arrays are called `array_names`."""
        folds = [Moments.from_arrays({name: arrays[f"fold{k}/{name}"] for name in ARRAYS}) for k in range(n_folds)]
        return cls(
            folds, arrays["sample_features"], arrays["sample_y"], arrays["sample_folds"], float(arrays["seconds"]),
            str(arrays["reason"]),
        )  # fmt: skip


def class_codes(y: NDArray[Any]) -> NDArray[np.int64] | None:
    """Return a target that is class codes as it is, and None for numbers, which landmarks are not drawn by."""
    return y if target_of(y) == "classes" else None


def _add(moments: Moments, features: NDArray[Any], y: NDArray[Any]) -> None:
    labels = class_codes(y)
    moments.partial_fit(features, labels, targets=y if labels is None else None)


@dataclass(frozen=True)
class Solved:
    """A method fitted to the moments of one split."""

    estimators: list[Any]
    """The fitted estimators: one for each candidate that a rule has chosen."""
    chosen: list[Candidate]
    """What each was fitted with."""
    by_rule: dict[str, int]
    """Position of the estimator by nearest-neighbour rule; "" for a classifier."""
    fit_seconds: list[float]
    """Processor time of each final fit, without the pass over the samples."""


def solve(features: LandmarkFeatures, moments: SplitMoments, method: MethodSpec, evaluation: EvaluationSpec) -> Solved:
    """Choose the parameters of a method by the moments of folds, and fit it to those of all training samples.

    Raises
    ------
    NotApplicable, SolverFailed
        The method can't run on this split, or there are no inner folds to choose by.
    """
    grid, fits = candidates(method, len(features.blocks_)), Fits(method, features)
    numbers = choose(fits, moments, grid, evaluation)
    distinct = list(dict.fromkeys(numbers.values()))
    estimators, seconds = [], []
    for number in distinct:
        started = time.process_time()
        estimators.append(fits.fitted(grid[number], moments.total))
        seconds.append(time.process_time() - started)
    by_rule = {rule: distinct.index(number) for rule, number in numbers.items()}
    return Solved(estimators, [grid[number] for number in distinct], by_rule, seconds)


def evaluate(
    solved: Solved, blocks: Iterable[Block], split: Split, y: NDArray[Any], method: MethodSpec,
    pass_seconds: float = 0.0,
) -> SplitResult:  # fmt: skip
    """Predict the test samples of a split by a fitted method.

    Parameters
    ----------
    solved : Solved
    blocks : iterable of (int array, dict of str to array)
        Positions of some samples and their views, which together are all samples; only one block is held at a time.
    split : Split
    y : (n,) class codes or numbers of all samples
    method : as for `solve`
    pass_seconds : float
        Processor time of the landmarks and of the pass over the samples; methods on the same landmarks share it.
    """
    started = time.process_time()
    outputs = _outputs(solved.estimators, blocks, np.concatenate([split.train, split.test]), y)
    seconds = time.process_time() - started
    result, fitted = SplitResult({}), list[Fitted]()
    for estimator, made, fit_seconds in zip(solved.estimators, outputs, solved.fit_seconds, strict=True):
        known, asked = (made[rows].astype(np.float64) for rows in (split.train, split.test))
        total = pass_seconds + fit_seconds
        fitted.append(fitted_of(estimator, known, asked, y[split.train], method, total, seconds))
        fitted[-1].weights = estimator.kernel_weights_
    for rule, position in solved.by_rule.items():
        predictions = fitted[position].predictions(rule, y[split.test], -1)
        result.rules[rule] = RuleResult(solved.chosen[position], fitted[position], predictions)
    return result


def _outputs(
    estimators: Sequence[Any], blocks: Iterable[Block], used: Indices, y: NDArray[Any]
) -> list[NDArray[np.floating[Any]]]:  # fmt: skip
    """Compute what evaluation needs of samples: their embedding (n, p), the scores of a classifier (n, c), or numbers.

    Numbers (n, 1) are in double precision, as they may be large beside their differences.
    Rows of samples that are not used are undefined. All estimators are of one split: the features of those with as many
    landmarks are computed once.
    """
    dtype = np.float64 if class_codes(y) is None else np.float32
    found = [np.empty((len(y), each.coefficients_.shape[1]), dtype=dtype) for each in estimators]
    of_number: dict[int, list[int]] = {}
    for position, each in enumerate(estimators):
        of_number.setdefault(each.landmark_features_.n_landmarks_, []).append(position)
    in_split = np.zeros(len(y), dtype=bool)
    in_split[used] = True
    for rows, views in blocks:
        own = np.flatnonzero(in_split[rows])
        samples = {name: table[own] for name, table in views.items()} if len(own) < len(rows) else views
        for positions in of_number.values() if len(own) else ():
            for block, features in estimators[positions[0]].landmark_features_.transform_blocks(samples):
                for position in positions:
                    found[position][rows[own[block]]] = estimators[position].outputs_of_features(features)
        del views, samples  # before the next block is read
    return found


def fitted_of(
    estimator: Any, known: NDArray[Any], asked: NDArray[Any], y: NDArray[Any], method: MethodSpec,
    fit_seconds: float = 0.0, predict_seconds: float = 0.0,
) -> Fitted:  # fmt: skip
    """Return a fitted method, given its outputs for training samples with labels ``y`` and for test samples."""
    seconds = fit_seconds, predict_seconds
    if method.embeds:
        return Fitted(
            y, [estimator], [known.shape[1]], [lookup_of(estimator, len(y))], *seconds, embeddings=[(known, asked)]
        )
    if is_regressor(estimator):
        return Fitted(y, [estimator], [], [lookup_of(estimator, len(y), asked)], *seconds, labels=[asked[:, 0]])
    scored = _Scored(np.asarray(estimator.classes_))
    return Fitted(y, [scored], [], [lookup_of(scored, len(y), asked)], *seconds, labels=[scored.predict(asked)])


class _Scored(ClassScores):
    """A classifier whose samples are given by their scores of the classes."""

    def __init__(self, classes: NDArray[Any]) -> None:
        self.classes_ = classes

    def class_scores(self, X: Any) -> NDArray[Any]:
        return np.asarray(X)


@dataclass
class Fits:
    """Fits of candidates to moments, whose features may be those of fewer landmarks."""

    method: MethodSpec
    features: LandmarkFeatures
    _leading: dict[int, tuple[LandmarkFeatures, NDArray[np.float64]]] = field(default_factory=dict)

    def fitted(self, candidate: Candidate, moments: Moments) -> Any:
        """Fit a candidate, given the moments of the features of all landmarks."""
        parameters = dict(candidate.parameters)
        features, change = self._of(parameters.pop(NUMBER_OF_LANDMARKS, None))
        if candidate.kernel is not None:  # a kernel alone is the combination in which the others have no weight
            parameters["kernel_weights"] = np.eye(len(features.blocks_))[candidate.kernel].tolist()
        own = moments if change is None else moments.mapped(change)
        try:
            return load(self.method.implementation)(**parameters).fit_moments(features, own)
        except np.linalg.LinAlgError as reason:
            raise SolverFailed(f"linear algebra failed: {reason}") from reason

    def outputs(self, candidate: Candidate, model: Any, made: NDArray[Any]) -> NDArray[Any]:
        """Compute the outputs of samples, given the features of all landmarks."""
        _, change = self._of(candidate.parameters.get(NUMBER_OF_LANDMARKS))
        outputs = model.outputs_of_features(made if change is None else made @ change.astype(made.dtype))
        return np.asarray(outputs)

    def _of(self, number: int | None) -> tuple[LandmarkFeatures, NDArray[np.float64] | None]:
        if number is None or number == self.features.n_landmarks_:
            return self.features, None
        if number not in self._leading:
            self._leading[number] = self.features.leading(number)
        return self._leading[number]


def choose(fits: Fits, moments: SplitMoments, grid: Sequence[Candidate], evaluation: EvaluationSpec) -> dict[str, int]:
    """Choose by each nearest-neighbour rule the position of a candidate, "" for a classifier.

    Its scores are those of the sample in each fold, fitted to the other folds. Errors are as of `solve`.
    """
    metric, rules = metric_named(evaluation.choose_by), fits.method.rules(evaluation.neighbours)
    if len(grid) == 1:
        return dict.fromkeys(rules, 0)
    if len(moments.folds) < 2:
        raise NotApplicable(moments.reason or "there are no inner folds")
    y, scores = moments.sample_y, {rule: list[Scores]() for rule in rules}
    others = [moments.total.without(fold) for fold in moments.folds]
    for candidate in grid:
        by_rule: dict[str, Scores] = {rule: [] for rule in rules}
        try:
            for number, training in enumerate(others):
                model = fits.fitted(candidate, training)
                made = fits.outputs(candidate, model, moments.sample_features)
                validation = moments.sample_folds == number
                fitted = fitted_of(model, made[~validation], made[validation], y[~validation], fits.method)
                for rule in rules:
                    of_fold = fitted.predictions(rule, y[validation]).scores(metric)
                    by_rule[rule] = [*by_rule[rule], of_fold]
        except (NotApplicable, SolverFailed) as reason:
            by_rule = dict.fromkeys(rules, str(reason))
        for rule in rules:
            scores[rule].append(by_rule[rule])
    return {rule: select(mean_curves(scores[rule]), "all", len(y))[0] for rule in rules}

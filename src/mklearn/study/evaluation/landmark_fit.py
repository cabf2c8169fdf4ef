"""Fits on landmarks: learned from the moments of all blocks of samples, evaluated by embedding block after block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.errors import DataError, NotApplicable
from mklearn.study.data.splits import Split
from mklearn.study.evaluation import landmarks as on_landmarks
from mklearn.study.evaluation.fit_records import FitAtSize, SplitRecord, guarded
from mklearn.study.evaluation.fitted import Fitted
from mklearn.study.evaluation.landmark_files import (
    check_blocks,
    read_blocks,
    read_landmarks,
    read_moments,
    seconds_of_landmarks,
)
from mklearn.study.evaluation.split import Choice, SplitResult, check_classes
from mklearn.study.log import progress

SHOWN = 3000
"""Samples in the figure of an embedding, at most."""


def landmark_fit(
    landmarks: Path | None, moments: Sequence[Path] | None, blocks: Sequence[Path] | None, splits: Sequence[Split],
    ids: NDArray[np.str_],
) -> Callable[..., LandmarkFit]:  # fmt: skip
    """Return what evaluates a method with landmarks at one training size, given files, all splits and all samples.

    Raises
    ------
    DataError
        Files are not given, or the blocks of moments are wrong, see `check_blocks`.
    """
    if landmarks is None or not moments or not blocks:
        raise DataError("step fit: a method with landmarks needs landmarks, moments and blocks of features.")
    check_blocks(moments, landmarks, len(ids))
    features, seconds = read_landmarks(landmarks), seconds_of_landmarks(landmarks)
    return partial(
        LandmarkFit, every_split=splits, features=features, seconds=seconds, ids=ids, moments=moments, blocks=blocks
    )


@dataclass(frozen=True)
class LandmarkFit(FitAtSize):
    """A method with landmarks at one training size; neither the moments nor the features of two splits are held."""

    every_split: Sequence[Split] = ()
    """Of the protocol, with the landmarks of each, or why it has none, and the time that their choice took."""
    features: Sequence[LandmarkFeatures | NotApplicable] = ()
    seconds: Sequence[float] = ()
    ids: NDArray[np.str_] = field(default_factory=lambda: np.array([], dtype=str))
    moments: Sequence[Path] = ()
    blocks: Sequence[Path] = ()
    """Features of each block of samples, descriptor by descriptor."""

    def _results(self) -> Iterator[tuple[Split, SplitRecord | Exception]]:
        for split in progress(self.splits, len(self.splits), f"{self.spec.method.id}: split"):
            number = self.every_split.index(split)
            features = self.features[number]
            if isinstance(features, NotApplicable):
                yield split, features
            else:
                yield split, guarded(split.name, partial(self._evaluated, split, None))

    def _result(self, split: Split, choice: Choice | None) -> SplitResult:
        number = self.every_split.index(split)
        features = self.features[number]
        assert not isinstance(features, NotApplicable)
        check_classes(self.problem.y[split.train])
        method, evaluation = self.spec.method, self.spec.evaluation
        moments = read_moments(self.moments, number)
        seconds = self.seconds[number] + moments.seconds
        solved = on_landmarks.solve(features, moments, method, evaluation)
        del moments  # before features are read
        blocks = read_blocks(self.blocks, self.spec.descriptors, self.ids)
        return on_landmarks.evaluate(solved, blocks, split, self.problem.y, method, seconds)

    def _embedding(self, fitted: Fitted, split: Split) -> dict[str, NDArray[Any]]:
        """Return two dimensions of at most 3,000 samples, evenly spaced."""
        found = super()._embedding(fitted, split)
        step = -(-len(found.get("embedding_y", ())) // SHOWN)
        return {name: array[:: max(1, step)] for name, array in found.items()}

"""Step: the moments of the landmark features of one block of samples, for each split and inner fold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mklearn.artefacts import read_table, write_arrays
from mklearn.contract.landmark_specs import LandmarkSetSpec
from mklearn.datasets.splits import Splits
from mklearn.errors import DataError, NotApplicable
from mklearn.evaluation.landmarks import Folds, SplitMoments
from mklearn.provenance import input_digests, stamp
from mklearn.steps.blocks import read_block
from mklearn.steps.landmarks import digest_of_landmarks, read_landmarks
from mklearn.steps.log import logger, progress


def moments_block(
    landmarks: Path, labels: Path, splits: Path, features: list[Path], moments: Path, *, spec: LandmarkSetSpec,
    code: list[Path] | None = None,
) -> None:  # fmt: skip
    """Write the moments of block ``spec.part`` of the samples; features are one file for each descriptor of ``spec``.

    Samples outside the training part of a split count in none of its moments; a split without landmarks has none.

    Raises
    ------
    DataError
        Features of other samples, or of another data set than the landmarks.
    """
    part = spec.part or "1of1"
    table, _ = read_table(labels)
    y, ids = table["y"].to_numpy(), table["id"].to_numpy(dtype=str)
    groups = table["group"].to_numpy(dtype=str) if "group" in table else None
    drawn = Splits.load(splits, ids).splits
    maps = read_landmarks(landmarks)
    if len(maps) != len(drawn):
        raise DataError(f"{landmarks}: has the landmarks of {len(maps)} splits; {splits} has {len(drawn)}.")
    block = read_block(features, spec.descriptors, ids, part)
    arrays: dict[str, Any] = {
        "start": block.rows[0],
        "stop": block.rows[-1] + 1,
        "landmarks": digest_of_landmarks(landmarks),
    }
    for number, (split, own) in enumerate(zip(progress(drawn, len(drawn), "moments: split"), maps, strict=True)):
        found = SplitMoments.none()
        if not isinstance(own, NotApplicable):
            folds = Folds.of(y, split, spec.inner_folds, spec.seed, groups)
            found = SplitMoments.of_rows(own, block.views, block.rows, y, folds)
        arrays |= {f"{number}/{name}": array for name, array in found.as_arrays().items()}
    logger.info("part %s: samples %d to %d", part, block.rows[0], block.rows[-1])
    inputs = input_digests(landmarks=landmarks, labels=labels, splits=splits, features=features)
    write_arrays(moments, stamp(spec.as_dict(), inputs, code or []), **{k: np.asarray(v) for k, v in arrays.items()})

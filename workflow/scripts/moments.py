"""Compute the moments of the landmark features of one block of samples, for each split and inner fold."""

import time
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.saved_models import fitted_bytes
from mklearn.study.artefacts import write_arrays
from mklearn.study.data.samples import read_labels
from mklearn.study.data.splits import Splits
from mklearn.study.evaluation.moments import (
    Folds,
    block_moments,
    choose_landmarks,
    read_block,
    read_blocks,
    read_landmarks,
)
from mklearn.study.log import progress
from mklearn.study.script import Output, Record, run_script
from mklearn.study.specs.fit_spec import MomentsSpec


def moments(
    labels: Path, splits: Path, features: list[Path], landmarks: Path | None = None, *, moments: Output,
    spec: MomentsSpec, record: Record,
) -> None:  # fmt: skip
    """Write the moments of block ``spec.part`` of the samples, and for the first block the landmarks of each split.

    Moments of a split include its training samples only; a split without landmarks has no moments. ``features`` are the
    block of each descriptor of ``spec``; the job of the first block needs all blocks, descriptor by descriptor, because
    landmarks are chosen from all samples. ``landmarks`` are the moments of the first block, which hold the landmarks;
    None for the first block itself. Raise DataError if the features belong to other samples, or are invalid for a
    kernel.
    """
    y, ids, groups = read_labels(labels)
    drawn = Splits.load(splits, ids).splits
    arrays: dict[str, Any] = {}
    seconds = 0.0
    if landmarks is None:
        started = time.process_time()
        maps = choose_landmarks(drawn, y, read_blocks(features, spec.descriptors, ids), spec)
        seconds = (time.process_time() - started) / len(drawn)
        arrays["landmarks"] = np.frombuffer(fitted_bytes(maps, "landmarks"), dtype=np.uint8)
        features = features[:: len(features) // len(spec.descriptors)]
    else:
        maps = read_landmarks(landmarks)
    block = read_block(features, spec.descriptors, ids, spec.part)
    for number, (split, of_split) in enumerate(zip(progress(drawn, len(drawn), "split"), maps, strict=True)):
        if isinstance(of_split, str):
            continue
        folds = Folds.of(y, split, spec.inner_folds, spec.seed, groups)
        gathered = block_moments(of_split, block, y, folds)
        gathered["seconds"] += seconds
        arrays |= {f"{number}/{name}": array for name, array in gathered.items()}
    write_arrays(moments, record, **arrays)


if __name__ == "__main__":
    run_script(moments, globals().get("snakemake"))

"""Step: the moments of the landmark features of one block of samples, for each split and inner fold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mklearn.errors import DataError, NotApplicable
from mklearn.study.artefacts import read_arrays, read_table, write_arrays
from mklearn.study.data.splits import Splits
from mklearn.study.evaluation.landmarks import Folds, SplitMoments
from mklearn.study.provenance import input_digests, stamp
from mklearn.study.specs.landmark_specs import LandmarkSetSpec
from mklearn.study.steps.blocks import read_block
from mklearn.study.steps.describe import rows_of_part
from mklearn.study.steps.landmarks import digest_of_landmarks, read_landmarks
from mklearn.study.steps.log import logger, progress


def moments(
    landmarks: Path, labels: Path, splits: Path, features: list[Path], moments: Path, *, spec: LandmarkSetSpec,
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
    rows, views = read_block(features, spec.descriptors, ids, part)
    arrays: dict[str, Any] = {}
    n_folds = []
    for number, (split, own) in enumerate(zip(progress(drawn, len(drawn), "moments: split"), maps, strict=True)):
        if isinstance(own, NotApplicable):
            n_folds.append(0)
            continue
        folds = Folds.of(y, split, spec.inner_folds, spec.seed, groups)
        found = SplitMoments.of_rows(own, views, rows, y, folds)
        n_folds.append(folds.n_folds)
        arrays |= {f"{number}/{name}": array for name, array in found.as_arrays().items()}
    place = rows_of_part(len(ids), part)
    logger.info("part %s: %d samples", part, len(rows))
    digests = input_digests(landmarks=landmarks, labels=labels, splits=splits, features=features)
    record = stamp("moments", spec.as_dict(), digests)
    write_arrays(
        moments, record, start=place.start, stop=place.stop, landmarks=digest_of_landmarks(landmarks), n_folds=n_folds,
        **arrays,
    )  # fmt: skip


def read_moments(blocks: Sequence[Path], number: int) -> SplitMoments:
    """Add up the moments of one split that has landmarks, given its number, in the order of the samples."""
    found: SplitMoments | None = None
    for path in in_order(blocks):
        n_folds = int(read_arrays(path, ("n_folds",))["n_folds"][number])
        names = SplitMoments.array_names(n_folds)
        held = read_arrays(path, tuple(f"{number}/{name}" for name in names))
        own = SplitMoments.from_arrays({name: held[f"{number}/{name}"] for name in names}, n_folds)
        found = own if found is None else found.added(own)
    assert found is not None
    return found


def check_blocks(blocks: Sequence[Path], landmarks: Path, n_samples: int) -> None:
    """Check that blocks of moments are of these landmarks and cover all samples, each once.

    Raises
    ------
    DataError
        A sample is in no block or in two, or a block was made with other landmarks.
    """
    expected = digest_of_landmarks(landmarks)
    end = 0
    for path in in_order(blocks):
        held = read_arrays(path, ("start", "stop", "landmarks"))
        start, stop = int(held["start"]), int(held["stop"])
        if str(held["landmarks"]) != expected:
            raise DataError(f"{path}: was made with other landmarks; delete it and run again.")
        if start > end:
            raise DataError(
                f"{path.parent}: no block has samples {end} to {start - 1}; delete the folder and run again."
            )
        if start < end:
            raise DataError(
                f"{path}: samples {start} to {min(stop, end) - 1} are in another block too; delete the folder and run "
                "again."
            )
        end = stop
    if end != n_samples:
        raise DataError(
            f"{path.parent}: the blocks end with sample {end - 1}, but the data set has {n_samples}; delete the folder "
            "and run again."
        )


def in_order(blocks: Sequence[Path]) -> list[Path]:
    """Return blocks in the order of their samples: by their number, as in ``2of8.npz``."""
    return sorted(blocks, key=lambda path: int(path.stem.partition("of")[0]))

"""Files of landmarks, of moments and of blocks of features, which jobs with landmarks pass on.

A block is the features of consecutive samples by descriptor, as the parts of a descriptor hold them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.errors import DataError, NotApplicable
from mklearn.saved_models import fitted_bytes, from_bytes
from mklearn.study.artefacts import read_arrays, write_arrays
from mklearn.study.data.description import rows_of_part
from mklearn.study.data.splits import Split
from mklearn.study.evaluation.landmarks import Block, SplitMoments, class_codes
from mklearn.study.specs.fit_spec import SAMPLE, LandmarkSetSpec


def write_landmarks(
    path: Path, record: dict[str, Any], landmarks: list[LandmarkFeatures | str], seconds: list[float]
) -> None:
    """Write the landmarks of each split, or why it has none, and the processor time of their choice."""
    content = np.frombuffer(fitted_bytes(landmarks, str(path)), dtype=np.uint8)
    write_arrays(path, record, content=content, digest=np.array(joblib.hash(landmarks)), seconds=np.array(seconds))


def read_landmarks(path: Path) -> list[LandmarkFeatures | NotApplicable]:
    """Read the landmarks of each split, in the order of the splits; of a split that can't have any, the reason."""
    content = read_arrays(path, ("content",))["content"]
    held = from_bytes(content.tobytes(), str(path))
    return [NotApplicable(each) if isinstance(each, str) else each for each in held]


def digest_of_landmarks(path: Path) -> str:
    """Return the digest of the landmarks of all splits, without the time that their choice took."""
    return str(read_arrays(path, ("digest",))["digest"])


def seconds_of_landmarks(path: Path) -> list[float]:
    """Read the time that the choice of the landmarks of each split took."""
    return [float(each) for each in read_arrays(path, ("seconds",))["seconds"]]


def landmark_candidates(split: Split, y: NDArray[Any], spec: LandmarkSetSpec) -> NDArray[np.intp]:
    """Draw the training samples that landmarks are chosen from, ascending."""
    train, size = split.train, max(SAMPLE, spec.landmarks.most)
    if len(train) <= size:
        return train
    drawn = np.random.default_rng(spec.seed).choice(train, size, replace=False)
    if (labels := class_codes(y)) is not None:
        _, first = np.unique(labels[train], return_index=True)
        missing = ~np.isin(labels[train[first]], labels[drawn])
        drawn = np.concatenate([drawn, train[first[missing]]])
    return np.sort(drawn)


def views_of_rows(rows: NDArray[np.intp], blocks: Iterator[Block]) -> dict[str, NDArray[Any]]:
    """Return the features of some samples, in ascending order of their positions."""
    found: dict[str, list[NDArray[Any]]] = {}
    for positions, views in blocks:
        own = np.isin(positions, rows, assume_unique=True)
        for name, table in views.items():
            found.setdefault(name, []).append(table[own])
    return {name: np.concatenate(tables) for name, tables in found.items()}


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


def read_block(files: Sequence[Path], descriptors: Sequence[str], ids: NDArray[np.str_], part: str) -> Block:
    """Read one block, the same part of each descriptor: the positions of its samples, and views by descriptor.

    Parameters
    ----------
    files : one for each of ``descriptors``, in this order
    ids : (n,) ids of all samples
    part : ``"2of8"``

    Raises
    ------
    DataError
        A file is missing, is of other samples than this part of the data set, or has features that are not finite.
    """
    place = rows_of_part(len(ids), part)
    if len(files) != len(descriptors):
        raise DataError(f"part {part}: expected a file for each of {', '.join(descriptors)}; got {len(files)}.")
    views = {}
    for name, path in zip(descriptors, files, strict=True):
        held = read_arrays(path, ("features", "ids"))
        if not np.array_equal(held["ids"].astype(ids.dtype), ids[place]):
            raise DataError(f"{path}: not the samples of part {part} of the data set; delete the file and run again.")
        finite = np.isfinite(held["features"]).all(axis=1)
        if not finite.all():
            raise DataError(f"{path}: the features of sample {str(held['ids'][finite.argmin()])!r} are not finite.")
        views[name] = held["features"]
    return np.arange(place.start, place.stop), views


def read_blocks(files: Sequence[Path], descriptors: Sequence[str], ids: NDArray[np.str_]) -> Iterator[Block]:
    """Read all blocks, one after the other; files are given descriptor by descriptor, each in the order of its parts.

    Raises
    ------
    DataError
        As `read_block`, or another number of parts of some descriptor.
    """
    n_blocks, rest = divmod(len(files), len(descriptors))
    if rest or not n_blocks:
        raise DataError(f"{len(files)} files of features are no whole number of blocks of {', '.join(descriptors)}.")
    for number in range(n_blocks):
        yield read_block(files[number::n_blocks], descriptors, ids, f"{number + 1}of{n_blocks}")

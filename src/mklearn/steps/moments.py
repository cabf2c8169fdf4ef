"""Step: add up the moments of all blocks of samples, each counted once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from mklearn.artefacts import read_arrays, read_table, write_arrays
from mklearn.contract.landmark_specs import LandmarkSetSpec
from mklearn.errors import DataError
from mklearn.evaluation.landmarks import SplitMoments
from mklearn.provenance import input_digests, stamp
from mklearn.steps.landmarks import digest_of_landmarks
from mklearn.steps.log import logger, progress


def moments(
    landmarks: Path, labels: Path, blocks: list[Path], moments: Path, *, spec: LandmarkSetSpec,
    code: list[Path] | None = None,
) -> None:  # fmt: skip
    """Add up the moments of all blocks, in the order of their samples, for each split and inner fold.

    Raises
    ------
    DataError
        A sample is in no block or in two, or a block was made with other landmarks.
    """
    n_samples = len(read_table(labels)[0])
    expected = digest_of_landmarks(landmarks)
    places, found = [], list[SplitMoments]()
    for path in progress(sorted(blocks, key=_number), len(blocks), "moments: block"):
        held = read_arrays(path)
        if str(held["landmarks"]) != expected:
            raise DataError(f"{path}: was made with other landmarks; delete it and run again.")
        places.append((int(held["start"]), int(held["stop"]), path))
        own = [SplitMoments.from_arrays(arrays) for arrays in _by_split(held)]
        found = [mine.added(theirs) for mine, theirs in zip(found, own, strict=True)] if found else own
    _check_places(places, n_samples)
    logger.info("%d samples in %d blocks", n_samples, len(blocks))
    arrays = {f"{number}/{name}": a for number, each in enumerate(found) for name, a in each.as_arrays().items()}
    record = stamp(spec.as_dict(), input_digests(landmarks=landmarks, labels=labels, blocks=blocks), code or [])
    write_arrays(moments, record, **arrays)


def read_moments(path: Path) -> list[SplitMoments]:
    """Read the moments of each split, in the order of the splits."""
    return [SplitMoments.from_arrays(arrays) for arrays in _by_split(read_arrays(path))]


def _by_split(arrays: dict[str, NDArray[Any]]) -> list[dict[str, NDArray[Any]]]:
    """Return the arrays of each split: those named ``NUMBER/NAME``."""
    found: dict[int, dict[str, NDArray[Any]]] = {}
    for name, array in arrays.items():
        number, slash, rest = name.partition("/")
        if slash and number.isdigit():
            found.setdefault(int(number), {})[rest] = array
    return [found[number] for number in sorted(found)]


def _number(path: Path) -> int:
    """Return the number of a block from the name of its file, ``2of8.npz``."""
    return int(path.stem.partition("of")[0])


def _check_places(places: Sequence[tuple[int, int, Path]], n_samples: int) -> None:
    """Raise DataError unless the blocks cover all samples, each once."""
    end = 0
    for start, stop, path in sorted(places, key=lambda place: place[:2]):
        if start > end:
            raise DataError(
                f"{path.parent}: no block has samples {end} to {start - 1}; delete the folder and run again."
            )
        if start < end:
            raise DataError(f"{path}: samples {start} to {min(stop, end) - 1} are in another block too; delete the "
                            "folder and run again.")  # fmt: skip
        end = stop
    if end != n_samples:
        last = places[-1][2]
        raise DataError(
            f"{last.parent}: the blocks end with sample {end - 1}, but the data set has {n_samples}; delete the folder "
            "and run again."
        )

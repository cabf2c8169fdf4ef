"""Step: the landmarks of each split of one protocol, and the map from samples to features that they give."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.base.landmark_moments import landmark_features
from mklearn.contract.fit_spec import specs_by_name
from mklearn.errors import DataError, NotApplicable
from mklearn.saved_models import fitted_bytes, from_bytes
from mklearn.study.artefacts import read_arrays, read_table, write_arrays
from mklearn.study.data.splits import Split, Splits
from mklearn.study.evaluation.landmarks import Block, class_codes
from mklearn.study.provenance import input_digests, stamp
from mklearn.study.specs.landmark_specs import SAMPLE, LandmarkSetSpec
from mklearn.study.steps.blocks import read_blocks
from mklearn.study.steps.log import logged_warnings, logger, progress


def landmarks(
    labels: Path, splits: Path, features: list[Path], landmarks: Path, *, spec: LandmarkSetSpec,
) -> None:  # fmt: skip
    """Choose landmarks among the training samples of every split, and fit the parameters of the kernels.

    They are chosen from at most 20,000 training samples, or as many as there are landmarks: drawn at random, and the
    first of each class that would be missing. A split with fewer training samples than landmarks, or with more classes
    than landmarks, has that reason in their place.

    Parameters
    ----------
    labels, splits : Path
    features : list of Path
        Blocks of each descriptor of ``spec``, descriptor by descriptor.
    landmarks : Path
        Written.
    spec : LandmarkSetSpec

    Raises
    ------
    DataError
        Features that a kernel can't take.
    """
    table, _ = read_table(labels)
    y, ids = table["y"].to_numpy(), table["id"].to_numpy(dtype=str)
    drawn = Splits.load(splits, ids).splits
    samples = [_sample(split, y, spec) for split in drawn]
    rows = np.unique(np.concatenate(samples))
    views = _views_of(rows, read_blocks(features, spec.descriptors, ids))
    kernels = specs_by_name(spec.kernels)
    found: list[LandmarkFeatures | str] = []
    seconds = []
    for split, sample in zip(progress(drawn, len(drawn), "landmarks: split"), samples, strict=True):
        own = {name: each[np.searchsorted(rows, sample)] for name, each in views.items()}
        made = landmark_features(kernels, spec.landmarks.parameter(spec.seed))
        started = time.process_time()
        try:
            with logged_warnings(split.name):
                found.append(made.fit(own, class_codes(y[sample])))
        except NotApplicable as reason:
            logger.warning("%s: no landmarks: %s", split.name, reason)
            found.append(str(reason))
        except DataError as error:
            raise DataError(f"{split.name}: {error}") from error
        seconds.append(time.process_time() - started)
    record = stamp("landmarks", spec.as_dict(), input_digests(labels=labels, splits=splits, features=features))
    content = np.frombuffer(fitted_bytes(found, str(landmarks)), dtype=np.uint8)
    write_arrays(landmarks, record, content=content, digest=np.array(joblib.hash(found)), seconds=np.array(seconds))


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


def _sample(split: Split, y: NDArray[Any], spec: LandmarkSetSpec) -> NDArray[np.intp]:
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


def _views_of(rows: NDArray[np.intp], blocks: Iterator[Block]) -> dict[str, NDArray[Any]]:
    """Return the features of some samples, in ascending order of their positions."""
    found: dict[str, list[NDArray[Any]]] = {}
    for positions, views in blocks:
        own = np.isin(positions, rows, assume_unique=True)
        for name, table in views.items():
            found.setdefault(name, []).append(table[own])
    return {name: np.concatenate(tables) for name, tables in found.items()}

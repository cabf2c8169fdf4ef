"""Step: one method at every training size and repeat of one protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklearn.base.pairs import PairedSamples, PairView
from mklearn.contract.fit_spec import IMAGES, FitSpec
from mklearn.contract.loading import load
from mklearn.errors import DataError
from mklearn.kernels.pairwise_view import Pairwise
from mklearn.kernels.views import Views
from mklearn.study.artefacts import read_arrays, read_table, write_arrays, write_table
from mklearn.study.data.pairs import PairLists, load_projections
from mklearn.study.data.samples import SampleSet, check_same
from mklearn.study.data.splits import Splits
from mklearn.study.evaluation.candidates import MethodOnViews
from mklearn.study.evaluation.predictions import prediction_table, typed
from mklearn.study.provenance import code_fingerprint, input_digests, stamp
from mklearn.study.steps.fit_records import FitAtSize, SplitRecord, model_arrays
from mklearn.study.steps.rows import COLUMNS, fit_of
from mklearn.study.supervisor import SplitAborted, supervised


def fit(
    labels: Path, splits: Path, scores: Path, model: Path, predictions: Path, *, spec: FitSpec,
    matrices: list[Path] | None = None, sources: list[Path] | None = None,
    projections: list[Path] | None = None, landmarks: Path | None = None, moments: list[Path] | None = None,
    blocks: list[Path] | None = None,
) -> None:  # fmt: skip
    """Fit a method on every split; write its score rows, its predictions and what a report shows of the fits.

    A failure that is a result (a solver without solution, a method that does not apply, an allocation that is refused,
    the study's time limit) becomes a row with its reason; splits that were done before it keep their values. Each
    training size has a time limit of its own, and its own arrays in the model file: ``weights`` of ``faces-p2`` is
    ``faces-p2/weights``.

    Parameters
    ----------
    labels, splits : Path
    scores, model, predictions : Path
        Written.
    spec : FitSpec
        With ``spec.pairs``, the samples of the splits are pairs of those of the labels.
    matrices : list of Path
        The pairwise matrices of ``spec.pairwise``, for kernels that are made from such.
    sources : list of Path
        The images, for a method on images, and the features of each of ``spec.descriptors``. For pairs, with
        ``projections``, they may be left out, and are read for inner folds only.
    projections : list of Path
        For pairs that are compared by components: the output of the step ``project`` for each of ``spec.descriptors``.
    landmarks, moments, blocks : Path, list of Path, list of Path
        For a method with landmarks, in place of sources: the landmarks, the moments of all blocks of samples, and the
        features of each block, descriptor by descriptor.

    Raises
    ------
    DataError
        Among others: moments or features of a block are missing, doubled or of other samples or landmarks.
    """
    table, _ = read_table(labels)
    y, ids = table["y"].to_numpy(), table["id"].to_numpy(dtype=str)
    groups = table["group"].to_numpy(dtype=str) if "group" in table else None
    choosing = pairs = None
    if spec.pairs is None:
        drawn = Splits.load(splits, ids)
    else:
        pairs = PairLists.load(splits, ids)
        drawn = pairs.splits
        choosing = None if spec.evaluation.choice == "test_set" else pairs.choosing_split
        y, ids, groups = pairs.y, pairs.names(ids), pairs.groups
    at_size: Callable[..., FitAtSize] = FitAtSize
    views = None
    if spec.landmarks is not None:
        at_size = load(spec.fitted_by or "")(landmarks, moments, blocks, drawn.splits, ids)
    else:
        views = read_views(spec, matrices or [], sources or [], ids, projections or [], pairs)
    problem = MethodOnViews(views, y, spec.method, spec.kernels)
    fingerprint = code_fingerprint("fit", spec.as_dict())
    used = [spec.method.implementation, "scipy.spatial.distance:cdist"]
    if next(iter(spec.method.inputs.values())).kind == "features":
        used.append("sklearn.pipeline:make_pipeline")
    for each in used:
        load(each)  # here: the process of each training size would import it again, as time of its first fit
    sizes = [
        at_size(problem, spec, setting, drawn.of_size(setting.train_size), fingerprint, groups, choosing)
        for setting in spec.settings
    ]
    digests = input_digests(
        matrices=matrices, sources=sources, projections=projections, landmarks=landmarks, moments=moments,
        blocks=blocks, labels=labels, splits=splits,
    )  # fmt: skip
    found = [(size, supervised_records(size, spec.evaluation.time_limit)) for size in sizes]
    write_fit(found, spec, y, ids, stamp("fit", spec.as_dict(), digests), scores, model, predictions)


def supervised_records(at_size: FitAtSize, minutes: float | None) -> list[SplitRecord]:
    """Evaluate the splits of one training size under supervision; splits that it ends have a record with its reason."""
    records: list[SplitRecord] = []
    try:
        for record in supervised(at_size.records(), minutes=minutes):
            records.append(record)
    except SplitAborted as reason:
        records += at_size.aborted_records(records, reason)
    return records


def write_fit(
    found: Sequence[tuple[FitAtSize, Sequence[SplitRecord]]], spec: FitSpec, y: NDArray[np.int64],
    ids: NDArray[np.str_], record: Mapping[str, Any], scores: Path, model: Path, predictions: Path,
) -> None:  # fmt: skip
    """Write score rows, predictions and model arrays, given the records of each training size."""
    rows: list[dict[str, Any]] = []
    arrays: dict[str, Any] = {}
    predicted: list[pd.DataFrame] = []
    for at_size, records in found:
        setting = at_size.setting
        rows += [row for each in records for row in each.rows]
        made = [each.predictions for each in records if each.predictions is not None]
        predicted.append(prediction_table(made, fit_of(spec, setting), y, ids))
        arrays |= {f"{setting.protocol}/{name}": array for name, array in model_arrays(records, spec).items()}
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)
    write_table(scores, frame, record)
    write_table(predictions, typed(pd.concat(predicted, ignore_index=True)), record)
    write_arrays(model, record, **arrays)


def read_views(
    spec: FitSpec, matrices: list[Path], sources: list[Path], ids: NDArray[np.str_], projections: Sequence[Path] = (),
    pairs: PairLists | None = None,
) -> Views:  # fmt: skip
    """Read the views of the method: matrices of its kernels, images, and features of its descriptors.

    Raises
    ------
    DataError
        Files are missing or too many, or a matrix is of other samples.
    """
    if pairs is not None:
        return Views(_read_pairs(spec, pairs, sources, projections))
    if len(matrices) != len(spec.pairwise):
        wanted = ", ".join(spec.pairwise) or "none"
        raise DataError(f"step fit: matrices must be a file for each of these: {wanted}; got {len(matrices)}.")
    views: dict[str, Any] = {
        name: Pairwise(_read_matrix(path, ids)) for name, path in zip(spec.pairwise, matrices, strict=True)
    }
    names = [IMAGES for entry in spec.method.inputs.values() if entry.kind == "images"] + spec.descriptors
    if len(sources) != len(names):
        wanted = ", ".join(names) or "none"
        raise DataError(f"step fit: sources must be a file for each of these views: {wanted}; got {len(sources)}.")
    for name, path in zip(names, sources, strict=True):
        views[name] = _read_images(path, spec.method.id) if name == IMAGES else _read_features(path)
    return Views(views)


def _read_pairs(
    spec: FitSpec, pairs: PairLists, sources: list[Path], projections: Sequence[Path]
) -> dict[str, PairView]:
    """Read the views of a method on pairs of samples."""
    assert spec.pairs is not None
    n_files = len(spec.descriptors)
    if {len(sources), len(projections)} not in ({n_files}, {n_files, 0}):
        raise DataError(
            f"step fit: pairs need {n_files} projections, {n_files} files of features among sources, or both; got "
            f"{len(projections)} and {len(sources)}."
        )
    nothing: list[None] = [None] * n_files
    views = {}
    for key, features, projected in zip(spec.descriptors, sources or nothing, projections or nothing, strict=True):
        read = None if features is None else partial(_read_features, features)
        samples = PairedSamples(read, () if projected is None else load_projections(projected))
        views[key] = PairView(pairs.first, pairs.second, samples, spec.pairs)
    return views


def _read_matrix(path: Path, ids: NDArray[np.str_]) -> NDArray[np.float64]:
    held = read_arrays(path, ("matrix", "ids"))
    check_same(held["ids"], ids, path)
    return held["matrix"]


def _read_features(path: Path) -> NDArray[Any]:
    return read_arrays(path, ("features",))["features"]


def _read_images(path: Path, method_id: str) -> NDArray[np.float64]:
    images = SampleSet.load(path).images
    if not isinstance(images, np.ndarray) or images.ndim != 3:
        raise DataError(f"{path}: method {method_id!r} takes grey images of one size; set resize for the data set.")
    return images.astype(np.float64)

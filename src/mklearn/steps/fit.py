"""Step: one method at every training size and repeat of one protocol."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklearn.artefacts import read_arrays, read_record, read_table, write_arrays, write_table
from mklearn.contract.fit_spec import FitSpec
from mklearn.contract.loading import load
from mklearn.datasets.pairs import PairLists
from mklearn.datasets.samples import SampleSet
from mklearn.datasets.splits import Splits
from mklearn.errors import DataError
from mklearn.evaluation.inputs import Input, Inputs, KernelInput, SampleInput
from mklearn.evaluation.pairs import PairedSamples, PairInput, PairKernelInput
from mklearn.evaluation.predictions import prediction_table, typed
from mklearn.evaluation.projections import ProjectedSamples, load_projections
from mklearn.provenance import code_fingerprint, input_digests, stamp
from mklearn.steps.deferred_imports import defer
from mklearn.steps.fit_records import FitAtSize, SplitRecord, model_arrays
from mklearn.steps.rows import COLUMNS, fit_of
from mklearn.supervisor import SplitAborted, supervised


def fit(
    labels: Path, splits: Path, scores: Path, model: Path, predictions: Path, *, spec: FitSpec,
    manifest: Path | None = None, matrices: list[Path] | None = None, sources: list[Path] | None = None,
    projections: list[Path] | None = None, code: list[Path] | None = None,
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
    manifest, matrices : Path, list of Path
        The kernel set and its pairwise matrices, for an input of kind kernels on such matrices.
    sources : list of Path
        Files of features or images, in the order of ``spec.method.inputs``: one for each input, or for each of its
        descriptors; of an input of kind kernels, one for each of ``spec.kernel_features``. For pairs one for each of
        ``spec.descriptors``; with ``projections`` they may be left out, and are read for inner folds only.
    projections : list of Path
        For pairs that are compared by components: the output of the step ``project`` for each of ``spec.descriptors``.
    code : list of Path
        Source files behind the step.
    """
    defer("scipy.stats")  # scikit-learn imports it for what few methods use: a third of the time of all imports
    table, _ = read_table(labels)
    y, ids = table["y"].to_numpy(), table["id"].to_numpy(dtype=str)
    groups = table["group"].to_numpy(dtype=str) if "group" in table else None
    choosing = paired = None
    if spec.pairs is None:
        drawn = Splits.load(splits, ids)
    else:
        pairs = PairLists.load(splits, ids)
        drawn = pairs.splits
        choosing = None if spec.evaluation.choice == "test_set" else pairs.choosing_split
        y, ids, groups = pairs.y, pairs.names(ids), pairs.groups
        paired = PairedSamples(pairs.first, pairs.second, spec.pairs)
    if paired is None:
        inputs = _read_inputs(spec, manifest, matrices or [], sources or [])
    else:
        inputs = _read_inputs_of_pairs(spec, paired, sources or [], projections or [])
    fingerprint = code_fingerprint(code or [])
    if len(spec.settings) > 1:
        for used in (spec.method.implementation, "scipy.spatial.distance:cdist"):
            load(used)  # the process of each training size would import it anew
    sizes = [
        FitAtSize(inputs, spec, setting, y, drawn.of_size(setting.train_size), fingerprint, groups, choosing)
        for setting in spec.settings
    ]
    digests = input_digests(
        manifest=manifest, sources=sources, projections=projections, labels=labels, splits=splits
    )  # matrices: the manifest's
    found = [(size, supervised_records(size, spec.evaluation.time_limit)) for size in sizes]
    write_fit(found, spec, y, ids, stamp(spec.as_dict(), digests, code or []), scores, model, predictions)


def supervised_records(at_size: FitAtSize, minutes: float | None) -> list[SplitRecord]:
    """Evaluate the splits of one training size under supervision; splits that it ends have a record with its reason."""
    records: list[SplitRecord] = []
    try:
        for record in supervised(at_size.records, minutes=minutes):
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


def _read_inputs(spec: FitSpec, manifest: Path | None, matrices: list[Path], sources: list[Path]) -> Inputs:
    """Read the named inputs of the method."""
    found: dict[str, Input] = {}
    files = iter(sources)
    for name, entry in spec.method.inputs.items():
        kernels = entry.kind == "kernels"
        n_files = len(spec.kernel_features) if kernels else max(1, len(entry.descriptors))
        paths = list(itertools.islice(files, n_files))
        if len(paths) < n_files:
            needed = "a file" if n_files == 1 else f"{n_files} files"
            what = "features" if kernels else entry.kind
            raise DataError(f"step fit: input {name!r} needs {needed} of {what} among sources.")
        if kernels:
            pairwise = {} if manifest is None else _read_matrices(manifest, matrices)
            features = {key: _read_features([path]) for key, path in zip(spec.kernel_features, paths, strict=True)}
            if not pairwise and not features:
                raise DataError(f"step fit: input {name!r} needs a manifest and matrices.")
            found[name] = KernelInput(pairwise, spec.kernels, features)
            continue
        samples = _read_features(paths) if entry.kind == "features" else _read_images(paths[0], spec.method.id)
        found[name] = SampleInput(samples, entry.training_only, entry.feature_scaling, entry.impute)
    return Inputs(found)


def _read_inputs_of_pairs(spec: FitSpec, pairs: PairedSamples, sources: list[Path], projections: list[Path]) -> Inputs:
    """Read the named inputs of the method, of pairs of samples."""
    n_files = len(spec.descriptors)
    if {len(sources), len(projections)} not in ({n_files}, {n_files, 0}):
        raise DataError(
            f"step fit: pairs need {n_files} projections, {n_files} files of features among sources, or both; got "
            f"{len(projections)} and {len(sources)}."
        )
    nothing: list[None] = [None] * n_files
    samples = {
        key: ProjectedSamples(
            () if projected is None else load_projections(projected),
            None if features is None else partial(_read_features, [features]),
        )
        for key, features, projected in zip(spec.descriptors, sources or nothing, projections or nothing, strict=True)
    }
    found: dict[str, Input] = {}
    for name, entry in spec.method.inputs.items():
        if entry.kind == "kernels":
            own = {key: samples[key] for key in spec.kernel_features}
            found[name] = PairKernelInput({}, spec.kernels, descriptors=own, pairs=pairs)
        else:
            side_by_side = [samples[key] for key in entry.descriptors]
            found[name] = PairInput(side_by_side, pairs, entry.training_only, entry.feature_scaling)
    return Inputs(found)


def _read_matrices(manifest: Path, paths: list[Path]) -> dict[str, NDArray[np.float64]]:
    content = read_record(manifest)
    found = {}
    for name, path in zip(content["matrices"], paths, strict=True):
        held = read_arrays(path, ("matrix", "sha256"))
        if str(held["sha256"]) != content["matrices"][name]["sha256"]:
            raise DataError(f"{path}: not the matrix that the manifest names; delete the manifest and run again.")
        found[name] = held["matrix"]
    return found


def _read_features(paths: list[Path]) -> NDArray[Any]:
    """Return the features of one or several descriptors, side by side."""
    tables: list[NDArray[Any]] = [read_arrays(path, ("features",))["features"] for path in paths]
    return tables[0] if len(tables) == 1 else np.concatenate(tables, axis=1)


def _read_images(path: Path, method_id: str) -> NDArray[np.float64]:
    images = SampleSet.load(path).images
    if not isinstance(images, np.ndarray) or images.ndim != 3:
        raise DataError(f"{path}: method {method_id!r} takes grey images of one size; set resize for the data set.")
    return images.astype(np.float64)

"""Step: one method at every training size and repeat of one protocol."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklearn.artefacts import read_arrays, read_record, read_table, write_arrays, write_table
from mklearn.contract.fit_spec import FitSpec
from mklearn.datasets.pairs import PairLists
from mklearn.datasets.samples import SampleSet
from mklearn.datasets.splits import Splits
from mklearn.errors import DataError
from mklearn.evaluation.inputs import Inputs, KernelInput, SampleInput
from mklearn.evaluation.pairs import PairedSamples, PairInput, PairKernelInput
from mklearn.evaluation.predictions import prediction_table, typed
from mklearn.provenance import code_fingerprint, input_digests, stamp
from mklearn.steps.fit_records import FitAtSize, SplitRecord, model_arrays
from mklearn.steps.rows import COLUMNS, fit_of
from mklearn.steps.supervisor import SplitAborted, supervised


def fit(
    labels: Path, splits: Path, scores: Path, model: Path, predictions: Path, *, spec: FitSpec,
    manifest: Path | None = None, matrices: list[Path] | None = None, sources: list[Path] | None = None,
    code: list[Path] | None = None,
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
        descriptors; of an input of kind kernels, one for each of ``spec.kernel_features``.
    code : list of Path
        Source files behind the step.
    """
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
    inputs = _read_inputs(spec, manifest, matrices or [], sources or [], paired)
    fingerprint = code_fingerprint(code or [])
    rows: list[dict[str, Any]] = []
    arrays: dict[str, Any] = {}
    predicted: list[pd.DataFrame] = []
    for setting in spec.settings:
        at_size = FitAtSize(inputs, spec, setting, y, drawn.of_size(setting.train_size), fingerprint, groups, choosing)
        records = _records(at_size, spec.evaluation.time_limit)
        rows += [row for record in records for row in record.rows]
        found = model_arrays(records, spec)
        made = [record.predictions for record in records if record.predictions is not None]
        predicted.append(prediction_table(made, fit_of(spec, setting), y, ids))
        arrays |= {f"{setting.protocol}/{name}": array for name, array in found.items()}
    digests = input_digests(
        manifest=manifest, sources=sources, labels=labels, splits=splits
    )  # matrices: the manifest's
    record = stamp(spec.as_dict(), digests, code or [])
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)
    write_table(scores, frame, record)
    write_table(predictions, typed(pd.concat(predicted, ignore_index=True)), record)
    write_arrays(model, record, **arrays)


def _records(at_size: FitAtSize, minutes: float | None) -> list[SplitRecord]:
    """Evaluate the splits of one training size under supervision; splits that it ends have a record with its reason."""
    records: list[SplitRecord] = []
    try:
        for record in supervised(at_size.records, minutes=minutes):
            records.append(record)
    except SplitAborted as reason:
        records += at_size.aborted_records(records, reason)
    return records


def _read_inputs(
    spec: FitSpec, manifest: Path | None, matrices: list[Path], sources: list[Path], pairs: PairedSamples | None
) -> Inputs:
    """Read the named inputs of the method: of samples, or of pairs of them."""
    found: dict[str, KernelInput | SampleInput] = {}
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
            tables = _read_features if pairs is None else _read_in_single_precision
            features = {key: tables([path]) for key, path in zip(spec.kernel_features, paths, strict=True)}
            if not pairwise and not features:
                raise DataError(f"step fit: input {name!r} needs a manifest and matrices.")
            if pairs is not None:
                found[name] = PairKernelInput({}, spec.kernels, features, pairs=pairs)
            else:
                found[name] = KernelInput(pairwise, spec.kernels, features)
            continue
        if pairs is not None:
            first, *others = (_read_in_single_precision([path]) for path in paths)
            found[name] = PairInput(first, entry.training_only, entry.feature_scaling, others, pairs=pairs)
            continue
        samples = _read_features(paths) if entry.kind == "features" else _read_images(paths[0], spec.method.id)
        found[name] = SampleInput(samples, entry.training_only, entry.feature_scaling)
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


def _read_in_single_precision(paths: list[Path]) -> NDArray[np.float32]:
    """Return features for pairs, whose components are computed in single precision."""
    return _read_features(paths).astype(np.float32)


def _read_images(path: Path, method_id: str) -> NDArray[np.float64]:
    images = SampleSet.load(path).images
    if not isinstance(images, np.ndarray) or images.ndim != 3:
        raise DataError(f"{path}: method {method_id!r} takes grey images of one size; set resize for the data set.")
    return images.astype(np.float64)

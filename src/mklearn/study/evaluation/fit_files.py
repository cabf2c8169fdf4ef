"""Input and output files of a fit: the views of its method, and the records of its splits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic_core import to_jsonable_python

from mklearn.atomic import read_npz
from mklearn.errors import DataError
from mklearn.kernels.views import Pairwise, Views
from mklearn.rows import load
from mklearn.study.artefacts import write_arrays
from mklearn.study.data.samples import SampleSet
from mklearn.study.evaluation.outputs import STORED, RulePredictions, SplitRecord
from mklearn.study.provenance import canonical
from mklearn.study.specs.fit_spec import IMAGES, FitSpec, Setting

# --- views


def import_method(spec: FitSpec) -> None:
    """Import the modules that fits use, so that the first fit of each training size is not timed with the imports."""
    used = [spec.method.implementation, "scipy.spatial.distance:cdist"]
    if next(iter(spec.method.inputs.values())).kind == "features":
        used.append("sklearn.pipeline:make_pipeline")
    for name in used:
        load(name)


def read_views(spec: FitSpec, matrices: list[Path], sources: list[Path], ids: NDArray[np.str_]) -> Views:
    """Read the views of the method: matrices of its kernels, images, and features of descriptors.

    Raises
    ------
    DataError
        The number of files is wrong, or a matrix belongs to other samples.
    """
    names = [IMAGES for entry in spec.method.inputs.values() if entry.kind == "images"] + spec.descriptors
    for what, wanted, files in (("matrices", spec.pairwise, matrices), ("sources", names, sources)):
        if len(files) != len(wanted):
            valid = ", ".join(wanted) or "none"
            raise DataError(f"fit: {what} must be a file for each of these views: {valid}; got {len(files)}.")
    views: dict[str, Any] = {}
    for name, path in zip(spec.pairwise, matrices, strict=True):
        stored = read_npz(path, ("matrix", "ids"))
        if not np.array_equal(stored["ids"], ids):
            raise DataError(f"{path} holds other samples, or the same in another order; delete it and run again.")
        views[name] = Pairwise(stored["matrix"])
    for name, path in zip(names, sources, strict=True):
        is_image = name == IMAGES
        views[name] = _read_images(path, spec.method.id) if is_image else read_npz(path, ("features",))["features"]
    return Views(views)


def _read_images(path: Path, method_id: str) -> NDArray[np.float64]:
    images = SampleSet.load(path).images
    if not isinstance(images, np.ndarray) or images.ndim != 3:
        raise DataError(f"{path}: method {method_id!r} takes grey images of one size; set resize for the data set.")
    return images.astype(np.float64)


# --- records of splits


def fit_of(spec: FitSpec, setting: Setting) -> dict[str, Any]:
    """Return the columns that identify a fit at one of its training sizes."""
    kinds = [entry.kind for entry in spec.method.inputs.values()]
    return {
        "dataset": spec.dataset, "protocol": setting.protocol, "train_size": setting.train_size,
        "method": spec.method.id, "seed": spec.seed,
        "kernel_set": "+".join(kernel["id"] for kernel in spec.kernels) or kinds[0],
    }  # fmt: skip


def write_predictions(
    path: str | Path, spec: FitSpec, record: Mapping[str, Any], stored: Mapping[str, Sequence[SplitRecord]],
    y: ArrayLike, ids: ArrayLike, groups: ArrayLike | None = None,
) -> None:  # fmt: skip
    """Write the records of each training size, and the target, ids and any groups of all samples.

    For example, ``faces-p2/0/train`` is an array of the first split, and ``faces-p2/0/cosine/labels`` an array of one
    of its rules. The columns of each size and the facts of its splits are stored as JSON.
    """
    fits, arrays = [], {"y": np.asarray(y)} | ({} if groups is None else {"groups": np.asarray(groups)})
    for setting in spec.settings:
        splits = []
        for number, split in enumerate(stored[setting.protocol]):
            facts, of_split = _stored(split)
            splits.append(facts)
            arrays |= {f"{setting.protocol}/{number}/{name}": array for name, array in of_split.items()}
        fits.append(fit_of(spec, setting) | {"splits": splits})
    write_arrays(path, record, compressed=True, fits=_json(fits), ids=np.asarray(ids), **arrays)


def read_predictions(
    path: Path,
) -> tuple[list[tuple[dict[str, Any], list[SplitRecord]]], NDArray[Any], NDArray[np.str_], NDArray[np.str_] | None]:
    """Read the columns and records of each training size, and the target, ids and any groups of all samples."""
    stored = read_npz(path)
    fits, ids, y = json.loads(str(stored.pop("fits"))), stored.pop("ids"), stored.pop("y")
    arrays: dict[str, dict[str, NDArray[Any]]] = {}
    for name, array in stored.items():
        if "/" in name:
            protocol, number, key = name.split("/", 2)
            arrays.setdefault(f"{protocol}/{number}", {})[key] = array
    read = []
    for fit in fits:
        places = ((f"{fit['protocol']}/{number}", facts) for number, facts in enumerate(fit.pop("splits")))
        read.append((fit, [_restored(facts, arrays.get(place, {}), y) for place, facts in places]))
    return read, y, ids, stored.get("groups")


def _stored(split: SplitRecord) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the facts and arrays of a split; its targets are not stored, because they follow from its samples."""
    facts, arrays = dict(split.facts), dict[str, NDArray[Any]]()
    if split.rules:
        facts["rules"], arrays = {}, {"train": split.train, "test": split.test}
    for name, rule in split.rules.items():
        models = {"components": rule.components, "position": rule.position, "n_models": len(rule.lookups)}
        facts["rules"][name] = models | dict(rule.facts)
        arrays[f"{name}/labels"] = rule.labels.T  # a sample's labels vary little with components: compresses better
        for number, lookup in enumerate(rule.lookups):
            values = {key: lookup(key) for key in STORED}
            arrays |= {f"{name}/{number}/{key}": np.asarray(each) for key, each in values.items() if each is not None}
    return facts, arrays


def _restored(facts: dict[str, Any], arrays: Mapping[str, NDArray[Any]], y: NDArray[Any]) -> SplitRecord:
    """Rebuild the record that `_stored` has split up; ``y`` are the targets of all samples."""
    stored = facts.pop("rules", {})
    if not stored:
        return SplitRecord(facts)
    train, test, rules = arrays["train"], arrays["test"], {}
    for name, of_rule in stored.items():
        starts = [f"{name}/{number}/" for number in range(of_rule.pop("n_models"))]
        lookups = [{key: arrays.get(start + key) for key in STORED}.get for start in starts]
        rules[name] = RulePredictions(
            y[train], y[test], np.ascontiguousarray(arrays[f"{name}/labels"].T), of_rule.pop("components"),
            of_rule.pop("position"), lookups, of_rule,
        )  # fmt: skip
    return SplitRecord(facts, train, test, rules)


def model_arrays(records: Sequence[SplitRecord], spec: FitSpec) -> dict[str, Any]:
    """Collect arrays for the report: weights, objectives, diagnostics, choices of every split; kernels, an embedding.

    A method with a dictionary of kernels has one weight per view. The kernel diagnostics and the embedding are taken
    from the first fitted split.
    """
    fits = [record.shown for record in records if record.shown is not None]
    ids = [kernel["id"] for kernel in spec.kernels] or [key.rpartition("-")[0] for key in spec.method.dictionary_views]
    tables = {name: [entry for fit in fits for entry in fit[name]] for name in ("history", "diagnostics", "chosen")}
    tables["kernel_info"] = [fit["kernel_info"] for fit in fits[:1]]
    return {
        "kernel_ids": np.array(ids, dtype=str),
        "weights": np.array([fit["weights"] for fit in fits]).reshape(len(fits), len(ids)),
        **{name: _json(table) for name, table in tables.items()},
        **(fits[0]["embedding"] if fits else {}),
    }


def _json(value: Any) -> str:
    """Return a value with NumPy's numbers as JSON, with null in place of NaN and infinity."""
    return canonical(to_jsonable_python(value, inf_nan_mode="null", fallback=lambda number: number.item()))

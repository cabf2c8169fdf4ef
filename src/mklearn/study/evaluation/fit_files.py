"""Files of a fit: the views that its method takes, and the predictions that it leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import DataError
from mklearn.kernels.views import Pairwise, Views
from mklearn.rows import load
from mklearn.study.artefacts import read_arrays, write_arrays
from mklearn.study.data.samples import SampleSet, check_same
from mklearn.study.evaluation.outputs import SplitRecord, builtin, smallest
from mklearn.study.provenance import canonical
from mklearn.study.specs.fit_spec import IMAGES, FitSpec, Setting


def import_method(spec: FitSpec) -> None:
    """Import what fits use: the process of each training size would import it again, as time of its first fit."""
    used = [spec.method.implementation, "scipy.spatial.distance:cdist"]
    if next(iter(spec.method.inputs.values())).kind == "features":
        used.append("sklearn.pipeline:make_pipeline")
    for name in used:
        load(name)


def fit_of(spec: FitSpec, setting: Setting) -> dict[str, Any]:
    """Return the columns that name a fit, at one of its training sizes."""
    kinds = [entry.kind for entry in spec.method.inputs.values()]
    return {
        "dataset": spec.dataset, "protocol": setting.protocol, "train_size": setting.train_size,
        "method": spec.method.id, "seed": spec.seed,
        "kernel_set": "+".join(kernel["id"] for kernel in spec.kernels) or kinds[0],
    }  # fmt: skip


def write_predictions(
    path: str | Path, spec: FitSpec, record: Mapping[str, Any], stored: Mapping[str, Sequence[SplitRecord]],
    y: ArrayLike, ids: ArrayLike,
) -> None:  # fmt: skip
    """Write the records of each training size, and target and ids of all samples.

    Arrays are named as ``faces-p2/0/train``, of the first split; columns of each size and facts of its splits are JSON.
    """
    fits = [
        fit_of(spec, setting) | {"splits": [builtin(split.facts) for split in stored[setting.protocol]]}
        for setting in spec.settings
    ]
    arrays = {
        f"{name}/{number}/{key}": smallest(array)
        for name, splits in stored.items()
        for number, split in enumerate(splits)
        for key, array in split.arrays.items()
    }
    about = {"fits": canonical(fits), "y": smallest(np.asarray(y)), "ids": np.asarray(ids)}
    write_arrays(path, record, compressed=True, **about, **arrays)


def read_views(spec: FitSpec, matrices: list[Path], sources: list[Path], ids: NDArray[np.str_]) -> Views:
    """Read the views of the method: matrices of its kernels, images, and features of its descriptors.

    Raises
    ------
    DataError
        Files are missing or too many, or a matrix is of other samples.
    """
    names = [IMAGES for entry in spec.method.inputs.values() if entry.kind == "images"] + spec.descriptors
    for what, wanted, files in (("matrices", spec.pairwise, matrices), ("sources", names, sources)):
        if len(files) != len(wanted):
            known = ", ".join(wanted) or "none"
            raise DataError(f"fit: {what} must be a file for each of these views: {known}; got {len(files)}.")
    views: dict[str, Any] = {}
    for name, path in zip(spec.pairwise, matrices, strict=True):
        stored = read_arrays(path, ("matrix", "ids"))
        check_same(stored["ids"], ids, path)
        views[name] = Pairwise(stored["matrix"])
    for name, path in zip(names, sources, strict=True):
        is_image = name == IMAGES
        views[name] = _read_images(path, spec.method.id) if is_image else read_arrays(path, ("features",))["features"]
    return Views(views)


def _read_images(path: Path, method_id: str) -> NDArray[np.float64]:
    images = SampleSet.load(path).images
    if not isinstance(images, np.ndarray) or images.ndim != 3:
        raise DataError(f"{path}: method {method_id!r} takes grey images of one size; set resize for the data set.")
    return images.astype(np.float64)

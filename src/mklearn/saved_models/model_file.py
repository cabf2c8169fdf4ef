"""Fitted estimators in files, without pickles: the arrays and parameters that predictions need, and a card of JSON.

One file: a line with the format's number and the sha256 of all the rest, a line of JSON with versions and the card,
and the estimator in the format of skops. Nothing in a file is executed when it is read: of all classes those that are
on a list are constructed, mklearn's in `TRUSTED` (registered estimators and kernels, and what they hold), and skops's
own list of scikit-learn's, NumPy's and SciPy's, without those whose arrays are not checked
(:mod:`mklearn.saved_models.archive_checks`).
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import json
import os
import platform
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.atomic import atomic_path, file_content, reason_of
from mklearn.cards import own_entries
from mklearn.errors import DamagedFile, DataError
from mklearn.extras import require
from mklearn.saved_models.archive_checks import SCHEMA, check_archive, check_held

FORMAT = 1
"""Number of the format; another one is not read."""
_MAGIC = b"mklearn model, format "
_FIRST_LINE = re.compile(_MAGIC + rb"(\d{1,9}), sha256 ([0-9a-f]{64})\n")
_PACKAGES = ("mklearn", "scikit-learn", "numpy", "scipy", "skops")
_PARTS: dict[str, tuple[str, ...]] = {
    "mklearn.base.landmark_features": ("LandmarkFeatures",),
    "mklearn.base.side_by_side": ("SideBySide",),
    "mklearn.base.view_completion": ("CompletedProducts", "LeftOutPatterns"),
    "mklearn.base.multi_view_ridge": ("Mixture",),
    "mklearn.classifiers.fsvc": ("FSVMPairFit",),
    "mklearn.classifiers.linear_svc": ("UnitSpread",),
    "mklearn.classifiers.lmkl_svc": ("GatedMachines",),
    "mklearn.graphs": ("ClassOperator", "ClassStructure", "GraphPair", "MatrixOperator"),
    "mklearn.kernels.completion": ("MeanCompletion",),
    "mklearn.kernels.feature_scaling": ("FeatureScaler", "SparseScaler"),
    "mklearn.kernels.feature_source": ("FeatureSource", "SelectedFeatures", "TableForms"),
    "mklearn.kernels.imputation": ("FeatureImputer",),
    "mklearn.kernels.landmark_map": ("LandmarkMap",),
    "mklearn.kernels.landmark_measure": ("LandmarkMeasure",),
    "mklearn.kernels.landmark_transform": ("LandmarkTransform", "_Group"),
    "mklearn.kernels.normalise": ("KernelCentring",),
    "mklearn.kernels.psd": ("PSDRepair",),
    "mklearn.kernels.specs": ("StackTransform", "_Entry"),
    "mklearn.kernels.standard_scaler": ("StandardScaler",),
    "mklearn.optimize.view_regression": ("ViewRegression",),
    "mklearn.subspace.lde": ("LDE",),
}
"""Classes that fitted estimators hold, beside the registered ones."""
_REGISTERED = [
    entry["implementation"].replace(":", ".") for sort in ("methods", "kernels") for entry in own_entries(sort).values()
]
TRUSTED: tuple[str, ...] = (
    *(name for name in _REGISTERED if name.rpartition(".")[2][0].isupper()),  # no functions that make pipelines
    *(f"{module}.{name}" for module, names in _PARTS.items() for name in names),
    "numpy.dtype",
    "scipy.sparse._csr.csr_array",
)
"""Classes that are constructed, beside those of scikit-learn, NumPy and SciPy that skops itself trusts."""


@dataclass(frozen=True)
class SavedModel:
    """A model as it was saved.

    Attributes
    ----------
    estimator : object
        Fitted; its predictions are those before it was saved, bit by bit.
    card : mapping
        What was said of it, of JSON types.
    arrays : mapping of str to array
        What else its predictions need, such as the names of the training samples.
    versions : mapping of str to str
        Python, mklearn, and the packages that numbers depend on, when it was saved.
    """

    estimator: Any
    card: Mapping[str, Any]
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)


def save_model(
    estimator: Any,
    path: str | os.PathLike[str],
    card: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray] | None = None,
) -> None:
    """Write a fitted estimator to one file, whole or not at all.

    Parameters
    ----------
    estimator : object
        A fitted estimator of mklearn or scikit-learn, or a pipeline of them.
    path : path
    card : mapping
        Text keys and JSON types, without NaN: what the model is, for people and for programs.
    arrays : mapping of str to array, optional
        Numbers or strings that are kept beside it.

    Raises
    ------
    DataError
        The estimator holds an object that is of no class that would be loaded again, such as a function or a
        transformer of another package; it is not fitted; the card is no mapping of JSON types; the file can't be
        written.
    MissingExtra
        skops is not installed.
    """
    require("skops")
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if hasattr(estimator, "fit"):
        try:
            check_is_fitted(estimator)
        except NotFittedError as error:
            raise DataError(f"{path}: {type(estimator).__name__} is not fitted; fit it before it is saved") from error
    if not isinstance(card, Mapping) or not all(isinstance(name, str) for name in card):
        raise DataError(f"{path}: the card must be a mapping with text keys, such as {{'data': '300 digits'}}")
    try:
        header = json.dumps({"versions": versions(), "card": card}, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{path}: the card can't be written as JSON ({error}); use text, numbers, lists, dicts"
        ) from error
    content = _archive(path, {"estimator": estimator, "arrays": dict(arrays or {})})
    body = header.encode() + b"\n" + content
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        stream.write(_first_line(body) + body)


def fitted_bytes(estimators: Sequence[Any], what: str) -> bytes:
    """Return fitted estimators as bytes, equal for equal ones, for :func:`from_bytes`; ``what`` names them in errors.

    Raises
    ------
    DataError
        They hold objects of classes that would not be loaded again.
    MissingExtra
        skops is not installed.
    """
    require("skops")
    return _archive(what, {"estimator": list(estimators), "arrays": {}})


def from_bytes(content: bytes, what: str) -> list[Any]:
    """Return the estimators of :func:`fitted_bytes`; ``what`` names them in errors.

    Raises
    ------
    DataError
        The content is not readable.
    MissingExtra
        skops is not installed.
    """
    return list(_loaded(what, content)["estimator"])


def load_model(path: str | os.PathLike[str]) -> SavedModel:
    """Read a file of :func:`save_model`.

    Raises
    ------
    DamagedFile
        A byte was altered, or the file is truncated.
    DataError
        The file is missing, no model, of another format, of another version of mklearn or of another minor version of
        scikit-learn (whose fitted attributes may differ), or holds classes that are not loaded.
    MissingExtra
        skops is not installed.
    """
    path = Path(path)
    header, archive = _parts(path)
    try:
        said = json.loads(header)
        card, saved_with = dict(said["card"]), {str(name): str(each) for name, each in said["versions"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(f"{path}: not a model of mklearn: its card is not readable ({error})") from error
    _check_versions(path, saved_with)
    held = _loaded(path, archive)
    return SavedModel(held["estimator"], card, held["arrays"], saved_with)


def verify_model(path: str | os.PathLike[str]) -> None:
    """Compare a file of :func:`save_model` with its checksum.

    Raises
    ------
    DamagedFile
        They differ.
    DataError
        It can't be read, or is no model of this format.
    """
    _parts(Path(path))


def _parts(path: Path) -> tuple[bytes, bytes]:
    """Return the line with the card and the archive of a file, verified."""
    content = file_content(path)
    first = _FIRST_LINE.match(content)
    if first is None:
        raise DataError(f"{path}: not a model of mklearn, or its first line is damaged")
    body = content[first.end() :]
    if int(first[1]) != FORMAT:
        raise DataError(f"{path}: a model of format {int(first[1])}; this version of mklearn reads format {FORMAT}")
    if _first_line(body) != first[0]:
        raise DamagedFile(
            str(path), f"{path}: its checksum is not the one that it was saved with; copy or save it again"
        )
    header, _, archive = body.partition(b"\n")
    return header, archive


def _archive(path: object, held: Mapping[str, Any]) -> bytes:
    """Return the archive of skops, if it holds nothing that would not be loaded again."""
    from skops.io import dumps, get_untrusted_types
    from skops.io.exceptions import UnsupportedTypeException

    name = type(held["estimator"]).__name__
    try:
        content = _packed(dumps(held))
        unknown = sorted(set(get_untrusted_types(data=content)) - set(TRUSTED))
    except (UnsupportedTypeException, TypeError) as error:
        raise DataError(f"{path}: {name} can't be saved: {error}") from error
    if unknown:
        raise DataError(
            f"{path}: {name} holds objects that a model file can't: {', '.join(unknown)}; use estimators and "
            "transformers of mklearn and scikit-learn, without functions of your own, and of a search its "
            "best_estimator_"
        )
    try:
        check_archive(content)
    except ValueError as error:
        raise DataError(f"{path}: {name} can't be saved: {error}") from error
    return content


def _loaded(path: object, archive: bytes) -> dict[str, Any]:
    require("skops")
    from skops.io import loads
    from skops.io.exceptions import UntrustedTypesFoundException

    try:
        check_archive(archive)
        held = loads(archive, trusted=list(TRUSTED))
        check_held(held)
        if not (isinstance(held, dict) and set(held) == {"estimator", "arrays"} and isinstance(held["arrays"], dict)):
            raise ValueError("it holds something else than an estimator and arrays")
    except UntrustedTypesFoundException as error:
        raise DataError(f"{path}: holds objects that are not loaded from a file ({error})") from error
    except MemoryError:
        raise
    except Exception as error:  # bytes that are no archive of skops raise errors of many kinds
        raise DataError(f"{path}: not a model of mklearn: its content is not readable ({reason_of(error)})") from error
    return held


def _first_line(body: bytes) -> bytes:
    start = _MAGIC + b"%d, sha256 " % FORMAT
    return start + hashlib.sha256(start + body).hexdigest().encode() + b"\n"


def versions() -> dict[str, str]:
    """Return the versions of Python, mklearn and the packages that a saved model depends on."""
    return {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in _PACKAGES}


def _check_versions(path: Path, saved: Mapping[str, str]) -> None:
    here = versions()
    for name, parts in (("mklearn", None), ("scikit-learn", 2)):
        then, now = saved.get(name, "none"), here[name]
        if then.split(".")[:parts] != now.split(".")[:parts]:
            raise DataError(
                f"{path}: saved with {name} {then}, and this is {now}: install {name} {then}, or fit and save the "
                "model again"
            )


def _packed(archive: bytes) -> bytes:
    """Pack an archive of skops again: its text compressed, and equal estimators as equal bytes.

    skops names arrays and objects by their addresses, and dates members. Arrays stay as they are.
    """
    with zipfile.ZipFile(io.BytesIO(archive)) as given:
        schema = json.loads(given.read(SCHEMA))
        names: dict[str, str] = {}
        _renumber(schema, {}, names)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as written:
            text = json.dumps(schema, separators=(",", ":")).encode()
            written.writestr(zipfile.ZipInfo(SCHEMA), text, zipfile.ZIP_DEFLATED)
            for name, new in names.items():
                written.writestr(zipfile.ZipInfo(new), given.read(name), zipfile.ZIP_STORED)
    return packed.getvalue()


def _renumber(node: Any, ids: dict[int | str, int], names: dict[str, str]) -> None:
    """Replace ids of objects and names of files in a schema by numbers, in the order in which they appear.

    Equal texts and numbers have one number: whether they are one object depends on where they come from.
    """
    if isinstance(node, list):
        for entry in node:
            _renumber(entry, ids, names)
        return
    if not isinstance(node, dict):
        return
    if "__loader__" in node:
        if isinstance(node.get("__id__"), int):
            known: int | str = node["__id__"]
            if node["__loader__"] == "JsonNode":
                known = json.dumps(node["content"])
            node["__id__"] = ids.setdefault(known, len(ids))
        if isinstance(node.get("file"), str):
            suffix = Path(node["file"]).suffix
            node["file"] = names.setdefault(node["file"], f"{len(names)}{suffix}")
    for entry in node.values():
        _renumber(entry, ids, names)

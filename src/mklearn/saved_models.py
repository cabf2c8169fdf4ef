"""Model files without pickles: the arrays and parameters of fitted estimators, and a card that describes them.

A model file is a skops archive with the additional member ``card.json``: the card and the versions of packages. Reading
a file executes nothing in it. Only classes of mklearn's library are constructed, and the classes of scikit-learn, NumPy
and SciPy that skops trusts.
"""

from __future__ import annotations

import importlib.metadata
import io
import json
import os
import platform
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mklearn.atomic import atomic_path, file_content
from mklearn.errors import DataError
from mklearn.extras import require

__all__ = ["SavedModel", "load_model", "save_model"]

MOST_BYTES = 2**31
"""Largest unpacked size of a model in bytes; a large file may unpack to `MOST_PACKED` times its own size."""
MOST_PACKED = 100
_CARD = "card.json"
_PACKAGES = ("mklearn", "scikit-learn", "numpy", "scipy", "skops")
_SUBPACKAGES = tuple(
    f"mklearn.{name}."
    for name in ("base", "classifiers", "graphs", "kernels", "optimize", "papers", "regressors", "subspace", "survival")
)


def is_trusted(name: str) -> bool:
    """Return whether reading may construct a class that skops does not trust: one that mklearn's library defines."""
    module, _, attribute = name.rpartition(".")
    if not module.startswith(_SUBPACKAGES):
        return name in ("numpy.dtype", "scipy.sparse._csr.csr_array")
    found = getattr(importlib.import_module(module), attribute, None)
    return isinstance(found, type) and found.__module__ == module  # not what a module imports


@dataclass(frozen=True)
class SavedModel:
    """Model loaded from a file.

    Attributes
    ----------
    estimator : object
        Fitted estimator, whose predictions are bitwise equal to those before saving.
    card : mapping
        Description of the model, of JSON types.
    arrays : mapping of str to array
        Additional arrays that predictions need, such as the names of the training samples.
    versions : mapping of str to str
        Versions of Python, mklearn and the packages that affect results, at the time of saving.
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
    """Write a fitted estimator atomically to one file; raise `MissingExtra` without skops.

    Raises `DataError` if the estimator is not fitted or holds an object that can't be loaded again, such as a function
    or a transformer of another package, if the card is not a mapping of JSON types, or the file can't be written.

    Parameters
    ----------
    estimator : object
        Fitted estimator of mklearn or scikit-learn, or a pipeline of them.
    path : path
    card : mapping
        Description of the model for people and programs: string keys and JSON types, without NaN.
    arrays : mapping of str to array, optional
        Arrays of numbers or strings to save with the model.
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
        raise DataError(f"{path}: the card can't be written ({error}); use text, numbers, lists, dicts") from error
    content = _dumped(path, type(estimator).__name__, {"estimator": estimator, "arrays": dict(arrays or {})})
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)
        with zipfile.ZipFile(temporary, "a") as archive:
            archive.writestr(_CARD, header)


def load_model(path: str | os.PathLike[str]) -> SavedModel:
    """Read a model file that was written by :func:`save_model`; raise `MissingExtra` without skops.

    Raises `DataError` if the file is missing, damaged or not a model, was written by another version of mklearn or
    another minor version of scikit-learn (whose fitted attributes may differ), or holds classes that are not trusted.
    """
    content = file_content(path)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            header = json.loads(archive.read(_CARD))
        card, saved_with = dict(header["card"]), dict(header["versions"])
    except Exception as error:  # invalid archives raise many kinds of errors
        raise _unreadable(path, error) from error
    here = versions()
    for name, parts in (("mklearn", None), ("scikit-learn", 2)):
        then, now = str(saved_with.get(name, "none")), here[name]
        if then.split(".")[:parts] != now.split(".")[:parts]:
            raise DataError(
                f"{path}: saved with {name} {then}, and this is {now}: install {name} {then}, or fit and save the "
                "model again"
            )
    try:
        return SavedModel(card=card, versions=saved_with, **_loaded(path, content))
    except TypeError as error:
        raise _unreadable(path, error) from error


def fitted_bytes(estimators: Sequence[Any], what: str) -> bytes:
    """Return fitted estimators as bytes; ``what`` names them in errors, which are as for `save_model`."""
    require("skops")
    return _dumped(what, "a list", list(estimators))


def from_bytes(content: bytes, what: str) -> list[Any]:
    """Return the estimators in the bytes of `fitted_bytes`; ``what`` names them in errors as for `load_model`."""
    return list(_loaded(what, content))


def versions() -> dict[str, str]:
    """Return the versions of Python, mklearn and the packages that a saved model depends on."""
    return {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in _PACKAGES}


def _dumped(path: object, name: str, content: Any) -> bytes:
    """Return a skops archive of `content`; raise `DataError` if an object in it could not be loaded again."""
    from skops.io import dumps, get_untrusted_types
    from skops.io.exceptions import UnsupportedTypeException

    try:
        archive = dumps(content, compression=zipfile.ZIP_DEFLATED, compresslevel=1)
        unknown = [name for name in get_untrusted_types(data=archive) if not is_trusted(name)]
    except (UnsupportedTypeException, TypeError) as error:
        raise DataError(f"{path}: {name} can't be saved: {error}") from error
    if unknown:
        raise DataError(
            f"{path}: {name} holds objects that a model file can't: {', '.join(unknown)}; use estimators and "
            "transformers of mklearn and scikit-learn, without functions of your own, and of a search its "
            "best_estimator_"
        )
    return bytes(archive)


def _loaded(path: object, content: bytes) -> Any:
    require("skops")
    from skops.io import get_untrusted_types, loads
    from skops.io.exceptions import UntrustedTypesFoundException

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
            if unpacked > max(MOST_BYTES, MOST_PACKED * len(content)):
                raise ValueError(f"it unpacks to {unpacked} bytes, far more than its own {len(content)}")
            if (damaged := archive.testzip()) is not None:
                raise ValueError(f"the checksum of {damaged} is wrong")
        return loads(content, trusted=list(filter(is_trusted, get_untrusted_types(data=content))))
    except UntrustedTypesFoundException as error:
        raise DataError(f"{path}: holds objects that are not loaded from a file ({error})") from error
    except MemoryError:
        raise
    except Exception as error:  # invalid skops archives raise many kinds of errors
        raise _unreadable(path, error) from error


def _unreadable(path: object, error: Exception) -> DataError:
    reason = " ".join(str(error).split()) or type(error).__name__
    return DataError(f"{path}: damaged, or not a model of mklearn ({reason})")

"""Artefacts: files that jobs write for later jobs. What a job reads is what was written, and of the job in its name.

A file of the cache is named by its data set, descriptor, protocol, method, ..., each with the key of its specification
(:func:`mklearn.study.provenance.key`). Each file carries this name, and reading compares the two: another file in its
place is noticed, whoever has put it there. The name stands for the specification, of which no later job knows more than
the key; with 64 bits no two specifications share one by chance.

Checksums: of each array of an NPZ file, of all bytes of a Parquet table (:mod:`mklearn.atomic`), of the content of a
JSON file, and of a download in the ``provenance.json`` beside it. A file that fails a check raises
:class:`mklearn.errors.DamagedArtefact`; the step's runner sets it aside, so that the next run makes it again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mklearn.atomic import file_content, read_npz, read_parquet, write_npz, write_parquet, write_text
from mklearn.errors import DamagedArtefact, DamagedFile, DataError
from mklearn.study.provenance import canonical, digest
from mklearn.study.stamps import BESIDE, CHECKSUM, load_beside, sealed_json

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

CACHE = "cache"
"""Folder of the artefacts that studies share."""
STAGES = (
    "data", "resized", "splits", "descriptors", "pairwise", "projections", "landmarks", "moments", "fits",
)  # fmt: skip
"""Folders in it."""
_STAMP = "provenance"
_NAME = "artefact"


def cached_name(path: str | os.PathLike[str]) -> str:
    """Return the part of a path below the cache, such as ``splits/digits-0123.../random-4567....parquet``.

    Empty for a file that is not in a cache: its name says nothing of its job.
    """
    parts = Path(path).absolute().parts
    starts = [start for start in range(1, len(parts) - 1) if parts[start - 1] == CACHE and parts[start] in STAGES]
    return "/".join(parts[starts[-1] :]) if starts else ""


def write_arrays(path: str | os.PathLike[str], stamp: Mapping[str, Any], **arrays: Any) -> None:
    """Write named arrays with their stamp as NPZ; see :func:`mklearn.atomic.write_npz`."""
    write_npz(path, **arrays, **{_STAMP: canonical(_named(path, stamp))})


def read_arrays(path: str | os.PathLike[str], names: tuple[str, ...] | None = None) -> dict[str, np.ndarray]:
    """Read the arrays, or those of `names`, of an NPZ artefact, verified.

    Raises
    ------
    DamagedArtefact
        The file is damaged, or not the artefact that its name says.
    DataError
        It is missing, or can't be read.
    """
    stamped = bool(cached_name(path))
    with _of_the_workflow():
        arrays = read_npz(path, (*names, _STAMP) if names and stamped else names)
    if stamped:
        try:
            stamp = json.loads(str(arrays[_STAMP]))
        except (KeyError, ValueError):
            stamp = {}
        _check_name(path, stamp)
    return arrays if names is None else {name: arrays[name] for name in names}


def write_table(path: str | os.PathLike[str], frame: pd.DataFrame, description: Mapping[str, Any]) -> None:
    """Write a table with its stamp as Parquet; see :func:`mklearn.atomic.write_parquet`."""
    write_parquet(path, frame, _named(path, description))


def read_table(path: str | os.PathLike[str]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Read a Parquet artefact and its description, verified.

    Raises
    ------
    DamagedArtefact
        The file is damaged, or not the artefact that its name says.
    DataError
        It is missing, or can't be read.
    """
    with _of_the_workflow():
        frame, description = read_parquet(path, sealed=True)
    _check_name(path, description)
    return frame, description


def write_record(path: str | os.PathLike[str], content: Mapping[str, Any]) -> None:
    """Write a JSON object with the sha256 of its content."""
    write_text(path, sealed_json(_named(path, content)))


def read_record(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a JSON artefact, verified.

    Raises
    ------
    DamagedArtefact
        The file is damaged, or not the artefact that its name says.
    DataError
        It is missing, or can't be read.
    """
    held = file_content(path)
    try:
        content = json.loads(held)
        expected = content.pop(CHECKSUM)
        found = digest(content)
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise DamagedArtefact(str(path), f"{path}: not a readable JSON object with its checksum ({error!r})") from error
    if found != expected:
        raise DamagedArtefact(str(path), f"{path}: its content is not what was written: its checksum is another")
    _check_name(path, content)
    return dict(content)


def check_download(path: Path, sha256: str) -> None:
    """Compare a downloaded file's sha256 with the one that was recorded when its own checksum was verified.

    Files without a record beside them are not of the workflow, and pass.

    Raises
    ------
    DamagedArtefact
        The file, or the record, is damaged.
    """
    beside = path.with_name(f"{path.name}.{BESIDE}")
    if not beside.is_file():
        return
    try:
        recorded = load_beside(beside).get("files", {}).get(path.name)
    except DataError as error:
        raise DamagedArtefact(str(path), f"{path}: the record of its checksum is damaged: {error}") from error
    if recorded != sha256:
        reason = f"its sha256 is {sha256}, and was {recorded} when it was downloaded"
        raise DamagedArtefact(str(path), f"{path}: not the file that was downloaded: {reason}")


@contextmanager
def _of_the_workflow() -> Iterator[None]:
    """Turn the error of a damaged file into that of a damaged artefact, which the runner sets aside."""
    try:
        yield
    except DamagedFile as error:
        raise DamagedArtefact(error.path, error.message) from error


def _named(path: str | os.PathLike[str], description: Mapping[str, Any]) -> dict[str, Any]:
    name = cached_name(path)
    return {**description, _NAME: name} if name else dict(description)


def _check_name(path: str | os.PathLike[str], description: Any) -> None:
    expected = cached_name(path)
    found = description.get(_NAME) if isinstance(description, dict) else None
    if expected and found != expected:
        what = f"the file of {found}" if found else "of an older version of mklearn, or not of the workflow"
        raise DamagedArtefact(str(path), f"{path}: not the file that its name says: it is {what}")

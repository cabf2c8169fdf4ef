"""Specifications of the jobs before the fits: downloads and splits."""

from __future__ import annotations

from typing import Any, Literal

from mklearn.study.specs.model import Spec

TargetKind = Literal["classes", "numbers", "survival"]
"""Kind of target: classes, numbers, or survival times that may be censored.

The labels file of a data set has the target in column ``y``: integer class codes, with the class names in ``label``, or
floats; a survival time is positive if an event ended it, and negative if it is censored.
"""

FOLDER_KEY = "FOLDER"
"""Key of the folder of images among the paths of a user's data. It can't clash: names of tables are lower case."""
DOWNLOADS = "downloads/{source}/{file}"
"""Path of a downloaded file below the results folder."""


class FileSpec(Spec):
    """A file to download, as a data set of the registry lists it."""

    name: str
    """Local file name."""
    urls: list[str] = []
    """URLs of the file upstream, in order of preference."""
    sha256: list[str] = []
    """Accepted SHA-256 checksums; one match, here or in `md5`, is enough."""
    md5: list[str] = []
    """Accepted MD5 checksums, for files without a published SHA-256."""
    bytes: int | None = None
    """Size of the mirror's copy; downloads that are far larger are stopped."""
    mirror: str | None = None
    """Path of the file below the root of a mirror; None if no mirror has it."""
    content_check: bool = False
    """Whether upstream's checksum is unknown; the reader then checks the decoded content instead."""


class SplitSpec(Spec):
    """Specification of the rule ``split``: the splits of one protocol, at all its training sizes."""

    kind: str
    implementation: str
    parameters: dict[str, Any]
    seed: int
    dataset: str = ""
    """Name that seeds the generator: the data set, or the data set whose splits it shares."""
    source: str | None = None
    """Function (``"module:function"``) that reads the splits released with the data set."""
    file_sha256: str | None = None
    """Checksum of the user's file of splits. Not part of the key: a changed file rewrites the same output."""


FeatureType = Literal["float32", "float64"]

"""Specifications of the jobs before the fits: files to download, splits."""

from __future__ import annotations

from typing import Any, Literal

from mklearn.study.specs.model import Spec

TargetKind = Literal["classes", "numbers"]
"""Kind of target: the class of a sample, or a number.

The labels file of a data set has the target in the column ``y``: codes of classes as integers, with their names in
``label``, or numbers as floats.
"""


DOWNLOADS = "downloads/{source}/{file}"
"""Where a downloaded file lies below the folder of results."""


class FileSpec(Spec):
    """A file to download: an entry of the registry of data sets."""

    name: str
    """Local file name."""
    urls: list[str] = []
    """Upstream's addresses, in order of preference."""
    sha256: list[str] = []
    """Accepted checksums; one match of either kind is enough."""
    md5: list[str] = []
    """Accepted too, where nothing better is published."""
    bytes: int | None = None
    """Size of the mirror's copy, for messages."""
    mirror: str | None = None
    """Path below the root of a mirror; None if no mirror has the file."""
    content_check: bool = False
    """Whether the checksum of upstream's own file is unknown: its decoded content is checked when it is read."""


class SplitSpec(Spec):
    """Step ``split``: the splits of one protocol, at all its training sizes."""

    kind: str
    implementation: str
    parameters: dict[str, Any]
    seed: int
    dataset: str = ""
    """Name that seeds the generator: the data set, or the one whose splits it has."""
    source: str | None = None
    """``"module:function"`` that reads the splits that were released with the data set."""
    file_sha256: str | None = None
    """Checksum of the user's file with splits. In no key: a changed file rewrites the same splits."""


FeatureType = Literal["float32", "float64"]

"""Frozen specifications of the jobs before the fits; for the others see ``fit_spec`` and ``table_specs`` here.

The expansion of a study builds them, the rules hold them as plain dictionaries, and each step validates its own again.
"""

from __future__ import annotations

from typing import Any, Literal

from mklearn.study.specs.model import Strict

TargetKind = Literal["classes", "numbers"]
"""What is predicted for a sample: its class, or a number.

The labels file of a data set has the target in the column ``y``: codes of classes as integers, with their names in
``label``, or numbers as floats.
"""


class Spec(Strict):
    """The specification of a job."""

    def as_dict(self) -> dict[str, Any]:
        """Return builtin types only: the parameters of a rule. Keys of files are made from them.

        Fields that were not set are left out, so that a new optional field changes no key.
        """
        return self.model_dump(mode="json", exclude_unset=True)


# --- data sets


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
    """Name that the generator is seeded with: that of the data set, or of the one whose splits it has."""
    source: str | None = None
    """``"module:function"`` that reads the splits that were released with the data set."""
    file_sha256: str | None = None
    """Of the user's file with splits. In no key: a changed file rewrites the same splits."""


# --- descriptors and kernels

FeatureType = Literal["float32", "float64"]


class DescriptorSpec(Spec):
    """Step ``describe``: one descriptor of every image."""

    kind: str
    implementation: str
    parameters: dict[str, Any]
    learns: str | None = None
    """``"module:function"`` that learns from images of the data set first."""
    learns_from: int | None = None
    """Number of images that it learns from."""
    seed: int | None = None
    part: str | None = None
    """``"2of8"``: the second eighth of the samples, consecutive ones."""
    dtype: FeatureType | None = None
    """Type of the features; None: as the descriptor gives them, which is float64."""

    def learning(self) -> dict[str, Any]:
        """Return the arguments of the rule ``learn``."""
        return self.model_dump(include={"learns", "learns_from", "seed", "parameters"})

    def describing(self) -> dict[str, Any]:
        """Return the arguments of the rules ``describe`` and ``describe_part``."""
        return self.model_dump(exclude={"learns", "learns_from", "seed"}, exclude_unset=True)


class PairwiseSpec(Spec):
    """Rule ``distances``: a matrix among all samples."""

    measure: str
    array: str | None = None
    """Name of a matrix that the data set brings."""
    implementation: str | None = None
    """``"module:function"`` of a distance between sets of points, with ``n_jobs`` threads."""
    parameters: dict[str, Any] | None = None

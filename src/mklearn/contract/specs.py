"""Frozen specifications of the workflow's jobs; that of a fit is in :mod:`mklearn.contract.fit_spec`.

The expansion of a study builds them, the rules hold them as plain dictionaries, and each step validates its own again.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from mklearn.contract.fit_spec import Setting
from mklearn.contract.model import Slug, Strict


class Spec(Strict):
    """The specification of a job."""

    def as_dict(self) -> dict[str, Any]:
        """Return builtin types only: the parameters of a rule. Keys of files are made from them.

        Fields that were not set are left out, so that a new optional field changes no key.
        """
        return self.model_dump(mode="json", exclude_unset=True)


# --- data sets


class FileSpec(Spec):
    """A file to download, as the registry describes it."""

    name: str
    urls: list[str] = []
    sha256: list[str] = []
    md5: list[str] = []
    bytes: int | None = None
    mirror: str | None = None
    content_check: bool = False


class DownloadSpec(Spec):
    """Step ``download``: one file of a registered data set, and how its content is read to check it."""

    file: FileSpec
    reader: str
    options: dict[str, Any] = {}


class ReadSpec(Spec):
    """Step ``read``: a data set from its files."""

    dataset: str
    reader: str
    """Name of a reader of mklearn, or ``"module:function"``."""
    options: dict[str, Any] = {}
    paths: dict[str, str] | None = None
    """Files or folder of the user's own data, by name."""
    listing: str | None = None
    """Digest of the names, sizes and times of a folder's images. In no key: a changed folder rewrites the same file."""
    registered: str | None = None
    """Name in the registry."""
    expected: dict[str, Any] = {}
    """Sizes that are checked after reading."""
    classes: list[str] | None = None
    exclude_classes: list[str] | None = None
    first_classes: int | None = None
    per_class: int | None = None
    draw: int | None = None


class ResizeSpec(Spec):
    """Step ``resize``: one size for all images."""

    shape: list[int] | None = None
    pixels: int | None = None
    interpolation: str = "area"
    rounding: str = "nearest"
    anti_alias: bool = True


class SplitSpec(Spec):
    """Step ``split``: the splits of one protocol, at all its training sizes."""

    kind: str
    implementation: str
    parameters: dict[str, Any]
    seed: int
    dataset: str = ""


# --- descriptors and kernels


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
    """``"2of8"``: the second eighth of the images."""


class LearnSpec(DescriptorSpec):
    """Step ``learn``: what a descriptor learns before it describes images."""

    learns: str
    learns_from: int
    seed: int


class PairwiseSpec(Spec):
    """Step ``pairwise``: a matrix among all samples."""

    measure: str
    matrix: str | None = None
    """Name of a matrix that the data set brings."""
    implementation: str | None = None
    """``"module:function"`` of a distance between sets of points."""
    rows: str | None = None
    """``"module:function"`` that computes some of its rows."""
    parameters: dict[str, Any] | None = None
    part: str | None = None
    """``"2of8"``: every eighth row, from the second on."""


class PairwiseBlockSpec(PairwiseSpec):
    """Step ``pairwise_block``: some rows of a matrix among all samples."""

    rows: str
    parameters: dict[str, Any]
    part: str


class KernelSetSpec(Spec):
    """Step ``kernel_set``: the kernels that a method takes, and the pairwise matrices that they are made from."""

    kernels: list[dict[str, Any]]
    """As :func:`mklearn.kernels.specs.build_stack` takes them."""
    pairwise: list[str]
    """``DESCRIPTOR/MEASURE`` of each matrix."""


# --- tables and report


class LostFit(Spec):
    """A fit without a result, because a job was killed or had an error."""

    position: int
    """Among the fits of the plan."""
    key: tuple[str, str, str]
    """Keys of the data set, the protocol and the method."""
    fits: list[dict[str, Any]]
    """For each training size the columns of :func:`mklearn.steps.rows.fit_of`."""
    splits: list[list[tuple[int, int, int, int]]]
    """For each training size the repeat, fold and numbers of training and test samples of each split that was drawn."""
    status: str
    message: str
    """The reason, with the path of the log."""
    reason: str
    log: str
    """Empty if the job ended before it wrote one."""
    outdated: float | None
    """Modification time of a result of an earlier state of the study, where there is one."""


class ScoresSpec(Spec):
    """Step ``scores``: the score table of a study."""

    study: str
    lost: list[LostFit] = []


class PublishedValue(Spec):
    """An accuracy that a paper reports for one cell of the study's table, as a fraction."""

    dataset: str
    train_size: int | None
    method: str
    protocol: str | None
    neighbour: str | None
    value: float
    std: float | None
    dimension: int | None
    repeats: int | None
    source: str


class Calibration(Strict):
    """A method whose published values show that the data are the papers' before other methods are compared.

    A full-rank PCA changes no distance, so its accuracy is that of the raw pixels: on another crop of the same images
    it is tens of points off, and so is every other method.
    """

    method: Slug
    """Its published values have to be met on every data set."""
    tolerance: Annotated[float, Field(gt=0)] = 3
    """Largest difference in any cell, in units of split noise."""


class SummarySpec(Spec):
    """Step ``summary``: the summary table of a study."""

    reference: str
    """Method that all others are compared with."""
    published: list[PublishedValue]
    titles: dict[str, dict[str, str]]
    calibration: Calibration | None


class RunSpec(Spec):
    """Step ``run_record``: the study as it was run."""

    study: str
    seed: int
    source: str
    """The study file."""
    config: dict[str, Any]


class CatalogueEntry(Spec):
    """A descriptor, kernel or method of the study, with its paper."""

    id: str
    title: str
    reference: str


class ReportFit(Spec):
    """A fit as the report names it."""

    dataset: str
    settings: list[Setting]
    method: str
    title: str


class ReportFile(Spec):
    """A file that a data set was read from."""

    name: str
    path: str
    source: str


class ReportDataset(Spec):
    """A data set as the report shows it."""

    id: str
    title: str
    about: dict[str, str]
    files: list[ReportFile]


class ReportRemark(Spec):
    """A sentence about some methods."""

    methods: list[str]
    text: str


class ReportSpec(Spec):
    """Step ``report``: the page of a study."""

    study: str
    title: str
    description: str
    reference: str
    thumbnails: int
    fits: list[ReportFit]
    datasets: list[ReportDataset]
    calibration: Calibration | None
    remarks: list[ReportRemark]
    best_single: list[str]
    """Methods that take one kernel, chosen by inner cross-validation or on the test samples."""
    descriptors: list[CatalogueEntry]
    kernels: list[CatalogueEntry]
    methods: list[CatalogueEntry]

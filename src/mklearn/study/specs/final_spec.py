"""The final model of a study: the specification of its job, and how samples are read for it."""

from __future__ import annotations

from typing import Any

from mklearn.study.specs.data_specs import FeatureType
from mklearn.study.specs.fit_spec import FitSpec
from mklearn.study.specs.model import Spec, Strict

BEST = "best"
"""In place of a method's name: the one with the best mean of the metric."""
CENTRE = "centre"
"""The array ``VIEW/centre`` of a model has the mean of each feature of a table, or the median with impute: median."""


class ModelView(Strict):
    """A view of the model: a table, or a descriptor of images with its parameters."""

    name: str
    """Name in the study."""
    kind: str
    """Kind of the descriptor; ``table`` for a table."""
    parameters: dict[str, Any] = {}
    """Parameters of the descriptor; of a table its name in the study."""
    dtype: FeatureType | None = None
    """Type of the features; None: as the descriptor gives them."""
    learns: bool = False
    """Whether it has learned from images: its arrays ``VIEW/NAME`` are beside the estimator."""
    file: str | None = None
    """Name of the file that the study reads a table of the user's own from."""
    array: str | None = None
    """Name of the array of that file, where it has several."""
    n_features: int = 0
    """Known when the model is fitted, as are the columns."""
    columns: list[str] | None = None
    """Names of the features of a table, in order; None where they have no names."""

    @property
    def table(self) -> str:
        """Name of its table in the study."""
        return str(self.parameters.get("table", self.name))


class ModelInputs(Strict):
    """How samples are read for a model: as the study has read its own."""

    family: str
    """``images`` or ``tables``."""
    options: dict[str, Any] = {}
    """Options of the reader, such as the colour of images and the columns of ids and labels."""
    resize: dict[str, Any] | None = None
    """Arguments of :func:`mklearn.study.data.resizing.resize_images`; None keeps the size."""
    shape: list[int] | None = None
    """Shape of the resized images; None if they have several."""
    pixels: str | None = None
    """Type of their pixels."""
    views: list[ModelView]
    """Views of the estimator; none where it takes the images themselves."""


class FinalEntry(Strict):
    """Where the summary says what is expected of a method that the model can be of."""

    method: str
    protocol: str
    train_size: int | None


class FinalCandidate(Strict):
    """A method that the model can be of, with kernels that are computed from features."""

    fit: FitSpec
    """Fit whose views are named as in the study."""
    title: str
    kind: str

    @property
    def entry(self) -> FinalEntry:
        """Where it is in the summary."""
        (setting,) = self.fit.settings
        return FinalEntry(method=self.fit.method.id, protocol=setting.protocol, train_size=setting.train_size)


class FinalSpec(Spec):
    """Rule ``model``: one method on all samples of a data set."""

    study: str
    dataset: str
    title: str
    method: str
    """Name in the study, or ``best``."""
    metric: str
    candidates: list[FinalCandidate]
    inputs: ModelInputs
    """With the views of all candidates; files of features are in their order."""
    exclude_classes: list[str] = []
    given_splits: bool = False
    """Whether splits are read, not drawn: of a single one, nothing is chosen by the test samples."""
    include_test: bool = False
    """Whether the model learns from the test samples of a single given split too."""
    permutations: int = 0
    """How often each view and feature is shuffled in each split to measure its importance."""

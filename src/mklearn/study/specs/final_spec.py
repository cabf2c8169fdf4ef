"""Specification of the final model of a study, and of how samples are read for it."""

from __future__ import annotations

from typing import Any

from mklearn.study.specs.data_specs import FeatureType
from mklearn.study.specs.fit_spec import FitSpec
from mklearn.study.specs.model import Spec, Strict

BEST = "best"
"""Value in place of a method name: the method with the best mean of the metric."""
CENTRE = "centre"
"""Name of the array ``VIEW/centre`` of a model: the mean of each feature (the median with ``impute: median``)."""
QUARTILES = "quartiles"
"""Name of the array ``VIEW/quartiles``, (4, d): least value, quartiles and largest value of features."""


class ModelView(Strict):
    """A view of the model: a table of features, or an image descriptor with its parameters."""

    name: str
    """Name in the study."""
    kind: str
    """Kind of descriptor; ``table`` for a table of features."""
    parameters: dict[str, Any] = {}
    """Parameters of the descriptor; for a table, its name in the study."""
    dtype: FeatureType | None = None
    """Type of the features; None keeps the type that the descriptor returns."""
    learns: bool = False
    """Whether the descriptor was learned from images; the model file then has its arrays ``VIEW/NAME``."""
    file: str | None = None
    """File name of the user's own table; None for other views."""
    array: str | None = None
    """Name of the array in that file, if it has several."""
    n_features: int = 0
    """Number of features; like `columns`, set when the model is fitted."""
    columns: list[str] | None = None
    """Names of the features of a table, in order; None if they have no names."""

    @property
    def table(self) -> str:
        """Name of the table in the study."""
        return str(self.parameters.get("table", self.name))


class ModelInputs(Strict):
    """Settings with which samples are read for a model, the same as in the study."""

    family: str
    """Kind of data: ``images`` or ``tables``."""
    options: dict[str, Any] = {}
    """Options of the reader, such as the colour mode of images, or the columns of ids and labels."""
    labels: str | None = None
    """File name of the study's labels file; such a file beside tables of new samples has their labels."""
    resize: dict[str, Any] | None = None
    """Arguments of :func:`mklearn.study.data.resizing.resize_images`; None keeps the size."""
    shape: list[int] | None = None
    """Shape of the resized images; None if they have different shapes."""
    pixels: str | None = None
    """Data type of the pixels."""
    views: list[ModelView]
    """Views of the estimator; empty if it takes the images themselves."""


class FinalSpec(Spec):
    """Specification of the rule ``model``: one method, fitted to all samples of a data set."""

    study: str
    dataset: str
    title: str
    method: str
    """Name of the method in the study, or ``best``."""
    metric: str
    candidates: list[FitSpec]
    """Fits of the methods from which the model may be made: views are named as in the study, and kernels are computed
    from features."""
    inputs: ModelInputs
    """Settings for reading samples, with the views of all candidates. Feature files are in the order of the views."""
    exclude_classes: list[str] = []
    given_splits: bool = False
    """Whether splits are read and not drawn."""
    include_test: bool = False
    """Whether the model is fitted to the test samples of a single given split too."""
    permutations: int = 0
    """Number of times that each view and feature is shuffled, in each split, to measure its importance."""

"""Frozen specification of the final model: the methods that it can be of, and the views that they take."""

from __future__ import annotations

from mklearn.study.specs.data_specs import Spec
from mklearn.study.specs.fit_spec import FitSpec
from mklearn.study.specs.model import Strict
from mklearn.study.specs.model_card import CardImages, CardTables, NamedView

BEST = "best"
"""In place of a method's name: the one with the best mean of the metric."""


class FinalView(NamedView):
    """A descriptor of the data set."""

    descriptor: str
    """Its key."""
    learns: bool = False
    """Whether it has learned from images."""
    column_table: str | None = None
    """Path of the user's table that the features are the columns of."""
    column_array: str | None = None
    """Name of its array, where the file has several."""


class FinalEntry(Strict):
    """Where the summary says what is expected of a method that the model can be of."""

    method: str
    protocol: str
    train_size: int | None


class FinalCandidate(Strict):
    """A method that the model can be of, with kernels that are computed from features."""

    fit: FitSpec
    title: str
    kind: str

    @property
    def entry(self) -> FinalEntry:
        """Where it is in the summary."""
        (setting,) = self.fit.settings
        return FinalEntry(method=self.fit.method.id, protocol=setting.protocol, train_size=setting.train_size)


class FinalSpec(Spec):
    """Step ``final_model``: one method on all samples of a data set."""

    study: str
    dataset: str
    title: str
    method: str
    """Its name in the study, or ``best``."""
    metric: str
    candidates: list[FinalCandidate]
    views: list[FinalView]
    """Descriptors that the candidates take; files of features are in this order."""
    images: CardImages | None = None
    tables: CardTables | None = None
    target: str = ""
    """Name of the number that is predicted; empty for classes."""
    exclude_classes: list[str] = []
    given_splits: bool = False
    """Whether splits are read, not drawn: of a single one, nothing is chosen by the test samples."""
    include_test: bool = False
    """Whether the model learns from the test samples of a single given split too."""
    permutations: int = 0
    """How often each view and feature is shuffled in each split to measure its importance."""

"""Models of the protocols that a study can name: how samples are split into training and test sets."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from mklearn.contract.model import Registered

Count = Annotated[int, Field(ge=1)]


class Protocol(Registered):
    """The model of a protocol.

    Its implementation takes the labels ``y`` and the parameters, and by keyword ``seed``, ``name`` (of the data set)
    and ``classes``; it returns :class:`mklearn.datasets.splits.Splits`.
    """

    exclude_classes: Annotated[list[str], Field(min_length=1)] | None = None
    """Classes whose samples are in no part of any split; descriptors and kernels use the whole data set."""

    def parameters(self) -> dict[str, Any]:
        """Return the parameters with which the splits are drawn."""
        given = super().parameters()
        return given if self.exclude_classes else {k: v for k, v in given.items() if k != "exclude_classes"}

    def train_sizes(self) -> list[int | None]:
        """Return the training samples per class, each size once; [None] for a protocol without such sizes."""
        return [None]


class RandomPerClass(Protocol):
    """A number of random training samples of each class, the rest for the test; repeated."""

    title = "random training samples per class"
    implementation = "mklearn.datasets.splits:random_per_class"

    kind: Literal["random_per_class"]
    train_size: Count | Annotated[list[Count], Field(min_length=1)]
    """Training samples per class, or a list of sizes. All sizes run in one job: to run a size as its own job, give it
    its own protocol."""
    repeats: Count = 10
    """Number of random splits of each size."""

    def train_sizes(self) -> list[int | None]:
        """Return the training samples per class, each size once."""
        return list(dict.fromkeys(self.train_size if isinstance(self.train_size, list) else [self.train_size]))

    def parameters(self) -> dict[str, Any]:
        """Return the parameters with which the splits are drawn."""
        return super().parameters() | {"train_size": self.train_sizes()}


class KFold(Protocol):
    """Stratified k-fold cross-validation, repeated."""

    title = "k-fold"
    implementation = "mklearn.datasets.splits:k_fold"

    kind: Literal["k_fold"]
    folds: Annotated[int, Field(ge=2)] = 5
    repeats: Count = 1


class GivenSplits(Protocol):
    """Splits from a file with columns repeat, fold, id (or index) and role (train or test)."""

    title = "given splits"
    implementation = "mklearn.datasets.splits:given"

    kind: Literal["given"]
    path: str
    """Parquet or CSV file."""


PROTOCOLS: tuple[type[Protocol], ...] = (RandomPerClass, KFold, GivenSplits)

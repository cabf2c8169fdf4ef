"""Protocols: how samples are split into training and test sets."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from mklearn.contract.model import Registered, Slug

Count = Annotated[int, Field(ge=1)]


class ProtocolBase(Registered):
    """What every protocol has."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset({"datasets"})

    datasets: Annotated[list[Slug], Field(min_length=1)] | None = None
    """Only for these data sets of the study; by default for all of them."""
    exclude_classes: Annotated[list[str], Field(min_length=1)] | None = None
    """Classes whose samples are in no part of any split; descriptors and kernels are those of the whole data set."""

    def parameters(self) -> dict[str, Any]:
        """What the splits are drawn with."""
        given = super().parameters()
        return given if self.exclude_classes else {k: v for k, v in given.items() if k != "exclude_classes"}

    def train_sizes(self) -> list[int | None]:
        """Training samples per class, each once; None of a protocol that has no such sizes."""
        return [None]


class RandomPerClass(ProtocolBase):
    """So many random training samples of each class, the rest for the test; repeated."""

    title = "random training samples per class"
    implementation = "mklearn.datasets.splits:random_per_class"

    kind: Literal["random_per_class"]
    train_size: Count | Annotated[list[Count], Field(min_length=1)]
    """Training samples per class; of a list, each by itself. They are one job: those of two protocols are two."""
    repeats: Count = 10
    """Number of random splits of each size."""

    def train_sizes(self) -> list[int | None]:
        return list(dict.fromkeys(self.train_size if isinstance(self.train_size, list) else [self.train_size]))

    def parameters(self) -> dict[str, Any]:
        return super().parameters() | {"train_size": self.train_sizes()}


class KFold(ProtocolBase):
    """Stratified k-fold cross-validation, repeated."""

    title = "k-fold"
    implementation = "mklearn.datasets.splits:k_fold"

    kind: Literal["k_fold"]
    folds: Annotated[int, Field(ge=2)] = 5
    repeats: Count = 1


class Given(ProtocolBase):
    """Splits from a file with columns repeat, fold, id (or index) and role (train or test)."""

    title = "given splits"
    implementation = "mklearn.datasets.splits:given"

    kind: Literal["given"]
    path: str
    """Parquet or CSV file."""


ProtocolConfig = Annotated[RandomPerClass | KFold | Given, Field(discriminator="kind")]

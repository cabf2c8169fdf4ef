"""Models of the protocols that a study can name: how samples are split into training and test sets."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from mklearn.contract.fit_spec import Choice, PairFeatures, PairTerm
from mklearn.contract.model import Count, Registered, as_list


class Protocol(Registered):
    """The model of a protocol.

    Its implementation takes the ``target`` of the samples, their class codes, and the parameters, and by keyword
    ``seed``, ``name`` (of the data set) and ``classes``; it returns :class:`mklearn.study.data.splits.Splits`. If it
    has a parameter ``groups``, it gets the group of each sample, or None where the data set has no groups; with a
    parameter ``ids`` their ids, and with ``files`` the paths of the files that the protocol reads.
    """

    bookkeeping: ClassVar[frozenset[str]] = frozenset({"choose"})

    exclude_classes: Annotated[list[str], Field(min_length=1)] | None = None
    """Classes whose samples are in no part of any split; descriptors and kernels use the whole data set."""
    choose: Choice = "inner_cv"
    """How parameters are chosen: by cross-validation inside the training samples, or, to show the bias of that, on the
    test samples of each split (``test_set``). The name of such a protocol ends in "-optimistic" in every table, and its
    values are the oracle's."""

    def parameters(self) -> dict[str, Any]:
        """Return the parameters with which the splits are drawn."""
        given = super().parameters()
        return given if self.exclude_classes else {k: v for k, v in given.items() if k != "exclude_classes"}

    def train_sizes(self) -> list[int | None]:
        """Return the training samples per class, each size once; [None] for a protocol without such sizes."""
        return [None]

    def table_name(self, name: str) -> str:
        """Return the name that tables have for a protocol of this name in the study."""
        return f"{name}-optimistic" if self.choose == "test_set" else name

    def pair_features(self) -> PairFeatures | None:
        """Return what pairs are compared by; None for a protocol of single samples."""
        return None


class RandomPerClass(Protocol):
    """A number of random training samples of each class, the rest for the test; repeated."""

    title = "random training samples per class"
    implementation = "mklearn.study.data.splits:random_per_class"

    kind: Literal["random_per_class"]
    train_size: Count | Annotated[list[Count], Field(min_length=1)]
    """Training samples per class, or a list of sizes. All sizes run in one job: to run a size as its own job, give it
    its own protocol."""
    repeats: Count = 10
    """Number of random splits of each size."""

    def train_sizes(self) -> list[int | None]:
        """Return the training samples per class, each size once."""
        return list(dict.fromkeys(as_list(self.train_size)))

    def parameters(self) -> dict[str, Any]:
        """Return the parameters with which the splits are drawn."""
        return super().parameters() | {"train_size": self.train_sizes()}


class KFold(Protocol):
    """Stratified k-fold cross-validation, repeated."""

    title = "k-fold"
    implementation = "mklearn.study.data.splits:k_fold"

    kind: Literal["k_fold"]
    folds: Annotated[int, Field(ge=2)] = 5
    repeats: Count = 1


class GroupKFold(Protocol):
    """K-fold cross-validation that holds out whole groups, such as persons, with the classes spread evenly."""

    title = "k-fold over groups"
    implementation = "mklearn.study.data.grouped_splits:group_k_fold"

    kind: Literal["group_k_fold"]
    folds: Annotated[int, Field(ge=2)] = 5
    """At most as many as the class with the fewest groups has."""
    repeats: Count = 1


class ValidationFolds(Protocol):
    """A test part; the rest is dealt into folds, and a model for each fold trains outside it and is validated on it.

    Parameters are chosen by the mean validation score over all models of a repeat, which share them and the test part.
    """

    title = "validation folds with a test part"
    implementation = "mklearn.study.data.grouped_splits:validation_folds"

    kind: Literal["validation_folds"]
    test_share: Annotated[float, Field(gt=0, lt=1)] = 0.25
    """Share of each group, or of each class where samples have no groups, that is the test part; rounded."""
    test_size: Count | None = None
    """Instead of test_share: the number of test samples of each group."""
    folds: Annotated[int, Field(ge=2)] = 5
    deals: Count = 1
    """How often the rest is dealt into folds; each deal gives a model for each fold."""
    in_order: bool = False
    """Deal the rest of a group in the order of the data set, not at random."""
    repeats: Count = 1
    """Number of test parts drawn."""
    first_seed: Annotated[int, Field(ge=0)] | None = None
    """Repeat k has NumPy's default_rng(first_seed + k), in place of the study's seeds."""

    @model_validator(mode="after")
    def _one_test_part(self) -> ValidationFolds:
        if self.test_size is not None and self.test_share != type(self).model_fields["test_share"].default:
            raise ValueError("test_size stands in place of test_share; omit one of them.")
        if self.in_order and self.deals > 1:
            raise ValueError("in_order: all deals would be equal; omit deals.")
        return self


class GivenSplits(Protocol):
    """Splits from a file with columns repeat, fold, id (or index) and role (train, test or validation)."""

    title = "given splits"
    implementation = "mklearn.study.data.splits:given"

    kind: Literal["given"]
    path: str
    """Parquet or CSV file."""


class ReleasedSplits(Protocol):
    """The splits that were released with a data set: the test part of MNIST and USPS, ten of breast, heart and more."""

    title = "released splits"
    implementation = "mklearn.study.data.splits:released"

    kind: Literal["released"]


class Verification(Protocol):
    """Pairs of samples in folds: do both have the same class? Each fold is the test part once.

    Methods take features of a pair. Each descriptor's features are projected on the principal components of the images
    in the training pairs; a pair has the terms of both projections. Several descriptors are put side by side.

    With the official lists of Labelled Faces in the Wild, parameters are chosen once on its View 1 (trained on
    pairsDevTrain, validated on pairsDevTest) for the ten folds of View 2. With other lists they are chosen in the inner
    cross-validation, which holds out whole folds.
    """

    title = "verification of pairs"
    reference = "Huang, Ramesh, Berg, Learned-Miller 2007"
    implementation = "mklearn.study.data.pairs:verification"
    bookkeeping: ClassVar[frozenset[str]] = Protocol.bookkeeping | set(PairFeatures.model_fields)

    kind: Literal["verification"]
    path: str | None = None
    """Parquet or CSV file with columns fold (from 0), first and second (ids) and optionally same, or a list in the
    format of pairs.txt; by default the lists that come with the registered data set."""
    components: Count | None = 200
    """Principal components of each descriptor; null takes the features themselves."""
    square_root: bool = False
    """Take the square roots of the features first, as suits histograms; they must not be negative."""
    whiten: bool = True
    """Give all components the same variance."""
    unit_length: bool = True
    """Bring the components of each image to length 1."""
    terms: Annotated[list[PairTerm], Field(min_length=1)] = ["absolute_difference", "product"]
    """Features of a pair: |a - b|, a b, or both."""

    @model_validator(mode="after")
    def _lists_name_their_samples(self) -> Verification:
        if self.exclude_classes is not None:
            raise ValueError("exclude_classes: a list names its pairs; omit those from the list.")
        if len(set(self.terms)) < len(self.terms):
            raise ValueError("terms: each can be named once.")
        if self.components is None and self.whiten:
            raise ValueError("whiten: needs components; set whiten: false for the features themselves.")
        return self

    def parameters(self) -> dict[str, Any]:
        """Return the parameters with which the splits are drawn."""
        return {} if self.path is None else {"path": self.path}

    def pair_features(self) -> PairFeatures:
        """Return what pairs are compared by."""
        return PairFeatures(**{name: getattr(self, name) for name in PairFeatures.model_fields})


PROTOCOLS: tuple[type[Protocol], ...] = (
    RandomPerClass, KFold, GroupKFold, ValidationFolds, GivenSplits, ReleasedSplits, Verification,
)  # fmt: skip

"""Bases of the models of protocols. Their own fields are parameters of the functions, see :mod:`mklearn.cards`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field, model_validator

from mklearn.contract.fit_spec import Choice, PairFeatures, PairTerm
from mklearn.contract.model import Count, Registered, as_list


class Protocol(Registered):
    """The model of a protocol.

    Its implementation takes the ``target`` of the samples, their class codes, and the parameters, and by keyword
    ``seed``, ``name`` (of the data set) and ``classes``; it returns :class:`mklearn.study.data.splits.Splits`. If it
    has a parameter ``groups``, it gets the group of each sample, or None where the data set has no groups; with a
    parameter ``ids`` their ids, and with ``files`` the paths of the files that the protocol reads. Its ``train_size``
    is a list of the training samples per class, and its ``path`` a file that has to be there.
    """

    bookkeeping: ClassVar[frozenset[str]] = frozenset({"choose"})

    exclude_classes: Annotated[list[str], Field(min_length=1)] | None = None
    """Classes whose samples are in no part of any split; descriptors and kernels use the whole data set."""
    choose: Choice = "inner_cv"
    """How parameters are chosen: by cross-validation inside the training samples, or, to show the bias of that, on the
    test samples of each split (``test_set``). The name of such a protocol ends in "-optimistic" in every table, and its
    values are the oracle's."""

    exclusive: ClassVar[Sequence[tuple[str, str, str]]] = ()
    """Two fields of which a study sets one at most, and the sentence that tells so."""
    holds_groups: ClassVar[bool] = False
    """Whether no group of samples has both training and test samples."""

    @model_validator(mode="after")
    def _one_of_two(self) -> Protocol:
        given = {name for name, field in type(self).model_fields.items() if getattr(self, name) != field.default}
        for first, second, sentence in self.exclusive:
            if {first, second} <= given:
                raise ValueError(sentence)
        return self

    def parameters(self) -> dict[str, Any]:
        """Return the parameters with which the splits are drawn."""
        given = super().parameters()
        if "train_size" in given:
            given["train_size"] = self.train_sizes()
        return given if self.exclude_classes else {k: v for k, v in given.items() if k != "exclude_classes"}

    def train_sizes(self) -> list[int | None]:
        """Return the training samples per class, each size once; [None] for a protocol without such sizes."""
        return list(dict.fromkeys(as_list(getattr(self, "train_size", None))))

    def table_name(self, name: str) -> str:
        """Return the name that tables have for a protocol of this name in the study."""
        return f"{name}-optimistic" if self.choose == "test_set" else name

    def pair_features(self) -> PairFeatures | None:
        """Return what pairs are compared by; None for a protocol of single samples."""
        return None


class PairProtocol(Protocol):
    """The model of a protocol of pairs of samples, which methods take by features of a pair."""

    bookkeeping: ClassVar[frozenset[str]] = Protocol.bookkeeping | set(PairFeatures.model_fields)

    path: str | None = None
    """Parquet, CSV or TSV file with columns fold (from 0), first and second (ids) and optionally same, or a list in the
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
    def _lists_name_their_samples(self) -> PairProtocol:
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

"""The protocols that a study can name, one row a name.

A protocol is a function of the ``target`` of the samples, their class codes, and of parameters, with ``seed``, ``name``
(of the data set) and ``classes`` by keyword; it returns :class:`mklearn.study.data.splits.Splits`. With a parameter
``groups`` it gets the group of each sample, or None where the data set has no groups; with ``ids`` their ids, and with
``files`` the paths of the files that it reads. Its ``train_size`` is a list of the training samples per class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mklearn.rows import Row


@dataclass(frozen=True)
class ProtocolRow(Row):
    """Properties of a protocol that a study is checked and planned by."""

    targets: Sequence[str] = ("classes",)
    """The kinds of target that it can draw splits of: "classes", "numbers"."""
    holds_groups: bool = False
    """Whether no group has both training and test samples."""
    composes: bool = False
    """Whether its samples are composed, such as pairs of samples, and methods take features that their fits learn."""
    required: Sequence[str] = ()
    """Parameters that a study has to give."""
    exclusive: Sequence[tuple[str, str, str]] = ()
    """Two parameters of which a study gives one at most, and the sentence that tells so."""


PROTOCOLS: dict[str, ProtocolRow] = {
    "validation_folds": ProtocolRow(
        "mklearn.study.data.draw_splits:validation_folds",
        "validation folds with a test part",
        defaults={"folds": 5, "repeats": 1, "deals": 1},
        exclusive=(
            ("test_size", "test_share", "test_size stands in place of test_share; omit one of them."),
            ("in_order", "deals", "in_order: all deals would be equal; omit deals."),
        ),
    ),
    "group_k_fold": ProtocolRow(
        "mklearn.study.data.draw_splits:group_k_fold",
        "k-fold over groups",
        defaults={"folds": 5, "repeats": 1},
        targets=("classes", "numbers"),
        holds_groups=True,
    ),
    "verification": ProtocolRow(
        "mklearn.papers.fsvm.pairs:verification",
        "verification of pairs",
        reference="Huang, Ramesh, Berg, Learned-Miller 2007",
        composes=True,
    ),
    "random_per_class": ProtocolRow(
        "mklearn.study.data.draw_splits:random_per_class",
        "random training samples per class",
        defaults={"repeats": 10},
        required=("train_size",),
    ),
    "k_fold": ProtocolRow(
        "mklearn.study.data.draw_splits:k_fold",
        "k-fold",
        defaults={"folds": 5, "repeats": 1},
        targets=("classes", "numbers"),
    ),
    "given": ProtocolRow(
        "mklearn.study.data.draw_splits:given",
        "given splits",
        targets=("classes", "numbers"),
        required=("path",),
    ),
    "released": ProtocolRow(
        "mklearn.study.data.draw_splits:released",
        "released splits",
        targets=("classes", "numbers"),
    ),
}

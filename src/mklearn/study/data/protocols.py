"""Table of the protocols that a study can name.

A protocol is a function of ``target``, the class codes or numbers of the samples, and of its parameters. It returns
:class:`mklearn.study.data.splits.Splits`. It receives further arguments by keyword if its signature has them: ``seed``,
``name`` (of the data set), ``classes`` (class names), ``groups`` (group of each sample, or None), ``ids`` (sample ids)
and ``files`` (paths of the files to read). A parameter ``train_size`` lists the training sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mklearn.rows import Row


@dataclass(frozen=True)
class ProtocolRow(Row):
    """Properties of a protocol, used to check and plan a study."""

    targets: Sequence[str] = ("classes",)
    """Supported kinds of target: "classes", "numbers"."""
    holds_groups: bool = False
    """Whether every group is wholly in the training part or wholly in the test part."""
    composes: bool = False
    """Whether samples are composed of several, such as pairs; methods then take features that each fit computes."""
    required: Sequence[str] = ()
    """Parameters without a default, which a study must give."""
    exclusive: Sequence[tuple[str, str, str]] = ()
    """Pairs of mutually exclusive parameters, each with the message for a study that gives both."""


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
    "leave_one_group_out": ProtocolRow(
        "mklearn.study.data.draw_splits:leave_one_group_out",
        "leave one group out",
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
    "random": ProtocolRow(
        "mklearn.study.data.draw_splits:random",
        "random training samples",
        defaults={"repeats": 10},
        targets=("classes", "numbers"),
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

"""Table of the protocols that a study can name.

A protocol is a function of ``target``, the class codes or numbers of the samples, and of its parameters. It returns
:class:`mklearn.study.data.splits.Splits`. It receives further arguments by keyword if its signature has them: ``seed``,
``name`` (of the data set), ``classes`` (class names), ``groups`` (group of each sample, or None), ``ids`` (sample ids)
and ``files`` (paths of the files to read). A parameter ``train_size`` lists the training sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mklearn.rows import Row


@dataclass(frozen=True)
class ProtocolRow(Row):
    """Properties of a protocol, used to check and plan a study."""

    targets: Sequence[str] = ("classes",)
    """Supported kinds of target: "classes", "numbers", "survival"."""
    holds_groups: bool = False
    """Whether every group is wholly in the training part or wholly in the test part."""
    composes: bool = False
    """Whether samples are composed of several, such as pairs; methods then take features that each fit computes."""
    clusters: bool = False
    """Whether the test samples are the training samples, which methods are fitted to without labels."""
    required: Sequence[str] = ()
    """Parameters without a default, which a study must give."""


_HERE, _FOLDS, _ALL = "mklearn.study.data.draw_splits", {"folds": 5, "repeats": 1}, ("classes", "numbers", "survival")
_OF_SIZES: dict[str, Any] = {"defaults": {"repeats": 10}, "required": ("train_size",)}
PROTOCOLS: dict[str, ProtocolRow] = {
    "validation_folds": ProtocolRow(
        f"{_HERE}:validation_folds", "validation folds with a test part", defaults={**_FOLDS, "deals": 1}
    ),
    "group_k_fold": ProtocolRow(
        f"{_HERE}:group_k_fold", "k-fold over groups", defaults=_FOLDS, targets=_ALL, holds_groups=True
    ),
    "leave_one_group_out": ProtocolRow(
        f"{_HERE}:leave_one_group_out", "leave one group out", targets=_ALL, holds_groups=True
    ),
    "verification": ProtocolRow(
        "mklearn.papers.fsvm.pairs:verification",
        "verification of pairs",
        reference="Huang, Ramesh, Berg, Learned-Miller 2007",
        composes=True,
    ),
    "random_per_class": ProtocolRow(f"{_HERE}:random_per_class", "random training samples per class", **_OF_SIZES),
    "clustering": ProtocolRow(f"{_HERE}:clustering", "clustering of random samples", clusters=True, **_OF_SIZES),
    "random": ProtocolRow(f"{_HERE}:random", "random training samples", targets=_ALL, **_OF_SIZES),
    "k_fold": ProtocolRow(f"{_HERE}:k_fold", "k-fold", defaults=_FOLDS, targets=_ALL),
    "given": ProtocolRow(f"{_HERE}:given", "given splits", targets=_ALL, required=("path",)),
    "released": ProtocolRow(f"{_HERE}:released", "released splits", targets=_ALL),
}

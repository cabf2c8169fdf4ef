"""The series of a study: which methods it shows, in which order, and how each looks in every figure.

A series is a method, or where a data set has it on several kernel sets, a method on one of them. The reference method
is drawn in a neutral colour; the others take eight colours that can be told apart with the common colour-vision
deficiencies, and a line pattern for every further eight.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from mklearn.study.report.theme import Scheme

N_COLOURS = 8
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (6, 3), (2, 2), (9, 3, 2, 3))


@dataclass(frozen=True)
class Series:
    """Labels of the series of a study, by method and kernel set, with their colours and line patterns.

    ``labels`` are unique and in order of first appearance, after the first ``n_reference`` of the reference method.
    """

    labels: tuple[str, ...]
    by_key: dict[tuple[str, str], str]
    n_reference: int

    def label(self, method: str, kernel_set: str) -> str:
        """Return the label of a method on a kernel set; its id if the summary does not have it."""
        return self.by_key.get((method, kernel_set), method)

    def of_method(self, method: str, fallback: str) -> str:
        """Return the label of a method that has one kernel set; otherwise the fallback."""
        labels = sorted({label for (name, _), label in self.by_key.items() if name == method})
        return labels[0] if len(labels) == 1 else fallback

    def colours(self, scheme: Scheme) -> list[str]:
        """Return one colour for each label."""
        n_others = len(self.labels) - self.n_reference
        others = [scheme.colours[position % len(scheme.colours)] for position in range(n_others)]
        return [scheme.neutral] * self.n_reference + others

    def dashes(self) -> list[list[int]]:
        """Return one line pattern for each label."""
        others = [
            list(DASHES[position // N_COLOURS % len(DASHES)]) for position in range(len(self.labels) - self.n_reference)
        ]
        return [list(DASHES[position % len(DASHES)]) for position in range(self.n_reference)] + others


def series_of(summary: pd.DataFrame, reference: str) -> Series:
    """Find the series of a summary table."""
    keys = summary[["method", "kernel_set", "method_title"]].drop_duplicates(["method", "kernel_set"])
    # a method has one name on data sets with different kernels, unless one of them has it on several sets of kernels
    on_one = summary.groupby(["dataset", "method"])["kernel_set"].nunique()
    several = on_one.groupby("method").max()
    by_key: dict[tuple[str, str], str] = {}
    taken: dict[str, str] = {}
    for method, kernel_set, title in keys.itertuples(index=False):
        label = f"{title} · {kernel_set}" if several[method] > 1 else str(title)
        if taken.setdefault(label, method) != method:
            label = f"{label} ({method})"
        by_key[method, kernel_set] = label
    first = list(dict.fromkeys(label for (method, _), label in by_key.items() if method == reference))
    others = [label for label in dict.fromkeys(by_key.values()) if label not in first]
    return Series((*first, *others), by_key, len(first))

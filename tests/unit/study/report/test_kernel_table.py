"""The table of kernels: which scalings training samples chose, counted over splits and not over methods or metrics."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from mklearn.study.report.frames import chosen_scalings
from mklearn.study.report.tables import kernel_table

INFO = pd.DataFrame({"kernel": ["rna", "protein"], "bandwidth": [2.0, 3.0]})


def row(fold: int, method: str, feature_scaling: Any, **parameters: Any) -> dict[str, Any]:
    chosen = parameters | ({} if feature_scaling is None else {"feature_scaling": feature_scaling})
    return {"method": method, "repeat": 0, "fold": fold, "parameters": json.dumps(chosen)}


def cells(scores: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    table = kernel_table(INFO, chosen_scalings(pd.DataFrame(scores)), "Kernels")
    return [column.title for column in table.columns], [[cell.text for cell in line] for line in table.rows]


def test_the_scalings_of_a_kernel_are_counted_by_split() -> None:
    scores = [row(fold, method, {"rna": "unit" if fold == 4 else "rank"}, ridge=ridge)
              for fold in range(5) for method, ridge in (("kfd", 0.1), ("kfd", 0.1), ("svc", 1.0))]  # fmt: skip
    scores.append(row(0, "fsvc", "minmax"))  # a parameter of the method's own
    titles, lines = cells(scores)
    assert titles[:3] == ["Kernel", "Scaling", "Bandwidth"]
    assert [line[:2] for line in lines] == [["rna", "rank (4), unit (1)"], ["protein", "–"]]


def test_without_automatic_scalings_there_is_no_column() -> None:
    titles, lines = cells([row(0, "kfd", None), row(0, "fsvc", "minmax")])
    assert titles[:2] == ["Kernel", "Bandwidth"]
    assert {len(line) for line in lines} == {len(titles)}

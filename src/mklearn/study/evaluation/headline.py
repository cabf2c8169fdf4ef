"""The one choice of a study: the rows that its headline is made of, and the method that wins by them.

The page, the answer in the terminal and the final model take the same rows: those chosen by inner cross-validation, by
one metric and one nearest-neighbour rule, with the classifiers, which have no rule, beside the embeddings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.reproduction import plain_records
from mklearn.study.evaluation.verdicts import BETTER, verdicts
from mklearn.study.specs.final_spec import FinalEntry


def headline_rows(summary: pd.DataFrame, metric: str, neighbour: str = "", reference: str = "") -> pd.DataFrame:
    """Select the rows of a summary table that are compared.

    Parameters
    ----------
    summary : DataFrame
        Of :func:`mklearn.study.evaluation.summary.summarise`; without a column ``metric`` all rows are accuracies.
    metric : str
    neighbour : str
        The rule of embeddings; "" is the first one of the reference, and if that is a classifier, of the study.
    reference : str
        The method that others are compared with.
    """
    rows = summary[summary["selection"].eq("inner_cv")]
    if "metric" in rows:
        rows = rows[rows["metric"].isin([metric, ""])]
    if not neighbour:
        rules = rows[["method", "neighbour"]][rows["neighbour"].ne("")]
        own = rules[rules["method"].eq(reference)]
        neighbour = next(iter((own if len(own) else rules)["neighbour"]), "")
    return rows[rows["neighbour"].isin([neighbour, ""])]


class Winner(NamedTuple):
    """What wins: its position among the entries, its row in the summary, and how many entries have a value."""

    position: int
    row: dict[str, Any]
    among: int


def winner(rows: pd.DataFrame, metric: str, dataset: str, entries: Sequence[FinalEntry]) -> Winner | None:
    """Return the entry that the headline of these rows speaks of: the one with the best mean.

    Where entries are better than the reference with certainty, the best mean of those: another one that is as high on
    average may owe it to a few splits. Else the best of those that failed in no split, if there are any, as means over
    other splits don't compare. Of equal ones the first; None where no entry has a value.
    """
    larger_is_better = metric_named(metric).larger_is_better
    rows = rows.assign(verdict=verdicts(rows, 0.0, larger_is_better))
    sign = 1.0 if larger_is_better else -1.0
    found: list[tuple[int, dict[str, Any]]] = []
    for position, entry in enumerate(entries):
        own = rows[
            rows["dataset"].eq(dataset) & rows["protocol"].eq(entry.protocol) & rows["method"].eq(entry.method)
            & rows["mean"].notna()
        ]  # fmt: skip
        if entry.train_size is not None:
            own = own[own["train_size"].eq(entry.train_size).fillna(False)]
        found += [(position, row) for row in plain_records(own)]
    if not found:
        return None
    certain = [one for one in found if one[1]["verdict"] == BETTER]
    complete = [one for one in found if not one[1].get("n_failed", 0)]
    kept = certain or complete or found
    return Winner(*max(kept, key=lambda one: sign * float(one[1]["mean"])), len({position for position, _ in found}))

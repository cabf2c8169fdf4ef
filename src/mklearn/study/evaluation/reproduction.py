"""Comparison of published values with ours, in units of the split noise.

A published accuracy is a mean over random splits, and so is ours. Two such means of the same method on the same data
differ by chance. The spread over splits gives the scale:

    z = (published - ours) / sqrt(sd_ours^2 / n_ours + sd_published^2 / n_published),

where sd_ours is our standard deviation over splits and sd_published the paper's, assumed equal to ours if the paper
prints none. n_published is the number of splits of the published mean; if neither the paper nor the study gives it, it
is assumed equal to ours. Published tables choose the dimension on the test samples, so our ``oracle`` value is
compared.

If z > 0, the published value is higher than ours. A small |z| (by default at most 3) is explained by different random
splits, and the value is reproduced. A difference within the study's tolerance in percentage points is reproduced, too.

The standard deviations are themselves estimates, and poor ones from few splits. A larger |z| is therefore certain, and
the value not reproduced, only beyond the quantile of Student's t that corresponds to the tolerance: t exceeds it as
rarely as a normal variable exceeds the tolerance. In between, the difference is uncertain. With two splits on each
side, this range extends to |z| = 19.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from mklearn.study.specs.table_specs import Calibration, Tolerance

REPRODUCED = "reproduced"
LOWER = "ours is lower than published"
HIGHER = "ours is higher than published"
NO_VALUE = "no value"
UNCERTAIN = "differs, not for certain"
NO_SPREAD = "no spread to judge by"
OTHER_DATA = "another crop: not comparable"
VERDICTS = (REPRODUCED, LOWER, HIGHER, UNCERTAIN, NO_VALUE, NO_SPREAD, OTHER_DATA)

NAMED_BY = ("dataset", "train_size", "method", "neighbour", "selection", "protocol", "kernel_set", "metric")
"""Keys by which a published entry identifies rows of the summary."""
_PLACE = ["study", "dataset", "protocol", "train_size", "method", "kernel_set", "neighbour", "metric"]


class Check(NamedTuple):
    """Calibration of a data set: agreement of one method's published values with ours.

    The status is "met", "missed", or "unchecked" if the method has no published value that can be judged.
    """

    dataset: str
    status: str
    sentence: str


def judged(
    summary: pd.DataFrame, calibration: Calibration | None = None, tolerance: Tolerance | None = None
) -> pd.DataFrame:
    """Judge the published values of a summary; return ``z``, ``verdict`` and ``reason`` for its rows that have one.

    A value is reproduced if it differs by at most the ``tolerance``, by default 3 units of split noise. If a published
    value of the ``calibration`` method differs by more than the calibration's tolerance, the data set is not the
    paper's, and none of its values is judged. Rows are compared by the oracle's value, or by the inner-CV value of a
    method without one. ``reason`` explains a missing value, or a missing or uncertain verdict.
    """
    is_oracle = summary["selection"].eq("oracle")
    has_oracle = is_oracle.groupby([summary[name] for name in _PLACE], dropna=False).transform("any")
    rows = summary[summary["published"].notna() & (is_oracle | ~has_oracle)]
    judgements = [_judgement(row, tolerance or Tolerance()) for row in plain_records(rows)]
    cells = pd.DataFrame(judgements, rows.index, ["z", "verdict", "reason"]).astype({"z": "float64"})
    for check in calibration_checks(summary.assign(z=cells["z"]), calibration) if calibration else []:
        if check.status == "missed":
            affected = rows["dataset"].eq(check.dataset) & cells["verdict"].ne(NO_VALUE)
            cells.loc[affected, ["verdict", "reason"]] = OTHER_DATA, check.sentence
    return cells


def split_noise(std: float, n_ours: float, n_published: float, std_published: float = math.nan) -> float:
    """Return the standard error of the difference of two independent means over splits.

    An unknown (NaN) standard deviation is assumed equal to the other one.
    """
    if not (n_ours > 0 and n_published > 0):
        return math.nan
    std_ours = std_published if math.isnan(std) else std
    theirs = std if math.isnan(std_published) else std_published
    return math.sqrt(std_ours**2 / n_ours + theirs**2 / n_published)


def degrees_of_freedom(std: float, n_ours: int, n_published: int, std_published: float = math.nan) -> int:
    """Return the degrees of freedom of the standard deviations in :func:`split_noise`; an unknown one adds 0."""
    deviations = ((std, n_ours), (std_published, n_published))
    return sum(n - 1 for deviation, n in deviations if not math.isnan(deviation))


def certain_from(freedom: int, noise: float) -> float:
    """Return the quantile of Student's t with the tail probability of a standard normal beyond ``noise``.

    The result is at least ``noise``, and infinite for 0 degrees of freedom.
    """
    from scipy.special import ndtr, stdtrit

    return max(noise, float(stdtrit(freedom, ndtr(noise)))) if freedom > 0 else math.inf


def unmatched(summary: pd.DataFrame, published: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """List the published entries without a row in the summary, because their setting or method was not run."""
    rows = plain_records(summary)
    return [entry for entry in published if not any(is_about(entry, row) for row in rows)]


def is_about(entry: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    """Return True if a published entry matches a row of the summary; an absent key matches anything."""
    return all(entry.get(key) is None or row[key] == entry[key] for key in NAMED_BY)


def _judgement(row: dict[str, Any], tolerance: Tolerance) -> tuple[float, str, str]:
    """Return z, the verdict and its reason for a row of the summary."""
    difference, n_ours = row["published"] - row["mean"], int(row["n_repeats"])
    spread = (row["std"], n_ours, int(row["published_repeats"] or n_ours), row["published_std"])
    noise, freedom = split_noise(*spread), degrees_of_freedom(*spread)
    z = difference / noise if noise > 0 else math.nan
    if math.isnan(difference):
        return z, NO_VALUE, str(row["message"] or row["status"])
    if round(100 * abs(difference), 9) <= tolerance.points > 0:  # rounded, as 0.75 - 0.74 would exceed one point
        return z, REPRODUCED, ""
    if math.isnan(z):
        return z, NO_SPREAD, "one repeat" if n_ours < 2 else "the same accuracy in every repeat"
    if abs(z) <= tolerance.noise:
        return z, REPRODUCED, ""
    limit = certain_from(freedom, tolerance.noise)
    if abs(z) <= limit:
        certainty = f"certain from |z| = {limit:.1f}" if math.isfinite(limit) else "never certain"
        return z, UNCERTAIN, f"with {freedom} degrees of freedom of the deviations {certainty}"
    return z, LOWER if z > 0 else HIGHER, ""


def calibration_checks(summary: pd.DataFrame, calibration: Calibration) -> list[Check]:
    """Return the calibration of each data set with published values; only judged rows of the summary have a ``z``."""
    method, tolerance = calibration.method, calibration.tolerance
    title = next(iter(summary.loc[summary["method"].eq(method), "method_title"]), method)
    rows = plain_records(summary[summary["published"].notna()])
    checks = []
    for dataset, dataset_title in dict.fromkeys((row["dataset"], row["dataset_title"]) for row in rows):
        cells = [
            row for row in rows
            if (row["dataset"], row["method"], row["metric"]) == (dataset, method, "accuracy")
            and not math.isnan(row["z"])
        ]  # fmt: skip
        worst = max(cells, key=lambda cell: abs(cell["z"]), default=None)
        if worst is None:
            status, text = "unchecked", f"not calibrated, {title} has no published value here that can be judged."
        elif abs(worst["z"]) <= tolerance:
            status, number = "met", f"{len(cells)} cell{'s' * (len(cells) > 1)}"
            text = (
                f"{title} is within {tolerance:g} units of split noise of its published value in {number} (largest |z| "
                f"{abs(worst['z']):.1f})."
            )
        else:
            status, size = "missed", worst["train_size"]
            text = (
                f"{title} reaches {100 * worst['mean']:.1f} %{f' with training size {size}' * (size is not None)}, "
                f"published {100 * worst['published']:.1f} % (z = {worst['z']:+.1f}, tolerance {tolerance:g}): this is "
                "another crop of the pictures than the paper's, and nothing on it can be compared with the paper."
            )
        checks.append(Check(dataset, status, f"{dataset_title}: {text}"))
    return checks


def plain_records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as dicts of builtin types; a missing integer or text is None, a missing float NaN."""
    rows = frame.to_dict("records")
    return [{str(name): None if value is pd.NA else value for name, value in row.items()} for row in rows]

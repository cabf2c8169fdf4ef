"""Comparison of published values with ours, in units of the split noise.

A published accuracy is a mean over random splits, and so is ours. Two such means of the same method on the same data
differ by chance. The spread over splits gives the scale:

    z = (published - ours) / sqrt(sd_ours^2 / n_ours + sd_published^2 / n_published),

where sd_ours is our standard deviation over splits and sd_published the paper's, assumed equal to ours if the paper
prints none. n_published is the number of splits of the published mean; if neither the paper nor the study gives it, it
is assumed equal to ours. Published tables choose the dimension on the test samples, so our ``oracle`` value is
compared. The value chosen by inner cross-validation is listed beside it, but not judged.

If z > 0, the published value is higher than ours. A small |z| (by default at most 3) is explained by different random
splits, and the value is reproduced. A difference within the study's tolerance in percentage points is reproduced, too.

The standard deviations are themselves estimates, and poor ones from few splits. A larger |z| is therefore certain, and
the value not reproduced, only beyond the quantile of Student's t that corresponds to the tolerance: t exceeds it as
rarely as a normal variable exceeds the tolerance. In between, the difference is uncertain. With two splits on each
side, this range extends to |z| = 19.
"""

from __future__ import annotations

import itertools
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

CELL_COLUMNS = [
    "study", "dataset", "dataset_title", "protocol", "train_size", "method", "method_title", "kernel_set", "neighbour",
    "metric", "mean", "std", "n_repeats", "dimension", "inner_cv_mean", "published", "published_std",
    "published_dimension", "published_repeats", "published_source", "difference_points", "noise_points", "z",
    "degrees_of_freedom", "verdict", "reason",
]  # fmt: skip
NAMED_BY = ("dataset", "train_size", "method", "neighbour", "selection", "protocol", "kernel_set", "metric")
"""Keys by which a published entry identifies rows of the summary."""
_PLACE = ("study", "dataset", "protocol", "train_size", "method", "kernel_set", "neighbour", "metric")


class Check(NamedTuple):
    """Calibration of a data set: agreement of one method's published values with ours.

    The status is "met", "missed", or "unchecked" if the method has no published value that can be judged.
    """

    dataset: str
    status: str
    sentence: str


class Reproduction(NamedTuple):
    """All published cells with their verdicts, and the calibration of each data set."""

    cells: pd.DataFrame
    checks: list[Check]


def compare_published(
    summary: pd.DataFrame, calibration: Calibration | None = None, tolerance: Tolerance | None = None
) -> Reproduction:
    """Compare the values of a summary, as fractions, with the published values in it.

    A cell is reproduced if it differs by at most the ``tolerance``, by default 3 units of split noise. If a published
    cell of the ``calibration`` method differs by more than the calibration's tolerance, the data set is not the
    paper's, and none of its cells is judged.

    The ``cells`` have the columns `CELL_COLUMNS` and a row for each of the :func:`judged_rows` with a published value.
    ``difference_points`` (published - ours) and ``noise_points`` (the denominator of z) are in percentage points.
    ``reason`` explains a missing value, or a missing or uncertain verdict.
    """
    oracle = summary[summary["published"].notna() & judged_rows(summary)]
    chosen = summary.loc[summary["selection"].eq("inner_cv"), [*_PLACE, "mean"]]
    inner = {_place(row): row["mean"] for row in plain_records(chosen)}
    rows = [_cell(row, inner.get(_place(row), math.nan), tolerance or Tolerance()) for row in plain_records(oracle)]
    checks = _checks(summary, rows, calibration) if calibration else []
    missed = {check.dataset: check for check in checks if check.status == "missed"}
    for row in rows:
        if row["dataset"] in missed and row["verdict"] != NO_VALUE:
            row |= {"verdict": OTHER_DATA, "reason": missed[row["dataset"]].sentence}
    counts = (
        "train_size", "n_repeats", "dimension", "published_dimension", "published_repeats", "degrees_of_freedom",
    )  # fmt: skip
    numbers = ("mean", "std", "inner_cv_mean", "published", "published_std", "difference_points", "noise_points", "z")
    cells = pd.DataFrame(rows, columns=CELL_COLUMNS, index=oracle.index)
    return Reproduction(cells.astype(dict.fromkeys(counts, "Int64") | dict.fromkeys(numbers, "float64")), checks)


def judged_rows(summary: pd.DataFrame) -> pd.Series:
    """Mark the rows to compare with a paper: oracle rows, and the inner-CV row of a method without an oracle row."""
    is_oracle = summary["selection"].eq("oracle")
    places = [_place(row) for row in plain_records(summary[[*_PLACE]])]
    oracle = set(itertools.compress(places, is_oracle))
    return is_oracle | pd.Series([place not in oracle for place in places], index=summary.index, dtype=bool)


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


def _cell(row: dict[str, Any], inner: float, tolerance: Tolerance) -> dict[str, Any]:
    """Return one published cell with its verdict, from a row of the summary."""
    ours, published, n_ours = row["mean"], row["published"], int(row["n_repeats"])
    spread = (row["std"], n_ours, int(row["published_repeats"] or n_ours), row["published_std"])
    noise = split_noise(*spread)
    cell = {
        "difference_points": round(100.0 * (published - ours), 9),  # rounded, as 0.75 - 0.74 would exceed one point
        "noise_points": 100.0 * noise,
        "z": (published - ours) / noise if noise > 0 else math.nan,
        "degrees_of_freedom": degrees_of_freedom(*spread),
    }
    verdict, reason = _verdict(row, cell, tolerance)
    columns = {name: row[name] for name in CELL_COLUMNS if name in row}
    return columns | cell | {"inner_cv_mean": inner, "verdict": verdict, "reason": reason}


def _verdict(row: dict[str, Any], cell: dict[str, Any], tolerance: Tolerance) -> tuple[str, str]:
    z, freedom = cell["z"], cell["degrees_of_freedom"]
    if math.isnan(row["mean"]):
        return NO_VALUE, str(row["message"] or row["status"])
    if abs(cell["difference_points"]) <= tolerance.points > 0:
        return REPRODUCED, ""
    if math.isnan(z):
        reason = "one repeat" if row["n_repeats"] < 2 else "the same accuracy in every repeat"
        return NO_SPREAD, reason
    if abs(z) <= tolerance.noise:
        return REPRODUCED, ""
    limit = certain_from(freedom, tolerance.noise)
    if abs(z) <= limit:
        certainty = f"certain from |z| = {limit:.1f}" if math.isfinite(limit) else "never certain"
        return UNCERTAIN, f"with {freedom} degrees of freedom of the deviations {certainty}"
    return (LOWER if z > 0 else HIGHER), ""


def _checks(
    summary: pd.DataFrame, rows: Sequence[dict[str, Any]], calibration: Calibration
) -> list[Check]:  # fmt: skip
    method, tolerance = calibration.method, calibration.tolerance
    title = next(iter(summary.loc[summary["method"].eq(method), "method_title"]), method)
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


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[key] for key in _PLACE)


def plain_records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as dicts of builtin types; a missing integer or text is None, a missing float NaN."""
    rows = frame.to_dict("records")
    return [{str(name): None if value is pd.NA else value for name, value in row.items()} for row in rows]

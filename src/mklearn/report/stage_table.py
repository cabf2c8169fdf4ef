"""The table of what each stage of the run cost."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from mklearn.report.tables import Cell, Column, Table
from mklearn.report.wording import DASH, byte_size, count, missing, seconds

TITLES = {
    "read": "Read the data sets",
    "resize": "Resize the images",
    "learn": "Learn words, patches, axes",
    "describe": "Describe the images",
    "pairwise": "Compare all pairs",
    "kernel_set": "Collect kernel sets",
    "split": "Split",
    "fit": "Fit and evaluate",
}
CAPTION = "What each stage cost"
NOTE = (
    "Wall-clock seconds of the jobs, each with the start of its process, as the engine recorded them when each was "
    "last run, on the machine that this report names: jobs beside each other, or another load, make them longer; on a "
    "cluster they count from the submission. Results that were kept from earlier runs have their times from then; "
    "those that came from elsewhere have none."
)


def stage_table(stages: Sequence[Mapping[str, Any]]) -> Table | None:
    """Jobs, seconds, longest job and bytes of each stage; None where the time of no job at all is known.

    Parameters
    ----------
    stages : sequence of dict
        From :func:`mklearn.steps.stage_costs.stage_costs`.
    """
    if not any(row["known"] for row in stages):
        return None
    columns = (
        Column("Stage", numeric=False),
        Column("Jobs"),
        Column("Sum, s", "wall-clock seconds of all jobs of the stage"),
        Column("Longest job, s"),
        Column("Which", "the data set or method of the longest job", numeric=False),
        Column("Files", "bytes of what the stage wrote"),
    )
    return Table(CAPTION, columns, tuple(_row(row) for row in stages))


def _row(row: Mapping[str, Any]) -> tuple[Cell, ...]:
    jobs, known = int(row["jobs"]), int(row["known"])
    partly = 0 < known < jobs
    note = f"of the {known:,} jobs whose times are known" if partly else ""
    return (
        Cell(TITLES.get(str(row["stage"]), str(row["stage"]))),
        Cell(count(jobs), str(jobs), "number"),
        _seconds(row["seconds"], note=note, below=f"{known:,} of {jobs:,} jobs known" if partly else ""),
        _seconds(row["longest"]),
        Cell(_job(str(row["longest_job"])) if row["longest_job"] else DASH),
        Cell(byte_size(row["bytes"]), str(int(row["bytes"])), "number"),
    )


def _seconds(value: Any, *, note: str = "", below: str = "") -> Cell:
    if missing(value):
        return Cell("not known", "", "number", "the engine has no record of these jobs")
    return Cell(seconds(value), repr(float(value)), "number", note, below=below)


def _job(name: str) -> str:
    """``gb-1 / point_set`` of ``results/cache/pairwise/caltech101-832fd071/gb-1-b6abd8e6/point_set``.

    What comes after the stage's folder, less the data set where more follows, and less keys.
    """
    parts = PurePosixPath(name.removesuffix(".learned")).parts
    after = parts[parts.index("cache") + 2 :] if "cache" in parts else parts[-1:]
    return " / ".join(re.sub(r"-[0-9a-f]{8}(?=$|\.)", "", part) for part in (after[1:] or after))

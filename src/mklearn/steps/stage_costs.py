"""What each stage of a run cost: jobs, seconds and files, read from Snakemake's records of its jobs.

Artefacts carry no times but those that the scores of methods are made from, so that equal inputs give equal bytes.
Snakemake keeps when each output was begun and done, and its inputs, in a JSON file per output below
``.snakemake/metadata``.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from pathlib import Path, PurePath
from typing import Any

RECORDS = Path(".snakemake/metadata")
"""In the folder that Snakemake was started in."""
_STAGE_OF_FOLDER = {
    "data": "read", "resized": "resize", "learned": "learn", "descriptors": "describe", "pairwise": "pairwise",
    "kernels": "kernel_set", "splits": "split", "projections": "project", "landmarks": "landmarks",
    "moments": "moments", "fits": "fit",
}  # fmt: skip
STAGES = tuple(_STAGE_OF_FOLDER.values())
_ENDINGS = (".labels.parquet", ".predictions.parquet", ".parquet", ".npz", ".json")
_MARKED_SECONDS = 0.01
"""No job is faster: an output that ``--touch`` has marked as done says nothing of its job."""
_LONGEST_NAME = 254
"""Characters of a file name; what comes before the last of them are folders whose names begin with @."""


def stage_costs(records: Path, table: str) -> list[dict[str, Any]]:
    """Return the jobs, seconds and bytes of each stage that a score table comes from.

    The record of the table names its fits, the records of the fits their kernels, and so on. Jobs of other studies in
    the same folder do not count. A job's time is from its start, on a cluster from its submission, until its output was
    complete.

    Parameters
    ----------
    records : Path
        Snakemake's folder of records; it may be missing.
    table : str
        The score table, as the workflow names it.

    Returns
    -------
    list of dict
        For each stage with jobs, in the order of the workflow: ``stage``; ``jobs``; ``known``, how many of them have a
        record with times; ``seconds``, the sum of their wall-clock times, ``longest``, the largest one, and
        ``longest_job``, its output without its ending - these three None where no job is known; ``bytes`` of the
        outputs that exist. Empty where nothing is known of the table.
    """
    jobs: dict[str, dict[str, float | None]] = {stage: {} for stage in STAGES}
    todo, seen = list(_record(records, table).get("input") or []), {table}
    while todo:
        output = todo.pop()
        ending = next((ending for ending in _ENDINGS if output.endswith(ending)), None)
        stage = _stage(output)
        if output in seen or ending is None or stage is None:
            continue
        seen.add(output)
        record, job = _record(records, output), output.removesuffix(ending)
        todo += record.get("input") or []
        times = [seconds for seconds in (jobs[stage].get(job), _seconds(record)) if seconds is not None]
        jobs[stage][job] = max(times, default=None)  # of a job with two outputs, until the later one
    return [_row(stage, jobs[stage]) for stage in STAGES if jobs[stage]]


def record_path(records: Path, output: str) -> Path:
    """Return where Snakemake keeps the record of an output."""
    name = urlsafe_b64encode(output.encode()).decode()
    parts = [name[start : start + _LONGEST_NAME] for start in range(0, len(name), _LONGEST_NAME)]
    return records.joinpath(*(f"@{part}" for part in parts[:-1]), parts[-1])


def _record(records: Path, output: str) -> dict[str, Any]:
    """Return the record of an output; empty where there is none, or none that can be read."""
    try:
        record = json.loads(record_path(records, output).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _seconds(record: dict[str, Any]) -> float | None:
    if not record.get("starttime") or not record.get("endtime"):
        return None
    seconds = float(record["endtime"]) - float(record["starttime"])
    return seconds if seconds > _MARKED_SECONDS else None


def _stage(output: str) -> str | None:
    """Return the stage that makes a file of ``results/cache/FOLDER``; None for other files."""
    if output.endswith(".learned.npz"):
        return "learn"
    parts = PurePath(output).parts
    return _STAGE_OF_FOLDER.get(parts[parts.index("cache") + 1]) if "cache" in parts[:-1] else None


def _row(stage: str, jobs: dict[str, float | None]) -> dict[str, Any]:
    times = {job: seconds for job, seconds in sorted(jobs.items()) if seconds is not None}
    longest = max(times, key=lambda job: times[job], default=None)
    files = [Path(job + ending) for job in jobs for ending in _ENDINGS]
    return {
        "stage": stage,
        "jobs": len(jobs),
        "known": len(times),
        "seconds": round(sum(times.values()), 2) if times else None,
        "longest": None if longest is None else round(times[longest], 2),
        "longest_job": longest,
        "bytes": sum(file.stat().st_size for file in files if file.is_file()),
    }

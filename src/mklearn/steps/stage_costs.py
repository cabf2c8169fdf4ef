"""What each stage of a run cost: its jobs, their seconds, their files. Read from Snakemake's records of its jobs.

Artefacts carry no times, so that equal inputs give equal bytes; the engine keeps when each output was begun and done,
and of what it was made, in a JSON file per output below ``.snakemake/metadata``.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RECORDS = Path(".snakemake/metadata")
"""In the folder that Snakemake was started in."""
STAGES = ("read", "resize", "learn", "describe", "pairwise", "kernel_set", "split", "fit")
_OF_FOLDER = {
    "data": "read", "resized": "resize", "descriptors": "describe", "pairwise": "pairwise", "kernels": "kernel_set",
    "splits": "split", "fits": "fit",
}  # fmt: skip
_CACHED = re.compile(rf"(?:^|/)cache/({'|'.join(_OF_FOLDER)})/")
_ENDINGS = (".labels.parquet", ".parquet", ".npz", ".json")
_MARKED = 0.01
"""Seconds that no job is done in: an output that was only marked as done (``--touch``) says nothing of its job."""
_LONGEST_NAME = 254
"""A record's name has so many characters; what comes before the last of them are folders whose names begin with @."""


def stage_costs(records: Path, table: str) -> list[dict[str, Any]]:
    """Jobs, seconds and bytes of each stage that a score table comes from.

    From record to record: those of the table name its fits, those of the fits their kernels, and so on. Jobs of other
    studies in the same folder do not count.

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
        outputs that are there. Empty where nothing is known of the table.

    Notes
    -----
    A job's time is from its start, on a cluster from its submission, to the last change of its output when it had
    ended. Records may have been dropped, and results may come from another place: such jobs are not known, and neither
    is what they alone were made from.
    """
    jobs: dict[str, dict[str, float | None]] = {stage: {} for stage in STAGES}
    todo, seen = list(_inputs(_record(records, table))), {table}
    while todo:
        output = todo.pop()
        job = _job(output)
        if output in seen or job is None:
            continue
        seen.add(output)
        record = _record(records, output)
        todo += _inputs(record)
        held, seconds = jobs[_stage(job)].get(job), _seconds(record)
        jobs[_stage(job)][job] = seconds if held is None or (seconds or 0.0) > held else held
    return [_row(stage, jobs[stage]) for stage in STAGES if jobs[stage]]


def record_path(records: Path, output: str) -> Path:
    """Where Snakemake keeps the record of an output."""
    name = urlsafe_b64encode(output.encode()).decode()
    parts = [name[start : start + _LONGEST_NAME] for start in range(0, len(name), _LONGEST_NAME)]
    return records.joinpath(*(f"@{part}" for part in parts[:-1]), parts[-1])


def _row(stage: str, jobs: dict[str, float | None]) -> dict[str, Any]:
    times = {job: seconds for job, seconds in jobs.items() if seconds is not None}
    longest = max(sorted(times), key=lambda job: times[job], default=None)
    return {
        "stage": stage,
        "jobs": len(jobs),
        "known": len(times),
        "seconds": round(sum(times.values()), 2) if times else None,
        "longest": None if longest is None else round(times[longest], 2),
        "longest_job": longest,
        "bytes": sum(size for job in jobs for size in _sizes(job)),
    }


def _record(records: Path, output: str) -> dict[str, Any]:
    """What is known of an output; nothing where there is no record, or none that can be read."""
    try:
        record = json.loads(record_path(records, output).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _inputs(record: dict[str, Any]) -> list[str]:
    return [str(path) for path in record.get("input") or []]


def _seconds(record: dict[str, Any]) -> float | None:
    """From start to end; None where they are missing, or out of order as for files that were only marked as done."""
    try:
        seconds = float(record["endtime"]) - float(record["starttime"])
    except (KeyError, TypeError, ValueError):
        return None
    return seconds if seconds > _MARKED else None


def _job(output: str) -> str | None:
    """The output without its ending, which a job's outputs have in common; None for what no job of a stage makes."""
    ending = next((ending for ending in _ENDINGS if output.endswith(ending)), None)
    return output.removesuffix(ending) if ending and _CACHED.search(output) else None


def _stage(job: str) -> str:
    found = _CACHED.search(job)
    assert found is not None
    return "learn" if job.endswith(".learned") else _OF_FOLDER[found[1]]


def _sizes(job: str) -> Iterator[int]:
    for ending in _ENDINGS:
        try:
            yield Path(job + ending).stat().st_size
        except OSError:
            continue

"""Why a job failed: what its log, the executor and the logs of a cluster say."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_TIME_STAMP = re.compile(r"^\[ *\d+\.\d s\] ")
_SLURM_STATE = re.compile(r"SLURM-job '([^']*)'.*?SLURM status is: '(\w+)'", re.DOTALL)
_STATUS_OF_STATE = {"OUT_OF_MEMORY": "out_of_memory", "TIMEOUT": "time_limit", "DEADLINE": "time_limit"}
_OUT_OF_MEMORY = re.compile(r"oom[-_ ]kill|out of memory|exceeded (job )?memory limit", re.IGNORECASE)
_OUT_OF_TIME = "DUE TO TIME LIMIT"


@dataclass(frozen=True)
class Cause:
    """Why a fit has no result: the status of its rows, a sentence without a full stop, and a log."""

    status: str
    text: str
    log: str = ""


def cause_of(log: str, message: str, cluster_logs: Sequence[str], began: float) -> Cause:
    """Return why a job failed: the last line of its log, and what the executor or the logs of a cluster say.

    Logs that are older than the beginning of the run (seconds since the epoch) are of another run.
    """
    said, last = _text(log, began), _last_line(log, began)
    reason = _error_in(last)
    slurm = _SLURM_STATE.search(message)
    parts = [f"SLURM job {slurm[1]} ended as {slurm[2]}"] if slurm else []
    parts += [reason] if reason else []
    parts = parts or ["its job was killed" if said.strip() else "its job ended before it wrote a log"]
    parts += [f"the last line of its log: {shortened(last)}"] if last and not reason else []
    status = _STATUS_OF_STATE.get(slurm[2], "") if slurm else ""
    if not status and (not reason or "was killed" in reason):
        told = "\n".join([message, *(_text(path, began) for path in cluster_logs)])
        status = "out_of_memory" if _OUT_OF_MEMORY.search(told) else "time_limit" if _OUT_OF_TIME in told else ""
    if not status and reason.startswith("memory ran out"):
        status = "out_of_memory"
    return Cause(status or "lost", "; ".join(parts), log if said.strip() else "")


def error_of(log: str) -> str:
    """Return the sentence that a log ends with, if the job failed with one; else an empty text."""
    return _error_in(_last_line(log, 0.0))


def _last_line(log: str, began: float) -> str:
    """Return the last line without its time; an empty text if there is none behind the first, which is the command."""
    lines = [line for line in _text(log, began).splitlines() if line.strip()]
    return _TIME_STAMP.sub("", lines[-1]) if len(lines) > 1 else ""


def _error_in(line: str) -> str:
    return shortened(line.removeprefix("error: ").rstrip(".")) if line.startswith("error: ") else ""


def _text(path: str, began: float) -> str:
    """Return the end of a log of this run; a file system's clock may differ a little."""
    try:
        if os.stat(path).st_mtime < began - 5:
            return ""
        return Path(path).read_text(encoding="utf-8", errors="replace")[-100_000:]
    except OSError:
        return ""


def shortened(text: str, limit: int = 300) -> str:
    return text if len(text) <= limit else f"{text[: limit - 3]}..."

"""Why a job ended without its outputs: from its own log, and from what Snakemake and a cluster said of it."""

from __future__ import annotations

import logging
import os
import re
from dataclasses import dataclass
from typing import Any

_SIGNAL = re.compile(r"died with <Signals\.(SIG\w+): (\d+)>")
_EXIT = re.compile(r"returned non-zero exit status (\d+)")
_SLURM = re.compile(r"SLURM-job '([^']*)'.*?SLURM status is: '(\w+)'", re.DOTALL)
_OUT_OF_MEMORY = re.compile(r"oom[-_ ]kill|out of memory|OUT_OF_MEMORY|exceeded (job )?memory limit", re.IGNORECASE)
_OUT_OF_TIME = re.compile(r"DUE TO TIME LIMIT")
_STATUS_OF_STATE = {"OUT_OF_MEMORY": "out_of_memory", "TIMEOUT": "time_limit", "DEADLINE": "time_limit"}
_STAMP = re.compile(r"^\[ *\d+\.\d s\] ")


@dataclass(frozen=True)
class Said:
    """What Snakemake said of a job that failed."""

    cause: str = ""
    message: str = ""
    logs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cause:
    """Why a job left no result: the status of its rows, a sentence without a full stop, and its log."""

    status: str
    text: str
    log: str = ""


class Listener(logging.Handler):
    """Keeps what Snakemake says of failed jobs. An executor says why a job ended right before it says that it did."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.jobs: dict[int, Said] = {}
        self._last: dict[int, str] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Note one message."""
        thread = int(record.thread or 0)
        if getattr(getattr(record, "event", None), "name", "") != "JOB_ERROR":
            self._last[thread] = record.getMessage()
            return
        told, logs = getattr(record, "rule_msg", None), getattr(record, "log", None) or []
        self.jobs[getattr(record, "jobid", -1)] = Said(
            self._last.pop(thread, ""), str(told or ""), tuple(str(log) for log in logs if log)
        )


def listen() -> None:
    """Begin to keep what Snakemake says of failed jobs."""
    from snakemake.logging import logger

    for handler in _listeners():
        logger.removeHandler(handler)  # of an earlier run in this process
    logger.addHandler(Listener())


def _listeners() -> list[Listener]:
    from snakemake.logging import logger

    return [handler for handler in logger.handlers if isinstance(handler, Listener)]


def said_of(job: Any) -> Said:
    return next((listener.jobs[job.jobid] for listener in _listeners() if job.jobid in listener.jobs), Said())


def cause_of(log: str, said: Said, began: float, step: str = "fit") -> Cause:
    """Why a job failed, from its log and from what Snakemake or the scheduler of a cluster said.

    Parameters
    ----------
    log : str
        Path of the job's log, which the job need not have written.
    said : Said
    began : float
        When the run began (seconds since the epoch): an older log is of another run.
    step : str
        Name of the step, for a job that said nothing at all.
    """
    own = _text(log, began)
    elsewhere = "\n".join([said.cause, said.message, *(_text(path, began) for path in said.logs if path != log)])
    sentence = _sentence(own)
    slurm = _SLURM.search(said.message)
    state = f"SLURM job {slurm[1]} ended as {slurm[2]}" if slurm else ""
    status = _STATUS_OF_STATE.get(slurm[2], "") if slurm else ""
    if not status and not sentence:
        status = "out_of_memory" if _OUT_OF_MEMORY.search(elsewhere) else ""
        status = status or ("time_limit" if _OUT_OF_TIME.search(elsewhere) else "")
    if not status and "MemoryError" in sentence:
        status = "out_of_memory"
    killed = _killed(elsewhere)
    parts = [part for part in (state, sentence or killed) if part]
    if not parts:
        parts = [f"the job of step {step} ended without a word" if own else "the job ended before it wrote a log"]
    last = _last_line(own)
    if not sentence and last:
        parts.append(f"the last line of its log: {last}")
    return Cause(status or "lost", "; ".join(parts), log if own else "")


def _text(path: str, began: float) -> str:
    """The end of a log of this run; a file system's clock may be a little off."""
    try:
        if os.stat(path).st_mtime < began - 5:
            return ""
        with open(path, "rb") as stream:
            stream.seek(0, os.SEEK_END)
            stream.seek(max(0, stream.tell() - 100_000))
            return stream.read().decode("utf-8", errors="replace")
    except OSError:
        return ""


def _sentence(log: str) -> str:
    """The sentence of a user's mistake, or the error that ended a traceback; nothing where a job ended abruptly."""
    lines = log.splitlines()
    for line in reversed(lines):
        text = _STAMP.sub("", line)
        if text != line and text.startswith("error: "):
            return _short(text.removeprefix("error: ").rstrip("."))
    starts = [number for number, line in enumerate(lines) if line.startswith("Traceback (most recent call last)")]
    if not starts:
        return ""
    told = next((line for line in lines[starts[-1] + 1 :] if line.strip() and not line.startswith((" ", "\t"))), "")
    return f"an error in the program: {_short(told)}" if told else ""


def _killed(text: str) -> str:
    found = _SIGNAL.search(text)
    if found:
        name, number = found[1], int(found[2])
    else:
        codes = [int(code) for code in _EXIT.findall(text) if int(code) > 128]
        if not codes:
            return ""
        name, number = _signal_name(codes[0] - 128), codes[0] - 128
    why = {
        "SIGKILL": ": ended from outside, or by the system because memory ran out",
        "SIGTERM": ": ended from outside",
        "SIGSEGV": ": a crash of compiled code",
        "SIGABRT": ": compiled code gave up, often because memory ran out",
        "SIGBUS": ": a crash of compiled code, or a disk that is full",
    }
    return f"killed by signal {number} ({name}){why.get(name, '')}"


def _signal_name(number: int) -> str:
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def _last_line(log: str) -> str:
    """The last line of a log after its first, which is the command."""
    lines = [line for line in log.splitlines()[1:] if line.strip()]
    return _short(_STAMP.sub("", lines[-1])) if lines else ""


def _short(text: str, limit: int = 300) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def one_line(error: object) -> str:
    return _short(str(error)) or type(error).__name__

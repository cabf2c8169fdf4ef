"""Locks that a killed run left behind: removed when no run is alive that could hold them, so that a rerun just runs."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any


def clear_stale_locks(folder: Path) -> bool:
    """Remove Snakemake's locks in a working folder if every run that could hold them has died; note the present run.

    Snakemake's lock files do not say who made them. Each run therefore leaves a note with its host, process number
    and start time in ``.snakemake/mklearn-runs``. Locks without any note, or while a noted run lives or is of another
    host, are left alone: Snakemake then says what it always says.

    Returns
    -------
    bool
        Whether locks were removed.
    """
    state = folder / ".snakemake"
    notes = state / "mklearn-runs"
    notes.mkdir(parents=True, exist_ok=True)
    known = {path: _read(path) for path in notes.glob("*.json")}
    dead = [path for path, run in known.items() if run.get("host") == socket.gethostname() and not _lives(run)]
    locks = sorted((state / "locks").glob("*.lock"))
    stale = bool(locks) and bool(dead) and len(dead) == len(known)
    for path in [*dead, *(locks if stale else [])]:
        path.unlink(missing_ok=True)
    me = {"host": socket.gethostname(), "pid": os.getpid(), "started": _started(os.getpid())}
    temporary = notes / f"{os.getpid()}.tmp"
    temporary.write_text(json.dumps(me), encoding="utf-8")
    os.replace(temporary, temporary.with_suffix(".json"))
    return stale


def others_run(folder: Path) -> bool:
    """Whether another run in a working folder has left a note and, as far as can be told from here, is alive."""
    runs = [_read(path) for path in (folder / ".snakemake" / "mklearn-runs").glob("*.json")]
    here = socket.gethostname()
    return any(
        run.get("host") != here or (run.get("pid") != os.getpid() and _lives(run)) for run in runs if run.get("host")
    )


def _lives(run: dict[str, Any]) -> bool:
    return run.get("started") is not None and _started(run["pid"]) == run["started"]


def _started(pid: int) -> float | None:
    """When a process started, None if there is none: a process number alone may have been given again."""
    import psutil

    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.Error:
        return None


def _read(note: Path) -> dict[str, Any]:
    try:
        held = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) and isinstance(held.get("pid"), int) else {}

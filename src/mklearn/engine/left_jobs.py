"""Jobs that a killed run has left in SLURM: cancelled before the next run plans, so that none disturbs it."""

from __future__ import annotations

import getpass
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from mklearn.engine.run_lock import others_run
from mklearn.errors import UserError

WAIT_SECONDS = 90.0
"""For cancelled jobs to end: SLURM gives them KillWait, usually 30 seconds, before it kills."""


def cancel_left_jobs(folder: Path, *, wait_seconds: float = WAIT_SECONDS) -> list[str]:
    """Cancel the SLURM jobs of this folder if no run lives that could wait for them; nothing where there is no SLURM.

    A run that is interrupted or terminated sees to its jobs itself. One that is killed can't: its jobs go on, and would
    remove and write the files of the next run's jobs. While another run in the folder lives, or may live on another
    machine, nothing is cancelled.

    Returns
    -------
    list of str
        The numbers of the jobs that were cancelled.

    Raises
    ------
    UserError
        If they have not ended after a while.
    """
    if shutil.which("squeue") is None or others_run(folder):
        return []
    left = _jobs_of(folder)
    if not left:
        return []
    print(f"mklearn: cancelling what a killed run has left in SLURM: {len(left)} jobs.", file=sys.stderr)
    subprocess.run(["scancel", *left], check=False, capture_output=True, timeout=60)
    deadline = time.monotonic() + wait_seconds
    while _jobs_of(folder):
        if time.monotonic() > deadline:
            raise UserError(f"SLURM has not ended the jobs {', '.join(left)} of a killed run; run again when it has.")
        time.sleep(0.5)
    return left


def _jobs_of(folder: Path) -> list[str]:
    """Pending, running and ending jobs that Snakemake has submitted from a folder."""
    command = ["squeue", "--noheader", f"--user={getpass.getuser()}", "--format=%i|%k|%Z"]
    try:
        told = subprocess.run(command, check=True, capture_output=True, text=True, timeout=20).stdout
    except (OSError, subprocess.SubprocessError):
        return []  # a machine with SLURM's programs and no SLURM
    jobs = [line.split("|", 2) for line in told.splitlines() if line.count("|") >= 2]
    here = os.path.realpath(folder)
    return [
        number
        for number, comment, submitted_from in jobs
        if comment.startswith(("rule_", "group_")) and os.path.realpath(submitted_from) == here
    ]

"""What a run needs before its first job. Until the engine does it when a run starts."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Any

from mklearn.provenance import PACKAGE


def prepare(workflow: Any, mirror: str | None) -> None:
    """Remove what a killed run has left: its locks, and its jobs in SLURM; set the environment of jobs."""
    from mklearn.engine.left_jobs import cancel_left_jobs
    from mklearn.engine.lost_causes import listen
    from mklearn.engine.run_lock import clear_stale_locks
    from mklearn.engine.scheduling import coalesce_reevaluations

    if workflow.is_main_process:
        clear_stale_locks(Path.cwd())
        if not workflow.output_settings.dryrun:
            cancel_left_jobs(Path.cwd())
    if mirror:
        os.environ.setdefault("MKLEARN_MIRROR", mirror)
    if workflow.is_main_process:
        os.environ["MKLEARN_COMMAND"] = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
        coalesce_reevaluations()
        listen()
        # Jobs in a conda environment of their own find the package, which is not installed there.
        paths = [str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))

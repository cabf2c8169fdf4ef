"""A repair of Snakemake's scheduler, which otherwise costs more with every job that has ended."""

from __future__ import annotations

import threading
from typing import Any


def coalesce_reevaluations() -> None:
    """Let Snakemake's scheduler wait for one timer at a time.

    With its limit on jobs per second (on by default), Snakemake 9.27 starts a timer at each evaluation of what may run,
    and each timer causes an evaluation: a chain without end, and one more of them with every job that ends. After 120
    jobs of the study mkmmc it took a third of a core, looking up the inputs of all ready jobs over and over. Here a
    timer is only started when none is pending. Nothing is done where Snakemake has no such method any more.
    """
    from snakemake.scheduling.job_scheduler import JobScheduler

    if not hasattr(JobScheduler, "_schedule_reevalutation"):
        return
    pending = threading.Event()

    def schedule(self: Any, delay: float) -> None:
        if pending.is_set():
            return
        pending.set()

        def wake() -> None:
            pending.clear()
            self._open_jobs.release()

        timer = threading.Timer(delay, wake)
        timer.daemon = True  # the run's end need not wait for it
        timer.start()

    JobScheduler._schedule_reevalutation = schedule

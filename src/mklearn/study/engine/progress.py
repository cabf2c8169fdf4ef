"""The display of a run's progress on a terminal: a log handler of Snakemake's, named ``mklearn``."""

from __future__ import annotations

import logging
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from statistics import fmean
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

NAME = "mklearn"
SHOWN = ("Nothing to be done", "Creating conda", "Pulling singularity")
"""What is passed on of Snakemake's messages that are no warnings: how they begin."""
HIDDEN = ("CalledProcessError", "Exiting because a job execution failed")
"""What is left out of its warnings: the end of a run says why a job failed."""
RUNNING_SHOWN = 8
_DIGEST = re.compile(r"-[0-9a-f]{16}\b")


def register() -> None:
    """Make the display known to Snakemake, as ``--logger mklearn``."""
    LoggerPluginRegistry().register_plugin(NAME, sys.modules[__name__])


def time_left(
    counts: Mapping[str, int], ended: Mapping[str, Sequence[float]], running: Sequence[tuple[str, float]], at_once: int
) -> float | None:
    """Return the seconds that a run will take, None before its first job has ended.

    A job takes as long as the mean of its rule, or of all jobs.

    Parameters
    ----------
    counts : mapping of str to int
        The jobs of the run by rule.
    ended : mapping of str to sequence of float
        The seconds that jobs have taken, by rule.
    running : sequence of (str, float)
        Rules of the jobs that run now, with their seconds so far.
    at_once : int
        How many jobs run at a time.
    """
    every = [value for values in ended.values() for value in values]
    if not every:
        return None
    usual = {rule: fmean(ended[rule]) if ended.get(rule) else fmean(every) for rule in counts}
    work = sum((n - len(ended.get(rule, ()))) * usual[rule] for rule, n in counts.items())
    return max(work - sum(min(seconds, usual[rule]) for rule, seconds in running), 0.0) / max(at_once, 1)


class LogHandler(LogHandlerBase):
    """Shows how many jobs have ended, how long the others will take, and what is running now."""

    writes_to_stream, writes_to_file, has_filter, has_formatter, needs_rulegraph = True, False, True, True, False

    def __post_init__(self) -> None:
        """Prepare the display; it appears with the first job."""
        self.counts: Counter[str] = Counter()
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)
        self.running: dict[int, tuple[str, str, float]] = {}
        self.at_once = 0
        console = Console(stderr=not self.common_settings.stdout, highlight=False)
        columns = ("{task.completed} of {task.total} jobs", "{task.fields[left]}")
        self.bar = Progress(TextColumn(columns[0]), BarColumn(None), TimeElapsedColumn(), TextColumn(columns[1]))
        self.live = Live(get_renderable=self._display, console=console, transient=True, refresh_per_second=4)
        self.ended = False

    def emit(self, record: logging.LogRecord) -> None:
        """Take a message of Snakemake's."""
        event = getattr(getattr(record, "event", None), "name", "")
        if event in ("RUN_INFO", "JOB_INFO", "JOB_FINISHED", "JOB_ERROR"):
            getattr(self, f"_{event.lower()}")(record.__dict__)
        elif (text := record.getMessage().strip()).startswith(SHOWN) or (
            record.levelno >= logging.WARNING and not any(words in text for words in HIDDEN)
        ):
            self.live.console.print(Text(text))

    def _run_info(self, fields: Mapping[str, Any]) -> None:
        self.counts = Counter({rule: n for rule, n in fields["stats"].items() if rule not in ("total", "all")})
        if not self.bar.tasks:
            self.bar.add_task("", total=self.counts.total(), left="")

    def _job_info(self, fields: Mapping[str, Any]) -> None:
        if fields["rule_name"] in self.counts and not self.ended:
            said = _DIGEST.sub("", fields["rule_msg"] or fields["rule_name"])
            self.running[fields["jobid"]] = (fields["rule_name"], said, time.monotonic())
            self.at_once = max(self.at_once, len(self.running))
            self.live.start()

    def _job_finished(self, fields: Mapping[str, Any]) -> None:
        if job := self.running.pop(fields["job_id"], None):
            self.seconds[job[0]].append(time.monotonic() - job[2])
            self.bar.advance(self.bar.task_ids[0])

    def _job_error(self, fields: Mapping[str, Any]) -> None:
        if job := self.running.pop(fields["jobid"], None):
            self.counts[job[0]] -= 1
            self.live.console.print(Text(f"failed: {job[1]}"))

    def _display(self) -> Group:
        jobs, now = list(self.running.values()), time.monotonic()
        left = time_left(self.counts, self.seconds, [(rule, now - began) for rule, _, began in jobs], self.at_once)
        shown = "" if left is None else f"about {timedelta(seconds=round(left))} left"
        for task in self.bar.task_ids:
            self.bar.update(task, left=shown)
        names = [Text(f"  {said}", no_wrap=True, overflow="ellipsis") for _, said, _ in jobs[:RUNNING_SHOWN]]
        return Group(self.bar, *names)

    def close(self) -> None:
        """Take the display away."""
        self.ended = True
        self.live.stop()
        super().close()

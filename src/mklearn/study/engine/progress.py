"""The progress of a run on a terminal: a Snakemake log handler named ``mklearn``."""

import logging
import math
import re
import time
from collections import Counter, defaultdict
from datetime import timedelta
from statistics import fmean

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text
from snakemake_interface_logger_plugins.base import LogHandlerBase

SHOWN = re.compile("Nothing to be done|Creating conda|Pulling singularity")
HASH = re.compile("-[0-9a-f]{16}$")
HIDDEN = re.compile("CalledProcessError|Exiting because a job execution failed")  # detailed at the end of a run


class LogHandler(LogHandlerBase):
    """A log handler that shows the number of finished jobs, the remaining time, and the running jobs."""

    writes_to_stream, writes_to_file, has_filter, has_formatter, needs_rulegraph = True, False, True, True, False

    def __post_init__(self) -> None:
        """Prepare the display, which appears with the first job."""
        self.left: Counter[str] = Counter()  # number of unfinished jobs, by rule
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)  # run times of finished jobs, by rule
        self.running: dict[int, tuple[str, str, float]] = {}  # rule, name and start time
        self.at_once = 1
        console = Console(stderr=True, markup=False, highlight=False)
        self.live = Live(get_renderable=self._display, console=console, transient=True)

    def emit(self, record: logging.LogRecord) -> None:
        """Process a log record of Snakemake."""
        event, fields, text = getattr(record, "event", None), record.__dict__, record.getMessage().strip()
        match getattr(event, "name", ""):
            case "RUN_INFO":
                self.left = Counter({rule: n for rule, n in fields["stats"].items() if rule not in ("total", "all")})
            case "JOB_INFO" if fields["rule_name"] in self.left:
                values = [re.sub(HASH, "", value) for value in (fields["wildcards"] or {}).values()]
                name = " ".join([fields["rule_name"], *values])
                self.running[fields["jobid"]] = fields["rule_name"], name, time.monotonic()
                self.at_once = max(self.at_once, len(self.running))
                self.live.start()
            case "JOB_FINISHED" if job := self.running.pop(fields["job_id"], None):
                self.left[job[0]] -= 1
                self.seconds[job[0]].append(time.monotonic() - job[2])
            case "JOB_ERROR" if job := self.running.pop(fields["jobid"], None):
                self.left[job[0]] -= 1
                self.live.console.print(f"failed: {job[1]}")
            case _ if SHOWN.match(text) or (record.levelno >= logging.WARNING and not HIDDEN.search(text)):
                self.live.console.print(text)

    def _display(self) -> Group:
        """Return the display; the remaining time assumes the mean time per job of each rule, or of all rules."""
        now, running = time.monotonic(), [*self.running.values()]
        ended = [seconds for each in [*self.seconds.values()] for seconds in each]
        mean = {rule: fmean(self.seconds.get(rule, ended) or [0.0]) for rule in self.left}
        work = sum(n * mean[rule] for rule, n in self.left.items())
        work -= sum(min(now - start, mean[rule]) for rule, _, start in running)
        rest = f"about {timedelta(seconds=math.ceil(work / self.at_once))} left" if ended else ""
        done, total = len(ended), len(ended) + self.left.total()
        line = Table.grid(padding=(0, 1), expand=True)
        line.add_row(f"{done} of {total} jobs", ProgressBar(total, done), rest)
        return Group(line, *[Text(f"  {job}", no_wrap=True, overflow="ellipsis") for _, job, _ in running[:8]])

    def close(self) -> None:
        """Remove the display."""
        self.live.stop()
        super().close()

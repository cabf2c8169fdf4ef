"""The summary of a dry run: a Snakemake log handler named ``mklearn-plan``."""

import logging
import re
import shutil
from collections import Counter

from snakemake_interface_logger_plugins.base import LogHandlerBase

from mklearn.errors import printable
from mklearn.study.engine.progress import job_name
from mklearn.study.report.wording import plural


class LogHandler(LogHandlerBase):
    """A log handler that prints the number of planned jobs of each rule, with the first job and its reason."""

    writes_to_stream, writes_to_file, has_filter, has_formatter, needs_rulegraph = True, False, True, True, False

    def __post_init__(self) -> None:
        """Initialise the handler without jobs."""
        self.jobs: Counter[str] = Counter()
        self.reasons: dict[str, str] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Process a log record of Snakemake."""
        fields = record.__dict__
        if getattr(fields.get("event"), "name", "") != "JOB_INFO":
            if record.levelno >= logging.WARNING or record.getMessage().startswith("Nothing to be done"):
                print(printable(record.getMessage().strip()))
        elif fields["rule_name"] != "all":
            job = job_name(fields["wildcards"])
            reason = re.split(r" since|[:;] ", fields["reason"])[0]
            self.jobs[fields["rule_name"]] += 1
            self.reasons.setdefault(fields["rule_name"], f"{reason} ({job})" if job else reason)

    def close(self) -> None:
        """Print the summary once."""
        if self.jobs:
            width, columns = max(map(len, self.jobs)), shutil.get_terminal_size().columns
            print(f"{plural(self.jobs.total(), 'job')} would run:")
            for rule, n in self.jobs.items():
                print(printable(f"  {rule:{width}} {n:5}  {self.reasons[rule]}")[:columns])
            print("Nothing was run. --verbose lists every job.")
            self.jobs.clear()
        super().close()

"""Logs of jobs, with one line per event and the time since the start; progress of long loops."""

from __future__ import annotations

import logging
import os
import sys
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO, TypeVar

Item = TypeVar("Item")
logger = logging.getLogger("mklearn")
LOGGERS = ("mklearn", "py.warnings")


class _Elapsed(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return f"[{record.relativeCreated / 1000:7.1f} s] {record.getMessage()}"


def start(stream: TextIO | None = None) -> None:
    """Send the package's log messages and all warnings to a stream, by default standard error."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_Elapsed())
    for name in LOGGERS:
        log = logging.getLogger(name)
        log.handlers[:] = [handler]
        log.setLevel(logging.INFO)
        log.propagate = False
    logging.captureWarnings(True)


@contextmanager
def output_in(path: str | os.PathLike[str]) -> Iterator[int]:
    """Redirect all output of this process, compiled code included, to a file; yield a descriptor of the old stderr."""
    former = os.dup(1), os.dup(2)
    with open(path, "w", encoding="utf-8", buffering=1) as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
        start(stream)
        try:
            yield former[1]
        finally:
            for output in (sys.stdout, sys.stderr):
                with suppress(OSError):  # a full disk must not hide the message on the terminal
                    output.flush()
            os.dup2(former[0], 1)
            os.dup2(former[1], 2)
            for name in LOGGERS:
                logging.getLogger(name).handlers.clear()
            logging.captureWarnings(False)
            for descriptor in former:
                os.close(descriptor)


def progress(items: Iterable[Item], total: int, what: str, every: float = 5.0) -> Iterator[Item]:
    """Yield the items; log the number done and the remaining time, at most once in ``every`` seconds."""
    began = logged = time.monotonic()
    for number, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now - logged >= every or number == total:
            left = (now - began) / number * (total - number)
            logger.info("%s %d of %d%s", what, number, total, f", about {left:.0f} s left" if number < total else "")
            logged = now


@contextmanager
def logged_warnings(name: str) -> Iterator[None]:
    """Log each warning once, prefixed with ``name``."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            for message in sorted({str(warning.message) for warning in caught}):
                logger.warning("%s: %s", name, message)

"""Logs of jobs: one line per event, with the time since the start; progress of long loops."""

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
    """Send the package's messages to a stream (standard error by default), and warnings with them."""
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
    """Send all output of this process to a file, that of compiled code too; gives a descriptor of the former stderr."""
    former = os.dup(1), os.dup(2)
    with open(path, "w", encoding="utf-8", buffering=1) as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
        start(stream)
        try:
            yield former[1]
        finally:
            for output in (sys.stdout, sys.stderr):
                with suppress(OSError):  # a full disk: what the terminal gets matters more
                    output.flush()
            os.dup2(former[0], 1)
            os.dup2(former[1], 2)
            for name in LOGGERS:
                logging.getLogger(name).handlers.clear()
            logging.captureWarnings(False)
            for descriptor in former:
                os.close(descriptor)


def progress(items: Iterable[Item], total: int, what: str, every: float = 5.0) -> Iterator[Item]:
    """Pass items on; log at most every so many seconds how many are done, and the time that is left."""
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
    """Log each warning once, with the name of what it is about."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            for message in sorted({str(warning.message) for warning in caught}):
                logger.warning("%s: %s", name, message)

"""Logs of steps: one line per event, with the time since the start; progress of long loops."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TextIO, TypeVar

Item = TypeVar("Item")
logger = logging.getLogger("mklearn")


class _Elapsed(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return f"[{record.relativeCreated / 1000:7.1f} s] {record.getMessage()}"


def start(stream: TextIO | None = None) -> None:
    """Send the package's messages to a stream (standard error by default), and warnings with them."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_Elapsed())
    for name in ("mklearn", "py.warnings"):
        log = logging.getLogger(name)
        log.handlers[:] = [handler]
        log.setLevel(logging.INFO)
        log.propagate = False
    logging.captureWarnings(True)


def progress(items: Iterable[Item], total: int, what: str, every: float = 5.0) -> Iterator[Item]:
    """Pass items on, and say how far it is at most every so many seconds, with the time that is left."""
    began = said = time.monotonic()
    for number, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now - said >= every or number == total:
            left = (now - began) / number * (total - number)
            logger.info("%s %d of %d%s", what, number, total, f", about {left:.0f} s left" if number < total else "")
            said = now

"""Computation in a worker process, so that a time limit, a crash or lack of memory costs no other result."""

from __future__ import annotations

import ctypes
import multiprocessing
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from mklearn.extras import importable

Item = TypeVar("Item")
_PR_SET_PDEATHSIG = 1  # prctl(2): signal sent to a process when its parent dies
_items: Iterator[Any] = iter(())  # the worker, a fork of this process, reads it without pickling


class SplitAborted(Exception):
    """Exception for an aborted computation, with the ``status`` for its score row and the reason.

    The status is "time_limit", "out_of_memory", or "lost" after a crash.
    """

    def __init__(self, status: str, message: str) -> None:
        super().__init__(status, message)
        self.status, self.message = status, message

    def __str__(self) -> str:
        return self.message


def supervised(items: Iterable[Item], minutes: float | None) -> Iterator[Item]:
    """Compute items in a worker process, and yield each as soon as it is available.

    The worker is a fork of this process and ends with it. It is killed at the time limit, even inside compiled code. On
    macOS and Windows, and without the package pebble, there is no worker: a crash ends the job, and the time is checked
    only between items.

    ``items`` is a lazy iterable, such as a generator, of picklable items other than None. Its exceptions are raised
    here. Raise SplitAborted after ``minutes`` for all items, if memory runs out, or if the worker dies.
    """
    end = None if minutes is None else time.monotonic() + 60.0 * minutes
    try:
        for item in _from_worker(items, end) if sys.platform == "linux" and importable("pebble") else items:
            yield item
            if end is not None and time.monotonic() >= end:
                raise TimeoutError
    except TimeoutError:
        unit = "minute" if minutes == 1 else "minutes"
        raise SplitAborted("time_limit", f"the time limit of {minutes:g} {unit} for all splits was over") from None
    except MemoryError as error:
        raise out_of_memory(error) from None


def _from_worker(items: Iterable[Item], end: float | None) -> Iterator[Item]:
    from pebble import CONSTS, ProcessExpired, ProcessPool  # local import: no other step needs it

    global _items
    _items = iter(items)
    CONSTS.sleep_unit = 0.01  # polling interval in seconds; the default delays each fit by 0.15 s
    pool = ProcessPool(1, initializer=_end_with_parent, context=multiprocessing.get_context("fork"))
    try:
        while True:
            left = None if end is None else max(end - time.monotonic(), 1e-3)
            item = pool.schedule(_next_item, timeout=left).result()
            if item is None:
                return
            yield item
    except BrokenProcessPool:
        raise SplitAborted("lost", "its process died") from None
    except ProcessExpired as death:
        how = f"ended with exit code {death.exitcode}" if death.exitcode >= 0 else signal.strsignal(-death.exitcode)
        killed = ", for want of memory, or from outside" if death.exitcode == -signal.SIGKILL else ""
        raise SplitAborted("lost", f"its process died: {how}{killed}") from None
    finally:
        pool.stop()
        pool.join()


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _next_item() -> Any:
    item = next(_items, None)
    sys.stdout.flush()  # the worker exits without flushing
    return item


def out_of_memory(error: MemoryError) -> SplitAborted:
    """Return the SplitAborted for a refused allocation."""
    return SplitAborted("out_of_memory", f"memory ran out: {error}".removesuffix(": "))

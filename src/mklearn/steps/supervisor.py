"""Stand-in until the supervisor of a child process is merged: runs the work in this process, with the time limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from mklearn.steps.time_limit import TimeLimit, TimeLimitReached

T = TypeVar("T")


class SplitAborted(Exception):
    """The time limit, the memory, or the process of a fit ended; ``status`` is that of the splits without a value."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status


def supervised(work: Callable[[], Iterator[T]], *, minutes: float | None) -> Iterator[T]:
    """Yield the items of ``work()``; raise `SplitAborted` when the time limit is reached."""
    limit, items = TimeLimit(minutes), work()
    while True:
        try:
            with limit.enforced():
                item = next(items)
        except StopIteration:
            return
        except TimeLimitReached:
            unit = "minute" if minutes == 1 else "minutes"
            raise SplitAborted("time_limit", f"the time limit of {minutes:g} {unit} for all splits was over") from None
        yield item

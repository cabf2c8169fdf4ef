"""The time limit of a fit: an alarm in the process itself, so that what was done before it stays."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN = 1.0
"""Seconds after which the alarm is raised again, where some code has caught the first one and gone on."""


class TimeLimitReached(BaseException):
    """The time is over. No ``Exception``: code that catches those to try something else must not catch this."""


class TimeLimit:
    """Minutes from now on, shared by all that is done under :meth:`enforced`.

    An alarm is noticed between two steps of Python: a single call into compiled code (one eigenvalue problem, one
    semidefinite program) is not broken off but ends first. Outside the main thread, and on systems without alarms, the
    time is only looked at before each part.

    Parameters
    ----------
    minutes : float or None
        None: no limit.
    """

    def __init__(self, minutes: float | None) -> None:
        self.minutes = minutes
        self._end = None if minutes is None else time.monotonic() + 60.0 * minutes

    @contextmanager
    def enforced(self) -> Iterator[None]:
        """Run the body, and break it off when the time is over.

        Raises
        ------
        TimeLimitReached
            Before the body, if no time is left; anywhere in it, when the time ends.
        """
        if self._end is None:
            yield
            return
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeLimitReached
        if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
            yield
            return
        inside, own = True, sys._getframe()

        def over(number: int, frame: FrameType | None) -> None:
            if inside and frame is not own:  # in the body, not between it and the end of the alarms
                raise TimeLimitReached

        before = signal.signal(signal.SIGALRM, over)
        theirs, interval = signal.setitimer(signal.ITIMER_REAL, left, AGAIN)
        began = time.monotonic()
        try:
            yield
        finally:
            inside = False
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before or signal.SIG_DFL)
            if theirs:  # an alarm that somebody else waits for
                signal.setitimer(signal.ITIMER_REAL, max(theirs - (time.monotonic() - began), 1e-3), interval)

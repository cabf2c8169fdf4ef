"""Run a computation in a child process, so that its crash, its memory or its time limit costs no other result."""

from __future__ import annotations

import ctypes
import math
import multiprocessing
import os
import pickle
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")
_PR_SET_PDEATHSIG = 1  # prctl(2): the signal that a child gets when its parent dies
_LOOK_SECONDS = 1.0  # how often a child that says nothing is looked after


class SplitAborted(Exception):
    """A computation that ended before its result: by its time limit, for want of memory, or by a crash.

    Parameters
    ----------
    status : {"time_limit", "out_of_memory", "lost"}
        Status of its score row.
    message : str
        The reason, without a full stop.
    """

    def __init__(self, status: str, message: str) -> None:
        super().__init__(status, message)
        self.status = status
        self.message = message

    def __str__(self) -> str:
        return self.message


def supervised(
    work: Callable[[], Iterator[Item]], *, minutes: float | None, more_bytes: int | None = None
) -> Iterator[Item]:
    """Run a generator in a forked child process and yield its items here as they come.

    The child is a copy of this process, so ``work`` need not be picklable; its items must be. Load large inputs inside
    ``work``: then this process does not hold them too. The child is killed when the time is over, inside compiled code
    too, and when the returned iterator is closed; processes that it has started are killed with it. It dies with this
    process, and leaves Ctrl-C and SIGTERM to it.

    On macOS, whose system libraries do not survive a fork, and on Windows, the generator runs in this process: a crash
    ends the job, and the time is checked between two items only.

    Parameters
    ----------
    work : callable
        Called without arguments; returns the iterator to run.
    minutes : float or None
        Wall time for all items; None: no limit.
    more_bytes : int, optional
        Memory that the child may take beside what this process has; only where there is a child.

    Raises
    ------
    SplitAborted
        The time was over, memory ran out, or the child died.
    Exception
        What ``work`` has raised; the child's traceback is added as a note.
    """
    end = None if minutes is None else time.monotonic() + 60.0 * minutes
    items = _from_child(work, end, more_bytes) if sys.platform == "linux" else _from_here(work, end)
    for item in items:
        if isinstance(item, _TimeOver):
            unit = "minute" if minutes == 1 else "minutes"
            raise SplitAborted("time_limit", f"the time limit of {minutes:g} {unit} for all splits was over")
        yield item


class _TimeOver:
    """Stands in place of the items that the time was not enough for."""


def _from_here(work: Callable[[], Iterator[Item]], end: float | None) -> Iterator[Item | _TimeOver]:
    try:
        for item in work():
            yield item
            if end is not None and time.monotonic() >= end:
                yield _TimeOver()
    except MemoryError as error:
        raise out_of_memory(error) from None


def _from_child(
    work: Callable[[], Iterator[Item]], end: float | None, more_bytes: int | None
) -> Iterator[Item | _TimeOver]:
    forking = multiprocessing.get_context("fork")
    receiver, sender = forking.Pipe(duplex=False)
    process = forking.Process(target=_produce, args=(work, receiver, sender, os.getpid(), more_bytes))
    out_of_memory_kills = _out_of_memory_kills()
    process.start()
    number = process.pid
    assert number is not None
    with suppress(OSError):  # the child does the same; whoever is first
        os.setpgid(number, number)
    sender.close()  # now the end of the child, and of what it has started, is the end of the pipe
    time_over = False
    try:
        while True:
            left = math.inf if end is None or time_over else end - time.monotonic()
            if left <= 0.0:
                time_over = True
                _kill(number)  # what it has sent before is read to the end
            elif receiver.poll(min(left, _LOOK_SECONDS)):
                try:
                    kind, value = receiver.recv()
                except (EOFError, OSError):  # OSError: it died while it was sending
                    break
                if kind == "error":
                    raise value
                if kind == "end":
                    return
                yield value
            elif _has_ended(number):
                _kill(number)  # processes that it has started hold the pipe open
                if not receiver.poll(_LOOK_SECONDS):
                    break
        _has_ended(number, wait=True)  # before the kill below would change how it ended
    finally:
        _kill(number)
        process.join()
        receiver.close()
    if time_over:
        yield _TimeOver()
    raise _death(process.exitcode, _out_of_memory_kills() > out_of_memory_kills)


def _kill(number: int) -> None:
    """Kill a child that was not joined yet, and the processes that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(number, signal.SIGKILL)


def _has_ended(number: int, wait: bool = False) -> bool:
    """Return whether a child has ended; its number stays taken."""
    try:
        return os.waitid(os.P_PID, number, os.WEXITED | os.WNOWAIT | (0 if wait else os.WNOHANG)) is not None
    except ChildProcessError:  # multiprocessing has collected it when it started another one
        return True


def _produce(
    work: Callable[[], Iterator[Item]], receiver: Connection, sender: Connection, parent: int, more_bytes: int | None
) -> None:
    """Send each item, then the end or the error, as pairs of kind and value."""
    os.setpgid(0, 0)  # a group with the processes that the work starts
    for number in (signal.SIGINT, signal.SIGTERM):  # a handler, not SIG_IGN, which processes that it starts inherit
        signal.signal(number, lambda *_: None)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the call above
        os._exit(1)
    receiver.close()
    if more_bytes is not None:
        import resource  # which Windows has not

        taken = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + more_bytes, resource.getrlimit(resource.RLIMIT_AS)[1]))
    try:
        for item in work():
            sender.send(("item", item))
        sender.send(("end", None))
    except MemoryError as error:
        sender.send(("error", out_of_memory(error)))
    except Exception as error:
        sender.send(("error", _portable(error)))


def _portable(error: Exception) -> Exception:
    """Return the error as another process can read it, with its traceback as a note."""
    text = "".join(traceback.format_exception(error))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # an error class may have any constructor
        error = RuntimeError(f"{type(error).__name__}: {error}")
    error.add_note(f"In the child process:\n{text}")
    return error


def out_of_memory(error: MemoryError) -> SplitAborted:
    """Return the end of a computation whose allocation was refused."""
    return SplitAborted("out_of_memory", f"memory ran out: {error}" if str(error) else "memory ran out")


def _death(exit_code: int | None, memory: bool) -> SplitAborted:
    """Return why a child died, by its exit code and by whether the system has killed a process for memory meanwhile."""
    if exit_code is None or exit_code >= 0:
        return SplitAborted("lost", f"its process ended with exit code {exit_code} and without a result")
    if -exit_code == signal.SIGKILL and memory:
        return SplitAborted("out_of_memory", "memory ran out: the system killed its process (SIGKILL)")
    return SplitAborted("lost", f"its process was {killed_by(-exit_code)}")


def killed_by(number: int) -> str:
    """Describe the signal that ended a process."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = "unknown"
    why = {
        "SIGKILL": ": ended from outside, or by the system because memory ran out",
        "SIGTERM": ": ended from outside",
        "SIGSEGV": ": a crash of compiled code",
        "SIGABRT": ": compiled code gave up, often because memory ran out",
        "SIGBUS": ": a crash of compiled code, or a full disk",
    }
    return f"killed by signal {number} ({name}){why.get(name, '')}"


def _out_of_memory_kills() -> int:
    """Return how many processes the system has killed for memory since it started; 0 where it does not say."""
    try:
        lines = Path("/proc/vmstat").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)

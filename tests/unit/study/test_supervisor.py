"""A computation in a child process: every way it can end is an item, an error or a status, and no child is left."""

from __future__ import annotations

import faulthandler
import itertools
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from mklearn.errors import SolverFailed
from mklearn.study import supervisor
from mklearn.study.supervisor import SplitAborted, supervised

LONG = 600
"""Seconds that nothing waits for."""
forks = pytest.mark.skipif(sys.platform != "linux", reason="there is no child process on this system")


@pytest.fixture(autouse=True)
def no_child_is_left() -> Iterator[None]:
    before = set(psutil.Process().children())
    yield
    assert set(psutil.Process().children()) == before


@pytest.fixture(params=[pytest.param("child", marks=forks), "here"])
def both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With a child process and without one."""
    if request.param == "here":
        monkeypatch.setattr(supervisor.sys, "platform", "darwin")
    return str(request.param)


def collected(work: Callable[[], Iterator[Any]], **more: Any) -> tuple[list[Any], Exception | None]:
    """The items that come, and the error after them."""
    items = []
    try:
        for item in supervised(work, **({"minutes": None} | more)):
            items.append(item)  # those before an error count
    except Exception as error:
        return items, error
    return items, None


def test_items_come_as_they_are_made(both_ways: str) -> None:
    def work() -> Iterator[Any]:
        yield None
        yield {"array": np.arange(3.0), "process": os.getpid()}
        yield RuntimeError("an item like others")

    items, error = collected(work, minutes=5)
    assert error is None
    assert items[0] is None
    np.testing.assert_array_equal(items[1]["array"], np.arange(3.0))
    assert (items[1]["process"] == os.getpid()) == (both_ways == "here")
    assert str(items[2]) == "an item like others"


@forks
def test_an_item_is_here_before_the_next_is_made_and_a_closed_iterator_ends_the_child() -> None:
    def work() -> Iterator[int]:
        yield os.getpid()
        time.sleep(LONG)

    items = supervised(work, minutes=None)
    child = psutil.Process(next(items))
    assert child.ppid() == os.getpid()
    items.close()  # type: ignore[attr-defined]
    assert not child.is_running()


class Fussy(Exception):
    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")

    def __reduce__(self) -> Any:
        """Say what Python says by default, which can't be read: Dask, once imported, replaces the default."""
        return Fussy, (str(self),)


@pytest.mark.parametrize(
    ("error", "type_here", "text"),
    [
        (SolverFailed("no solution"), SolverFailed, "no solution"),
        (Fussy(1, 2), RuntimeError, "Fussy: 1 and 2"),
        (SplitAborted("lost", "its own"), SplitAborted, "its own"),
    ],
)
@forks
def test_an_error_keeps_its_type_and_says_where_it_came_from(error: Exception, type_here: type, text: str) -> None:
    def failing_work() -> Iterator[int]:
        yield 1
        raise error

    items, raised = collected(failing_work)
    assert items == [1]
    assert type(raised) is type_here
    assert str(raised) == text
    assert "in failing_work" in "".join(getattr(raised, "__notes__", []))


def test_a_memory_error_is_a_status(both_ways: str) -> None:
    def work() -> Iterator[int]:
        yield 1
        raise MemoryError("12.0 GiB")

    items, error = collected(work)
    assert items == [1]
    assert isinstance(error, SplitAborted)
    assert (error.status, str(error)) == ("out_of_memory", "memory ran out: 12.0 GiB")


def die_of(number: int) -> None:
    faulthandler.disable()  # pytest's own would write where the child was
    os.kill(os.getpid(), number)


@pytest.mark.parametrize(
    ("ending", "oom_kills", "status", "words"),
    [
        (lambda: die_of(signal.SIGKILL), 0, "lost", ["signal 9 (SIGKILL)", "memory"]),
        (lambda: die_of(signal.SIGKILL), 1, "out_of_memory", ["memory ran out", "SIGKILL"]),
        (
            lambda: die_of(signal.SIGSEGV),
            1,
            "lost",
            ["signal 11 (SIGSEGV)", "compiled code"],
        ),
        (lambda: die_of(40), 0, "lost", ["signal 40 (unknown)"]),
        (lambda: os._exit(3), 0, "lost", ["exit code 3"]),
    ],
)
@forks
def test_a_death_is_a_status_and_items_before_it_stay(
    monkeypatch: pytest.MonkeyPatch, ending: Callable[[], None], oom_kills: int, status: str, words: list[str]
) -> None:
    counts = iter([7, 7 + oom_kills])
    monkeypatch.setattr(supervisor, "_out_of_memory_kills", lambda: next(counts))

    def work() -> Iterator[np.ndarray]:
        yield np.ones(100_000)
        ending()

    items, error = collected(work)
    assert len(items) == 1
    assert isinstance(error, SplitAborted)
    assert error.status == status
    assert all(word in str(error) for word in words)


@forks
def test_the_system_says_how_often_it_killed_for_memory() -> None:
    said = re.search(r"^oom_kill (\d+)$", Path("/proc/vmstat").read_text(encoding="ascii"), re.MULTILINE)
    assert said is not None
    assert supervisor._out_of_memory_kills() >= int(said[1])


class Clock:
    """A clock that goes on when a test says so."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(supervisor, "time", clock)
    return clock


@forks
def test_the_time_limit_interrupts_compiled_code(clock: Clock) -> None:
    """SIGALRM could not: its handler runs between two steps of Python."""

    def work() -> Iterator[int]:
        yield 1
        deque(itertools.repeat(0), maxlen=0)
        yield 2

    items = supervised(work, minutes=0.5 / 60)
    assert next(items) == 1
    time.sleep(0.5)  # now it is in the endless loop
    clock.now = 0.6
    with pytest.raises(SplitAborted, match=r"time limit of 0\.00833333 minutes") as ended:
        next(items)
    assert ended.value.status == "time_limit"


@pytest.mark.full
@pytest.mark.parametrize("ending", ["time_limit", "lost", "closed", "done"])
@forks
def test_processes_that_the_child_has_started_end_with_it(ending: str, clock: Clock) -> None:
    """They have its end of the pipe too: the end of the pipe alone does not say that it has died."""

    def work() -> Iterator[int]:
        own = multiprocessing.get_context("fork").Process(target=time.sleep, args=(LONG,), daemon=ending == "done")
        own.start()
        yield own.pid or 0
        if ending == "lost":
            die_of(signal.SIGKILL)
        if ending != "done":
            time.sleep(LONG)

    items = supervised(work, minutes=1)
    grandchild = psutil.Process(next(items))
    if ending in ("time_limit", "lost"):
        if ending == "time_limit":
            clock.now = 61
        with pytest.raises(SplitAborted) as ended:
            next(items)
        assert ended.value.status == ending
    elif ending == "closed":
        items.close()  # type: ignore[attr-defined]
    else:
        assert list(items) == []
    psutil.wait_procs([grandchild], timeout=LONG / 2)
    assert not grandchild.is_running() or grandchild.status() == psutil.STATUS_ZOMBIE


def test_without_a_child_time_is_checked_between_items(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    monkeypatch.setattr(supervisor.sys, "platform", "darwin")

    def work() -> Iterator[int]:
        yield 1
        clock.now = 100
        yield 2
        yield 3

    items, error = collected(work, minutes=1)
    assert items == [1, 2]
    assert isinstance(error, SplitAborted)
    assert error.status == "time_limit"


SCRIPT = """
    import os, signal, sys, time
    from mklearn.study.supervisor import SplitAborted, supervised

    def work():
        yield os.getpid()
        time.sleep(600)

    try:
        for item in supervised(work, minutes=None):
            print(item, flush=True)
    except SplitAborted as error:
        print("aborted", error.status, flush=True)
"""


@pytest.mark.full
@pytest.mark.parametrize(("sent", "to_group"), [(signal.SIGINT, True), (signal.SIGTERM, True), (signal.SIGKILL, False)])
@forks
def test_a_child_dies_with_its_parent_and_nothing_is_reported(
    tmp_path: Path, sent: signal.Signals, to_group: bool
) -> None:
    """Ctrl-C and SIGTERM reach both: the interruption must not be taken for a death of the child."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert process.stdout is not None
    child = psutil.Process(int(process.stdout.readline()))
    (os.killpg if to_group else os.kill)(process.pid, sent)
    said, _ = process.communicate()
    assert said == ""
    assert process.returncode not in (0, None)
    psutil.wait_procs([child], timeout=LONG / 2)
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE

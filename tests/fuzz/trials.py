"""Run fuzzing trials with a fixed seed, each within a time limit and without forbidden events."""

import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy

from mklearn.errors import UserError

SECONDS = 60
"""Processor time that a trial may take; the timeout of the test ends one that waits."""
PROCESSES = ("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn",
             "pty.spawn", "socket.connect")  # fmt: skip
"""Audit events of a new process or a connection."""
ANY = (*PROCESSES, "pickle.find_class")
"""These, and objects from a pickle, which the cache of compiled loops reads."""
_forbidden: tuple[str, ...] = ()
_seen: list[str] = []


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _forbidden:
        _seen.append(f"{event} {arguments!r:.200}")


sys.addaudithook(_audit)


def run_trials(
    trials: int, inputs: SearchStrategy[Any], trial: Callable[[Any], None], forbidden: tuple[str, ...] = ANY
) -> None:
    """Call ``trial`` with as many inputs, the same in every run; fail on a forbidden event and after a minute."""

    @settings(max_examples=trials, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(inputs)
    def repeated(value: Any) -> None:
        global _forbidden
        _seen.clear()
        before = signal.signal(signal.SIGPROF, _too_long)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        _forbidden = forbidden
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                trial(value)
        finally:
            _forbidden = ()
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)
        assert not _seen, _seen

    repeated()


def _too_long(*_: Any) -> None:
    raise TimeoutError(f"a trial takes more than {SECONDS} s of processor time")


@contextmanager
def a_sentence() -> Iterator[None]:
    """Accept a UserError with a readable message."""
    try:
        yield
    except UserError as error:
        message = str(error)
        assert 10 < len(message) < 20_000, message[:500]
        leaked = re.search(r"np\.\w+_?\(|<class |<.* object at 0x|Traceback", message)
        assert not leaked, message[:2000]

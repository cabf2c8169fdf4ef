"""The time limit: it ends what is in its body and nothing else, and it leaves no alarm behind."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from mklearn.steps import time_limit
from mklearn.steps.time_limit import TimeLimit, TimeLimitReached

pytestmark = pytest.mark.timeout(method="thread")  # its other method has an alarm of its own


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    before = signal.getsignal(signal.SIGALRM)
    yield
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is before


def busy(seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def test_without_a_limit_nothing_is_set_up() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with TimeLimit(None).enforced():
        assert signal.getsignal(signal.SIGALRM) is before
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_body_that_ends_in_time_is_left_alone_and_the_next_has_the_rest() -> None:
    limit = TimeLimit(10.0)
    with limit.enforced():
        first = signal.getitimer(signal.ITIMER_REAL)[0]
        time.sleep(0.2)
    with limit.enforced():
        second = signal.getitimer(signal.ITIMER_REAL)[0]
    assert 599 < first <= 600
    assert second <= first - 0.2


def test_a_body_is_broken_off_and_no_later_one_begins() -> None:
    limit = TimeLimit(0.3 / 60)
    started = time.monotonic()
    with pytest.raises(TimeLimitReached), limit.enforced():
        busy()
    assert 0.25 < time.monotonic() - started < 10
    begun = False
    with pytest.raises(TimeLimitReached), limit.enforced():
        begun = True
    assert not begun


def test_code_that_catches_every_exception_does_not_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """An ``except Exception`` does not see it; what catches it nevertheless meets it again."""
    monkeypatch.setattr(time_limit, "AGAIN", 0.1)
    caught = []

    def stubborn(kind: type[BaseException]) -> None:
        with suppress(kind):
            busy()
        caught.append(kind)
        busy()

    for kind in (Exception, TimeLimitReached):
        with pytest.raises(TimeLimitReached), TimeLimit(0.2 / 60).enforced():
            stubborn(kind)
    assert caught == [TimeLimitReached]


def test_other_errors_pass_and_an_alarm_that_was_there_comes_back() -> None:
    rung = []

    def mine(number: int, frame: object) -> None:
        rung.append(number)

    def mistaken() -> None:
        time.sleep(0.1)
        raise KeyError

    before = signal.signal(signal.SIGALRM, mine)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyError), TimeLimit(1.0).enforced():
            mistaken()
        assert signal.getsignal(signal.SIGALRM) is mine
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 0.2
        busy(0.4)
        assert rung == [signal.SIGALRM]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_in_a_thread_the_time_is_looked_at_between_parts() -> None:
    seen: list[str] = []

    def work() -> None:
        limit = TimeLimit(0.1 / 60)
        with limit.enforced():
            busy(0.3)
            seen.append("ended")
        try:
            with limit.enforced():
                seen.append("begun")
        except TimeLimitReached:
            seen.append("over")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == ["ended", "over"]

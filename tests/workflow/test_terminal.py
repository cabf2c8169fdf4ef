"""What a run shows on a terminal: its progress, and at the end the answer."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable

import pytest
from tests.workflow.conftest import Checkout

pytestmark = pytest.mark.full

PAGE = "results/smoke/report/index.html"


def on_a_terminal(command: list[str], checkout: Checkout, columns: int = 100) -> str:
    """Return what a command writes to a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    known = {name: value for name, value in checkout.environment.items() if name not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        command, cwd=checkout.folder, env=known | {"TERM": "xterm"}, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    written = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the program has closed its end
            break
        if not part:
            break
        written += part
    os.close(ours)
    assert process.wait() == 0, written.decode()
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.decode())


def test_a_run_ends_with_the_answer(finished: Checkout, copy_of: Callable[[Checkout], Checkout]) -> None:
    mine = copy_of(finished)
    (mine.folder / PAGE).unlink()
    shown = on_a_terminal([sys.executable, "-m", "mklearn", "run", "--cores", "1"], mine)
    assert "0 of 1 jobs" in shown
    assert "  page" in shown
    assert "ingularity" not in shown
    answer = (mine.folder / PAGE).with_name("answer.txt").read_text(encoding="utf-8")
    assert answer.startswith("Fewer than 5 splits allow no verdict")
    missing = [line for line in [*answer.splitlines(), PAGE] if line not in shown]
    assert not missing, shown[-3000:]

"""Seconds of fit and prediction by default beside those with one thread of BLAS, idle and beside two busy processes.

Ratios are printed: run with ``-s``, on an idle machine. With all threads in place of the default the ratio was 60 at
150 samples and 10 at 500 beside busy processes, on two cores.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from mklearn.base.fit_context import _VARIABLES

pytestmark = pytest.mark.benchmark
TIMED = """
import contextlib, json, sys, time
import numpy as np
from threadpoolctl import threadpool_limits
from mklearn import MultiViewClassifier
n, repeats = map(int, sys.argv[1:])
y = np.arange(n) % 3
rng = np.random.default_rng(0)
X = {name: rng.normal(size=(n, 40)) + 0.3 * y[:, None] for name in "abc"}
best = [float("inf")] * 2
MultiViewClassifier().fit({name: table[:30] for name, table in X.items()}, y[:30])  # imports, compiled loops
for _ in range(repeats):
    for which, limit in enumerate((contextlib.nullcontext, lambda: threadpool_limits(1))):
        with limit():
            start = time.perf_counter()
            MultiViewClassifier().fit(X, y).predict(X)
            best[which] = min(best[which], time.perf_counter() - start)
print(json.dumps(best))
"""


@contextmanager
def busy(n: int) -> Iterator[None]:
    with ExitStack() as stack:
        for _ in range(n):
            loop = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(loop.kill)
        yield


@pytest.mark.parametrize("loops", [0, 2])
@pytest.mark.parametrize(("n", "repeats"), [(150, 20), (500, 10), (2000, 5)])
def test_default_threads_are_as_fast_as_one(n: int, repeats: int, loops: int) -> None:
    free = {name: value for name, value in os.environ.items() if name not in _VARIABLES}
    with busy(loops):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", TIMED, str(n), str(repeats)],
            capture_output=True, text=True, check=True, env=free,
        )  # fmt: skip
    default, one = json.loads(done.stdout)
    print(f"\nn = {n}, {loops} busy loops: {default:.2f} s, with one thread {one:.2f} s, ratio {default / one:.2f}")
    assert default <= 1.1 * one

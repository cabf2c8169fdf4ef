"""Worker processes that render figures as SVG and PNG, and bundle the Vega libraries for the page.

Rendering is most of a report's time, and vl-convert holds the interpreter lock while it works: threads alone would not
help. The workers are commands of their own, not those of a ``ProcessPoolExecutor``, which import the main module again:
in a Snakemake job that is the job's script.
"""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from mklearn.atomic import atomic_path, write_text
from mklearn.errors import DataError

VEGA_LITE = "6.4"
"""Version of the grammar, in the page and in figure files."""
SCALE = 2
"""Pixels of the PNG per pixel of the SVG."""


class Renderer:
    """Worker processes of one report: a context manager that waits for all figures when it is left.

    An executor hands the work to its threads, and each thread to a process of its own, started with its first task. An
    exception inside the context kills the processes.

    Parameters
    ----------
    folder : Path
        Folder of the figures; made when the first one is written.
    config : dict
        Vega-Lite configuration of all figures.
    threads : int
        Number of worker processes, at most.

    Attributes
    ----------
    written : list of Path
        The files that exist when the context is left.

    Raises
    ------
    DataError
        A worker process ended with an error. Its traceback is on the standard error.
    """

    def __init__(self, folder: Path, config: dict[str, Any], threads: int) -> None:
        self.written: list[Path] = []
        self._folder = folder
        self._command = [sys.executable, "-m", "mklearn.report.rendering", str(folder), json.dumps(config)]
        self._threads = threads
        self._executor = ThreadPoolExecutor(threads)
        self._of_thread = threading.local()
        self._processes: list[subprocess.Popen[str]] = []
        self._figures: list[Future[str]] = []

    def __enter__(self) -> Renderer:
        return self

    def bundle(self) -> Callable[[], str]:
        """Start to bundle the page's script; the function that is returned waits for it.

        With one thread nothing is started: the function bundles in this process.
        """
        return self._executor.submit(self._ask, None).result if self._threads > 1 else vega_script

    def add(self, slug: str, specification: dict[str, Any]) -> None:
        """Write ``slug``.svg and ``slug``.png before the context is left."""
        self._figures.append(self._executor.submit(self._ask, [slug, specification]))
        self.written += [self._folder / f"{slug}.svg", self._folder / f"{slug}.png"]

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
            for process in self._processes:
                process.kill()
        self._executor.shutdown()
        for process in self._processes:
            process.communicate()
        if kind is None:
            for figure in self._figures:
                figure.result()

    def _ask(self, request: Any) -> str:
        """Send a request to the process of this thread, and wait for its reply."""
        if not hasattr(self._of_thread, "process"):
            self._of_thread.process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
            )
            self._processes.append(self._of_thread.process)
        process: subprocess.Popen[str] = self._of_thread.process
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError):  # a process that died: it gives no reply
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
        reply = process.stdout.readline()
        if not reply:
            raise DataError(f"{self._folder}: a process that renders figures ended with code {process.wait()}")
        return str(json.loads(reply))


@functools.cache
def vega_script() -> str:
    """Bundle Vega, Vega-Lite and Vega-Embed into one script that sets ``vegaEmbed``; safe inside a script element."""
    import vl_convert

    script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE)
    return str(script.replace("</script", "<\\/script"))


def answer(folder: Path, config: dict[str, Any], requests: IO[str], replies: IO[str]) -> None:
    """Serve the requests of a `Renderer`, one JSON value per line: null for the script, ``[slug, specification]``."""
    for line in requests:
        request = json.loads(line)
        reply = vega_script() if request is None else write_figure(folder, config, *request)
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


def write_figure(folder: Path, config: dict[str, Any], slug: str, specification: dict[str, Any]) -> str:
    """Write a figure as SVG and PNG; return its slug."""
    import vl_convert

    svg = vl_convert.vegalite_to_svg(specification, vl_version=VEGA_LITE, config=config, allowed_base_urls=[])
    svg = _renumbered(svg)
    write_text(folder / f"{slug}.svg", svg)
    with atomic_path(folder / f"{slug}.png") as temporary:
        temporary.write_bytes(vl_convert.svg_to_png(svg, scale=SCALE))
    return slug


def _renumbered(svg: str) -> str:
    """Number clips and gradients from 1 in each figure: the renderer counts on over all figures of a process."""
    numbers: dict[str, int] = {}

    def name(found: re.Match[str]) -> str:
        return f"{found[1]}{found[2]}{numbers.setdefault(found[2] + found[3], len(numbers) + 1)}"

    return re.sub(r'(id="|url\(#)(clip|gradient_)(\d+)', name, svg)


if __name__ == "__main__":
    answer(Path(sys.argv[1]), json.loads(sys.argv[2]), sys.stdin, sys.stdout)

"""Writes figures as SVG and PNG, in processes beside the one that draws the next figures.

Rendering is most of a report's time, and the renderer holds the interpreter while it works: threads would not help. The
processes are commands of their own, because a step runs inside a script that another interpreter must not import.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from mklearn.atomic import atomic_path, write_text
from mklearn.errors import DataError

VEGA_LITE = "6.4"
"""Version of the grammar, of page and files."""
SCALE = 2
"""Pixels of the PNG for each of the SVG's."""


class FigureWriters:
    """Processes that write figures into a folder; leave the context to wait for them.

    They start with the first figures that they get, so that no figures cost no process.

    Parameters
    ----------
    folder : Path
        Made if it is missing and there are figures.
    config : dict
        Vega-Lite configuration of all figures.
    n : int
        How many processes, at most.

    Attributes
    ----------
    written : list of Path
        The files that are there when the context is left.

    Raises
    ------
    DataError
        A process did not end well. What it said stands on the standard error.
    """

    def __init__(self, folder: Path, config: dict[str, Any], n: int) -> None:
        self.written: list[Path] = []
        self._folder = folder
        self._command = [sys.executable, "-m", "mklearn.report.figure_files", str(folder), json.dumps(config)]
        self._n = n
        self._processes: deque[subprocess.Popen[str]] = deque()

    def __enter__(self) -> FigureWriters:
        return self

    def add(self, slug: str, specification: dict[str, Any]) -> None:
        """Write ``slug``.svg and ``slug``.png some time before the context is left."""
        if len(self._processes) < self._n:
            self._processes.append(subprocess.Popen(self._command, stdin=subprocess.PIPE, text=True, encoding="utf-8"))
        self._processes.rotate()
        pipe = self._processes[0].stdin
        assert pipe is not None
        with suppress(BrokenPipeError):  # a writer that died: its code is looked at when all is said
            pipe.write(json.dumps([slug, specification]) + "\n")
            pipe.flush()
        self.written += [self._folder / f"{slug}.svg", self._folder / f"{slug}.png"]

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        for process in self._processes:
            if kind is not None:
                process.kill()
            with suppress(BrokenPipeError):
                process.communicate()
        codes = [process.wait() for process in self._processes]
        if kind is None and any(codes):
            raise DataError(f"{self._folder}: a process that writes figures ended with code {max(codes, key=abs)}")


def write_figures(folder: Path, config: dict[str, Any], lines: IO[str]) -> None:
    """A figure from each line ``[slug, specification]``."""
    import vl_convert

    options: dict[str, Any] = {"vl_version": VEGA_LITE, "config": config, "allowed_base_urls": []}
    for line in lines:
        slug, specification = json.loads(line)
        svg = _renumbered(vl_convert.vegalite_to_svg(specification, **options))
        write_text(folder / f"{slug}.svg", svg)
        with atomic_path(folder / f"{slug}.png") as temporary:
            temporary.write_bytes(vl_convert.svg_to_png(svg, scale=SCALE))


def _renumbered(svg: str) -> str:
    """Clips and gradients counted from 1: the renderer counts on over all figures that it has made."""
    numbers: dict[str, int] = {}

    def name(found: re.Match[str]) -> str:
        return f"{found[1]}{found[2]}{numbers.setdefault(found[2] + found[3], len(numbers) + 1)}"

    return re.sub(r'(id="|url\(#)(clip|gradient_)(\d+)', name, svg)


if __name__ == "__main__":
    write_figures(Path(sys.argv[1]), json.loads(sys.argv[2]), sys.stdin)

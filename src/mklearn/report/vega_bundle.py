"""Vega, Vega-Lite and Vega-Embed as one script for the page, from the installed ``vl-convert``.

Bundling takes two seconds, in which the renderer holds the interpreter: a process of its own does it while the report
draws its figures.
"""

from __future__ import annotations

import subprocess
import sys
from functools import lru_cache

from mklearn.errors import DataError
from mklearn.report.figure_files import VEGA_LITE

_EXPORT = "window.vegaEmbed = vegaEmbed;"


class VegaBundle:
    """The script, which sets ``vegaEmbed``; it is begun when the context is entered.

    Parameters
    ----------
    beside : bool
        Whether a process of its own makes it; otherwise this one does, when it is asked for.

    Raises
    ------
    DataError
        The process did not end well. What it said stands on the standard error.
    """

    def __init__(self, beside: bool) -> None:
        self._beside = beside
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> VegaBundle:
        if self._beside:
            command = [sys.executable, "-m", "mklearn.report.vega_bundle"]
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE)
        return self

    def script(self) -> str:
        """Safe inside a script element; waits for the process. To be asked for once."""
        if self._process is None:
            return _bundle()
        script, _ = self._process.communicate()
        if self._process.returncode:
            raise DataError(f"the process that bundles Vega ended with code {self._process.returncode}")
        return script.decode()

    def __exit__(self, *reason: object) -> None:
        if self._process is not None and self._process.poll() is None:  # the report failed before it was needed
            self._process.kill()
            self._process.communicate()


@lru_cache(maxsize=1)
def _bundle() -> str:
    import vl_convert

    return vl_convert.javascript_bundle(_EXPORT, vl_version=VEGA_LITE).replace("</script", "<\\/script")


if __name__ == "__main__":
    sys.stdout.buffer.write(_bundle().encode())

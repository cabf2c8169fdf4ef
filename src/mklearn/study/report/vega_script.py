"""The script of the page's figures: Vega, Vega-Lite and Vega-Embed in one, as the installed vl-convert has them."""

from __future__ import annotations

import functools
import hashlib
import sys
from contextlib import suppress
from importlib.metadata import version
from importlib.util import cache_from_source
from pathlib import Path

import vl_convert

from mklearn.atomic import write_text
from mklearn.errors import DataError
from mklearn.study.report.rendering import VEGA_LITE

_SNIPPET = "window.vegaEmbed = vegaEmbed;"


@functools.cache
def vega_script() -> str:
    """Return the script, which sets ``vegaEmbed``; safe inside a script element.

    Bundling it takes a second, and gives the same text for one version of vl-convert: it is kept where Python keeps the
    bytecode of this module, under a name that says what it is made from, and with its sha256. It is bundled again where
    the file is missing or damaged; a folder that can't be written is no error.
    """
    path = _kept_in()
    with suppress(OSError, UnicodeDecodeError):
        digest, _, script = path.read_bytes().decode("utf-8").partition("\n")
        if digest == _digest(script):
            return script
    script = str(vl_convert.javascript_bundle(_SNIPPET, vl_version=VEGA_LITE)).replace("</script", "<\\/script")
    if not sys.dont_write_bytecode:
        with suppress(OSError, DataError):
            write_text(path, f"{_digest(script)}\n{script}")
    return script


def _kept_in() -> Path:
    """Return the file for this version of vl-convert and this snippet."""
    made_from = _digest(f"{version('vl-convert-python')} {VEGA_LITE} {_SNIPPET}")
    return Path(cache_from_source(__file__)).with_name(f"vega-{made_from[:16]}.js")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()

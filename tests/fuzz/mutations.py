"""Strategies that change text and arrays as people do by mistake."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from scipy import sparse

YAML_WORDS = (
    "~", "null", "yes", "no", "on", "true", "0", "-1", "1e400", ".nan", "-.inf", "1.5", "0x10", "0o17", "1_000", "1:30",
    "2147483648", "99999999999999999999", "9" * 5000, "2020-13-45", "2020-01-01", "[]", "{}", "[[]]", "[~]", "{a: b}",
    "? [a]\n: b", "&a [*a]", "*nowhere", "<<: {a: 1}", "!!python/object:os.system x", "!!binary aGk=", "!!set {a}",
    "!!timestamp 1", "!!map a", "!!set [a]", "!!bool x",
    "|\n  x", ">-", "'", '"', "#", ":", "- - -", "%YAML 9.9", "---", "...", "\t", "\0", "\x85",
    "\u2028", "\ufffe", "\ud800", "Größe", "名前", "../../etc/passwd", "/dev/zero", "{x}", "{}{{", "~/x", "a/b", "*",
    "registered", "precomputed", "kernel_fda", "linear", "each", "all", "digits", "auto", "[8, 8]", "x" * 3000,
)  # fmt: skip
"""What may stand in a study in place of a word."""


@st.composite
def mistaken(draw: st.DrawFn, seeds: Sequence[str]) -> bytes:
    """Text of one of the seeds with one to four mistakes, and sometimes in another encoding, as bytes."""
    text = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(1, 4))):
        way = draw(st.sampled_from(["word", "word", "word", "insert", "line", "double", "move", "indent", "cut"]))
        lines = text.splitlines(keepends=True) or [""]
        row = draw(st.integers(0, len(lines) - 1))
        if way == "word":
            found = list(re.finditer(r"[^\s,:\[\]{}]+", lines[row]))
            if found:
                match = draw(st.sampled_from(found))
                new = draw(st.sampled_from(YAML_WORDS))
                lines[row] = lines[row][: match.start()] + new + lines[row][match.end() :]
        elif way == "insert":
            at = draw(st.integers(0, len(lines[row])))
            lines[row] = lines[row][:at] + draw(st.sampled_from(YAML_WORDS) | st.characters()) + lines[row][at:]
        elif way == "line":
            del lines[row]
        elif way == "double":
            lines.insert(row, lines[row])
        elif way == "move":
            lines.insert(draw(st.integers(0, len(lines) - 1)), lines.pop(row))
        elif way == "indent":
            lines[row] = draw(st.sampled_from([" ", "  ", "\t", "- "])) + lines[row]
        text = "".join(lines)
        if way == "cut":
            text = text[: draw(st.integers(0, len(text)))]
    encoding = draw(st.sampled_from(["utf-8"] * 9 + ["utf-8-sig", "utf-16", "latin-1"]))
    return text.encode(encoding, errors="surrogatepass" if encoding.startswith("utf") else "replace")


SAME = ("as it is", "column-major", "strided", "read-only", "big-endian", "list", "frame")
"""Forms of an array with the same values."""
OTHER = (
    "scaled", "entry", "complex", "object", "text", "bytes", "dates", "integers", "booleans", "half", "single",
    "masked", "zeros", "constant", "repeated", "fewer rows", "more rows", "fewer columns", "more columns",
    "one axis more", "one axis less", "transposed", "scalar", "empty", "sparse", "ragged", "none", "a string",
)  # fmt: skip
"""Mistakes in an array."""


@st.composite
def changes(draw: st.DrawFn, ways: Sequence[str] = SAME + OTHER) -> tuple[str, float, int]:
    """A way to change an array, with a factor or value and a place for it: see :func:`changed`."""
    value = draw(st.sampled_from([1e-300, 1e-155, 1e-60, 1e-20, -1.0, 0.5, 1e8, 1e20, 1e60, 1e100, 1e155, 1e308])
                 | st.sampled_from([np.nan, np.inf, -np.inf]))  # fmt: skip
    return draw(st.sampled_from(ways)), value, draw(st.integers(0, 10**6))


def changed(array: np.ndarray, change: tuple[str, float, int]) -> Any:
    """A copy of an array, changed in a way of `SAME` or `OTHER`."""
    way, value, place = change
    with np.errstate(all="ignore"):
        return _changed(array.copy(), way, value, place)


def _changed(array: np.ndarray, way: str, value: float, place: int) -> Any:
    if way == "entry":
        array.flat[place % max(array.size, 1)] = value
        return array
    if way == "strided":
        wide = np.repeat(array, 2, axis=0)
        return wide[::2]
    if way == "read-only":
        array.flags.writeable = False
        return array
    simple = {
        "as it is": lambda: array,
        "column-major": lambda: np.asfortranarray(array),
        "big-endian": lambda: array.astype(array.dtype.newbyteorder(">")),
        "list": lambda: array.tolist(),
        "frame": lambda: pd.DataFrame(array) if array.ndim == 2 else array,
        "scaled": lambda: array * value,
        "complex": lambda: array * (1 + 1j),
        "object": lambda: np.where(np.arange(array.size).reshape(array.shape) == place % array.size, None, array),
        "text": lambda: array.astype(str),
        "bytes": lambda: array.astype("S"),
        "dates": lambda: array.astype(np.int64).astype("M8[s]"),
        "integers": lambda: array.astype(np.int16),
        "booleans": lambda: array > 0,
        "half": lambda: array.astype(np.float16),
        "single": lambda: array.astype(np.float32),
        "masked": lambda: np.ma.masked_array(array, array > np.median(array)),
        "zeros": lambda: np.zeros_like(array),
        "constant": lambda: np.full_like(array, value if np.isfinite(value) else 1.0),
        "repeated": lambda: np.repeat(array[:1], len(array), axis=0),
        "fewer rows": lambda: array[: place % len(array)],
        "more rows": lambda: np.concatenate([array, array[:1]]),
        "fewer columns": lambda: array[..., : place % array.shape[-1]],
        "more columns": lambda: np.concatenate([array, array[..., :1]], axis=-1),
        "one axis more": lambda: array[..., None],
        "one axis less": lambda: array[..., 0],
        "transposed": lambda: array.T,
        "scalar": lambda: np.asarray(value),
        "empty": lambda: array[:0],
        "sparse": lambda: sparse.csr_array(array) if array.ndim == 2 else array,
        "ragged": lambda: [*array.tolist()[:-1], [1.0]],
        "none": lambda: None,
        "a string": lambda: "precomputed",
    }
    return simple[way]()

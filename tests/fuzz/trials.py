"""Fuzzing trials, with a fixed seed, a time limit and forbidden events; mistakes in studies and arrays to try."""

import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from scipy import sparse

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


# --- mutations

YAML_WORDS = (
    "~", "null", "yes", "no", "on", "true", "0", "-1", "1e400", ".nan", "-.inf", "1.5", "0x10", "0o17", "1_000", "1:30",
    "2147483648", "99999999999999999999", "9" * 5000, "2020-13-45", "2020-01-01", "[]", "{}", "[[]]", "[~]", "{a: b}",
    "? [a]\n: b", "&a [*a]", "*nowhere", "<<: {a: 1}", "!!python/object:os.system x", "!!binary aGk=", "!!set {a}",
    "!!timestamp 1", "!!map a", "!!set [a]", "!!bool x",
    "|\n  x", ">-", "'", '"', "#", ":", "- - -", "%YAML 9.9", "---", "...", "\t", "\0", "\x85",
    "\u2028", "\ufffe", "\ud800", "Größe", "名前", "../../etc/passwd", "/dev/zero", "{x}", "{}{{", "~/x", "a/b", "*",
    "registered", "precomputed", "kernel_fda", "linear", "each", "all", "digits", "auto", "[8, 8]", "x" * 3000,
)  # fmt: skip
"""Replacements of a word of a study."""


@st.composite
def mistaken(draw: st.DrawFn, seeds: Sequence[str]) -> bytes:
    """Draw the bytes of a seed with one to four mistakes, sometimes in another encoding."""
    text = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(1, 4))):
        way = draw(st.sampled_from(["word", "word", "word", "insert", "line", "double", "move", "indent", "cut"]))
        lines = text.splitlines(keepends=True) or [""]
        row = draw(st.integers(0, len(lines) - 1))
        if way == "word":
            if words := list(re.finditer(r"[^\s,:\[\]{}]+", lines[row])):
                start, end = draw(st.sampled_from(words)).span()
                lines[row] = lines[row][:start] + draw(st.sampled_from(YAML_WORDS)) + lines[row][end:]
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


Change = Callable[[np.ndarray, float, int], Any]
SAME: dict[str, Change] = {
    "as it is": lambda array, value, place: array,
    "column-major": lambda array, value, place: np.asfortranarray(array),
    "strided": lambda array, value, place: np.repeat(array, 2, axis=0)[::2],
    "read-only": lambda array, value, place: np.broadcast_to(array, array.shape),
    "big-endian": lambda array, value, place: array.astype(array.dtype.newbyteorder(">")),
    "list": lambda array, value, place: array.tolist(),
    "frame": lambda array, value, place: pd.DataFrame(array) if array.ndim == 2 else array,
}
"""Forms of an array with the same values."""
OTHER: dict[str, Change] = {
    "scaled": lambda array, value, place: array * value,
    "entry": lambda array, value, place: np.where(_entry(array, place), value, array),
    "complex": lambda array, value, place: array * (1 + 1j),
    "object": lambda array, value, place: np.where(_entry(array, place), None, array),
    "text": lambda array, value, place: array.astype(str),
    "bytes": lambda array, value, place: array.astype("S"),
    "dates": lambda array, value, place: array.astype(np.int64).astype("M8[s]"),
    "integers": lambda array, value, place: array.astype(np.int16),
    "booleans": lambda array, value, place: array > 0,
    "half": lambda array, value, place: array.astype(np.float16),
    "single": lambda array, value, place: array.astype(np.float32),
    "masked": lambda array, value, place: np.ma.masked_array(array, array > np.median(array)),
    "zeros": lambda array, value, place: np.zeros_like(array),
    "constant": lambda array, value, place: np.full_like(array, value if np.isfinite(value) else 1.0),
    "repeated": lambda array, value, place: np.repeat(array[:1], len(array), axis=0),
    "fewer rows": lambda array, value, place: array[: place % len(array)],
    "more rows": lambda array, value, place: np.concatenate([array, array[:1]]),
    "fewer columns": lambda array, value, place: array[..., : place % array.shape[-1]],
    "more columns": lambda array, value, place: np.concatenate([array, array[..., :1]], axis=-1),
    "one axis more": lambda array, value, place: array[..., None],
    "one axis less": lambda array, value, place: array[..., 0],
    "transposed": lambda array, value, place: array.T,
    "scalar": lambda array, value, place: np.asarray(value),
    "empty": lambda array, value, place: array[:0],
    "sparse": lambda array, value, place: sparse.csr_array(array) if array.ndim == 2 else array,
    "ragged": lambda array, value, place: [*array.tolist()[:-1], [1.0]],
    "none": lambda array, value, place: None,
    "a string": lambda array, value, place: "precomputed",
}
"""Mistakes in an array, some with a value or at a place."""
VALUES = (1e-300, 1e-155, 1e-60, 1e-20, -1.0, 0.5, 1e8, 1e20, 1e60, 1e100, 1e155, 1e308, np.nan, np.inf, -np.inf)
CHANGES = st.tuples(st.sampled_from([*SAME, *OTHER]), st.sampled_from(VALUES), st.integers(0, 10**6))
"""A way to change an array, with a value and a place for it: see `changed`."""


def _entry(array: np.ndarray, place: int) -> np.ndarray:
    return np.arange(array.size).reshape(array.shape) == place % array.size


def changed(array: np.ndarray, change: tuple[str, float, int]) -> Any:
    """Return a copy of an array, changed in a way of `SAME` or `OTHER`."""
    way, value, place = change
    with np.errstate(all="ignore"):
        return (SAME | OTHER)[way](array.copy(), value, place)

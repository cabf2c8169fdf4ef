"""Loops compiled by numba, with a compiled copy kept on disk wherever one can be kept."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

# What the loops may assume of floating-point arithmetic: sums in any order (as BLAS does), fused multiply-add and no
# difference between 0 and -0. NaN and infinities keep their meaning.
REORDERED = frozenset({"reassoc", "contract", "nsz"})


def compile_loop(function: Callable[..., Any], *, fastmath: Collection[str] = REORDERED) -> Callable[..., Any]:
    """Compile `function` for the processor at hand; it runs on one thread and without the interpreter's lock.

    The machine code is kept in the first of these that can be written: the directory ``NUMBA_CACHE_DIR``, the
    package's own ``__pycache__``, the user's cache directory. Where none can (a read-only container without a home),
    each process compiles anew, which takes about a second.

    Parameters
    ----------
    function : callable
        Defined at the top of a module, on NumPy arrays and numbers.
    fastmath : collection of str, default `REORDERED`
        LLVM's fast-math flags.

    Returns
    -------
    callable
    """
    import numba

    options: dict[str, Any] = {"fastmath": set(fastmath), "error_model": "numpy", "nogil": True}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no directory that it may write to
        return numba.njit(**options)(function)

"""Loops compiled by numba, with a compiled copy kept on disk where possible."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from mklearn.extras import require

# Freedoms of floating-point arithmetic: sums in any order (as in BLAS), fused multiply-add, no difference between 0
# and -0. NaN and infinities keep their meaning.
REORDERED = frozenset({"reassoc", "contract", "nsz"})


def compile_loop(function: Callable[..., Any], *, fastmath: Collection[str] = REORDERED) -> Callable[..., Any]:
    """Compile `function` for this processor, to run on one thread and without the interpreter's lock.

    The machine code is kept in the first of these directories that is writeable: ``NUMBA_CACHE_DIR``, the package's
    ``__pycache__``, the user's cache directory. If none is (a read-only container without a home), each process
    compiles anew, which takes about a second. `function` takes NumPy arrays and numbers and is defined at module level;
    `fastmath` are flags of LLVM.
    """
    require("numba")
    import numba

    options: dict[str, Any] = {"fastmath": set(fastmath), "error_model": "numpy", "nogil": True}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no writeable directory
        return numba.njit(**options)(function)

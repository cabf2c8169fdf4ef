"""Packages that only some parts of mklearn need, and the extra of mklearn that installs each.

``pip install mklearn`` installs what the estimators need. The others are imported where they are used, after a call of
:func:`require`; loops for numba are compiled by :func:`compile_loop`.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Collection
from typing import Any

from mklearn.errors import MissingExtra

EXTRAS: dict[str, tuple[str, ...]] = {
    "archive": ("rocrate",),
    "images": ("PIL", "cv2", "skimage"),
    "models": ("skops",),
    "mosek": ("mosek",),
    "numba": ("numba", "llvmlite"),
    "omics": ("anndata",),
    "predict": (),
    "rdata": ("rdata",),
    "report": ("jinja2", "vl_convert"),
    "sdp": ("clarabel", "cvxpy"),
    "workflow": (
        "h5py", "pandas", "pebble", "psutil", "pyarrow", "pydantic", "pymatreader", "requests", "rich", "snakemake",
        "urllib3", "yaml",
    ),
}  # fmt: skip
"""The top-level modules that each extra brings first; an extra may install those of others too."""


def importable(module: str) -> bool:
    """Return whether a top-level module is installed, without importing it."""
    if module in sys.modules:
        return sys.modules[module] is not None
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def require(*modules: str, extra: str | None = None) -> None:
    """Check that optional modules are installed, before they are imported.

    Parameters
    ----------
    modules : str
        Top-level modules.
    extra : str, optional
        The extra that installs all of them; by default the first that brings the missing one.

    Raises
    ------
    MissingExtra
        One is not. The message names the extra that installs it.
    """
    for module in modules:
        if not importable(module):
            found = extra or next(extra for extra, brought in EXTRAS.items() if module in brought)
            raise MissingExtra(
                f"the Python package {module!r} is not installed, and this part of mklearn needs it: "
                f'pip install "mklearn[{found}]"',
                name=module,
            )


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

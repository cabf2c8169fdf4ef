"""Optional packages of mklearn, and the extra that installs each of them.

``pip install mklearn`` installs the packages that the estimators need. Optional packages are imported where they are
used, after a call of :func:`require`. :func:`compile_loop` compiles loops with numba.
"""

from __future__ import annotations

import functools
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
    "survival": ("sksurv",),
    "workflow": (
        "h5py", "pandas", "pebble", "psutil", "pyarrow", "pydantic", "pymatreader", "requests", "rich", "snakemake",
        "urllib3", "yaml",
    ),
}  # fmt: skip
"""Top-level modules of each extra. An extra may also install modules that are listed under another extra."""


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
        Extra that installs all of them, for the message of `MissingExtra`. Default: the first extra that installs the
        missing module.
    """
    for module in modules:
        if not importable(module):
            found = extra or next(extra for extra, brought in EXTRAS.items() if module in brought)
            raise MissingExtra(
                f"the Python package {module!r} is not installed, and this part of mklearn needs it: "
                f'pip install "mklearn[{found}]"',
                name=module,
            )


# Allowed floating-point optimisations: sums in any order (as in BLAS), fused multiply-add, no distinction between 0 and
# -0. NaN and infinities keep their meaning.
REORDERED = frozenset({"reassoc", "contract", "nsz"})


def compile_loop(function: Callable[..., Any], *, fastmath: Collection[str] = REORDERED) -> Callable[..., Any]:
    """Decorate a loop to be compiled for this processor when it is first called, to run on one thread without the GIL.

    The machine code is cached in the first writeable directory of ``NUMBA_CACHE_DIR``, the package's ``__pycache__``
    and the user's cache directory. If none is writeable (a read-only container without a home), each process compiles
    again, which takes about a second. `function` takes NumPy arrays and numbers and is defined at module level;
    `fastmath` are LLVM flags. A call without numba raises `MissingExtra`.
    """

    @functools.cache
    def compiled() -> Callable[..., Any]:
        require("numba")
        import numba

        options: dict[str, Any] = {"fastmath": set(fastmath), "error_model": "numpy", "nogil": True}
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError:  # numba found no writeable directory
            return numba.njit(**options)(function)

    @functools.wraps(function)
    def loop(*arguments: Any) -> Any:
        return compiled()(*arguments)

    return loop

"""Decorators of the methods of estimators: checked parameters, samples in one order, and threads of linear algebra.

Threads of BLAS wait for each other in every product. Small products gain nothing by them, and beside other busy
processes they wait for a processor each time: a fit of a fraction of a second then takes many seconds.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import scipy.linalg  # noqa: F401  (its BLAS is one of the libraries that are found below)
from sklearn.base import _fit_context
from threadpoolctl import ThreadpoolController

from mklearn.kernels.views import in_order_of

FEWEST_SAMPLES = 3000
"""From so many samples on, more threads pay (`tests/benchmarks/test_threads.py`)."""
_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "OMP_THREAD_LIMIT")
# With their first numbers of threads. To find them takes milliseconds.
_LIBRARIES = [(library, library.num_threads) for library in ThreadpoolController().lib_controllers]


def few_threads(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a method of samples X to compute with one thread if they are few, unless the user has set a number.

    A number is set by an environment variable, or by `threadpoolctl.threadpool_limits` to less than at the import of
    mklearn.
    """

    @functools.wraps(method)
    def limited(self: Any, *args: Any, **kwargs: Any) -> Any:
        X = args[0] if args else kwargs.get("X")
        if isinstance(X, Mapping):
            X = next(iter(X.values()), None)
        elif isinstance(X, list | tuple) and X and getattr(X[0], "ndim", 1) == 2:
            X = X[0]
        shape = getattr(X, "shape", None)
        # 0 of what is no table, which the method refuses
        n_samples = shape[0] if shape else len(X) if isinstance(X, list | tuple) else 0
        with contextlib.nullcontext() if n_samples >= FEWEST_SAMPLES else _one_thread():
            return method(self, *args, **kwargs)

    return limited


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    if any(os.environ.get(name) for name in _VARIABLES):
        yield
        return
    limited = [(library, n) for library, n in _LIBRARIES if n > 1 and library.num_threads == n]
    for library, _ in limited:
        library.set_num_threads(1)
    try:
        yield
    finally:
        for library, n in limited:
            library.set_num_threads(n)


def aligned(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function of X and y: bring y, ``sample_weight`` and ``groups`` into the order of X's row labels.

    See `mklearn.kernels.views.in_order_of`.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def in_order(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind_partial(*args, **kwargs)
        for name in {"y", "sample_weight", "groups"} & set(given.arguments):
            given.arguments[name] = in_order_of(given.arguments.get("X"), given.arguments[name], name)
        return function(*given.args, **given.kwargs)

    return in_order


def fit_context(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate ``fit``: check the parameters against ``_parameter_constraints`` first, and bring y into X's order.

    See `mklearn.base.fit_context.aligned`, and `mklearn.base.fit_context.few_threads` of its threads.
    """
    return few_threads(aligned(_fit_context(prefer_skip_nested_validation=True)(fit)))

"""Decorators for estimator methods: parameter checks, order of samples, and number of BLAS threads.

BLAS threads wait for each other in every product. Small products gain nothing from them. On a busy machine each
product also waits for free processors, and a fit that needs a fraction of a second takes many seconds.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import scipy.linalg  # noqa: F401  (its BLAS has to be loaded before the search below)
from sklearn.base import _fit_context
from threadpoolctl import ThreadpoolController

from mklearn.kernels.views import in_order_of

FEWEST_SAMPLES = 3000
"""Smallest number of samples for which several threads pay off (`tests/benchmarks/test_threads.py`)."""
_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "OMP_THREAD_LIMIT")
# BLAS libraries with their initial numbers of threads, found once since the search takes milliseconds.
_LIBRARIES = [(library, library.num_threads) for library in ThreadpoolController().lib_controllers]


def few_threads(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a method of samples X to use one BLAS thread if there are few samples.

    A number of threads that the user has set is kept: by an environment variable, or by
    `threadpoolctl.threadpool_limits` to less than at the import of mklearn.
    """

    @functools.wraps(method)
    def limited(self: Any, *args: Any, **kwargs: Any) -> Any:
        X = args[0] if args else kwargs.get("X")
        if isinstance(X, Mapping):
            X = next(iter(X.values()), None)
        elif isinstance(X, list | tuple) and X and getattr(X[0], "ndim", 1) == 2:
            X = X[0]
        shape = getattr(X, "shape", None)
        # 0 if X is not a table: the method then raises an error
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
    """Decorate a function of X and y to reorder y, sample weights and groups by the row labels of X.

    See `mklearn.kernels.views.in_order_of`.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def in_order(*args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind_partial(*args, **kwargs)
        except TypeError as error:
            owner = f"{type(args[0]).__name__}." if args else ""
            raise TypeError(f"{owner}{function.__name__}() {error}") from None
        for name in {"y", "sample_weight", "groups"} & set(given.arguments):
            given.arguments[name] = in_order_of(given.arguments.get("X"), given.arguments[name], name)
        return function(*given.args, **given.kwargs)

    return in_order


checked_parameters = _fit_context(prefer_skip_nested_validation=True)
"""Decorate a method that fits to check parameters against ``_parameter_constraints``."""


def fit_context(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate ``fit`` to check parameters against ``_parameter_constraints`` and to reorder y like X.

    See `mklearn.base.fit_context.aligned` for the order and `mklearn.base.fit_context.few_threads` for the threads.
    """
    return few_threads(aligned(checked_parameters(fit)))

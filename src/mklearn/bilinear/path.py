"""Many fits of a bilinear method to the same pictures: one for each size, or one after each iteration.

The projections on l dimensions are not the first l of those on l + 1: a sweep over l has to fit anew for every l. What
depends on the pictures alone is done once: checks, class means, stacked differences or their second moments.

Cost, for n pictures of r x r pixels, sizes 1..l and T iterations: the differences cost O(n r^2). A half step costs
O(n r^2 l + r^3) from stacked differences. From second moments, which are taken once in O(n r^4) and hold r^4 / 4
numbers, it costs O(r^4 / 4 + r^3), whatever n and l. The cheaper one is chosen: for 32 x 32 pixels second moments from
about 26 pictures on (2 MB), for large pictures the differences. The sizes iterate side by side, with
one matrix product and one stacked eigenproblem for all of them. Results differ by rounding only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from mklearn.bilinear.alternation import Alternation, alternate_all, iterates
from mklearn.bilinear.embedding import BilinearEmbedding
from mklearn.errors import ConfigError

Method = TypeVar("Method", bound=BilinearEmbedding)


def fit_path(
    estimator: Method, X: ArrayLike, y: ArrayLike | None = None, sizes: Iterable[Any] = range(1, 21)
) -> list[Method]:
    """One fitted clone of the estimator for each size.

    Parameters
    ----------
    estimator : GLRAM, TwoDLDA or TwoDMMC
        Its ``n_components`` is replaced, itself it stays as it is.
    X, y
        As for the estimator's ``fit``.
    sizes : iterable of int or (int, int)
        Values of ``n_components``.

    Returns
    -------
    list of fitted estimators, in the order of ``sizes``
        The same as fitting each by itself, up to rounding.

    Raises
    ------
    ConfigError
        No sizes.
    UserError
        As the estimator's ``fit``; a size that is too large raises `NotApplicable`.
    """
    wanted = list(sizes)
    if not wanted:
        raise ConfigError("sizes is empty: give at least one n_components, for example range(1, 21)")
    models = [_clone(estimator).set_params(n_components=size) for size in wanted]
    for model in models:
        model._validate_params()
    first = models[0]
    pictures, labels, dtype = first._training_pictures(X, y)
    _share_learned(models)
    shapes = [model._sizes() for model in models]  # refuses a size that is too large before anything is computed
    problem = first._problem(pictures, labels, [max(shape) for shape in shapes])
    _share_learned(models)
    starts = [model._start(shape) for model, shape in zip(models, shapes, strict=True)]
    solved = alternate_all(problem, starts, first._held, shapes, first.max_iter, first.tol)
    for model, found in zip(models, solved, strict=True):
        model._finish(pictures, dtype, found)
    return models


def fit_iterations(estimator: Method, X: ArrayLike, y: ArrayLike | None = None, iterations: int = 20) -> list[Method]:
    """The estimator as it stands after 1, 2, ..., ``iterations`` iterations, at the cost of one fit.

    Parameters
    ----------
    estimator : GLRAM, TwoDLDA or TwoDMMC
        Its ``max_iter`` and ``tol`` are not used, itself it stays as it is.
    X, y
        As for the estimator's ``fit``.
    iterations : int

    Returns
    -------
    list of fitted estimators
        Entry t - 1 equals a fit with ``max_iter=t, tol=0``; its ``status_`` is "max_iter".
    """
    if iterations < 1:
        raise ConfigError(f"iterations={iterations}: must be at least 1")
    models = [_clone(estimator).set_params(max_iter=t, tol=0.0) for t in range(1, iterations + 1)]
    first = models[0]
    first._validate_params()
    pictures, labels, dtype = first._training_pictures(X, y)
    sizes = first._sizes()
    problem = first._problem(pictures, labels, None)
    _share_learned(models)
    history: list[float] = []
    steps = islice(iterates(problem, first._start(sizes), first._held, sizes), iterations)
    for t, (model, iterate) in enumerate(zip(models, steps, strict=True), start=1):
        history += iterate.values
        model._finish(pictures, dtype, Alternation(iterate.left, iterate.right, np.array(history), t, "max_iter"))
    return models


def _clone(estimator: Method) -> Method:
    from sklearn.base import clone

    copy: Method = clone(estimator)
    return copy


def _share_learned(models: Sequence[BilinearEmbedding]) -> None:
    """Give all what the first one learned of the pictures before the alternation (classes_, shape_, lam_, ...)."""
    parameters = models[0].get_params()
    learned = {name: value for name, value in vars(models[0]).items() if name not in parameters}
    for model in models[1:]:
        model.__dict__.update(learned)

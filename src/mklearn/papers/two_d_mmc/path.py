"""Many fits of a bilinear method to the same images: one per size, or one after each iteration.

The projections of size l are not the leading part of those of size l + 1: a sweep needs a fit for every l. Computed
once are checks, class means, and stacked differences or their second moments.

For n images of r x r pixels, a half step costs O(n r^2 l + r^3) from stacked differences. From second moments, which
are computed once in O(n r^4) and hold r^4 / 4 numbers, it costs O(r^4 / 4 + r^3) for any n and l. The cheaper form is
chosen. All sizes iterate side by side, with one matrix product and one stacked eigenproblem.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from mklearn.checks import check_integer
from mklearn.errors import ConfigError
from mklearn.papers.two_d_mmc.alternation import alternate, alternate_all
from mklearn.papers.two_d_mmc.embedding import BilinearEmbedding

Method = TypeVar("Method", bound=BilinearEmbedding)


def fit_path(
    estimator: Method, X: ArrayLike, y: ArrayLike | None = None, sizes: Iterable[Any] = range(1, 21)
) -> list[Method]:
    """Fit a clone of the estimator (GLRAM, TwoDLDA or TwoDMMC) for each size, a value of ``n_components``.

    The result equals single fits up to rounding. Errors are those of ``fit``, `NotApplicable` if a size is too large,
    and `ConfigError` if there is no size.
    """
    wanted = list(sizes)
    if not wanted:
        raise ConfigError("sizes is empty: give at least one n_components, for example range(1, 21)")
    models = [clone(estimator).set_params(n_components=size) for size in wanted]
    for model in models:
        model._validate_params()
    first = models[0]
    images, labels, dtype = first._training_images(X, y)
    _share_fitted(models)
    shapes = [model._sizes() for model in models]  # raises if a size is too large, before any computation
    problem = first._problem(images, labels, [max(shape) for shape in shapes])
    _share_fitted(models)
    starts = [model._start(shape, images) for model, shape in zip(models, shapes, strict=True)]
    solved = alternate_all(problem, starts, first._fixed_side, shapes, first.max_iter, first.tol)
    for model, found in zip(models, solved, strict=True):
        model._set_fitted(images, dtype, found)
    return models


def fit_iterations(estimator: Method, X: ArrayLike, y: ArrayLike | None = None, iterations: int = 20) -> list[Method]:
    """Return clones of the estimator after 1, 2, ..., ``iterations`` iterations, at the cost of one fit.

    Entry t - 1 equals a fit with ``max_iter=t, tol=0``; its ``status_`` is "max_iter".
    """
    check_integer(iterations, "iterations")
    models = [clone(estimator).set_params(max_iter=t, tol=0.0) for t in range(1, iterations + 1)]
    first = models[0]
    first._validate_params()
    images, labels, dtype = first._training_images(X, y)
    sizes = first._sizes()
    problem = first._problem(images, labels, None)
    _share_fitted(models)
    projection, history = first._start(sizes, images), np.empty(0)
    for model in models:
        found = alternate(problem, projection, first._fixed_side, sizes, max_iter=1, tol=0.0)
        projection, history = found.projection(first._fixed_side), np.append(history, found.history)
        model._set_fitted(images, dtype, replace(found, history=history))
    return models


def _share_fitted(models: Sequence[BilinearEmbedding]) -> None:
    """Copy the attributes that the first one fitted before the alternation (classes_, shape_, trade_off_, ...)."""
    parameters = models[0].get_params()
    fitted = {name: value for name, value in vars(models[0]).items() if name not in parameters}
    for model in models[1:]:
        model.__dict__.update(fitted)

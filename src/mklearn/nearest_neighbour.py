"""First-nearest-neighbour classification with the first 1, 2, ..., p components of an embedding, in one pass.

The components (columns) are in order of discriminative power. Squared distances (or inner products) with q + 1
components are the ones with q components plus one term, so a sweep costs as much as its last step: O(m n p) time and
O(block x n) memory.

Ties between training samples go to the first class in sorted order, so that predictions do not depend on the order of
rows. Samples whose distances differ by rounding only (`TIE`) are tied, so that predictions do not depend on the
processor either. With a single component of nonzero variance, a cosine about the mean is only a sign and nearly all
samples are tied: the cosine rule is then replaced by the Euclidean one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.checks import as_float_matrix
from mklearn.errors import DataError

Rule = Literal["euclidean", "cosine"]

RULES: tuple[Rule, ...] = ("euclidean", "cosine")

TIE = 1e-9
"""Relative difference of squared distances, or absolute difference of cosines, up to which two samples are tied."""
_BLOCK_ENTRIES = 1 << 20  # entries of a block of the distance matrix: 8 MB, so that three blocks fit into the cache


def nearest_neighbour_predictions_by_dimension(
    Z_train: ArrayLike, y_train: ArrayLike, Z_test: ArrayLike, rule: Rule = "euclidean"
) -> NDArray:
    """Predict labels, (p, m), with the first 1, 2, ..., p components of an embedding, in one pass.

    Raises `DataError` for inconsistent shapes, no samples, values that are not finite, or an unknown rule.

    Parameters
    ----------
    Z_train, Z_test : array-like of shapes (n, p) and (m, p)
        Embeddings of the training and the test samples, components in order of importance.
    y_train : array-like of shape (n,)
        Labels of any type that can be sorted.
    rule : {"euclidean", "cosine"}, default="euclidean"
        "cosine" is the cosine similarity about the mean of the training embedding, 0 for a sample at that mean. With
        one component it equals the Euclidean rule. Ties go to the first class in sorted order.

    Notes
    -----
    Yan et al. use the Euclidean rule; Lin, Liu and Fuh (MKL-DR, section 4.4) do not state theirs. The cosine rule is an
    addition: with a ridge, test samples are closer to the mean than training samples, and the Euclidean rule favours
    the few training samples near the mean.
    """
    first, second = _embeddings(Z_train, Z_test)
    labels = checked_labels(y_train, first.shape[0], "y_train")
    order = np.argsort(labels, kind="stable")
    first, labels = first[order], labels[order]
    predictions = np.empty((first.shape[1], second.shape[0]), dtype=labels.dtype)
    for rows, dimension, nearest in _sweep(first, second, rule):
        predictions[dimension - 1, rows] = labels[nearest]
    return predictions


def nearest_neighbour_predictions(
    Z_train: ArrayLike, y_train: ArrayLike, Z_test: ArrayLike, rule: Rule = "euclidean"
) -> NDArray:
    """Predict labels, (m,), with all components; otherwise as `nearest_neighbour_predictions_by_dimension`."""
    return np.asarray(y_train)[nearest_neighbour_indices(Z_train, Z_test, rule, y_train)]


def nearest_neighbour_indices(
    Z_train: ArrayLike, Z_test: ArrayLike, rule: Rule = "euclidean", y_train: ArrayLike | None = None
) -> NDArray[np.intp]:
    """Find the nearest training sample of each test sample, (m,), with all components of an embedding.

    Parameters and errors are as for `nearest_neighbour_predictions_by_dimension`. Ties go to the first sample of the
    first class, or without labels to the first sample.
    """
    first, second = _embeddings(Z_train, Z_test)
    if y_train is not None:
        order = np.argsort(checked_labels(y_train, first.shape[0], "y_train"), kind="stable")
        return order[nearest_neighbour_indices(first[order], second, rule)]
    nearest = np.empty(second.shape[0], dtype=np.intp)
    if rule == "euclidean":  # no sweep needed; cdist sums squared differences, so ties stay exact
        from scipy.spatial.distance import cdist

        for rows in _blocks(first, second):
            nearest[rows] = _first_smallest(cdist(second[rows], first, "sqeuclidean"))
        return nearest
    for rows, _, indices in _sweep(first, second, rule):
        nearest[rows] = indices  # the last indices are for all components
    return nearest


def _blocks(first: NDArray, second: NDArray) -> Iterator[slice]:
    """Yield slices of test rows that bound the memory of a distance matrix."""
    step = max(1, _BLOCK_ENTRIES // first.shape[0])
    for start in range(0, second.shape[0], step):
        yield slice(start, min(start + step, second.shape[0]))


def _sweep(first: NDArray, second: NDArray, rule: str) -> Iterator[tuple[slice, int, NDArray[np.intp]]]:
    """Yield (block of test rows, number of components, nearest training sample of each row), block by block."""
    if rule not in RULES:
        raise DataError(f"nearest-neighbour rule {rule!r} is unknown: use one of {', '.join(map(repr, RULES))}")
    centred, line = (first, second), first.shape[1]
    if rule == "cosine":
        centred = _centre(first, second)
        line = int(np.count_nonzero(np.cumsum(centred[0].any(axis=0)) <= 1))  # leading components, one of which varies
    for rows in _blocks(first, second):
        sweep = _euclidean(first[:, :line], second[rows, :line])
        if line < first.shape[1]:
            sweep = chain(sweep, islice(_cosine(centred[0], centred[1][rows]), line, None))
        for dimension, nearest in enumerate(sweep, start=1):
            yield rows, dimension, nearest


def _euclidean(first: NDArray, block: NDArray) -> Iterator[NDArray[np.intp]]:
    """Yield nearest samples by sums of squared differences, which (unlike |x|^2 - 2 x'y + |y|^2) keep ties exact."""
    if block.shape[0] == 1:  # the same sums, without a step for each component
        yield from _first_smallest(np.cumsum((first - block) ** 2, axis=1).T)[:, None]
        return
    squared = np.zeros((block.shape[0], first.shape[0]))
    term = np.empty_like(squared)
    for column in range(first.shape[1]):
        np.subtract(block[:, column, None], first[None, :, column], out=term)
        np.multiply(term, term, out=term)
        squared += term
        yield _first_smallest(squared)


def _first_smallest(squared: NDArray) -> NDArray[np.intp]:
    """Return the first column of each row whose value is tied with the smallest, (m,)."""
    return np.asarray((squared <= squared.min(axis=1, keepdims=True) * (1.0 + TIE)).argmax(axis=1))


def _cosine(first: NDArray, block: NDArray) -> Iterator[NDArray[np.intp]]:
    """Yield nearest samples by x'y / |y|; the length of x scales its whole row and does not change the best y."""
    inner = np.zeros((block.shape[0], first.shape[0]))
    term = np.empty_like(inner)
    lengths, scales = np.zeros(first.shape[0]), np.zeros((block.shape[0], 1))
    for column in range(first.shape[1]):
        np.multiply(block[:, column, None], first[None, :, column], out=term)
        inner += term
        lengths += first[:, column] ** 2
        scales = np.hypot(scales, block[:, column, None])
        np.divide(inner, np.sqrt(np.where(lengths > 0.0, lengths, 1.0)), out=term)  # 0 for a zero vector
        yield (term >= term.max(axis=1, keepdims=True) - TIE * scales).argmax(axis=1)


def _centre(first: NDArray, second: NDArray) -> tuple[NDArray, NDArray]:
    """Subtract the training mean and set the residue of constant columns, which is rounding error, to zero.

    Both embeddings are scaled by a power of two, which changes no cosine and avoids under- and overflow.
    """
    centre = np.sort(first, axis=0).mean(axis=0)  # sorted, so that rounding does not depend on the order of rows
    noise = 4.0 * np.finfo(np.float64).eps * np.abs(first).max(axis=0)
    centred = [Z - centre for Z in (first, second)]
    for Z in centred:
        Z[np.abs(Z) <= noise] = 0.0
    largest = max(float(np.abs(centred[0]).max()), np.finfo(np.float64).tiny)
    exponent = -int(np.frexp(largest)[1])
    return np.ldexp(centred[0], exponent), np.ldexp(centred[1], exponent)


def _embeddings(Z_train: ArrayLike, Z_test: ArrayLike) -> tuple[NDArray, NDArray]:
    """Return both embeddings as finite float64 matrices with the same number of columns."""
    first, second = checked_embedding(Z_train, "Z_train"), checked_embedding(Z_test, "Z_test")
    if first.shape[1] != second.shape[1]:
        raise DataError(f"Z_train has {first.shape[1]} columns and Z_test {second.shape[1]}: they must agree")
    return first, second


def checked_embedding(Z: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return an embedding as a finite float64 matrix; raise `DataError`, which names it, otherwise."""
    return as_float_matrix(Z, name).astype(np.float64, copy=False)


def checked_labels(y: ArrayLike, n: int, name: str) -> NDArray:
    """Return the labels as a vector of length n, of any type; raise `DataError`, which names them, otherwise."""
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise DataError(f"{name} has shape {labels.shape}: it must have one label for each of the {n} samples")
    return labels

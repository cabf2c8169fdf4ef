"""First-nearest-neighbour classification with the first 1, 2, ..., p components of an embedding, in one pass.

The components (columns) are in order of discriminative power. Squared distances (or inner products) with q + 1
components are those with q plus one outer term, so a sweep costs as much as its last step: O(m n p) time, and
O(block x n) memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import DataError
from mklearn.kernels.checks import check_kept

Rule = Literal["euclidean", "cosine"]

RULES: tuple[Rule, ...] = ("euclidean", "cosine")

_BLOCK_ENTRIES = 1 << 20  # entries of one block of the distance matrix: 8 MB, so that three of them fit in the cache


def accuracy_by_dimension(
    Z_train: ArrayLike, y_train: ArrayLike, Z_test: ArrayLike, y_test: ArrayLike, rule: Rule = "euclidean"
) -> NDArray[np.float64]:
    """Compute the accuracy with the first 1, 2, ..., p components of an embedding.

    Parameters
    ----------
    Z_train : array-like of shape (n, p)
        Embedding of the training samples, components in order of importance.
    y_train : array-like of shape (n,)
        Labels of the training samples, of any type that can be compared for equality.
    Z_test : array-like of shape (m, p)
        Embedding of the test samples.
    y_test : array-like of shape (m,)
        Labels of the test samples.
    rule : {"euclidean", "cosine"}, default="euclidean"
        "cosine" is the cosine similarity about the mean of the training embedding. The similarity of a sample at that
        mean is 0. Ties go to the first training sample; with "cosine" and one component only the sign counts, so that
        most samples are tied.

    Returns
    -------
    accuracies : ndarray of shape (p,)
        Fraction of correctly classified test samples; entry q - 1 is for the first q components.

    Raises
    ------
    DataError
        Inconsistent shapes, no samples, values that are not finite, or an unknown rule.

    Notes
    -----
    Yan et al. and Lin, Liu and Fuh (MKL-DR, section 5) use the Euclidean rule. The cosine rule is an addition: with a
    ridge, test samples are closer to the mean than training samples, and the Euclidean rule then favours the few
    training samples near the mean.
    """
    predicted = nearest_neighbour_predictions_by_dimension(Z_train, y_train, Z_test, rule)
    return np.asarray((predicted == checked_labels(y_test, predicted.shape[1], "y_test")).mean(axis=1))


def nearest_neighbour_predictions_by_dimension(
    Z_train: ArrayLike, y_train: ArrayLike, Z_test: ArrayLike, rule: Rule = "euclidean"
) -> NDArray:
    """Predict labels with the first 1, 2, ..., p components of an embedding, in one pass.

    Parameters and errors are those of :func:`accuracy_by_dimension`.

    Returns
    -------
    labels : ndarray of shape (p, m), of the type of ``y_train``
        Row q - 1 holds the predictions with the first q components.
    """
    first, second = _embeddings(Z_train, Z_test)
    labels = checked_labels(y_train, first.shape[0], "y_train")
    predictions = np.empty((first.shape[1], second.shape[0]), dtype=labels.dtype)
    for rows, dimension, nearest in _sweep(first, second, rule):
        predictions[dimension - 1, rows] = labels[nearest]
    return predictions


def nearest_neighbour_predictions(
    Z_train: ArrayLike, y_train: ArrayLike, Z_test: ArrayLike, rule: Rule = "euclidean"
) -> NDArray:
    """Predict labels (m,) with all components of an embedding.

    Parameters and errors are those of :func:`accuracy_by_dimension`.
    """
    nearest = nearest_neighbour_indices(Z_train, Z_test, rule)
    return checked_labels(y_train, len(np.asarray(Z_train)), "y_train")[nearest]


def nearest_neighbour_indices(Z_train: ArrayLike, Z_test: ArrayLike, rule: Rule = "euclidean") -> NDArray[np.intp]:
    """Find the nearest training sample of each test sample, with all components of an embedding.

    Parameters and errors are those of :func:`accuracy_by_dimension`.

    Returns
    -------
    indices : ndarray of shape (m,)
        Rows of ``Z_train``; of several at the same distance, the first.
    """
    first, second = _embeddings(Z_train, Z_test)
    nearest = np.empty(second.shape[0], dtype=np.intp)
    if rule == "euclidean":  # no sweep needed; cdist sums squared differences, so ties stay exact
        from scipy.spatial.distance import cdist

        for rows in _blocks(first, second):
            nearest[rows] = cdist(second[rows], first, "sqeuclidean").argmin(axis=1)
        return nearest
    for rows, _, indices in _sweep(first, second, rule):
        nearest[rows] = indices  # the last is with all components
    return nearest


def distances_to(
    Z_train: ArrayLike, Z_test: ArrayLike, indices: NDArray[np.intp], rule: Rule = "euclidean"
) -> NDArray[np.float64]:
    """Compute the distance of each test sample to one training sample each, given by its row.

    With "cosine" it is 1 minus the cosine about the mean of the training embedding.
    """
    first, second = _embeddings(Z_train, Z_test)
    if rule == "euclidean":
        return np.asarray(np.linalg.norm(second - first[indices], axis=1))
    first, second = _centre(first, second)
    lengths = np.linalg.norm(first[indices], axis=1) * np.linalg.norm(second, axis=1)
    inner = np.einsum("ij,ij->i", first[indices], second)
    return np.asarray(1.0 - np.divide(inner, lengths, out=np.zeros_like(inner), where=lengths > 0.0))


def _blocks(first: NDArray, second: NDArray) -> Iterator[slice]:
    """Yield blocks of test rows, to bound the memory of a distance matrix."""
    step = max(1, _BLOCK_ENTRIES // first.shape[0])
    for start in range(0, second.shape[0], step):
        yield slice(start, min(start + step, second.shape[0]))


def _sweep(first: NDArray, second: NDArray, rule: str) -> Iterator[tuple[slice, int, NDArray[np.intp]]]:
    """Yield (block of test rows, number of components, nearest training sample of each row), block by block."""
    if rule not in RULES:
        raise DataError(f"nearest-neighbour rule {rule!r} is unknown: use one of {', '.join(map(repr, RULES))}")
    if rule == "cosine":
        first, second = _centre(first, second)
    for rows in _blocks(first, second):
        sweep = _euclidean(first, second[rows]) if rule == "euclidean" else _cosine(first, second[rows])
        for dimension, nearest in enumerate(sweep, start=1):
            yield rows, dimension, nearest


def _euclidean(first: NDArray, block: NDArray) -> Iterator[NDArray[np.intp]]:
    """Search by accumulated squared differences, which (unlike |x|^2 - 2 x'y + |y|^2) keep exact ties exact."""
    if block.shape[0] == 1:  # the same sums, without a step per component
        yield from np.cumsum((first - block) ** 2, axis=1).argmin(axis=0)[:, None]
        return
    squared = np.zeros((block.shape[0], first.shape[0]))
    term = np.empty_like(squared)
    for column in range(first.shape[1]):
        np.subtract(block[:, column, None], first[None, :, column], out=term)
        np.multiply(term, term, out=term)
        squared += term
        yield squared.argmin(axis=1)


def _cosine(first: NDArray, block: NDArray) -> Iterator[NDArray[np.intp]]:
    """Search by x'y / |y|: the length of x scales its whole row and does not change the best y."""
    inner = np.zeros((block.shape[0], first.shape[0]))
    term = np.empty_like(inner)
    lengths = np.zeros(first.shape[0])
    occupied = 0
    for column in range(first.shape[1]):
        np.multiply(block[:, column, None], first[None, :, column], out=term)
        inner += term
        lengths += first[:, column] ** 2
        occupied += bool(first[:, column].any())
        if occupied == 1:  # one nonzero column: the cosine is a sign, and rounding must not break its ties
            similarity = np.sign(inner)
        else:
            scale = np.sqrt(np.where(lengths > 0.0, lengths, 1.0))  # the inner products of a zero vector are 0
            similarity = np.divide(inner, scale, out=term)
        yield similarity.argmax(axis=1)


def _centre(first: NDArray, second: NDArray) -> tuple[NDArray, NDArray]:
    """Subtract the training mean; the remainder of a constant column is rounding, and is set to zero.

    Each column pair is scaled as a whole by one power of two, which changes no cosine and avoids under- and overflow.
    """
    centre = first.mean(axis=0)
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
    """Return an embedding as a finite float64 matrix; raise DataError otherwise, with its name."""
    check_kept(Z, name)
    try:
        raw = np.asarray(Z)
    except ValueError as error:
        raise DataError(f"{name} is not a regular array: its parts have different lengths") from error
    if raw.ndim != 2 or 0 in raw.shape:
        raise DataError(f"{name} has shape {raw.shape}: an embedding is a non-empty (samples, dimensions) matrix")
    if raw.dtype.kind not in "fiub":
        raise DataError(f"{name} has dtype {raw.dtype}: embeddings are real numbers")
    array = raw.astype(np.float64, copy=False)
    if not np.isfinite(array).all():
        raise DataError(f"{name} has values that are not finite: the fit of this embedding failed")
    return array


def checked_labels(y: ArrayLike, n: int, name: str) -> NDArray:
    """Return the labels as a vector of any type, one per sample; raise DataError otherwise, with their name."""
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise DataError(f"{name} has shape {labels.shape}: it must have one label for each of the {n} samples")
    return labels

"""Nearest-neighbour affinity graphs: local discriminant, marginal Fisher, locality preserving, semi-supervised.

Each function takes distances among the samples, one array per descriptor, and averages the graphs of the descriptors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from mklearn.checks import as_square_matrix, check_integer
from mklearn.errors import DataError, NotApplicable
from mklearn.graphs.class_graphs import (
    ClassStructure,
    Floats,
    GraphPair,
    LaplacianOperator,
    MatrixOperator,
    class_structure,
    lda_graph,
)

UNLABELLED = -1
"""Label of a sample without a class, as in `sklearn.semi_supervised`."""


@dataclass(frozen=True, eq=False)
class PartlyLabelledOperator(LaplacianOperator):
    """Sum of an operator on the labelled samples and a sparse or dense symmetric matrix on all samples."""

    labelled: NDArray[np.intp]
    supervised: LaplacianOperator
    everywhere: MatrixOperator

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", self.everywhere.n)

    def _apply(self, Z: Floats) -> Floats:
        out = self.everywhere.apply(Z)
        out[self.labelled] += self.supervised.apply(Z[self.labelled])
        return out


def kernel_squared_distances(K: ArrayLike) -> Floats:
    """Compute squared distances in the feature space of a kernel, K_ii + K_jj - 2 K_ij, shape (n, n).

    For a Gaussian kernel, they order neighbours like the distances in its exponent.
    """
    K = as_square_matrix(K, "The kernel of the training samples", dtype=None)
    diagonal = np.diag(K)
    d2 = np.maximum(diagonal[:, None] + diagonal - (K + K.T), 0)
    np.fill_diagonal(d2, 0)
    return d2


def lde_graph(distances: Sequence[ArrayLike], y: ArrayLike, k: int = 5, k_prime: int = 20) -> GraphPair:
    """Build the sparse graph pair of local discriminant embedding.

    W joins near samples of the same class, W' near samples of different classes. Raises `DataError` for shapes that do
    not match, values that are not finite or distances that are not symmetric, `ConfigError` for an invalid parameter,
    and `NotApplicable` if there is only one class, or one of the graphs has no edge.

    Parameters
    ----------
    distances : list of M arrays of shape (n, n)
        Distances, squared or not, one per descriptor; their graphs are averaged.
    y : array of shape (n,)
    k, k_prime : int
        Number of neighbours: in W the k nearest samples of the same class, in W' the k' nearest of other classes.

    Notes
    -----
    MKL-DR (Lin, Liu, Fuh 2008), equations (31)-(32), after Chen, Chang, Liu (2005): w_ij = 1 if i is a neighbour of j
    or j a neighbour of i. The paper states neither k and k' nor the samples among which neighbours are searched. A
    search among all samples would leave hardly any edge inside a class if there are few samples of many classes. In a
    class of at most k samples, all other members are neighbours (k is clipped per class, as usual). A class of one
    sample has no edge in W. Ties are ordered by sample index.

    Deviation: each affinity is divided by its mean degree, so that L and L' have the same scale for all k and k'. This
    changes results only through the ridge.
    """
    k, k_prime = check_integer(k, "k"), check_integer(k_prime, "k_prime")
    stack = _distance_list(distances)
    inside, outside = _pairs(class_structure(y, len(stack[0])))
    return _neighbour_pair([_nearest(d, inside, k) for d in stack], [_nearest(d, outside, k_prime) for d in stack])


def mfa_graph(distances: Sequence[ArrayLike], y: ArrayLike, k: int = 5, k_prime: int = 20) -> GraphPair:
    """Build the sparse graph pair of marginal Fisher analysis, with mean degree 1.

    W joins near samples of the same class, W' the nearest pairs of a sample in a class and one outside. Errors are as
    for `lde_graph`.

    Parameters
    ----------
    distances, y
        As for `lde_graph`.
    k : int
        Number of neighbours in W: the k nearest samples of the same class.
    k_prime : int
        Number of pairs in W' for each class: the k' nearest pairs of a sample in the class and one outside.

    Notes
    -----
    Yan, Xu, Zhang, Zhang, Yang, Lin, "Graph embedding and extensions", PAMI 2007, section 3. Ties are ordered by sample
    index.
    """
    k, k_prime = check_integer(k, "k"), check_integer(k_prime, "k_prime")
    stack = _distance_list(distances)
    classes = class_structure(y, len(stack[0]))
    inside, _ = _pairs(classes)
    return _neighbour_pair(
        [_nearest(d, inside, k) for d in stack], [_nearest_margin_pairs(d, classes, k_prime) for d in stack]
    )


def lpp_graph(distances: Sequence[ArrayLike], k: int = 5) -> GraphPair:
    """Build the sparse graph pair of locality preserving projections, L = D - W and L' = D with the degrees D.

    W joins nearest neighbours with w_ij = exp(-d2_ij / t), where t is the mean of d2 over the edges. L' gives the
    constraint A'KDKA = I of He and Niyogi 2003.

    Parameters
    ----------
    distances : list of M arrays of shape (n, n)
        Squared distances, one per descriptor; their Laplacians are averaged. Errors are as for `lde_graph`.
    k : int
        Number of nearest neighbours, clipped to n - 1; an edge joins i and j if either is a neighbour of the other.
    """
    k = check_integer(k, "k")
    L, degrees = [], []
    for d in _distance_list(distances):
        edges = _either(_nearest(d, ~np.eye(len(d), dtype=bool), k))
        rows, columns = edges.nonzero()
        lengths = d[rows, columns]
        t = float(lengths.mean())
        weights = np.exp(-lengths / t) if t > 0 else np.ones(len(lengths))
        W = sparse.csr_array((weights, (rows, columns)), shape=d.shape)
        L.append(_laplacian(W))
        degrees.append(sparse.diags_array(np.asarray(W.sum(axis=1))))
    return GraphPair(MatrixOperator(sum(L) / len(L)), MatrixOperator(sum(degrees) / len(L)))


def sda_graph(distances: Sequence[ArrayLike], y: ArrayLike, k: int = 5, weight: float = 1.0) -> GraphPair:
    """Build the graph pair of semi-supervised discriminant analysis.

    L is the within-class and L' the total Laplacian of the labelled samples. The Laplacian of a neighbour graph on all
    samples, with the mean degree `weight`, is added to both, so that neighbours stay close, labelled or not. Its trace
    is n times the weight; with few labels, a weight of 1 outweighs the traces of the labelled samples.

    Parameters
    ----------
    distances, k
        As for `lpp_graph`, whose L is the Laplacian of the neighbour graph.
    y : array of shape (n,)
        Labels; -1 for unlabelled samples. Errors are as for `class_structure` of the labelled samples.

    Notes
    -----
    Cai, He, Han, "Semi-supervised discriminant analysis", ICCV 2007, maximise the between-class scatter relative to
    L'. Since L' is L plus the between-class Laplacian, this minimises L relative to L'. MKL-DR (Lin, Liu, Fuh 2008)
    includes semi-supervised methods.
    """
    neighbours = lpp_graph(distances, k)
    labels = np.asarray(y)
    class_structure(labels, neighbours.n)
    labelled = np.flatnonzero(labels != UNLABELLED)
    pair = lda_graph(labels[labelled])
    assert isinstance(neighbours.L, MatrixOperator)
    assert isinstance(neighbours.L_prime, MatrixOperator)
    degree = neighbours.L_prime.matrix.diagonal().mean()
    everywhere = MatrixOperator(neighbours.L.matrix * (weight / degree))
    within, total = (PartlyLabelledOperator(labelled, side, everywhere) for side in (pair.L, pair.L_prime))
    return GraphPair(within, total)


def _pairs(classes: ClassStructure) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return masks, (n, n), of the pairs of distinct samples of the same class, and of different classes."""
    same = classes.codes[:, None] == classes.codes
    return same & ~np.eye(classes.n, dtype=bool), ~same


def _nearest(d: Floats, allowed: NDArray[np.bool_], k: int) -> NDArray[np.bool_]:
    """Return a mask, (n, n), whose row i marks the k nearest allowed samples j (all if there are fewer)."""
    order = np.argsort(np.where(allowed, d, np.inf), axis=1, kind="stable")[:, :k]
    marked = np.zeros(d.shape, dtype=bool)
    np.put_along_axis(marked, order, True, axis=1)
    return marked & allowed


def _nearest_margin_pairs(d: Floats, classes: ClassStructure, count: int) -> NDArray[np.bool_]:
    """Return a mask, (n, n), of the ``count`` nearest pairs of a sample in a class and one outside, for each class."""
    marked = np.zeros(d.shape, dtype=bool)
    for code in range(classes.n_classes):
        members, others = np.flatnonzero(classes.codes == code), np.flatnonzero(classes.codes != code)
        nearest = np.argsort(d[np.ix_(members, others)], axis=None, kind="stable")[:count]
        i, j = np.unravel_index(nearest, (len(members), len(others)))
        marked[members[i], others[j]] = True
    return marked


def _neighbour_pair(near: Sequence[NDArray[np.bool_]], far: Sequence[NDArray[np.bool_]]) -> GraphPair:
    """Return the pair of graphs that join marked samples, averaged over descriptors, with mean degree 1."""
    laplacians = []
    for marked, pair, name in ((near, "the same class", "k"), (far, "different classes", "k_prime")):
        W = sum(_either(each) for each in marked) / len(marked)
        if W.nnz == 0:
            raise NotApplicable(
                f"No two samples of {pair} are neighbours: raise {name}, or give more than one sample per class."
            )
        laplacians.append(MatrixOperator(_laplacian(W * (W.shape[0] / W.sum()))))
    return GraphPair(*laplacians)


def _either(marked: NDArray[np.bool_]) -> sparse.csr_array:
    """Return the affinity that is 1 if i is marked for j or j for i, else 0."""
    return sparse.csr_array((marked | marked.T).astype(np.float64))


def _laplacian(W: sparse.csr_array) -> sparse.csr_array:
    """Compute ``diag(W 1) - W`` for the symmetric part W of a sparse affinity."""
    symmetric = (W + W.T) / 2
    return sparse.diags_array(np.asarray(symmetric.sum(axis=1))) - symmetric


def _distance_list(distances: Sequence[ArrayLike]) -> list[Floats]:
    """Return the distances as a non-empty list of checked (n, n) arrays."""
    stack = [as_square_matrix(d, f"Distance {i}") for i, d in enumerate(distances)]
    if not stack:
        raise DataError("Invalid distances: expected a list of one or more (n, n) distances.")
    n = stack[0].shape[0]
    for i, d in enumerate(stack):
        if d.shape != (n, n) or n < 2:
            raise DataError(f"Distance {i} has shape {d.shape}: expected ({n}, {n}) with n >= 2 samples.")
        if not np.allclose(d, d.T, rtol=1e-6, atol=1e-9 * np.abs(d).max()):
            raise DataError(f"Distance {i} is not symmetric: pass (D + D.T) / 2, or another distance.")
    return stack

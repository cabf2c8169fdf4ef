"""Pairs of affinity graphs (W, W') as Laplacian operators.

Graph embedding methods use two symmetric affinities of the samples: ``W`` weights pairs that should be close, ``W'``
pairs that should be far apart (or that fix the scale). With ``L = diag(W 1) - W`` and ``L'`` likewise they minimise
``tr(A' K L K A)`` relative to ``tr(A' K L' K A)``, since for symmetric ``W``

    ``sum_ij W_ij (k_i - k_j)(k_i - k_j)' = 2 K L K``            (MKL-DR, Lin, Liu, Fuh 2008, equations (19)-(20)).

The factor 2 is common to both graphs and omitted here. The Laplacian of a class graph is never formed: with ``P`` the
projector onto class means and ``J = 11'/n`` it is ``a I + b P + c J``, applied in O(n p). Nearest-neighbour graphs are
sparse.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from mklearn.checks import (
    as_float_array,
    as_float_matrix,
    as_square_matrix,
    check_integer,
    check_nonnegative,
    check_square,
    regular_array,
)
from mklearn.errors import DataError, NotApplicable

Floats = NDArray[np.floating]

UNLABELLED = -1
"""Label of a sample without a class, as in `sklearn.semi_supervised`."""


@dataclass(frozen=True, eq=False)
class ClassStructure:
    """Classes of the samples.

    Attributes
    ----------
    labels : array of shape (c,)
        The distinct labels, sorted.
    codes : int array of shape (n,)
        Index in ``labels`` of each sample's class.
    counts : int array of shape (c,)
        Samples per class.
    """

    labels: NDArray[Any]
    codes: NDArray[np.intp]
    counts: NDArray[np.intp]

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.codes)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.counts)

    @cached_property
    def _averaging(self) -> sparse.csr_array:
        """The (c, n) matrix that maps sample rows to class means."""
        weights = 1.0 / self.counts[self.codes]
        return sparse.csr_array((weights, (self.codes, np.arange(self.n))), shape=(self.n_classes, self.n))

    def indicator(self) -> Floats:
        """Return the one-hot matrix H of shape (n, c)."""
        return np.eye(self.n_classes)[self.codes]

    def means(self, Z: Floats) -> Floats:
        """Compute the class means (c, p) of the rows of Z (n, p), in the dtype of Z."""
        return self._averaging.astype(Z.dtype, copy=False) @ Z


class LaplacianOperator(ABC):
    """A symmetric (n, n) matrix given by its products."""

    n: int

    @abstractmethod
    def _apply(self, Z: Floats) -> Floats: ...

    def apply(self, Z: ArrayLike) -> Floats:
        """Multiply Z, shape (n, p) or (n,), in its floating dtype; raise `DataError` unless Z has n rows."""
        array = regular_array(Z, "Z")
        if array.dtype.kind != "f":
            array = as_float_array(array, "Z", ndim=array.ndim)
        if array.ndim not in (1, 2) or array.shape[0] != self.n:
            raise DataError(f"Z has shape {array.shape}, the graph has {self.n} samples: expected ({self.n}, p).")
        return self._apply(array[:, None])[:, 0] if array.ndim == 1 else self._apply(array)

    def toarray(self) -> Floats:
        """Return the dense (n, n) float64 matrix; for tests and small n."""
        return self.apply(np.eye(self.n))


@dataclass(frozen=True, eq=False)
class ClassOperator(LaplacianOperator):
    """The operator ``identity * I + means * P + total * J``, with P the class-mean projector and J = 11'/n.

    I - P is the within-class Laplacian, P - J the between-class one, I - J the total one.
    """

    n: int
    identity: float
    total: float
    means: float = 0.0
    classes: ClassStructure | None = None

    def __post_init__(self) -> None:
        if self.means and (self.classes is None or self.classes.n != self.n):
            raise DataError("A class-mean term needs the classes of the same samples: pass `classes`.")

    def _apply(self, Z: Floats) -> Floats:
        out = Z * Z.dtype.type(self.identity)
        if self.means and self.classes is not None:
            out += (Z.dtype.type(self.means) * self.classes.means(Z))[self.classes.codes]
        if self.total:
            out += Z.dtype.type(self.total) * Z.mean(axis=0)
        return out


@dataclass(frozen=True, eq=False)
class MatrixOperator(LaplacianOperator):
    """A stored symmetric matrix, sparse (neighbour graphs) or dense (custom operators)."""

    matrix: Any

    def __post_init__(self) -> None:
        m = self.matrix
        if sparse.issparse(m):
            m = sparse.csr_array(m, dtype=np.float64)
            check_square(m, "The Laplacian")
            as_float_array(m.data, "The Laplacian", ndim=1, may_be_empty=True)
        else:
            m = as_square_matrix(m, "The Laplacian")
        asymmetry = abs(m - m.T).max() if m.shape[0] else 0.0
        if asymmetry > 1e-10 * max(abs(m).max(), np.finfo(float).tiny):
            raise DataError(f"The Laplacian is not symmetric: it differs from its transpose by {asymmetry:.3g}.")
        object.__setattr__(self, "matrix", m)
        object.__setattr__(self, "n", m.shape[0])

    def _apply(self, Z: Floats) -> Floats:
        return self.matrix.astype(Z.dtype, copy=False) @ Z


@dataclass(frozen=True, eq=False)
class PartlyLabelledOperator(LaplacianOperator):
    """An operator on the labelled samples, plus a sparse or dense symmetric matrix on all."""

    labelled: NDArray[np.intp]
    supervised: LaplacianOperator
    everywhere: MatrixOperator

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", self.everywhere.n)

    def _apply(self, Z: Floats) -> Floats:
        out = self.everywhere.apply(Z)
        out[self.labelled] += self.supervised.apply(Z[self.labelled])
        return out


@dataclass(frozen=True, eq=False)
class GraphPair:
    """Two Laplacian operators on the same samples.

    Attributes
    ----------
    L, L_prime : LaplacianOperator
        ``L`` is minimised relative to ``L_prime``. Dense or sparse matrices are wrapped.
    sense : {"minimise", "maximise"}
        "maximise" if L is maximised (the maximum margin criterion).

    Raises
    ------
    DataError
        The numbers of samples differ, or a matrix is not square, symmetric and finite.
    """

    L: LaplacianOperator
    L_prime: LaplacianOperator
    sense: Literal["minimise", "maximise"] = "minimise"

    def __post_init__(self) -> None:
        for field in ("L", "L_prime"):
            operator = getattr(self, field)
            if not isinstance(operator, LaplacianOperator):
                object.__setattr__(self, field, MatrixOperator(operator))
        if self.L.n != self.L_prime.n:
            raise DataError(f"L has {self.L.n} samples and L_prime has {self.L_prime.n}: expected the same samples.")

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.L.n

    @property
    def lda_classes(self) -> ClassStructure | None:
        """The classes if the pair is exactly (I - P, I - J), else None.

        For this pair ``L' = L + GG' - J`` with G the (n, c) class indicators over root counts. The projection then
        needs one Cholesky factorisation and c right-hand sides instead of an (n, n) eigenproblem.
        """
        a, b = self.L, self.L_prime
        if (
            isinstance(a, ClassOperator)
            and isinstance(b, ClassOperator)
            and (a.identity, a.means, a.total) == (1.0, -1.0, 0.0)
            and (b.identity, b.means, b.total) == (1.0, 0.0, -1.0)
        ):
            return a.classes
        return None


def class_structure(y: ArrayLike, n: int | None = None) -> ClassStructure:
    """Find the classes of labels of any sortable type, (n,).

    Raises
    ------
    DataError
        ``y`` is not a vector, is empty, has another length than ``n``, missing labels, or labels without an order.
    NotApplicable
        All samples are of one class.
    """
    try:
        array = np.asarray(y)
    except ValueError as error:
        raise DataError("y is not a regular array: expected a vector of one label per sample.") from error
    if array.ndim != 1 or array.size == 0:
        raise DataError(f"y has shape {array.shape}: expected a vector of one label per sample.")
    if n is not None and array.size != n:
        raise DataError(f"y has {array.size} labels for {n} samples: expected one label per sample.")
    masked = isinstance(y, np.ma.MaskedArray)
    absent = array.dtype.kind in "mMO" and any(map(_is_missing, array))
    if masked or absent or (array.dtype.kind == "f" and not np.isfinite(array).all()):
        raise DataError("y has labels that are missing or not finite.")
    try:
        labels, codes, counts = np.unique(array, return_inverse=True, return_counts=True)
    except TypeError as error:
        raise DataError(f"y has labels that can't be sorted, so not all of one type: {error}.") from error
    if len(labels) < 2:
        raise NotApplicable(f"All {array.size} samples are of class {str(labels[0])!r}: expected two classes or more.")
    return ClassStructure(labels, codes.reshape(-1), counts)


def _is_missing(label: Any) -> bool:
    return label is None or type(label).__name__ == "NAType" or bool(label != label)


def within_laplacian(y: ArrayLike | ClassStructure) -> ClassOperator:
    """Return ``L_w = I - P``: K L_w K is the within-class scatter. The affinity is 1/n_k inside class k."""
    classes = y if isinstance(y, ClassStructure) else class_structure(y)
    return ClassOperator(classes.n, identity=1.0, means=-1.0, total=0.0, classes=classes)


def between_laplacian(y: ArrayLike | ClassStructure) -> ClassOperator:
    """Return ``L_b = P - J``, whose scatter is between classes. The affinity is 1/n, less 1/n_k inside class k."""
    classes = y if isinstance(y, ClassStructure) else class_structure(y)
    return ClassOperator(classes.n, identity=0.0, means=1.0, total=-1.0, classes=classes)


def total_laplacian(n: int) -> ClassOperator:
    """Return ``L_t = I - J``: K L_t K is the total scatter. The affinity is 1/n between all samples."""
    return ClassOperator(n, identity=1.0, total=-1.0)


def lda_graph(y: ArrayLike) -> GraphPair:
    """Build the graph pair of linear discriminant analysis: L = I - P (within), L' = I - J (total).

    Errors are those of `class_structure`. MKL-DR (Lin, Liu, Fuh 2008), equation (30): w_ij = 1/n_k within class k, and
    w'_ij = 1/N for all pairs, including those of one class (as printed; only then is L' the total scatter).
    """
    classes = class_structure(y)
    return GraphPair(within_laplacian(classes), total_laplacian(classes.n))


def mmc_graph(y: ArrayLike, weight: float = 1.0) -> GraphPair:
    """Build the graph pair of the maximum margin criterion: L = L_b - weight L_w, which is maximised, and L' = I.

    L is indefinite. The weight lambda >= 0 of the within-class scatter is 1 in MKMMC (Gu, Zhou 2009): L = 2P - J - I.
    """
    weight = check_nonnegative(weight, "weight")
    classes = class_structure(y)
    L = ClassOperator(classes.n, identity=-weight, means=1.0 + weight, total=-1.0, classes=classes)
    return GraphPair(L, ClassOperator(classes.n, identity=1.0, total=0.0), sense="maximise")


def pca_graph(n: int) -> GraphPair:
    """Build the graph pair of principal component analysis of n >= 2 samples: L = 0, L' = I - J.

    Notes
    -----
    In MKL-DR's framework (equation (4)) principal components minimise the norm of the projection relative to the total
    scatter. The norm is not of the form K L K: it is the ridge that methods add to both matrices. With a ridge the
    smallest ratios have the largest variance; without one every direction has ratio 0.
    """
    if not isinstance(n, (int, np.integer)) or n < 2:
        raise DataError(f"Invalid value {n!r} for `n`: expected an integer >= 2, the number of samples.")
    return GraphPair(ClassOperator(int(n), identity=0.0, total=0.0), total_laplacian(int(n)))


def kernel_squared_distances(K: ArrayLike) -> Floats:
    """Compute squared distances in the feature space of a kernel, K_ii + K_jj - 2 K_ij, shape (n, n).

    For a Gaussian kernel they order neighbours like the distances it was computed from.
    """
    K = as_square_matrix(K, "The kernel of the training samples", dtype=None)
    diagonal = np.diag(K)
    d2 = np.maximum(diagonal[:, None] + diagonal - (K + K.T), 0)
    np.fill_diagonal(d2, 0)
    return d2


def lde_graph(distances: Any, y: ArrayLike, k: int = 5, k_prime: int = 20) -> GraphPair:
    """Build the graph pair of local discriminant embedding.

    W joins near samples of one class, W' near samples of different classes.

    Parameters
    ----------
    distances : list of M arrays of shape (n, n), or array of shape (n, d)
        A list holds distances, squared or not, one per descriptor; their graphs are averaged. An array holds features,
        compared by Euclidean distance.
    y : array of shape (n,)
    k, k_prime : int
        Number of neighbours in W, the k nearest samples of the same class, and in W', the k' nearest of all others.

    Returns
    -------
    GraphPair
        Sparse operators.

    Raises
    ------
    DataError
        Shapes do not match, values are not finite, a distance is asymmetric, or a single distance matrix is not in a
        list.
    ConfigError
        Invalid parameter.
    NotApplicable
        There is only one class, or one of the graphs has no edge.

    Notes
    -----
    MKL-DR (Lin, Liu, Fuh 2008), equations (31)-(32), after Chen, Chang, Liu (2005): w_ij = 1 if i is among the
    neighbours of j or j among those of i. The paper gives neither k nor k' and does not say among which samples
    neighbours are counted; among all samples, few samples of many classes would leave hardly any edge inside a class.
    In a class of at most k samples all other members are neighbours (k is clipped per class, as is customary);
    a class of one sample has no edge in W. Equal distances are ordered by sample index; those of features are equal
    up to rounding.

    Deviation: each affinity is divided by its mean degree, so that L and L' have one scale for all k and k'. This
    changes results only through the ridge.
    """
    k, k_prime = check_integer(k, "k"), check_integer(k_prime, "k_prime")
    stack = _distance_list(distances)
    n = stack[0].shape[0]
    codes = class_structure(y, n).codes
    same = codes[:, None] == codes
    outside = ~same
    inside = same.copy()
    np.fill_diagonal(inside, False)

    return _neighbour_pair(
        [(sparse.csr_array(_nearest(d, inside, k)), sparse.csr_array(_nearest(d, outside, k_prime))) for d in stack]
    )


def mfa_graph(distances: Any, y: ArrayLike, k: int = 5, k_prime: int = 20) -> GraphPair:
    """Build the graph pair of marginal Fisher analysis, sparse and of mean degree 1, with errors as in `lde_graph`.

    W joins near samples of one class, W' the nearest pairs of samples on both sides of the margin of a class.

    Parameters
    ----------
    distances, y
        As for `lde_graph`.
    k : int
        Number of neighbours in W: the k nearest samples of the same class.
    k_prime : int
        Number of pairs in W' for each class: the k' nearest of all pairs of a sample in it and one outside.

    Notes
    -----
    Yan, Xu, Zhang, Zhang, Yang, Lin, "Graph embedding and extensions", PAMI 2007, section 3. Equal distances are
    ordered by sample index; those of features are equal up to rounding.
    """
    k, k_prime = check_integer(k, "k"), check_integer(k_prime, "k_prime")
    stack = _distance_list(distances)
    classes = class_structure(y, len(stack[0]))
    inside = (classes.codes[:, None] == classes.codes) & ~np.eye(classes.n, dtype=bool)
    return _neighbour_pair(
        [(sparse.csr_array(_nearest(d, inside, k)), _nearest_pairs(d, classes, k_prime)) for d in stack]
    )


def sda_graph(neighbours: GraphPair, y: ArrayLike) -> GraphPair:
    """Build the graph pair of semi-supervised discriminant analysis.

    L is the within-class Laplacian and L' the total one, of the labelled samples, both plus the
    Laplacian of a neighbour graph on all samples: neighbours stay together, whether labelled or not.

    Parameters
    ----------
    neighbours : GraphPair
        Of `lpp_graph`, or the mean of several by `mean_graph`; its L is divided by the mean degree, that of L'.
    y : array of shape (n,)
        Labels; -1 for a sample without one. Errors are those of `class_structure` for the others.

    Notes
    -----
    Cai, He, Han, "Semi-supervised discriminant analysis", ICCV 2007, maximise the between-class scatter relative to
    L': as L' is L plus the between-class Laplacian, that is to minimise L relative to L'. MKL-DR (Lin, Liu, Fuh 2008)
    names semi-supervised methods among those that it covers.
    """
    labels = np.asarray(y)
    class_structure(labels, neighbours.n)
    labelled = np.flatnonzero(labels != UNLABELLED)
    pair = lda_graph(labels[labelled])
    if not isinstance(neighbours.L, MatrixOperator) or not isinstance(neighbours.L_prime, MatrixOperator):
        raise DataError("neighbours is no neighbour graph: expected a pair of `lpp_graph` or `mean_graph`.")
    degree = neighbours.L_prime.matrix.diagonal().mean()
    everywhere = MatrixOperator(neighbours.L.matrix * (1.0 / degree))
    within, total = (PartlyLabelledOperator(labelled, side, everywhere) for side in (pair.L, pair.L_prime))
    return GraphPair(within, total)


def _nearest_pairs(d: Floats, classes: ClassStructure, count: int) -> sparse.csr_array:
    """Mark, for each class, the ``count`` nearest pairs of a sample in it and one outside."""
    marked = np.zeros(d.shape, dtype=bool)
    for code in range(classes.n_classes):
        own, others = np.flatnonzero(classes.codes == code), np.flatnonzero(classes.codes != code)
        nearest = np.argsort(d[np.ix_(own, others)], axis=None, kind="stable")[:count]
        i, j = np.unravel_index(nearest, (len(own), len(others)))
        marked[own[i], others[j]] = True
    return sparse.csr_array(marked)


def _neighbour_pair(joined: Sequence[tuple[sparse.csr_array, sparse.csr_array]]) -> GraphPair:
    """Return the mean over descriptors of the graphs that join samples to their neighbours, of mean degree 1."""
    W, W_prime = (sum(_either(pair[side]) for pair in joined) / len(joined) for side in (0, 1))
    for affinity, what, name in ((W, "the same class", "k"), (W_prime, "different classes", "k_prime")):
        if affinity.nnz == 0:
            raise NotApplicable(
                f"No two samples of {what} are neighbours: raise {name}, or give more than one sample per class."
            )
    n = W.shape[0]
    return GraphPair(_laplacian(W * (n / W.sum())), _laplacian(W_prime * (n / W_prime.sum())))


def _either(marked: sparse.csr_array) -> sparse.csr_array:
    """Return 1 where i is marked for j or j for i, in float64."""
    ones = marked.astype(np.float64)
    return sparse.csr_array(ones.maximum(ones.T))


def lpp_graph(d2: ArrayLike, k: int = 5) -> GraphPair:
    """Build the graph pair of locality preserving projections: L = D - W on nearest neighbours, L' = D, the degrees.

    The affinity of neighbours is w_ij = exp(-d2_ij / t), with t the mean of d2 over the edges. L' is the constraint
    A'KDKA = I of He and Niyogi 2003. Both are sparse.

    Parameters
    ----------
    d2 : array of shape (n, n)
        Squared distances of the samples.
    k : int
        Number of nearest neighbours, clipped to n - 1; an edge joins i and j if either is a neighbour of the other.

    Raises
    ------
    DataError
        Distances are not square, symmetric and finite.
    ConfigError
        k < 1.
    """
    k = check_integer(k, "k")
    (d,) = _distance_list([d2])
    n = d.shape[0]
    near = _nearest(d, ~np.eye(n, dtype=bool), k)
    rows, columns = np.nonzero(near | near.T)
    lengths = d[rows, columns]
    t = float(lengths.mean())
    weights = np.exp(-lengths / t) if t > 0 else np.ones(len(lengths))
    W = sparse.csr_array((weights, (rows, columns)), shape=(n, n))
    degrees = sparse.diags_array(np.asarray(W.sum(axis=1)))
    return GraphPair(_laplacian(W), MatrixOperator(degrees))


def mean_graph(graphs: Sequence[GraphPair]) -> GraphPair:
    """Return the pair of the mean Laplacians of neighbour graphs over the same samples."""
    L, L_prime = (sum(getattr(graph, side).matrix for graph in graphs) / len(graphs) for side in ("L", "L_prime"))
    return GraphPair(L, L_prime)


def _laplacian(W: sparse.csr_array) -> MatrixOperator:
    """Compute ``diag(W 1) - W`` of the symmetric part of a sparse affinity."""
    symmetric = (W + W.T) / 2
    return MatrixOperator(sparse.diags_array(np.asarray(symmetric.sum(axis=1))) - symmetric)


def _distance_list(distances: Any) -> list[Floats]:
    """Return one or more checked (n, n) distances from a list of them, or from features."""
    if isinstance(distances, Sequence):
        stack = [as_square_matrix(d, f"Distance {i}") for i, d in enumerate(distances)]
    else:
        stack = [_feature_distances(as_float_matrix(distances, "The feature array").astype(np.float64, copy=False))]
    if not stack:
        raise DataError("Invalid distances: expected a list of one or more (n, n) distances, or (n, d) features.")
    n = stack[0].shape[0]
    for i, d in enumerate(stack):
        if d.shape != (n, n) or n < 2:
            raise DataError(f"Distance {i} has shape {d.shape}: expected ({n}, {n}) with n >= 2 samples.")
        if not np.allclose(d, d.T, rtol=1e-6, atol=1e-9 * np.abs(d).max()):
            raise DataError(f"Distance {i} is not symmetric: pass (D + D.T) / 2, or another distance.")
    return stack


def _feature_distances(X: Floats) -> Floats:
    if X.shape[0] == X.shape[1] and X.shape[0] > 1 and not np.diag(X).any() and np.array_equal(X, X.T):
        raise DataError(
            f"A symmetric array of shape {X.shape} with zero diagonal looks like a distance: pass distances in a list "
            "[D], and features as (n, d)."
        )
    centred = X - X.mean(axis=0)
    norms = np.einsum("ij,ij->i", centred, centred)
    gram = centred @ centred.T
    return np.maximum(norms[:, None] + norms - (gram + gram.T), 0)


def _nearest(d: Floats, allowed: NDArray[np.bool_], k: int) -> NDArray[np.bool_]:
    """Mark in row i the k nearest allowed j (all of them if there are fewer)."""
    n = d.shape[0]
    order = np.argsort(np.where(allowed, d, np.inf), axis=1, kind="stable")[:, : min(k, n)]
    marked = np.zeros((n, n), dtype=bool)
    marked[np.arange(n)[:, None], order] = True
    return marked & allowed

"""Pairs of affinity graphs (W, W') as Laplacian operators.

Graph embedding methods use two symmetric affinities of the samples: ``W`` weights pairs that should be close, ``W'``
pairs that should be far apart (or that fix the scale). With ``L = diag(W 1) - W`` and ``L'`` defined likewise, they
minimise ``tr(A' K L K A)`` relative to ``tr(A' K L' K A)``, since for symmetric ``W``

    ``sum_ij W_ij (k_i - k_j)(k_i - k_j)' = 2 K L K``            (MKL-DR, Lin, Liu, Fuh 2008, equations (19)-(20)).

The factor 2 is common to both graphs and omitted here. The Laplacian of a class graph is ``a I + b P + c J``, with
``P`` the projector onto class means and ``J = 11'/n``. It is applied in O(n p) without forming the matrix. Graphs of
nearest neighbours are in `mklearn.graphs.neighbour_graphs`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from mklearn.checks import (
    as_float_array,
    as_square_matrix,
    check_integer,
    check_nonnegative,
    check_square,
    regular_array,
)
from mklearn.errors import DataError, NotApplicable
from mklearn.estimator_input import label_array

Floats = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class ClassStructure:
    """Classes of the samples.

    Attributes
    ----------
    labels : array of shape (c,)
        Distinct labels, sorted.
    codes : int array of shape (n,)
        Index of each sample's class in ``labels``.
    counts : int array of shape (c,)
        Number of samples of each class.
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
        """Matrix, (c, n), that maps sample rows to class means."""
        weights = 1.0 / self.counts[self.codes]
        return sparse.csr_array((weights, (self.codes, np.arange(self.n))), shape=(self.n_classes, self.n))

    def indicator(self) -> Floats:
        """Return the one-hot matrix H of shape (n, c)."""
        return np.eye(self.n_classes)[self.codes]

    def means(self, Z: Floats) -> Floats:
        """Compute the class means (c, p) of the rows of Z (n, p), in the dtype of Z."""
        return self._averaging.astype(Z.dtype, copy=False) @ Z


class LaplacianOperator(ABC):
    """Symmetric (n, n) matrix that is defined by its products with other matrices."""

    n: int

    @abstractmethod
    def _apply(self, Z: Floats) -> Floats: ...

    def apply(self, Z: ArrayLike) -> Floats:
        """Multiply the operator with Z, (n, p) or (n,), in Z's dtype; raise `DataError` unless Z has n rows."""
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
    """Operator ``identity * I + means * P + total * J``, with P the class-mean projector and J = 11'/n.

    I - P is the within-class Laplacian, P - J the between-class one, I - J the total one.
    """

    n: int
    identity: float
    total: float
    means: float = 0.0
    classes: ClassStructure | None = None

    def _apply(self, Z: Floats) -> Floats:
        out = Z * Z.dtype.type(self.identity)
        if self.means and self.classes is not None:
            out += (Z.dtype.type(self.means) * self.classes.means(Z))[self.classes.codes]
        if self.total:
            out += Z.dtype.type(self.total) * Z.mean(axis=0)
        return out


@dataclass(frozen=True, eq=False)
class MatrixOperator(LaplacianOperator):
    """Operator of a stored symmetric matrix, sparse (neighbour graphs) or dense (custom operators)."""

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
class GraphPair:
    """Pair of Laplacian operators on the same samples.

    ``L`` is minimised relative to ``L_prime``. Dense or sparse matrices are wrapped. Raises `DataError` if they are
    not square, symmetric and finite, or differ in the number of samples.
    """

    L: LaplacianOperator
    L_prime: LaplacianOperator

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
        """Classes if the pair is exactly (I - P, I - J), else None.

        For this pair ``L' = L + GG' - J``, where G, (n, c), holds the class indicators divided by the square roots of
        the class counts. The projection then needs one Cholesky factorisation and c right-hand sides instead of an
        (n, n) eigenproblem.
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
    """Return the class structure of labels, (n,), of any sortable type.

    Raises `DataError` if ``y`` is not a vector, is empty, differs from ``n`` in length, or has missing labels or labels
    without an order, and `NotApplicable` if all samples are of one class.
    """
    array = label_array(y)
    if array.ndim != 1 or array.size == 0 or (n is not None and array.size != n):
        expected = "one label for each sample" if n is None else f"one label for each of {n} samples"
        raise DataError(f"y has shape {array.shape}: expected {expected}.")
    labels, codes, counts = np.unique(array, return_inverse=True, return_counts=True)
    if len(labels) < 2:
        raise NotApplicable(f"All {array.size} samples are of class {str(labels[0])!r}: expected two classes or more.")
    return ClassStructure(labels, codes.reshape(-1), counts)


def within_laplacian(y: ArrayLike | ClassStructure) -> ClassOperator:
    """Return ``L_w = I - P``; K L_w K is the within-class scatter. The affinity is 1/n_k inside class k."""
    classes = y if isinstance(y, ClassStructure) else class_structure(y)
    return ClassOperator(classes.n, identity=1.0, means=-1.0, total=0.0, classes=classes)


def between_laplacian(y: ArrayLike | ClassStructure) -> ClassOperator:
    """Return ``L_b = P - J``; K L_b K is the between-class scatter. The affinity is 1/n, minus 1/n_k inside class k."""
    classes = y if isinstance(y, ClassStructure) else class_structure(y)
    return ClassOperator(classes.n, identity=0.0, means=1.0, total=-1.0, classes=classes)


def total_laplacian(n: int) -> ClassOperator:
    """Return ``L_t = I - J``; K L_t K is the total scatter. The affinity is 1/n between all samples."""
    return ClassOperator(n, identity=1.0, total=-1.0)


def lda_graph(y: ArrayLike) -> GraphPair:
    """Build the graph pair of linear discriminant analysis: L = I - P (within), L' = I - J (total).

    Errors are as for `class_structure`. The affinities follow MKL-DR (Lin, Liu, Fuh 2008), equation (30), as printed:
    w_ij = 1/n_k within class k, and w'_ij = 1/N for all pairs. Pairs within a class are included, so that L' gives the
    total scatter.
    """
    classes = class_structure(y)
    return GraphPair(within_laplacian(classes), total_laplacian(classes.n))


def margin_laplacian(y: ArrayLike, weight: float = 1.0) -> ClassOperator:
    """Return ``L_b - weight L_w``, which the maximum margin criterion maximises; it is indefinite.

    The weight lambda >= 0 of the within-class scatter is 1 in MKMMC (Gu, Zhou 2009): 2P - J - I.
    """
    weight = check_nonnegative(weight, "weight")
    classes = class_structure(y)
    return ClassOperator(classes.n, identity=-weight, means=1.0 + weight, total=-1.0, classes=classes)


def mmc_graph(y: ArrayLike, weight: float = 1.0) -> GraphPair:
    """Build the graph pair of the maximum margin criterion: L as `margin_laplacian`, which is maximised, and L' = I."""
    L = margin_laplacian(y, weight)
    return GraphPair(L, ClassOperator(L.n, identity=1.0, total=0.0))


def pca_graph(n: int) -> GraphPair:
    """Build the graph pair of principal component analysis of n >= 2 samples: L = 0, L' = I - J.

    Notes
    -----
    In MKL-DR's framework (equation (4)) principal components minimise the norm of the projection relative to the total
    scatter. The norm is not of the form K L K; methods add it as a ridge to both matrices. With a ridge, directions of
    the smallest ratio have the largest variance; without one, every direction has ratio 0.
    """
    n = check_integer(n, "n", least=2)
    return GraphPair(ClassOperator(n, identity=0.0, total=0.0), total_laplacian(n))

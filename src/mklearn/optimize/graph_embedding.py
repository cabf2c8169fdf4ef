"""Graph embedding with kernels: the projection for fixed kernel weights, and the matrices that update the weights.

With K = sum_m beta_m K_m and a pair of graph Laplacians (L, L'), the coefficients A of the training samples minimise

    f(A, beta) = tr(A'SA) / tr(A'S'A),     S = 2 K L K + rho I,    S' = 2 K L' K + rho I,
    rho = ridge * tr(2 K L' K) / n.

MKL-DR [1]_ calls the update of A the A-step and the update of beta the beta-step. The factor 2 comes from its pair
sums, equations (19)-(20): sum_ij w_ij (k_i - k_j)(k_i - k_j)' = 2 K L K.

**The ridge** is a deviation: the paper has none. If K is nonsingular, the within-class scatter has a null space with
one dimension per class, so f reaches 0 for any kernel weights, and the alternation stops at its start. The ridge here
is added to both matrices and is homogeneous of degree 2 in beta. Therefore f does not depend on the scale of beta, and
K_m -> c_m K_m still gives beta_m -> beta_m / c_m. As a function of beta the ridge is

    rho(beta) = (2 ridge / n) beta'T beta,     T_mn = tr(K_m L' K_n).

Therefore (2 ridge / n) ||A||_F^2 T is added to both matrices of the beta-step, 2 tr(A'K_m L K_n A) and
2 tr(A'K_m L' K_n A) (equations (23)-(24)), and both steps decrease (or bound) the same f.

**Scale of the columns.** Every solution has A'S'A = I, the paper's constraint (17), ridge included; f is then the mean
of the eigenvalues. `rescale_columns` gives other scales, which change nearest neighbours.

References
----------
.. [1] Lin, Liu, Fuh, "Dimensionality reduction for data in multiple feature representations", NIPS 2008.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, eigh, qr
from scipy.linalg.blas import dsyrk

from mklearn.checks import cached_rows, symmetrized
from mklearn.errors import NotApplicable
from mklearn.graphs import ClassStructure, GraphPair, LaplacianOperator
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.eigen import fix_signs, generalized_eigh, lower_factor
from mklearn.optimize.trace_ratio import trace_ratio

Array = NDArray[np.floating[Any]]
Scaling = Literal["total", "within", "unit", "orthonormal"]

# Ratio of between- to within-class scatter, relative to the largest, below which a direction counts as rounding.
_NEGLIGIBLE = 1e-10

# Rows of each kernel that `_cross_traces` reads at a time.
_ROWS = 16


@dataclass(frozen=True, eq=False)
class Projection:
    """Coefficients of a projection and their eigenvalues."""

    coefficients: Array  # (n, p), A: in each column the entry of largest absolute value is positive
    eigenvalues: Array  # (p,), a'Sa / a'S'a for each column a, ascending: the first column discriminates best
    ridge_amount: float  # rho


class EmbeddingProblem(ABC):
    """Base of the steps of MKL-DR, for any representation of the kernels.

    Coefficients belong to the n samples (A), or are coordinates a with a'a = A'A.
    """

    n: int  # number of samples
    n_kernels: int  # number of kernels M
    most_components: int  # classes - 1 for the LDA graph, else the number of coefficients

    @property
    @abstractmethod
    def traces(self) -> Array:
        """Traces T_mn = tr(K_m L' K_n), shape (M, M)."""

    @abstractmethod
    def _squared_norm(self, weights: Array) -> float:
        """Compute ||K||_F^2 for the combined kernel K."""

    @abstractmethod
    def _scatters(self, weights: Array, rho: float) -> tuple[Array, Array]:
        """Compute S and S', both exactly symmetric."""

    @abstractmethod
    def _lda_scatter(self, weights: Array, rho: float) -> tuple[Array, Array] | None:
        """Compute S and a factor F with S' = S + FF' for the LDA graph; return None for other graphs.

        S needs only the triangle that `lower_factor` reads.
        """

    @abstractmethod
    def _within_traces(self) -> Array:
        """Compute tr(K_m L K_n), (M, M)."""

    @abstractmethod
    def _weight_forms(self, coefficients: Array) -> tuple[Array, Array]:
        """Compute tr(A'K_m L K_n A) and tr(A'K_m L' K_n A), (M, M)."""

    @abstractmethod
    def _component_forms(self, weights: Array, coefficients: Array) -> tuple[Array, Array]:
        """Compute A'K L K A and A'K L' K A, (p, p)."""

    def ridge_amount(self, weights: Array, ridge: float) -> float:
        """Compute the ridge rho; raise `NotApplicable` if the kernel is constant over the samples."""
        trace = float(weights @ self.traces @ weights)
        if not trace > _rounding(self.n) * self._squared_norm(weights):
            raise NotApplicable(
                "tr(K L' K) = 0: the combined kernel is constant over the samples, so no class can be "
                "discriminated. Check the bandwidth and the kernel weights."
            )
        return 2.0 * ridge * trace / self.n

    def ratio_trace_step(self, weights: Array, n_components: int, *, ridge: float) -> Projection:
        """Minimise tr((A'S'A)^-1 A'SA) by the eigenvectors of S a = lambda S' a with the smallest lambda, A'S'A = I.

        Returns fewer than ``n_components`` columns if the kernel has fewer discriminating directions (LDA graph), or if
        S' has a smaller rank (without a ridge, the common null space is removed). Raises `NotApplicable` for a constant
        kernel.

        For the LDA graph with a ridge, S' = S + FF' with F = sqrt(2) K(G - 1 1'G/n) of c columns. One Cholesky
        factorisation then replaces the (n, n) eigenproblem: lambda = 1/(1+mu) for the eigenvalues mu of F'S^-1F.

        This is MKL-DR's equation (21). Its equation (18) is a ratio of traces, which has a rank-one solution unless the
        columns are orthogonal. The paper's algorithm and this function solve the ratio trace instead.
        """
        rho = self.ridge_amount(weights, ridge)
        lda = self._lda_scatter(weights, rho)
        if lda is not None and _is_regular(lda[0], rho):
            S, F = lda
            solved = cho_solve((lower_factor(S), True), F, check_finite=False)
            values, vectors = between_directions(solved, F, n_components)
        else:
            S, S_prime = self._scatters(weights, rho)
            values, vectors = smallest_of_pencil(S, S_prime, min(n_components, self.most_components), rho)
        return Projection(vectors, values, rho)

    def trace_ratio_step(self, weights: Array, n_components: int, *, ridge: float) -> Projection:
        """Minimise tr(A'SA) / tr(A'S'A) with A'A = I: MKL-DR's equation (18) plus the constraint that it needs.

        If alternated with exact kernel weights, this step never increases f. The columns are eigenvectors of S - f S'.
        """
        rho = self.ridge_amount(weights, ridge)
        S, S_prime = self._scatters(weights, rho)
        A = np.asarray(trace_ratio(S, S_prime, n_components).components, dtype=np.float64)
        values = np.einsum("ip,ip->p", A, S @ A) / np.einsum("ip,ip->p", A, S_prime @ A)
        return Projection(A, values, rho)

    def projected_scatters(self, weights: Array, coefficients: Array, rho: float) -> tuple[Array, Array]:
        """Compute A'SA and A'S'A, (p, p)."""
        penalty = rho * (coefficients.T @ coefficients)
        above, below = (symmetrized(2.0 * form + penalty) for form in self._component_forms(weights, coefficients))
        return above, below

    def weight_matrices(self, coefficients: Array, ridge: float) -> tuple[Array, Array]:
        """Compute the matrices of the beta-step, ridge included: beta'S beta / beta'S'beta = f(A, beta)."""
        penalty = (2.0 * ridge / self.n) * float(np.vdot(coefficients, coefficients)) * self.traces
        above, below = (symmetrized(2.0 * form + penalty) for form in self._weight_forms(coefficients))
        return above, below

    def initial_weight_matrices(self, ridge: float) -> tuple[Array, Array]:
        """Compute `weight_matrices` at the paper's start AA' = I: 2 tr(K_m L K_n) and 2 T_mn, with ridge."""
        penalty = 2.0 * ridge * self.traces
        return 2.0 * self._within_traces() + penalty, 2.0 * self.traces + penalty


class KernelProblem(EmbeddingProblem):
    """Steps of MKL-DR for kernel matrices between the samples.

    T, which does not depend on A, the last combined kernel and the last projections K_m A are cached.
    """

    def __init__(self, stack: KernelStack, graph: GraphPair) -> None:
        self._stack, self._kernels, self._graph = stack, list(stack), graph
        self.n, self.n_kernels, self._classes = graph.n, len(stack), graph.lda_classes
        self.most_components = self.n if self._classes is None else self._classes.n_classes - 1
        self._weights: Array | None = None
        self._coefficients: Array | None = None

    @cached_property
    def traces(self) -> Array:
        """Traces T, see `EmbeddingProblem`."""
        return _cross_traces(self._kernels, self._graph.L_prime)

    def combined(self, weights: Array) -> Array:
        """Return the combined kernel for these weights; a single kernel has weight 1."""
        if self.n_kernels == 1:
            return self._kernels[0]
        if self._weights is None or not np.array_equal(self._weights, weights):
            self._kernel = self._stack.combine(weights)
            self._weights = weights.copy()
        return self._kernel

    def _squared_norm(self, weights: Array) -> float:
        kernel = self._double(weights)
        return float(np.vdot(kernel, kernel))

    def _double(self, weights: Array) -> Array:
        return np.asarray(self.combined(weights), dtype=np.float64)

    def _scatters(self, weights: Array, rho: float) -> tuple[Array, Array]:
        rows = self._double(weights)
        S, S_prime = (
            with_ridge(symmetrized(2.0 * rows @ operator.apply(rows.T)), rho)
            for operator in (self._graph.L, self._graph.L_prime)
        )
        return S, S_prime

    def _lda_scatter(self, weights: Array, rho: float) -> tuple[Array, Array] | None:
        if self._classes is None:
            return None
        B, F = _lda_factors(self._double(weights), self._classes)
        return with_ridge(dsyrk(2.0, B.T, lower=True), rho), F

    def _within_traces(self) -> Array:
        return _cross_traces(self._kernels, self._graph.L)

    def _weight_forms(self, coefficients: Array) -> tuple[Array, Array]:
        """Compute the forms in O(M n^2 p), the cost of the projections.

        The paper's K(i) matrices are never formed: one matrix product gives all M^2 inner products, and each Laplacian
        is applied once, to all projections side by side.
        """
        projections, M = self._projections(coefficients), self.n_kernels
        side_by_side = np.ascontiguousarray(projections.transpose(1, 0, 2)).reshape(self.n, -1)
        flat = projections.reshape(M, -1)

        def inner_products(operator: LaplacianOperator) -> Array:
            applied = operator.apply(side_by_side).reshape(self.n, M, -1).transpose(1, 0, 2).reshape(M, -1)
            return np.asarray(flat @ applied.T)

        return inner_products(self._graph.L), inner_products(self._graph.L_prime)

    def _component_forms(self, weights: Array, coefficients: Array) -> tuple[Array, Array]:
        Z = np.tensordot(weights, self._projections(coefficients), 1)
        return Z.T @ self._graph.L.apply(Z), Z.T @ self._graph.L_prime.apply(Z)

    def _projections(self, coefficients: Array) -> Array:
        """Return the projections K_m A of all kernels, (M, n, p)."""
        if self._coefficients is not coefficients:
            # A'K_m is (K_m A)' for a symmetric kernel, and BLAS multiplies few rows faster than few columns.
            transposed = [np.ascontiguousarray(coefficients.T) @ np.asarray(K) for K in self._kernels]
            self._projected = np.stack(transposed).transpose(0, 2, 1)
            self._coefficients = coefficients
        return self._projected


def _cross_traces(kernels: Sequence[NDArray[Any]], operator: LaplacianOperator) -> Array:
    """Compute <K_m, L K_n>_F for all pairs of kernels, in blocks of rows that fit into the CPU cache."""
    M, n = len(kernels), len(kernels[0])
    traces = np.zeros((M, M))
    rows, products = np.empty((2, M, min(_ROWS, n), n))
    for start in range(0, n, _ROWS):
        used = slice(min(_ROWS, n - start))
        for m, K in enumerate(kernels):
            rows[m, used] = K[start : start + _ROWS]
            products[m, used] = operator.apply(rows[m, used].T).T  # rows of K L
        traces += rows[:, used].reshape(M, -1) @ products[:, used].reshape(M, -1).T
    return symmetrized(traces)


def _lda_factors(K: Array, classes: ClassStructure) -> tuple[Array, Array]:
    """Return B (n, n) and F (n, c) with 2 B'B = 2 K L K and FF' = 2 K (L' - L) K for the LDA graph.

    I - P is idempotent, so K (I - P) K = B'B with B = K - PK, which halves the work and is exactly symmetric. FF' is
    the between-class scatter 2 K (P - J) K, where P - J = (I-J)GG'(I-J). G holds the class indicators, divided by the
    square roots of the class counts.
    """
    means = classes.means(K)
    B = np.empty_like(K)
    for part in cached_rows(K):
        np.subtract(K[part], means[classes.codes[part]], out=B[part])
    shares = classes.counts / classes.n
    F = np.sqrt(2.0) * (means - shares @ means).T * np.sqrt(classes.counts)
    return B, F


def smallest_of_pencil(S: Array, S_prime: Array, n_components: int, rho: float) -> tuple[Array, Array]:
    """Solve S a = lambda S' a for the smallest eigenvalues, A'S'A = I, outside the null space of S'.

    rho is the ridge on the diagonal of both matrices. If it exceeds rounding errors, S' is positive definite and a
    Cholesky factorisation is used. Returns eigenvalues (p,), ascending, and vectors (d, p); p is ``n_components``, or
    less if S' has a smaller rank.
    """
    p = min(n_components, S.shape[0])
    if _is_regular(S_prime, rho):
        return generalized_eigh(S, S_prime, p)
    scale, basis = eigh(S_prime, check_finite=False)
    kept = scale > _rounding(len(scale)) * scale[-1]
    whitener = basis[:, kept] / np.sqrt(scale[kept])
    values, inner = generalized_eigh(whitener.T @ S @ whitener, None, min(p, whitener.shape[1]))
    return values, fix_signs(whitener @ inner)


def between_directions(solved: Array, F: Array, n_components: int) -> tuple[Array, Array]:
    """Solve S a = lambda (S + FF') a, given S^-1 F (d, c); return the same as `smallest_of_pencil`."""
    mu, U = eigh(symmetrized(F.T @ solved), check_finite=False)
    mu, U = mu[::-1], U[:, ::-1]
    # One of the c eigenvalues is 0 by construction: the weighted class means add up to the total mean.
    p = min(n_components, F.shape[1] - 1, int(np.sum(mu > _NEGLIGIBLE * mu[0])))
    mu = mu[:p]
    # A = S^-1 F U has A'SA = diag(mu) and A'S'A = diag(mu + mu^2).
    return 1.0 / (1.0 + mu), fix_signs((solved @ U[:, :p]) / np.sqrt(mu * (1.0 + mu)))


def rescale_columns(coefficients: Array, eigenvalues: Array, scaling: Scaling) -> Array:
    """Rescale columns (n, p) with A'S'A = I and A'SA = diag(eigenvalues); or (k, n, p) and (k, p) for several problems.

    - "total": A'S'A = I, unchanged.
    - "within": A'SA = I, unit within-class scatter of every component (ridge included). Raises `NotApplicable` if an
      eigenvalue is zero: each class is one point, and no scale gives unit scatter.
    - "unit": columns of unit length.
    - "orthonormal": an orthonormal basis of the same leading subspaces (QR).
    """
    if scaling == "total":
        return coefficients
    if scaling == "within":
        if not (eigenvalues > _rounding(coefficients.shape[-2])).all():
            raise NotApplicable("scaling='within' needs a nonzero within-class scatter: raise the ridge.")
        return coefficients / np.sqrt(eigenvalues)[..., None, :]
    if scaling == "unit":
        lengths = np.linalg.norm(coefficients, axis=-2, keepdims=True)
        return coefficients / np.where(lengths > 0, lengths, 1.0)
    if coefficients.ndim == 3:
        return np.stack([rescale_columns(*one, scaling) for one in zip(coefficients, eigenvalues, strict=True)])
    return fix_signs(qr(coefficients, mode="economic", check_finite=False)[0])


def diagonalised(projection: Projection, scatter: Array, scatter_prime: Array) -> Projection:
    """Return the basis of the same subspace with A'S'A = I and A'SA diagonal, ascending.

    ``scatter`` and ``scatter_prime`` are A'SA and A'S'A for the coefficients A of ``projection``.
    """
    values, inner = generalized_eigh(scatter, scatter_prime)
    return Projection(fix_signs(projection.coefficients @ inner), values, projection.ridge_amount)


def with_ridge(matrix: Array, rho: float) -> Array:
    """Add rho to the diagonal of a matrix in place, and return it."""
    matrix[np.diag_indices_from(matrix)] += rho
    return matrix


def _rounding(n: int) -> float:
    return 10.0 * n * float(np.finfo(np.float64).eps)


def _is_regular(S: Array, rho: float) -> bool:
    """Check that the ridge exceeds the rounding errors of a singular S."""
    return rho > _rounding(S.shape[0]) * float(np.abs(np.diag(S)).max())

"""Eigenproblem of the kernel maximum margin criterion for three constraints on the coefficients."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from mklearn.errors import NotApplicable
from mklearn.graphs import LaplacianOperator, total_laplacian
from mklearn.optimize.eigen import fix_signs, generalized_eigh

Array = NDArray[np.floating[Any]]
Constraint = Literal["rkhs", "coef", "sample"]

# Eigenvalues of a kernel below this, relative to the largest, count as 0 in double precision; see `negligible`.
_NEGLIGIBLE = 1e-10
# Eigenvalues of the criterion this close, relative to the largest, form one eigenspace.
_TIED = 1e-8


def negligible(dtype: np.dtype[Any]) -> float:
    """Return the cutoff, relative to the largest eigenvalue, below which eigenvalues of a kernel count as 0."""
    return max(_NEGLIGIBLE, 10 * float(np.finfo(dtype).eps))


def margin_step(
    kernel: Array, operator: LaplacianOperator, n_components: int, constraint: Constraint, cutoff: float = _NEGLIGIBLE
) -> tuple[Array, Array]:
    """Maximise tr(A'K L K A) under a constraint on A: A'KA = I ("rkhs"), A'A = I ("coef") or A'K^2A = I ("sample").

    Returns the eigenvalues (p,), descending, and A (n, p) with fixed signs. p is ``n_components``, or less if K has a
    smaller rank: "rkhs" and "sample" ignore eigenvalues of K up to ``cutoff`` times the largest.
    """
    if constraint == "coef":
        return generalized_eigh(kernel @ operator.apply(kernel), None, min(n_components, len(kernel)), "largest")
    spectrum, basis = eigh(kernel, check_finite=False)
    kept = spectrum > cutoff * spectrum[-1]
    spectrum, basis = spectrum[kept], basis[:, kept]
    roots = np.sqrt(spectrum)
    if constraint == "rkhs":
        factor = basis * roots
        values, inner = generalized_eigh(
            factor.T @ operator.apply(factor), None, min(n_components, len(roots)), "largest"
        )
        return values, fix_signs((basis / roots) @ inner)
    values, inner = generalized_eigh(basis.T @ operator.apply(basis), which="largest")
    inner = smooth_first(values, inner, 1.0 / spectrum)[:, :n_components]
    return values[:n_components], fix_signs((basis / spectrum) @ inner)


def smooth_first(values: Array, vectors: Array, norms: Array) -> Array:
    """Rotate the basis of each eigenspace so that the form diag(norms) is diagonal and ascending on it."""
    gaps = np.diff(values) < -_TIED * np.abs(values).max()
    for group in np.split(np.arange(len(values)), np.flatnonzero(gaps) + 1):
        if len(group) > 1:
            space = vectors[:, group]
            vectors[:, group] = space @ generalized_eigh(space.T @ (norms[:, None] * space))[1]
    return vectors


def check_not_constant(kernel: Array) -> None:
    """Check that the kernel is not constant over the samples; raise `NotApplicable` otherwise."""
    centred = total_laplacian(len(kernel)).apply(kernel)
    if not np.abs(centred).max() > 10 * len(kernel) * np.finfo(np.float64).eps * np.abs(kernel).max():
        raise NotApplicable(
            "The combined kernel is constant over the samples, so no class can be discriminated. Check the bandwidth "
            "and the kernel weights."
        )


def check_columns(coefficients: Array, n_components: int | None) -> None:
    """Check that there are ``n_components`` columns, or one if None; raise `NotApplicable` otherwise."""
    rank = coefficients.shape[1]
    if rank == 0 or (n_components is not None and rank < n_components):
        raise NotApplicable(
            f"The combined kernel has rank {rank}, below n_components={n_components}: lower n_components, or use "
            "kernels of higher rank."
        )

"""Minimisation of b'Sb / b'S'b over b >= 0: exactly by enumerating supports, and locally for many kernels.

Theorem. Let S' be positive definite. A minimiser b of smallest support J is the eigenvector of the smallest eigenvalue
of the sub-pencil (S_JJ, S'_JJ); this eigenvalue is simple and the eigenvector positive.

Proof. b_J lies inside the orthant of R^J, so the ratio is stationary and locally minimal there: Z = S_JJ - r S'_JJ has
Z b_J = 0 and v'Zv >= 0 on the hyperplane v'S'_JJ b_J = 0, hence everywhere, and r is the smallest eigenvalue. If it
were multiple, one could move along a second eigenvector at the same ratio until an entry vanishes: a smaller support.

So the smallest eigenvectors of one sign of the 2^m - 1 sub-pencils are the candidates. Most supports are pruned:
smallest eigenvalues of sub-pencils are never below those of the pencils that contain them (interlacing). A support
whose eigenvalue is not below the best known ratio is therefore closed with all its subsets. So is one whose eigenvector
has one sign, as its ratio is its eigenvalue. Supports are processed by decreasing size, all of a size at once.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mklearn.errors import SolverFailed
from mklearn.optimize.pencil import Pencil, one_signed, orient

Floats = NDArray[np.floating]
Integers = NDArray[np.intp]

#: All supports are enumerated up to this number of kernels.
ENUMERATION_LIMIT = 14

_MAX_STEPS = 500


def enumerate_supports(pencil: Pencil) -> Floats:
    """Find the global minimiser in unit-diagonal coordinates, shape (m,), with exact zeros off its support.

    If several minimisers exist, one is returned; if all ratios are equal, the one with equal entries.
    """
    b, value = first_guess(pencil)
    m = pencil.m
    slack = 8 * np.finfo(float).eps * pencil.size
    if one_signed(pencil.vector) or pencil.lowest >= value - slack:
        return b
    closed = np.zeros(2**m, dtype=bool)
    for masks, members, parents in _tables(m):
        shut = closed[parents].any(axis=1)
        closed[masks[shut]] = True
        if shut.all():
            break
        masks, members = masks[~shut], members[~shut]
        values, vectors = _smallest_eigenpairs(pencil, members)
        feasible = one_signed(vectors)
        candidates = np.flatnonzero(feasible & (values < value - slack))
        if len(candidates):
            best = candidates[np.argmin(values[candidates])]
            trial = np.zeros(m)
            trial[members[best]] = np.maximum(vectors[best], 0)
            # The ratio of the given matrices: the eigenvalue can differ by the ridge or by rounding.
            ratio = pencil.ratio(trial)
            if ratio < value - slack:
                b, value = trial, ratio
        closed[masks] = feasible | (values >= value - slack)
    return b


def local_minimiser(pencil: Pencil, starts: Floats) -> Floats:
    """Find a local minimiser by nonnegative inverse iteration, the best one over all starts.

    An iteration is the nonnegative least-squares problem ``b <- argmin_{b >= 0} b'Tb - 2 b_k'S'b`` with
    ``T = S - sigma S'`` positive definite, sigma slightly below the smallest eigenvalue. At its solution
    ``b'Tb = b_k'S'b = c`` with c >= (b_k'S'b_k)^2 / b_k'Tb_k, the value of the best multiple of b_k. With
    c^2 <= b_k'S'b_k b'S'b (Cauchy), the ratio of T to S', hence that of S, never increases. At the end, the eigenvector
    of the support replaces the iterate if it has one sign. The starts, as rows, are nonnegative and not zero.
    """
    from scipy.optimize import nnls

    ratios = [pencil.ratio(b) for b in starts]
    b, value = starts[int(np.argmin(ratios))], min(ratios)
    if value - pencil.lowest <= 1e-14 * pencil.size:
        return b
    sigma = pencil.lowest - max(0.05 * (value - pencil.lowest), 1e-9 * pencil.size)
    factor = _upper_cholesky(pencil.R - sigma * pencil.R_prime)
    target = np.linalg.solve(factor.T, pencil.R_prime)
    for start in starts:
        current, ratio = start, pencil.ratio(start)
        for _ in range(_MAX_STEPS):
            following, _ = nnls(factor, target @ (current / np.sqrt(current @ pencil.R_prime @ current)))
            lower = pencil.ratio(following) if following.any() else np.inf
            if not lower < ratio:
                break
            drop, current, ratio = ratio - lower, following, lower
            if drop <= 1e-13 * pencil.size:
                break
        current = polish(pencil, current)
        ratio = pencil.ratio(current)
        if ratio < value:
            b, value = current, ratio
    return b


def default_starts(pencil: Pencil) -> Floats:
    """Return equal entries, each kernel alone, and both signs of the smallest eigenvector, clipped: (m + 2 or 3, m)."""
    rows = [np.ones((1, pencil.m)), np.eye(pencil.m)]
    rows += [np.maximum(side, 0)[None] for side in (pencil.vector, -pencil.vector) if (side > 0).any()]
    return np.concatenate(rows)


def polish(pencil: Pencil, b: Floats) -> Floats:
    """Replace b by the smallest eigenvector of its support if that has one sign and no larger ratio."""
    support = np.flatnonzero(b > 1e-9 * b.max())
    _, vectors = _smallest_eigenpairs(pencil, support[None])
    if not one_signed(vectors)[0]:
        return b
    trial = np.zeros(pencil.m)
    trial[support] = np.maximum(vectors[0], 0)
    return trial if pencil.ratio(trial) <= pencil.ratio(b) else b


def first_guess(pencil: Pencil) -> tuple[Floats, float]:
    """Find a feasible point cheaply: smallest eigenvectors, with entries of the wrong sign dropped in turn."""
    slack = 8 * np.finfo(float).eps * pencil.size
    b = np.ones(pencil.m)
    value = pencil.ratio(b)
    singles = np.diag(pencil.S)
    if singles.min() < value - slack:
        b = np.eye(pencil.m)[int(np.argmin(singles))]
        value = float(singles.min())
    support = np.arange(pencil.m)
    vector = pencil.vector
    while True:
        trial = np.zeros(pencil.m)
        trial[support] = np.maximum(vector, 0)
        ratio = pencil.ratio(trial)
        if ratio < value - slack:
            b, value = trial, ratio
        keep = vector > 1e-9 * np.abs(vector).max()
        if keep.all() or keep.sum() < 2:
            return b, value
        support = support[keep]
        _, vectors = _smallest_eigenpairs(pencil, support[None])
        vector = vectors[0]


def _smallest_eigenpairs(pencil: Pencil, members: Integers) -> tuple[Floats, Floats]:
    """Compute smallest eigenvalue (k,) and oriented eigenvector (k, size) of each sub-pencil; members is (k, size)."""
    rows, columns = members[:, :, None], members[:, None, :]
    inverse = np.linalg.inv(np.linalg.cholesky(pencil.R_prime[rows, columns]))
    reduced = inverse @ pencil.R[rows, columns] @ inverse.swapaxes(1, 2)
    values, basis = np.linalg.eigh(reduced)
    vectors = (inverse.swapaxes(1, 2) @ basis[:, :, :1])[:, :, 0]
    return values[:, 0], orient(vectors)


def _upper_cholesky(T: Floats) -> Floats:
    """Return F with F'F = T for a T that is positive definite up to rounding, with the smallest ridge that suffices.

    A ridge invalidates the monotony argument but not the result: only steps that lower the ratio are taken.
    """
    top = np.abs(np.diag(T)).max()
    for ridge in (0.0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-8):
        try:
            return np.linalg.cholesky(T + ridge * top * np.eye(len(T))).T
        except np.linalg.LinAlgError:
            continue
    raise SolverFailed("The shifted matrix S - sigma S' is not positive definite: S and S_prime are inconsistent.")


@cache
def _tables(m: int) -> tuple[tuple[Integers, Integers, Integers], ...]:
    """Tabulate supports by size, m - 1 down to 2: bit masks (k,), members (k, size), parents (k, m - size)."""
    bits = 1 << np.arange(m)
    tables = []
    for size in range(m - 1, 1, -1):
        members = np.array(list(combinations(range(m), size)), dtype=np.intp)
        masks = bits[members].sum(axis=1)
        absent = (masks[:, None] & bits) == 0
        outside = np.nonzero(absent)[1].reshape(len(members), m - size)
        tables.append((masks, members, masks[:, None] | bits[outside]))
    return tuple(tables)

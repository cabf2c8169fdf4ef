"""Standard quadratic program: maximise theta'Q theta over the simplex, exactly or locally.

This is the theta-step of MKMMC (Gu, Zhou 2009, equation (23)). Q is indefinite, so convex solvers do not apply, and
the problem is NP-hard in general. For a dozen kernels the supports can be enumerated.

Theorem. On the support J of a maximiser of smallest support, Q is negative definite on the vectors that sum to 0
(proof: docs/explanation/mkmmc_vertex.md).

Hence (a) every pair in J is concave, Q_ss + Q_tt - 2 Q_st < 0; (b) subsets inherit the property, so supports can be
grown one kernel at a time; (c) the stationary point of each support is the unique solution of a regular linear system.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.checks import as_square_matrix, check_symmetric, symmetrized

Floats = NDArray[np.floating]
Integers = NDArray[np.intp]

#: Largest number of enumerated supports: enough for 14 kernels (docs/explanation names it), or for more with few
#: concave pairs.
MAX_SUPPORTS = 2**14

# In units of the largest entry of Q minus its mean. A face flatter than _FLAT is skipped in favour of its boundary,
# which lowers the value by at most _FLAT. Gains below _GAIN are rounding.
_FLAT = 1e-12
_GAIN = 1e-14


@dataclass(frozen=True, eq=False)
class SimplexQP:
    """Result of `simplex_qp`.

    Attributes
    ----------
    theta : array of shape (m,)
        The maximiser: nonnegative, sum 1, exact zeros off its support.
    value : float
        theta'Q theta.
    status : {"optimal", "local"}
        "optimal": the global maximum, by enumeration. "local": the best of many local maxima.
    """

    theta: Floats
    value: float
    status: Literal["optimal", "local"]


def simplex_qp(Q: ArrayLike) -> SimplexQP:
    """Maximise theta'Q theta over the simplex, theta >= 0 and sum theta = 1.

    The maximum is global where at most `MAX_SUPPORTS` supports satisfy the theorem of this module (always for m <= 14).
    Else it is the best stationary point, exact up to rounding, of active-set ascents from equal entries, every vertex,
    and the maximisers of the best concave pairs (at most 4 m).

    Parameters
    ----------
    Q : array of shape (m, m)
        Symmetric, of any signature. Only its symmetric part is used.

    Returns
    -------
    SimplexQP
        If several maximisers have the same value, ``theta`` is one of smallest support. A constant Q gives equal
        entries.

    Raises
    ------
    DataError
        Q is not square, finite and symmetric.

    References
    ----------
    Gu, Zhou, "Multiple kernel maximum margin criterion", ICIP 2009, equation (23). The paper uses MATLAB's quadprog,
    which minimises and finds a local solution (or none) for an indefinite matrix.

    Examples
    --------
    >>> simplex_qp([[1.0, 0.0], [0.0, 2.0]]).theta
    array([0., 1.])
    >>> simplex_qp([[0.0, 1.0], [1.0, 0.0]]).theta
    array([0.5, 0.5])
    """
    full = as_square_matrix(Q, "Q")
    check_symmetric(full, "Q")
    full = symmetrized(full)
    # A constant added to Q only shifts the value. Without it, tolerances are relative to the differences that matter.
    centred = full - full.mean()
    scale = float(np.abs(centred).max())
    if scale <= 8 * np.finfo(float).eps * float(np.abs(full).max()):
        # Q is constant, and so is the value.
        theta = np.full(len(full), 1.0 / len(full))
        return SimplexQP(theta, float(theta @ full @ theta), "optimal")
    centred /= scale
    exact = _enumerate(centred)
    theta = _best_local(centred, _starts(centred)) if exact is None else exact
    theta = theta / theta.sum()
    return SimplexQP(theta, float(theta @ full @ theta), "local" if exact is None else "optimal")


def _enumerate(Q: Floats) -> Floats | None:
    """Return the global maximiser, or None if there are too many supports."""
    m = len(Q)
    theta = np.eye(m)[int(np.argmax(Q.diagonal()))]
    value = float(Q.diagonal().max())
    concave = _concave_pairs(Q)
    members = np.argwhere(np.triu(concave, 1))
    solved = 0
    while len(members):
        solved += len(members)
        if solved > MAX_SUPPORTS:
            return None
        points, regular = _stationary_points(Q, members)
        members, points = members[regular], points[regular]
        inside = np.flatnonzero((points >= 0).all(axis=1))
        if len(inside):
            values = np.einsum("ka,kab,kb->k", points[inside], _sub_matrices(Q, members[inside]), points[inside])
            best = int(np.argmax(values))
            if values[best] > value + _GAIN:
                value = float(values[best])
                theta = np.zeros(m)
                theta[members[inside[best]]] = points[inside[best]]
        # Members ascend, so that each clique of concave pairs is generated once.
        common = concave[members].all(axis=1) & (np.arange(m) > members[:, -1:])
        rows, added = np.nonzero(common)
        members = np.concatenate([members[rows], added[:, None]], axis=1)
    return theta


def _concave_pairs(Q: Floats) -> NDArray[np.bool_]:
    """Mark the pairs of vertices between which the objective is concave, (m, m)."""
    diagonal = Q.diagonal()
    return (diagonal[:, None] + diagonal - 2 * Q) / 2 < -_FLAT


def _stationary_points(Q: Floats, members: Integers) -> tuple[Floats, NDArray[np.bool_]]:
    """Compute the stationary point on each face's affine hull, (k, size), and whether Q is negative definite there."""
    size = members.shape[1]
    basis = _sum_zero_basis(size)
    blocks = _sub_matrices(Q, members)
    values, vectors = np.linalg.eigh(basis.T @ blocks @ basis)
    regular = values[:, -1] < -_FLAT
    slope = blocks.mean(axis=2) @ basis  # gradient of f/2 at the centre of the face
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = -np.einsum("kab,kb->ka", vectors, np.einsum("kab,ka->kb", vectors, slope) / values)
    inner[~regular] = 0.0
    return 1.0 / size + inner @ basis.T, regular


def _sub_matrices(Q: Floats, members: Integers) -> Floats:
    return Q[members[:, :, None], members[:, None, :]]


@cache
def _sum_zero_basis(size: int) -> Floats:
    """Return (size, size - 1) orthonormal columns that sum to 0 (Helmert's basis)."""
    rows = np.arange(size)[:, None]
    columns = np.arange(1, size)
    basis = np.where(rows < columns, 1.0, np.where(rows == columns, -1.0 * columns, 0.0))
    return basis / np.sqrt(columns * (columns + 1.0))


def _starts(Q: Floats) -> Floats:
    m = len(Q)
    first, second = np.nonzero(np.triu(_concave_pairs(Q), 1))
    a, b, c = Q[first, first], Q[second, second], Q[first, second]
    share = np.clip((c - b) / (2 * c - a - b), 0.0, 1.0)
    pairs = np.zeros((len(first), m))
    pairs[np.arange(len(first)), first] = share
    pairs[np.arange(len(first)), second] = 1.0 - share
    values = np.einsum("km,mn,kn->k", pairs, Q, pairs)
    best = np.argsort(-values, kind="stable")[: 4 * m]
    return np.concatenate([np.full((1, m), 1.0 / m), np.eye(m), pairs[best]])


def _best_local(Q: Floats, starts: Floats) -> Floats:
    ends = np.array([_active_set_ascent(Q, theta) for theta in starts])
    values = np.einsum("km,mn,kn->k", ends, Q, ends)
    return ends[int(np.argmax(values >= values.max() - _GAIN))]


def _active_set_ascent(Q: Floats, theta: Floats) -> Floats:
    """Ascend from theta to a stationary point.

    Each step is a Newton step inside the face, a move along a flat or convex direction to the boundary of the face, or
    a move out of the face towards an entry with a larger gradient.
    """
    theta = np.where(theta > 1e-9, theta, 0.0)
    theta = theta / theta.sum()
    for _ in range(100 * len(Q)):
        support = np.flatnonzero(theta)
        if len(support) > 1:
            step, length = _step_in_face(Q[np.ix_(support, support)], theta[support])
            inside = theta[support] + length * step
            blocked = (inside <= 1e-15) & (step < 0)
            if blocked.any():
                theta = np.zeros_like(theta)
                theta[support] = np.where(blocked, 0.0, np.maximum(inside, 0.0))
                theta /= theta.sum()
                continue
            theta = theta.copy()
            theta[support] = inside / inside.sum()
        gradient = Q @ theta
        value = float(theta @ gradient)
        gradient[support] = -np.inf
        entering = int(np.argmax(gradient))
        slope = float(gradient[entering]) - value
        if not slope > _FLAT:
            break
        curvature = float(Q[entering, entering] - 2 * gradient[entering] + value)
        length = min(1.0, -slope / curvature) if curvature < 0 else 1.0
        theta = (1.0 - length) * theta
        theta[entering] += length
    return theta


def _step_in_face(Q: Floats, theta: Floats) -> tuple[Floats, float]:
    """Return a direction with sum 0, and the step length to the maximum or to the boundary, whichever comes first."""
    basis = _sum_zero_basis(len(theta))
    values, vectors = np.linalg.eigh(basis.T @ Q @ basis)
    slope = basis.T @ (Q @ theta)
    if values[-1] < -_FLAT:
        step = basis @ (-vectors @ ((vectors.T @ slope) / values))
        wanted = 1.0
    else:
        step = basis @ vectors[:, -1]
        if step @ (Q @ theta) < 0:
            step = -step
        wanted = np.inf
    falling = step < 0
    reach = float((theta[falling] / -step[falling]).min()) if falling.any() else np.inf
    return step, min(wanted, reach)

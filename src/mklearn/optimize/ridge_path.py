"""Kernel ridge regression for several ridges at once, with outputs refitted without each sample or group.

With sample weights w, shares p = w / sum w, S = diag(w)^(1/2), u = S1 / |S1| and the centred kernel
``K_c = (I - 1p') K (I - p1')``, the ridge regression of targets Y with an unpenalised intercept is

    f(x) = k(x)'A + b,    A = S (M + lambda I)^-1 S (Y - 1p'Y),    M = S K_c S,    b = (Y - KA)'p.

Its residuals are ``S (Y - f) = R S Y`` with ``R = lambda (M + lambda I)^-1 - uu'``. All ridges share one
eigendecomposition, O(n^3). The outputs without each sample or group follow from the diagonal or the blocks of R
(`mklearn.optimize.left_out`). The decomposed matrix is ``M + tr(M) uu' = V diag(mu) V'``: since Mu = 0, the added term
separates u from the other eigenvectors of small eigenvalue. Then
``R = lambda V diag(mu + lambda)^-1 V' - lambda / (tr(M) + lambda) uu'``.

The same fit is the mean of a Gaussian process with the kernel K, a flat prior on b and noise of variance lambda / w_i.
The variance of f(x_i), given the samples that are not left out with x_i, is

    v_i = (lambda / w_i) ((R_GG)^-1_ii - 1).                                                                       (V)

Where about as many features as samples interpolate the targets, one eigenvalue of R is far larger than the others: all
left-out errors are then multiples of one number, which is small by chance for some data. Their degrees of freedom are
``f = tr(R)^2 / tr(R^2)`` (Satterthwaite), or ``tr(C)^2 / tr(C^2)`` with the covariance ``C = D^-1 R^2 D^-1`` of
``D^-1 R Y``, D = diag(R), if this is larger, as with large eigenvalues that concern few samples. For f below n/4 and 30
the mean squared error is replaced by its upper confidence bound, ``f / chi2_0.05(f)`` times the error, when ridges are
compared. Smooth features, such as spectra, and many more features than samples keep f large at every ridge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from scipy.special import gammaincinv

from mklearn.checks import cached_rows
from mklearn.errors import DataError
from mklearn.optimize.left_out import LeftOut

Array = NDArray[np.floating[Any]]
# Valid ridges exceed the absolute value of the most negative eigenvalue of M by this factor.
_MARGIN = 2.0
# Relative difference of two errors that is rounding.
EQUAL = 1e-9
# Degrees of freedom, as a share of n and in all, below which an error counts with its upper bound, and its level.
_FEW, _ENOUGH, _LEVEL = 0.25, 30, 0.05


@dataclass(frozen=True, eq=False)
class RidgePath:
    """Result of `ridge_path`."""

    ridge: Array  # (c,), the lambda with the smallest error, over all targets together or for each target
    ridges: Array  # (n_ridges,), valid lambdas, ascending: an indefinite M excludes the smallest ones
    errors: Array  # (n_ridges, c), weighted mean squared error of the left-out outputs, by ridge and target
    coefficients: Array  # (n, c), A
    intercept: Array  # (c,), b
    left_out: Array  # (n, c), output for each sample from the fit without it, or without its group
    variance: RidgePath | None = None  # regression of the left-out variances (V), (n, 1)


def ridge_path(
    K: Array, Y: Array, ridges: Sequence[float] | Array, *, sample_weight: Array | None = None,
    groups: ArrayLike | None = None, each_target: bool = False, tied_parameters: float = 0.0, variance: bool = False,
) -> RidgePath:  # fmt: skip
    """Fit kernel ridge regression of targets Y (n, c) with the ridge that has the smallest left-out error.

    K (n, n) is symmetric, centred or not, and not modified. Errors that exceed the smallest one by less than the
    optimism of ``tied_parameters``, 1/n of the error each, count as ties, which go to the largest ridge; n is the
    effective number of errors (`LeftOut.squares`). With ``each_target``, each target has its own ridge. A sample of
    weight 2 counts as two equal ones, which are left out together. The samples of a group are also left out together.

    With ``variance``, the variances (V) at the geometric mean of the ridges are regressed on K, with this ridge: those
    of new samples would need k(x, x), which precomputed kernels lack.

    Raises `DataError` if M has an eigenvalue below minus half of the largest ridge, or ``groups`` are invalid, and
    `NotApplicable` if all samples are in one group.

    References
    ----------
    Allen, "The relationship between variable selection and data augmentation and a method for prediction",
    Technometrics 1974. Golub, Heath, Wahba, "Generalized cross-validation as a method for choosing a good ridge
    parameter", Technometrics 1979. Rasmussen, Williams, "Gaussian processes for machine learning", 2006, eq. (5.12).
    """
    left_out, (weights, root, shares, u) = LeftOut(len(K), groups), weighting(len(K), sample_weight)
    rows, M = scaled_and_centred(K, shares, root)
    trace = float(np.trace(M))
    for part in cached_rows(M):
        M[part] += u[part, None] * (trace * u)
    values, V = eigh(M, driver="evd", overwrite_a=True, check_finite=False)
    usable = _usable(np.sort(np.asarray(ridges, dtype=np.float64)), float(values[0]))
    values = np.maximum(values, 0.0)

    def blocks(ridges: Array) -> Iterator[Any]:
        return left_out.blocks_of_product(
            V, ridges / (values[:, None] + ridges), np.outer(u, np.sqrt(ridges / (trace + ridges)))
        )

    @cache
    def factor(ridge: float) -> float:
        r, of_u = ridge / (values + ridge), ridge / (trace + ridge)
        if (r.sum() - of_u) ** 2 >= _ENOUGH * (r @ r - of_u**2):  # spares R^2 where no eigenvalue is dominant
            return 1.0
        return _upper_bound((V * V) @ r - of_u * u * u, (B := V * r) @ B.T - np.outer(of_u * u, of_u * u))

    def fit(Y: Array, ridges: Array) -> RidgePath:
        mean = shares @ Y
        projected = V.T @ (root[:, None] * (Y - mean))
        shrunk = (ridges / (values[:, None] + ridges))[:, :, None] * projected[:, None]  # (n, n_ridges, c)
        residuals = (V @ shrunk.reshape(len(K), -1)).reshape(shrunk.shape)
        errors = [left_out.solve(each, residuals[:, number]) for number, each in enumerate(blocks(ridges))]
        squares, ridge, own = _smallest(ridges, errors, weights, left_out, each_target, tied_parameters, factor)
        coefficients = root[:, None] * (V @ (projected / (values[:, None] + ridge)))
        # The columns sum to 0 up to rounding; the constant part of an uncentred kernel would amplify the remainder.
        coefficients -= shares[:, None] * coefficients.sum(axis=0)
        return RidgePath(ridge, ridges, squares, coefficients, mean - rows @ coefficients, Y - own / root[:, None])

    path = fit(Y, usable)
    return _with_variance(path, fit, blocks, left_out, weights) if variance else path


def feature_ridge_path(
    F: Array, Y: Array, ridges: Sequence[float] | Array, *, sample_weight: Array | None = None,
    groups: ArrayLike | None = None, each_target: bool = False, tied_parameters: float = 0.0, variance: bool = False,
) -> RidgePath:  # fmt: skip
    """Compute `ridge_path` for the kernel FF' from explicit features F (n, q), in O(n q^2 + q^3).

    The coefficients A (q, c) multiply the features: ``f(x) = F(x)'A + b``.
    """
    left_out, (weights, root, shares, u) = LeftOut(len(F), groups), weighting(len(F), sample_weight)
    mean, tried = shares @ F, np.sort(np.asarray(ridges, dtype=np.float64))
    Z = root[:, None] * (F - mean)
    values, V = eigh(Z.T @ Z, driver="evd", overwrite_a=True, check_finite=False)
    values = np.maximum(values, 0.0)
    Z = Z @ V

    def blocks(ridges: Array) -> Iterator[Any]:
        return (left_out.blocks_of_remainder(Z, 1.0 / (values + ridge), u) for ridge in ridges)

    @cache
    def factor(ridge: float) -> float:
        if len(F) - 1 - len(values) >= _ENOUGH:  # so many eigenvalues of R are 1
            return 1.0
        R = np.eye(len(F)) - (Z / (values + ridge)) @ Z.T - np.outer(u, u)
        return _upper_bound(np.diagonal(R), R @ R)

    def fit(Y: Array, ridges: Array) -> RidgePath:
        mean_output = shares @ Y
        projected = Z.T @ (centred := root[:, None] * (Y - mean_output))
        residuals = (centred - Z @ ((1.0 / (values + ridge))[:, None] * projected) for ridge in ridges)
        errors = [left_out.solve(block, each) for block, each in zip(blocks(ridges), residuals, strict=True)]
        squares, ridge, own = _smallest(ridges, errors, weights, left_out, each_target, tied_parameters, factor)
        coefficients = V @ (projected / (values[:, None] + ridge))
        intercept = mean_output - mean @ coefficients
        return RidgePath(ridge, ridges, squares, coefficients, intercept, Y - own / root[:, None])

    path = fit(Y, tried)
    return _with_variance(path, fit, blocks, left_out, weights) if variance else path


def _with_variance(path: RidgePath, fit: Any, blocks: Any, left_out: LeftOut, weights: Array) -> RidgePath:
    """Add the regression of the left-out variances, given the regression of any targets with given ridges."""
    ridge = np.exp(np.log(path.ridge).mean(keepdims=True))
    variances = ridge / weights * np.maximum(left_out.inverse_diagonal(next(blocks(ridge))) - 1.0, 0.0)
    return replace(path, variance=fit(variances[:, None], ridge))


def weighting(n: int, sample_weight: Array | None) -> tuple[Array, Array, Array, Array]:
    """Return the weights w, the diagonal of S, the shares p and the unit vector u, each of shape (n,)."""
    weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    root = np.sqrt(weights)
    return weights, root, weights / weights.sum(), root / np.linalg.norm(root)


def _smallest(
    ridges: Array, errors: list[Array], weights: Array, left_out: LeftOut, each_target: bool, tied_parameters: float,
    factor: Callable[[float], float],
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Return the mean squared left-out errors, the best ridge for each target (c,), and the errors at this ridge.

    Ridges are compared by the errors times their factors, which are at least 1 and computed only where they can decide.
    Ties go to the largest ridge.
    """
    squares = np.array([np.einsum("ij,ij->j", each, each) for each in errors]) / float(weights.sum())
    compared = squares if each_target else np.repeat(squares.sum(axis=1)[:, None], squares.shape[1], axis=1)
    factors, every = np.ones(len(ridges)), np.stack(errors)
    smallest = every[compared.argmin(axis=0), :, np.arange(compared.shape[1])].T / np.sqrt(weights)[:, None]
    optimism, size = left_out.squares(smallest, weights), weights @ smallest**2
    if not each_target:
        optimism[:], size[:] = optimism.sum(), size.sum()
    tolerance = np.maximum(EQUAL, tied_parameters * optimism / np.maximum(size, np.finfo(np.float64).tiny))
    for column, share in zip(compared.T, tolerance, strict=True):
        least = np.inf
        for place in np.argsort(column):
            if column[place] > least * (1.0 + share):
                break
            factors[place] = factor(ridges[place])
            least = min(least, column[place] * factors[place])
    compared = compared * factors[:, None]
    tied = compared <= compared.min(axis=0) * (1.0 + tolerance)
    best = len(ridges) - 1 - np.argmax(tied[::-1], axis=0)
    return squares, ridges[best], every[best, :, np.arange(len(best))].T


def _upper_bound(D: Array, square: Array) -> float:
    """Return the upper bound of a mean squared error as a multiple of it (module's docstring), from D and R^2."""
    covariance = square / np.outer(D, D)
    freedom = max(
        float(D.sum()) ** 2 / float(np.trace(square)),
        float(np.trace(covariance)) ** 2 / float(np.vdot(covariance, covariance)),
    )
    few = freedom < min(_FEW * len(D), _ENOUGH)
    return freedom / (2.0 * float(gammaincinv(freedom / 2.0, _LEVEL))) if few else 1.0


def scaled_and_centred(K: Array, shares: Array, root: Array) -> tuple[Array, Array]:
    """Compute the mean row p'K of a kernel (n,) and M = S K_c S (n, n), a new array in double precision."""
    rows = shares @ K
    lesser = rows - float(shares @ rows)
    M = np.empty(K.shape)
    for part in cached_rows(K):
        np.subtract(K[part], lesser, out=M[part])
        M[part] -= rows[part, None]
        if root.min() != 1 or root.max() != 1:
            M[part] *= root
            M[part] *= root[part, None]
    return rows, M


def _usable(ridges: Array, smallest: float) -> Array:
    """Return the ridges that are valid for an indefinite kernel."""
    usable = ridges[ridges > -_MARGIN * smallest]
    if not len(usable):
        raise DataError(
            f"the combined kernel has the eigenvalue {smallest:.3g}, too negative for the largest ridge "
            f"{ridges[-1]:.3g}: repair the kernels (psd_repair), or raise `alphas`"
        )
    return usable

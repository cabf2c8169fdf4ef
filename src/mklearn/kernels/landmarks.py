"""Choice of landmarks among the training samples: random per class, centres of k-means, or by leverage scores."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mklearn.checks import Array
from mklearn.errors import DataError, NotApplicable
from mklearn.kernels.features import in_form_of

LandmarkRule = Literal["random_per_class", "kmeans", "leverage"]

# Ridge of leverage scores over the trace of the sample's kernel, at least: of a kernel of lower rank than asked for
# nothing is left to regularise.
_SMALLEST_RIDGE = 1e-10


def check_number_of_landmarks(n_landmarks: int, n_samples: int) -> None:
    """Raise `NotApplicable` if more landmarks are asked for than there are training samples."""
    if n_landmarks > n_samples:
        raise NotApplicable(
            f"n_landmarks={n_landmarks}, but there are {n_samples} training samples: give at most {n_samples}"
        )


def check_landmarks_of_classes(n_landmarks: int, n_classes: int) -> None:
    """Raise `NotApplicable` for fewer landmarks than classes."""
    if n_landmarks < n_classes:
        raise NotApplicable(
            f"n_landmarks={n_landmarks}, but y has {n_classes} classes, and 'random_per_class' needs a landmark of "
            f"each: give at least {n_classes}, or choose the landmarks by 'kmeans' or 'leverage'"
        )


def random_per_class(labels: NDArray[Any], n_landmarks: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw landmarks at random, of each class equally many as far as it has samples; return their positions.

    The classes take turns: the first l landmarks are the l landmarks of an equal generator. Fewer landmarks than
    classes, or more than samples, raise `NotApplicable`.
    """
    check_number_of_landmarks(n_landmarks, len(labels))
    classes, codes = np.unique(labels, return_inverse=True)
    check_landmarks_of_classes(n_landmarks, len(classes))
    shuffled = rng.permutation(len(codes))
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]  # by class, at random within each
    sizes = np.bincount(codes)
    turns = np.arange(len(codes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return order[np.argsort(turns, kind="stable")][:n_landmarks]


def kmeans_centres(features: Any, n_landmarks: int, seed: int) -> Any:
    """Compute the centres of scikit-learn's ``MiniBatchKMeans``, from one start by k-means++.

    `features`, (n, p), and the centres, (n_landmarks, p), are an array or a CSR array. Centres are equal to each other
    in part if fewer samples are different; more landmarks than samples raise `NotApplicable`.
    """
    check_number_of_landmarks(n_landmarks, features.shape[0])
    from sklearn.cluster import MiniBatchKMeans

    fitted = MiniBatchKMeans(n_landmarks, random_state=seed, n_init=1, compute_labels=False).fit(features)
    return in_form_of(fitted.cluster_centers_, features)


def leverage_ridge(sample_kernel: Array) -> float:
    """Choose the ridge of `leverage_scores`, the mean of what the leading k components of the sample leave per k.

    That is ``(tr K_SS - sum of its k largest eigenvalues) / k`` with ``k = ceil(s / (4 log s))`` for a kernel K_SS of
    s samples, the rule of Musco and Musco (NIPS 2017, Algorithm 3 and the authors' code).
    """
    s = len(sample_kernel)
    k = min(s, math.ceil(s / (4 * max(1.0, math.log(s)))))
    leading = scipy.linalg.eigvalsh(sample_kernel, subset_by_index=(s - k, s - 1))
    trace = float(np.trace(sample_kernel))
    return max((trace - float(leading.sum())) / k, _SMALLEST_RIDGE * trace)


def leverage_scores(
    sample_kernel: Array, blocks: Iterable[tuple[Array, Array]], n_samples: int, ridge: float | None = None
) -> NDArray[np.float64]:
    """Compute approximate ridge leverage scores of all training samples from a uniform sample of them.

    ``(s / (n mu)) (k(x, x) - k(x, S) (K_SS + mu I)^(-1) k(S, x))`` for every sample x, at most 1. Where S are all n
    samples these are the exact scores, the diagonal of ``K (K + mu I)^(-1)``.

    Parameters
    ----------
    sample_kernel : array of shape (s, s)
        K_SS, positive semidefinite and not zero, else `DataError`.
    blocks : iterable of (array of shape (b, s), array of shape (b,))
        k(x, S) and k(x, x) of the samples, block by block.
    n_samples : int
        n, the number of samples in all blocks.
    ridge : float, optional
        mu, in units of the kernel. Default: `leverage_ridge`.

    References
    ----------
    Musco and Musco, "Recursive sampling for the Nystroem method", NIPS 2017: the last level of Algorithm 3. Where they
    come to S by recursion, halving the samples and drawing by scores, here S is drawn uniformly from all samples, as
    their deepest level is.
    """
    s = len(sample_kernel)
    if not np.trace(sample_kernel) > 0:
        raise DataError("the kernel is zero on a sample of the training samples, so leverage scores are not defined")
    mu = leverage_ridge(sample_kernel) if ridge is None else ridge
    factor = scipy.linalg.cholesky(sample_kernel + mu * np.eye(s), lower=True)
    scores = []
    for rows, diagonal in blocks:
        explained = scipy.linalg.solve_triangular(factor, rows.T, lower=True, check_finite=False)
        residual = diagonal - np.einsum("ij,ij->j", explained, explained)
        scores.append(np.clip(residual * (s / (n_samples * mu)), 0.0, 1.0))
    return np.concatenate(scores)


def draw_by_scores(scores: Array, n_landmarks: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw landmarks without replacement, each draw with probabilities in proportion to the scores of those left.

    Scores, (n,), are >= 0; samples with score 0 are drawn last. Returns positions, of which the first l are the l
    landmarks of an equal generator. More landmarks than samples raise `NotApplicable`.
    """
    # the order of exponential variables with the scores as their rates (Efraimidis and Spirakis, 2006)
    check_number_of_landmarks(n_landmarks, len(scores))
    waiting = rng.exponential(size=len(scores))
    logarithm = np.log(waiting) - np.log(np.maximum(scores, np.finfo(np.float64).tiny))
    return np.argsort(logarithm, kind="stable")[:n_landmarks]

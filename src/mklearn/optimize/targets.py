"""Comparison of kernels and of outputs with targets: agreement, cosines, and gains of accuracy.

**Agreement** is in standard deviations under independence. With the centred kernel K_c, centred targets T and sample
weights w, the agreement of samples i and j is ``h_ij = w_i w_j (K_c)_ij (TT')_ij``. Its sum over pairs of different
samples, or of different groups g and h, is divided by its standard deviation under random signs:

    z = sum_{g<h} H_gh / (sum_{g<h} H_gh^2)^(1/2),    H_gh = sum over i in g, j in h of h_ij.

Pairs of a sample with itself, or within a group, are left out, because they agree in every kernel. The cost is
O(n^2 c), without a factorisation, and there are no parameters.

**Cosines** classify by the outputs of a regression on class indicators. The cosine between an output f and the target
e_k of a class, both centred at the class frequencies p, is

    cos_k = <f - p, e_k - p> / (|f - p| |e_k - p|).

The largest output favours classes with many training samples, which is right if new samples have the same frequencies.
The cosine rule is equivalent to kernel discriminants with class means.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.optimize.left_out import LeftOut
from mklearn.optimize.ridge_path import scaled_and_centred, weighting

Array = NDArray[np.floating[Any]]


def target_agreement(
    K: NDArray[Any], targets: Array, *, sample_weight: Array | None = None, groups: ArrayLike | None = None
) -> float:
    """Compute the agreement z of a symmetric kernel, centred or not, of any scale, with targets (n, c).

    z is approximately standard normal for a kernel that is independent of the targets, and 0 for a zero kernel. A
    sample of weight 2 counts as two equal ones of one group; pairs of samples of one group do not count.

    References
    ----------
    Gretton, Bousquet, Smola, Schoelkopf, "Measuring statistical dependence with Hilbert-Schmidt norms", ALT 2005: the
    sum is an estimate of their criterion without its diagonal. Scaling by random signs is this library's own.
    """
    _, root, shares, _ = weighting(len(K), sample_weight)
    _, H = scaled_and_centred(K, shares, root)
    centred = root[:, None] * (targets - shares @ targets)
    H *= centred @ centred.T
    sets = LeftOut(len(K), groups).sets
    if sets is not None:
        order, starts = np.concatenate(sets), np.cumsum([0, *map(len, sets[:-1])])
        H = np.add.reduceat(np.add.reduceat(H[np.ix_(order, order)], starts, axis=0), starts, axis=1)
    np.fill_diagonal(H, 0.0)
    size = float(np.linalg.norm(H))
    return float(H.sum() / (np.sqrt(2.0) * size)) if size > 0 else 0.0


def target_cosines(outputs: Array, frequencies: Array) -> Array:
    """Compute the cosines between outputs (m, c) and the target of each class, centred at the class frequencies (c,).

    Rows of outputs sum to 1. Outputs equal to the frequencies have cosines 0. With two classes the cosine is only a
    sign. It is then replaced by (f_k - p_k) / |e_k - p|, which has the same sign and ranks the samples.
    """
    deviations = outputs - frequencies
    # <f - p, e_k - p> = (f_k - p_k) - <f - p, p>, |e_k - p|^2 = 1 - 2 p_k + |p|^2
    products = deviations - (deviations @ frequencies)[:, None]
    lengths = np.linalg.norm(deviations, axis=1)[:, None]
    targets = np.sqrt(1.0 - 2.0 * frequencies + frequencies @ frequencies)
    if outputs.shape[1] == 2:
        return np.asarray(deviations / targets)
    return np.divide(products, lengths * targets, out=np.zeros_like(products), where=lengths * targets > 0)


def gain_in_standard_errors(
    one: NDArray[np.bool_], other: NDArray[np.bool_], left_out: LeftOut, sample_weight: Array | None = None
) -> float:
    """Compute the difference of two accuracies on the same samples, divided by its standard error.

    ``one`` and ``other`` (n,) mark the correct predictions. Samples within a set of ``left_out`` are not independent,
    so the standard error is computed from sums over sets. The result is 0 if both are correct for the same samples, and
    infinite if the difference is the same for all samples. For equal weights it is 1 if ``one`` alone is correct for a
    single sample and both agree on all others.
    """
    weights = np.ones(len(one)) if sample_weight is None else sample_weight
    shares = weights / weights.sum()
    differences = one.astype(np.float64) - other
    mean = float(shares @ differences)
    sums = left_out.sums(shares * (differences - mean))
    error = float(np.linalg.norm(sums)) * np.sqrt(len(sums) / max(len(sums) - 1.0, 1.0))
    if error > 0:
        return mean / error
    return float(np.copysign(np.inf, mean)) if mean else 0.0

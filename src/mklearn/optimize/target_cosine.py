"""Decisions by the outputs of a regression on class indicators: by the largest output, or the largest cosine.

The cosine of an output f with the target e_k of a class, both about the class frequencies p, is

    cos_k = <f - p, e_k - p> / (|f - p| |e_k - p|).

The largest output prefers classes of many training samples, which is right if new samples have the same frequencies;
the cosine rule is equal to kernel discriminants with class means.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.optimize.left_out import LeftOut

Array = NDArray[np.floating[Any]]


def target_cosines(outputs: Array, frequencies: Array) -> Array:
    """Compute the cosine of outputs (m, c) with the target of each class, both about the class frequencies (c,).

    Rows of outputs sum to 1; the cosines of outputs that are the frequencies are 0. With two classes the cosine is only
    a sign, so the deviation over the length of the target replaces it, which has the same sign and ranks the samples.
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
    """Return the difference of two rates of correct predictions, (n,), of the same samples, over its standard error.

    Samples of one set of ``left_out`` are not independent: the error is computed from the sums over sets. The result is
    1 if a single one of samples of equal weight is correct for ``one`` alone, and all others agree, 0 if both are
    correct for the same samples, infinite if they differ alike for all samples.
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

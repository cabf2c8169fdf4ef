"""Classification from the outputs of a regression on class indicators, by the largest output or the largest cosine.

The cosine between an output f and the target e_k of a class, both centred at the class frequencies p, is

    cos_k = <f - p, e_k - p> / (|f - p| |e_k - p|).

The largest output favours classes with many training samples, which is right if new samples have the same frequencies.
The cosine rule is equivalent to kernel discriminants with class means.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.optimize.left_out import LeftOut

Array = NDArray[np.floating[Any]]


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

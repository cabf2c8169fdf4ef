"""Explicit features of dense kernels, for tests of what is computed from features alone."""

import numpy as np


def exact_features(kernels: list[np.ndarray]) -> tuple[np.ndarray, list[slice]]:
    """Features Phi_m with Phi_m Phi_m' = K_m for positive semidefinite kernels, side by side, and their columns."""
    parts, blocks, begin = [], [], 0
    for kernel in kernels:
        values, vectors = np.linalg.eigh(kernel)
        kept = values > 1e-15 * values[-1]
        parts.append(vectors[:, kept] * np.sqrt(values[kept]))
        blocks.append(slice(begin, begin + int(kept.sum())))
        begin = blocks[-1].stop
    return np.hstack(parts), blocks

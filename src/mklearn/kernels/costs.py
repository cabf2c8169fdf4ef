"""Cost of pairwise matrices and number of jobs to compute them in; imports nothing numerical, so plans can use it."""

from __future__ import annotations

import math

MAX_BLOCKS = 100
"""More jobs than this for one matrix burden the scheduler more than they help."""


def n_blocks_for(n_samples: int, seconds_per_pair: float, *, minutes_per_block: float) -> int:
    """Compute the number of row blocks in which to compute a matrix over `n_samples` samples.

    ``n (n - 1) / 2`` pairs at `seconds_per_pair` CPU seconds each, divided by `minutes_per_block` and rounded up; at
    least 1, at most `MAX_BLOCKS`, and never more blocks than there are rows with a pair. The number does not depend on
    the machine or its load, so every run of a study has the same jobs.
    """
    pairs = n_samples * (n_samples - 1) // 2
    blocks = math.ceil(pairs * seconds_per_pair / (60 * minutes_per_block))
    return max(1, min(blocks, MAX_BLOCKS, n_samples - 1))


def point_set_seconds_per_pair(n_points: int, n_features: int) -> float:
    """Estimate the CPU seconds of one core for one pair of point sets, for `n_blocks_for`.

    ``2 p^2 d`` operations at 60 thousand millions a second and 0.3 ns for each of the ``p^2`` minima: within a factor
    of two on processors of the years 2018 to 2024.
    """
    return n_points**2 * (2 * n_features / 60e9 + 0.3e-9)

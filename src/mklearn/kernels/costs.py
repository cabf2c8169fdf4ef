"""What a matrix among all samples costs, and how many jobs it is worth: for plans, which load nothing numerical."""

from __future__ import annotations

import math

from mklearn.errors import DataError

MINUTES_PER_BLOCK = 5.0
"""What a block of rows should take on one core: long against the start of a job, short against a lost one."""

MAX_BLOCKS = 100
"""More jobs than this for one matrix burden the scheduler more than they help."""


def n_blocks_for(
    n_samples: int,
    seconds_per_pair: float,
    *,
    minutes_per_block: float = MINUTES_PER_BLOCK,
    max_blocks: int = MAX_BLOCKS,
) -> int:
    """How many row blocks a matrix over `n_samples` samples should be computed in.

    The rule: ``n (n - 1) / 2`` pairs at `seconds_per_pair` each, divided by `minutes_per_block` and rounded up; at
    least 1, at most `max_blocks`, and never more blocks than there are rows with a pair. It depends on the arguments
    only, not on the machine or its load, so every run of a study has the same jobs.

    Parameters
    ----------
    n_samples : int
        At least 1.
    seconds_per_pair : float
        CPU seconds of one core for one pair, roughly (`point_set_seconds_per_pair`, `chi2_seconds_per_pair`).
    minutes_per_block : float, default 5
        CPU minutes that a block should take.
    max_blocks : int, default 100

    Returns
    -------
    int

    Raises
    ------
    DataError
        An argument that is not positive.
    """
    for name, value in (
        ("n_samples", n_samples),
        ("seconds_per_pair", seconds_per_pair),
        ("minutes_per_block", minutes_per_block),
        ("max_blocks", max_blocks),
    ):
        if not (value > 0 and math.isfinite(value)):
            raise DataError(f"{name} is {value!r}; a positive number is needed")
    pairs = n_samples * (n_samples - 1) // 2
    wanted = math.ceil(pairs * seconds_per_pair / (60 * minutes_per_block))
    return max(1, min(wanted, max_blocks, n_samples - 1))


def point_set_seconds_per_pair(n_points: int, n_features: int) -> float:
    """CPU seconds of one core for one pair, roughly: for `n_blocks_for`.

    ``2 p^2 d`` operations at 60 thousand millions a second and 0.3 ns for each of the ``p^2`` minima: within a factor
    of two on processors of the years 2018 to 2024.
    """
    return n_points**2 * (2 * n_features / 60e9 + 0.3e-9)


def chi2_seconds_per_pair(n_features: int) -> float:
    """CPU seconds of one core for one pair, roughly: for `n_blocks_for`."""
    return 0.5e-9 * n_features

"""Blocks of samples, so small that matrices of one block stay in the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator

# A matrix of a block takes about this many bytes, or more if the block had fewer rows than these.
_BLOCK_BYTES = 2**21
_FEWEST_ROWS = 256
# It takes more than this only with a single row.
_MOST_BYTES = 2**23


def row_blocks(n_rows: int, width: int) -> Iterator[slice]:
    """Yield slices of rows, in order, for matrices with `width` columns of 8 bytes; one empty slice for no rows.

    A matrix of a block takes about 2 MB, up to 8 MB where it is wide, and more only if one row does.
    """
    row_bytes = 8 * max(1, width)
    rows = max(_BLOCK_BYTES // row_bytes, min(_FEWEST_ROWS, _MOST_BYTES // row_bytes), 1)
    for start in range(0, max(n_rows, 1), rows):
        yield slice(start, min(start + rows, n_rows))

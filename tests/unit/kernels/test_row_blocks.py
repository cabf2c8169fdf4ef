"""Row blocks: balanced, complete, and refused when they are not."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mklearn.errors import DataError
from mklearn.kernels.costs import MAX_BLOCKS, n_blocks_for
from mklearn.kernels.row_blocks import merge_row_blocks, rows_of_block

Part = tuple[NDArray, NDArray]


def symmetric(n: int, seed: int = 0) -> NDArray[np.float64]:
    A = np.random.default_rng(seed).normal(size=(n, n))
    return (A + A.T) * (1 - np.eye(n))


def split(D: NDArray, n_blocks: int) -> list[Part]:
    n = len(D)
    parts = []
    for b in range(n_blocks):
        rows = rows_of_block(n, b, n_blocks)
        parts.append((rows, np.concatenate([D[i, i + 1 :] for i in rows] or [np.empty(0, D.dtype)])))
    return parts


@settings(max_examples=60)
@given(n=st.integers(1, 30), n_blocks=st.integers(1, 40), seed=st.integers(0, 99))
def test_merging_undoes_splitting(n: int, n_blocks: int, seed: int) -> None:
    D = symmetric(n, seed)
    parts = split(D, n_blocks)
    order = np.random.default_rng(seed).permutation(n_blocks)
    merged = merge_row_blocks((parts[b] for b in order), n)
    np.testing.assert_array_equal(merged, D, strict=True)


def test_rows_of_a_part_may_have_any_order() -> None:
    D = symmetric(5)
    rows = np.array([3, 0, 4, 1, 2])
    values = np.concatenate([D[i, i + 1 :] for i in rows])
    np.testing.assert_array_equal(merge_row_blocks([(rows, values)], 5), D)


def test_dtype_is_kept() -> None:
    D = symmetric(6).astype(np.float32)
    assert merge_row_blocks(split(D, 2), 6).dtype == np.float32


@settings(max_examples=100)
@given(n=st.integers(1, 200), n_blocks=st.integers(1, 60))
def test_blocks_partition_the_rows_and_balance_the_pairs(n: int, n_blocks: int) -> None:
    blocks = [rows_of_block(n, b, n_blocks) for b in range(n_blocks)]
    np.testing.assert_array_equal(np.sort(np.concatenate(blocks)), np.arange(n))
    pairs = [(n - 1 - rows).sum() for rows in blocks]
    assert sum(pairs) == n * (n - 1) // 2
    assert max(pairs) - min(pairs) < n
    assert all((rows % n_blocks == b).all() for b, rows in enumerate(blocks))


def test_number_of_blocks_follows_the_work() -> None:
    # Caltech-101, 3,060 images: at 60 us a pair 281 s, one block; at 220 us 1,030 s, four
    assert n_blocks_for(3060, 60e-6, minutes_per_block=5) == 1
    assert n_blocks_for(3060, 220e-6, minutes_per_block=5) == 4
    assert n_blocks_for(3060, 220e-6, minutes_per_block=1) == 18
    assert n_blocks_for(9144, 1.0, minutes_per_block=5) == MAX_BLOCKS
    assert n_blocks_for(3, 1e9, minutes_per_block=5) == 2
    assert n_blocks_for(1, 1e9, minutes_per_block=5) == 1


@settings(max_examples=100)
@given(n=st.integers(2, 10_000), cost=st.floats(1e-9, 1e-2))
def test_no_block_takes_longer_than_asked_unless_limited_by_the_cap_or_the_rows(n: int, cost: float) -> None:
    blocks = n_blocks_for(n, cost, minutes_per_block=5)
    assert 1 <= blocks <= MAX_BLOCKS
    if blocks < min(MAX_BLOCKS, n - 1):
        average = n * (n - 1) / 2 * cost / blocks
        assert average <= 300 * (1 + 1e-9)
        assert blocks == 1 or average * blocks / (blocks - 1) > 300 * (1 - 1e-9)  # one block fewer would be too few


def test_missing_blocks_are_refused() -> None:
    parts = split(symmetric(9), 3)
    for kept in itertools.combinations(parts, 2):
        with pytest.raises(DataError, match=r"3 of 9 rows are in no block.*a block is missing"):
            merge_row_blocks(kept, 9)
    with pytest.raises(DataError, match="9 of 9 rows are in no block"):
        merge_row_blocks([], 9)
    # the last row has no pairs; a part without it is still not the block that was asked for
    rows, values = split(symmetric(4), 1)[0]
    with pytest.raises(DataError, match="1 of 4 rows are in no block: 3;"):
        merge_row_blocks([(rows[:-1], values)], 4)


def test_duplicate_blocks_are_refused() -> None:
    parts = split(symmetric(9), 3)
    with pytest.raises(DataError, match="row 1 is in block 1 and again in block 3"):
        merge_row_blocks([*parts, parts[1]], 9)
    with pytest.raises(DataError, match="row 0 is in block 0 and again in block 1"):
        merge_row_blocks([split(symmetric(9), 2)[0], parts[0]], 9)


def test_blocks_of_the_wrong_size_are_refused() -> None:
    (rows, values), other = split(symmetric(9), 2)
    for wrong in (values[:-1], np.append(values, 0), values[:, None]):
        with pytest.raises(DataError, match=r"block 1 has values of shape .*\(20,\).*compute it again"):
            merge_row_blocks([other, (rows, wrong)], 9)
    with pytest.raises(DataError, match="block 0 has values of shape"):
        merge_row_blocks(split(symmetric(9), 2), 10)
    with pytest.raises(DataError, match="block 0 has row 8; there are 8 samples"):
        merge_row_blocks(split(symmetric(9), 2), 8)


def test_other_mistakes_are_refused() -> None:
    first, (rows, values) = split(symmetric(9), 2)
    with pytest.raises(DataError, match="block 1 is float32, the blocks before it float64"):
        merge_row_blocks([first, (rows, values.astype(np.float32))], 9)
    with pytest.raises(DataError, match="block 3 of 3 does not exist; blocks are numbered 0 to 2"):
        rows_of_block(9, 3, 3)
    with pytest.raises(DataError, match="block 0 of 0 does not exist"):
        rows_of_block(9, 0, 0)

"""Point sets: validation, concatenation and files."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mklearn.descriptors.point_sets import PointSets
from mklearn.errors import DataError


def random_sets(counts: list[int], p: int = 5, d: int = 3, seed: int = 0) -> PointSets:
    rng = np.random.default_rng(seed)
    return PointSets.from_lists([(rng.standard_normal((k, d)), rng.uniform(0, 9, (k, 2))) for k in counts], p, d)


def assert_same(a: PointSets, b: PointSets) -> None:
    for name, array in a.as_arrays().items():
        np.testing.assert_array_equal(array, b.as_arrays()[name])
        assert array.dtype == b.as_arrays()[name].dtype


@given(counts=st.lists(st.integers(0, 4), min_size=1, max_size=6), cut=st.integers(0, 6))
def test_concatenated_parts_equal_the_whole(counts: list[int], cut: int) -> None:
    sets = random_sets(counts, p=4)
    arrays = sets.as_arrays().values()
    parts = [PointSets(*(array[rows] for array in arrays)) for rows in (slice(None, cut), slice(cut, None))]
    assert_same(PointSets.concatenate(parts), sets)


def test_concatenate_uses_the_largest_capacity() -> None:
    both = PointSets.concatenate([random_sets([2], p=2), random_sets([3, 1], p=4)])
    assert both.descriptors.shape == (3, 4, 3)
    with pytest.raises(DataError, match="different lengths"):
        PointSets.concatenate([random_sets([1], d=2), random_sets([1], d=3)])


def test_arrays_can_be_stored(tmp_path: Path) -> None:
    sets = random_sets([3, 0, 1])
    np.savez(tmp_path / "sets.npz", **sets.as_arrays())  # type: ignore[arg-type]
    with np.load(tmp_path / "sets.npz") as held:
        assert_same(PointSets.from_arrays(held), sets)
    with pytest.raises(DataError, match="counts"):
        PointSets.from_arrays({"descriptors": sets.descriptors, "positions": sets.positions})


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("descriptors", lambda a: a.astype(np.float64), "float32"),
        ("positions", lambda a: a[..., :1], "positions of shape"),
        ("counts", lambda a: a[:1], "counts of shape"),
        ("counts", lambda a: a + 9, "0..5"),
        ("counts", lambda a: a - 1, "zero beyond"),
        ("descriptors", lambda a: np.where(a == a.max(), np.float32(np.nan), a), "NaN"),
    ],
)
def test_invalid_arrays(name: str, change, message: str) -> None:
    arrays = random_sets([5, 1, 2]).as_arrays()
    changed = change(arrays[name])
    with pytest.raises(DataError, match=message):
        PointSets(**{**arrays, name: changed})

"""The reader of MATLAB files: what SciPy writes and reads, and nothing that is not in the file."""

from __future__ import annotations

from pathlib import Path

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import loadmat, savemat

from mklearn.errors import DataError
from mklearn.study.data.readers.matlab import load_mat

NUMBERS = hnp.arrays(
    st.sampled_from(["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]),
    hnp.array_shapes(min_dims=2, max_dims=4, min_side=0, max_side=4),
)


@pytest.mark.full
@settings(max_examples=30)
@given(NUMBERS, st.lists(NUMBERS, max_size=4), st.booleans())
def test_arrays_and_cells_as_scipy_reads_them(
    tmp_path: Path, array: np.ndarray, parts: list[np.ndarray], compressed: bool
) -> None:
    cells = np.empty((1, len(parts)), dtype=object)
    cells[0, :] = parts
    path = tmp_path / "a.mat"
    savemat(path, {"a": array, "long_name": array.T, "c": cells, "text": "no number"}, do_compression=compressed)
    expected = loadmat(path)
    found = load_mat(path, ("absent",), ("a", "long_name", "c"))
    for name, values in zip(("a", "long_name"), found, strict=False):
        assert values.dtype == array.dtype
        np.testing.assert_array_equal(values, expected[name])
    assert found[2].shape == expected["c"].shape
    for one, two in zip(found[2].ravel(), expected["c"].ravel(), strict=True):
        np.testing.assert_array_equal(one, two)


def saved(tmp_path: Path) -> Path:
    savemat(tmp_path / "a.mat", {"X": np.arange(6.0).reshape(2, 3) / 7, "Z": np.ones((2, 2)) * 1j, "s": "text"})
    return tmp_path / "a.mat"


def test_what_is_no_array_of_real_numbers(tmp_path: Path) -> None:
    path = saved(tmp_path)
    with pytest.raises(DataError, match=r"variables X \(float64\), Z \(complex128\), s \(<U4\); expected Z"):
        load_mat(path, ("Z",))
    content = path.read_bytes()
    for length in (0, 100, 127, 130, 200, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(DataError, match="not a readable MATLAB file"):
            load_mat(path, ("X",))

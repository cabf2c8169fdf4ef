"""The reader of MATLAB files: what SciPy writes and reads, and nothing that is not in the file."""

from __future__ import annotations

import struct
import sys
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


@pytest.mark.skipif(sys.platform != "linux", reason="there is no child process on this system")
def test_a_type_code_that_makes_scipy_read_outside_its_tables(tmp_path: Path) -> None:
    """SciPy ends its process (its pull request 25349): code 8 and above 18 in the tag of the numbers."""
    path = saved(tmp_path)
    content = bytearray(path.read_bytes())
    at = content.index(struct.pack("<II", 9, 48))
    for code in (0, 8, 19, 20, 65535):
        struct.pack_into("<I", content, at, code)
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"a\.mat: not a readable MATLAB file"):
            load_mat(path, ("X",))


@pytest.mark.parametrize(
    ("place", "value", "sentence"),
    [
        (4, 2**32 - 1, "an element is longer than the file"),
        (24, 1, "Expecting miINT32 as data type"),
        (32, 2**31 - 1, r"X has shape \(2147483647, 3\)|X has shape \(3, 2147483647\)"),
        (32, -1, r"a variable of shape \(-1, 3\)"),
        (32, 3, "cannot reshape array of size 6"),
        (0, 13, "Expecting miMATRIX type here, got 13"),
    ],
)
def test_sizes_that_are_not_those_of_the_file(tmp_path: Path, place: int, value: int, sentence: str) -> None:
    path = saved(tmp_path)
    content = bytearray(path.read_bytes())
    struct.pack_into("<i" if value < 0 else "<I", content, 128 + place, value)
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"a\.mat: .*({sentence})"):
        load_mat(path, ("X",))


def test_what_is_no_array_of_real_numbers(tmp_path: Path) -> None:
    path = saved(tmp_path)
    with pytest.raises(DataError, match=r"variables X, Z \(no real numbers\), s \(no real numbers\); expected Z"):
        load_mat(path, ("Z",))
    content = path.read_bytes()
    for length in (0, 100, 127, 130, 200, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(DataError, match="not a readable MATLAB file"):
            load_mat(path, ("X",))
    path.write_bytes(content[:124] + b"\x00\x02IM" + content[128:])
    with pytest.raises(DataError, match=r"version 7\.3 \(HDF5\)"):
        load_mat(path, ("X",))

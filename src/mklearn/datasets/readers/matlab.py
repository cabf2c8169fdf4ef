"""MATLAB files of versions 5 to 7: arrays of real numbers, text, and cells of them, with errors that name the file.

A mirror may send any bytes, and ``scipy.io.loadmat`` is not made for those: its own documentation says so, and a wrong
type code makes it read outside its tables. Here each size is compared with the bytes that there are.

References
----------
The MathWorks, "MAT-File Format", level 5.
"""

from __future__ import annotations

import math
import struct
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from mklearn.errors import DataError

_HEADER = 128
_INT8, _INT32, _UINT32, _MATRIX, _COMPRESSED = 1, 5, 6, 14, 15
_STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
"""Types of numbers in the file, by code."""
_CELL, _CHAR = 1, 4
_TEXT = {1: "u1", 2: "u1", 4: "u2", 17: "u2", 18: "u4"}
"""Types of characters in the file, by code; 16 is UTF-8."""
_UTF8 = 16
_CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
"""MATLAB's classes of arrays of numbers, by code; a double is stored as a smaller type where nothing is lost."""
_COMPLEX = 0x800
_MOST_BYTES = 1 << 30
"""Unpacked size of one variable."""
_WHOLE_IN_DOUBLE = 2**53
_DEEPEST = 4
"""Cells in cells."""


def load_mat(path: Path, *alternatives: tuple[str, ...]) -> list[np.ndarray]:
    """Read variables of a MATLAB file.

    Parameters
    ----------
    path : Path
    *alternatives : tuples of str
        Names of the variables, in order of preference; the first that the file has completely are returned.

    Returns
    -------
    list of arrays
        Of two or more dimensions, in the dtype of MATLAB's class; cells are arrays of dtype object.

    Raises
    ------
    DataError
        Not a MATLAB file, a truncated one, of version 7.3 (which is HDF5), or without these variables as real numbers.
    """
    variables = all_variables(path)
    if variables is None:
        raise DataError(f"{path}: a MATLAB file of version 7.3 (HDF5); save it with save(..., '-v7')")
    numeric = {name: array for name, array in variables.items() if array is not None}
    for names in alternatives:
        if set(names) <= set(numeric):
            return [numeric[name] for name in names]
    found = ", ".join(f"{name}{'' if name in numeric else ' (no real numbers)'}" for name in variables) or "none"
    expected = ", or ".join(" and ".join(names) for names in alternatives)
    raise DataError(f"{path}: has the variables {found}; expected {expected}")


def all_variables(path: Path, *, text: bool = False) -> dict[str, np.ndarray | None] | None:
    """Read every variable of a MATLAB file; return None for a file of version 7.3, which is HDF5.

    Returns
    -------
    dict of str to array
        As of :func:`load_mat`, and None for what is no real numbers. With `text`, text is a vector of its rows, and
        complex numbers are read, which nobody takes for another variable then.

    Raises
    ------
    DataError
        Not a MATLAB file, or a truncated or damaged one.
    """
    content = memoryview(path.read_bytes())
    order = {b"IM": "<", b"MI": ">"}.get(bytes(content[126:_HEADER]))
    if order is None:
        raise DataError(f"{path}: not a readable MATLAB file of version 5 to 7; it is truncated or of another kind")
    if struct.unpack_from(order + "H", content, 124)[0] >> 8 == 2:
        return None
    try:
        return dict(_variables(content[_HEADER:], order, text))
    except (ValueError, struct.error, zlib.error, OverflowError) as error:
        raise DataError(f"{path}: not a readable MATLAB file ({error}); it is truncated or damaged") from error


def rows_of_text(codes: np.ndarray) -> np.ndarray:
    """Return rows of character codes as a vector of str, without the blanks that fill rows up."""
    return np.array(["".join(map(chr, row)).rstrip() for row in codes.tolist()], dtype=str)


def integer_values(values: np.ndarray, path: Path, name: str) -> np.ndarray:
    """Return a variable of codes or positions as a vector of int64; raise DataError if it is no whole numbers."""
    flat = values.ravel()
    if flat.dtype.kind not in "uif" or not ((np.abs(flat) < _WHOLE_IN_DOUBLE) & (np.mod(flat, 1) == 0)).all():
        raise DataError(f"{path}: {name} has values that are not whole numbers below 2**53")
    return flat.astype(np.int64)


def is_8_bit(values: np.ndarray) -> bool:
    """Tell whether all values are integers in 0..255, so that nothing is lost as uint8."""
    if values.dtype.kind not in "uif" or not values.size:
        return False
    return bool(values.min() >= 0 and values.max() <= 255 and not np.mod(values, 1).any())


def _variables(content: memoryview, order: str, text: bool) -> Iterator[tuple[str, np.ndarray | None]]:
    at = 0
    while at < len(content):
        kind, part, at = _element(content, at, order)
        if kind == _COMPRESSED:
            unpacking = zlib.decompressobj()
            unpacked = unpacking.decompress(part, _MOST_BYTES)
            if not unpacking.eof:
                raise ValueError(f"a compressed variable is truncated, or unpacks to more than {_MOST_BYTES} bytes")
            kind, part, _ = _element(memoryview(unpacked), 0, order)
        if kind != _MATRIX:
            raise ValueError(f"an element of type {kind} where a variable should be")
        yield _matrix(part, order, _DEEPEST, text)


def _element(content: memoryview, at: int, order: str) -> tuple[int, memoryview, int]:
    """Return type and content of the element at a position, and the position of the next one."""
    kind, size = struct.unpack_from(order + "II", content, at)
    start, after = at + 8, at + 8 + size
    if kind >> 16:  # a small element: its size and type in four bytes, then its content in four
        kind, size, start, after = kind & 0xFFFF, kind >> 16, at + 4, at + 8
    elif kind != _COMPRESSED:
        after += -size % 8
    if start + size > len(content) or size > max(after - start, 0):
        raise ValueError("an element is longer than what it is in")
    return kind, content[start : start + size], after


def _matrix(content: memoryview, order: str, depth: int, with_text: bool) -> tuple[str, np.ndarray | None]:
    """Read a variable or an entry of a cell: its name, and its array.

    None for what is no real numbers; with `with_text`, text is a vector of its rows, and complex numbers are read.
    """
    flags_kind, flags, at = _element(content, 0, order)
    shape_kind, dimensions, at = _element(content, at, order)
    name_kind, name, at = _element(content, at, order)
    n = len(dimensions) // 4
    if (flags_kind, shape_kind, name_kind) != (_UINT32, _INT32, _INT8) or len(flags) != 8 or not 2 <= n <= 32:
        raise ValueError("a variable without flags, dimensions or name")
    (word,), shape = struct.unpack_from(order + "I", flags), struct.unpack_from(f"{order}{n}i", dimensions)
    size, text = math.prod(shape), bytes(name).decode("ascii")
    if min(shape) < 0 or size * (8 if word & 0xFF == _CELL else 1) > len(content):
        raise ValueError(f"a variable of shape {shape} in {len(content)} bytes")
    if word & 0xFF == _CELL:
        if depth == 0:
            raise ValueError("cells are nested too deep")
        cells = np.empty(size, dtype=object)
        for number in range(size):
            kind, part, at = _element(content, at, order)
            if kind != _MATRIX:
                raise ValueError(f"an element of type {kind} in a cell")
            cells[number] = _matrix(part, order, depth - 1, with_text)[1] if len(part) else np.zeros((0, 0))
        return text, cells.reshape(shape, order="F")
    if with_text and word & 0xFF == _CHAR and n == 2:
        kind, part, _ = _element(content, at, order)
        return text, rows_of_text(_codes(kind, part, order, size).reshape(shape, order="F"))
    if word & 0xFF not in _CLASSES or (word & _COMPLEX and not with_text):
        return text, None
    numbers, at = _numbers(content, at, order, shape)
    numbers = numbers.astype(_CLASSES[word & 0xFF])
    if word & _COMPLEX:
        numbers = numbers + 1j * _numbers(content, at, order, shape)[0]
    return text, numbers.reshape(shape, order="F")


def _numbers(content: memoryview, at: int, order: str, shape: tuple[int, ...]) -> tuple[np.ndarray, int]:
    """Return the numbers of the element at a position, as many as a variable has, and the position of the next one."""
    kind, part, after = _element(content, at, order)
    if kind not in _STORED:
        raise ValueError(f"numbers of the unknown type {kind}")
    stored = np.frombuffer(part, dtype=order + _STORED[kind])
    if len(stored) != math.prod(shape):
        raise ValueError(f"{len(stored)} numbers for a variable of shape {shape}")
    return stored, after


def _codes(kind: int, part: memoryview, order: str, size: int) -> np.ndarray:
    """Return the codes of a number of characters."""
    if kind == _UTF8:
        codes = np.array([ord(character) for character in bytes(part).decode("utf-8")], dtype=np.uint32)
    elif kind in _TEXT:
        codes = np.frombuffer(part, dtype=order + _TEXT[kind])
    else:
        raise ValueError(f"text of the unknown type {kind}")
    if len(codes) != size or codes.max(initial=0) > sys.maxunicode:
        raise ValueError(f"{len(codes)} characters where {size} should be")
    return codes

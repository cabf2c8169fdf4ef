"""Point sets: the local descriptors of images with their positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mklearn.errors import DataError

Float32 = NDArray[np.float32]

# dtype and number of axes of the arrays of point sets
_ARRAYS = {"descriptors": (np.float32, 3), "positions": (np.float32, 3), "counts": (np.int32, 1)}


@dataclass(frozen=True, eq=False)
class PointSets:
    """Local descriptors of n images at up to p points each.

    Parameters
    ----------
    descriptors : ndarray of float32, shape (n, p, d)
        One row per point; rows from ``counts[i]`` on are zero.
    positions : ndarray of float32, shape (n, p, 2)
        Row and column of each point in pixels, with (0, 0) the centre of the first pixel; zero from ``counts[i]`` on.
    counts : ndarray of int32, shape (n,)
        Number of points of each image, 0 to p.

    Raises
    ------
    DataError
        Shapes or dtypes do not match, counts are outside 0..p, values are not finite, or points beyond the counts are
        not zero.
    """

    descriptors: Float32
    positions: Float32
    counts: NDArray[np.int32]

    def __post_init__(self) -> None:
        for name, (dtype, ndim) in _ARRAYS.items():
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != ndim:
                actual = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
                raise DataError(f"Invalid {name} of point sets: expected {np.dtype(dtype)}, {ndim}-d, not {actual}.")
        n, p, _ = self.descriptors.shape
        if self.positions.shape != (n, p, 2) or self.counts.shape != (n,):
            raise DataError(
                f"Point sets with descriptors of shape {self.descriptors.shape} need positions of shape {(n, p, 2)} "
                f"and counts of shape {(n,)}, not {self.positions.shape} and {self.counts.shape}."
            )
        if n and (self.counts.min() < 0 or self.counts.max() > p):
            raise DataError(f"Invalid counts of point sets: expected 0..{p}, the capacity for points per image.")
        beyond = np.arange(p) >= self.counts[:, None]
        for name in ("descriptors", "positions"):
            array = getattr(self, name)
            if not np.isfinite(array).all() or array[beyond].any():
                raise DataError(f"Invalid {name} of point sets: NaN, infinite, or not zero beyond the counts.")

    def __len__(self) -> int:
        return len(self.counts)

    @classmethod
    def from_lists(cls, local: Sequence[tuple[NDArray, NDArray]], n_points: int, n_features: int) -> PointSets:
        """Build point sets from descriptors (k, n_features) and positions (k, 2) of each image, k <= n_points."""
        descriptors = np.zeros((len(local), n_points, n_features), dtype=np.float32)
        positions = np.zeros((len(local), n_points, 2), dtype=np.float32)
        counts = np.array([len(values) for values, _ in local], dtype=np.int32)
        for number, (values, where) in enumerate(local):
            descriptors[number, : len(values)] = values
            positions[number, : len(values)] = where
        return cls(descriptors, positions, counts)

    @classmethod
    def concatenate(cls, parts: Sequence[PointSets]) -> PointSets:
        """Concatenate the images of one or more parts; parts of smaller capacity are padded with zeros.

        Descriptors of different lengths raise `DataError`.
        """
        lengths = {part.descriptors.shape[2] for part in parts}
        if len(lengths) > 1:
            raise DataError(f"Can't concatenate point sets with descriptors of different lengths: {sorted(lengths)}.")
        most = max(part.descriptors.shape[1] for part in parts)

        def padded(name: str) -> NDArray:
            arrays = [getattr(part, name) for part in parts]
            return np.concatenate([np.pad(a, ((0, 0), (0, most - a.shape[1]), (0, 0))) for a in arrays])

        return cls(padded("descriptors"), padded("positions"), np.concatenate([part.counts for part in parts]))

    def as_arrays(self) -> dict[str, NDArray]:
        """Return the arrays by name, as `numpy.savez` takes them."""
        return {name: getattr(self, name) for name in _ARRAYS}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray]) -> PointSets:
        """Build point sets from the arrays of `as_arrays`; other names are ignored.

        Missing arrays, and arrays that are not point sets, raise `DataError`.
        """
        missing = [name for name in _ARRAYS if name not in arrays]
        if missing:
            raise DataError(f"Point sets need the arrays {', '.join(_ARRAYS)}; missing: {', '.join(missing)}.")
        return cls(*(np.asarray(arrays[name]) for name in _ARRAYS))

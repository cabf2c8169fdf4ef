"""Point sets: the local descriptors of images with their positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class PointSets:
    """Local descriptors of n images, image after image.

    Parameters
    ----------
    descriptors : ndarray of float32, shape (n_points, d)
        One row per point of all images.
    positions : ndarray of float32, shape (n_points, 2)
        Row and column of each point in pixels, with (0, 0) the centre of the first pixel.
    counts : ndarray of int32, shape (n,)
        Number of points of each image.
    """

    descriptors: Float32
    positions: Float32
    counts: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.counts)

    @classmethod
    def from_lists(cls, local: Sequence[tuple[NDArray, NDArray]]) -> PointSets:
        """Build point sets from descriptors (k, d) and positions (k, 2) of each of one or more images."""
        descriptors, positions = (np.concatenate(each).astype(np.float32) for each in zip(*local, strict=True))
        return cls(descriptors, positions, np.array([len(values) for values, _ in local], dtype=np.int32))

    @classmethod
    def concatenate(cls, parts: Sequence[PointSets]) -> PointSets:
        """Concatenate the images of one or more parts, whose descriptors have one length."""
        arrays = [part.as_arrays() for part in parts]
        return cls.from_arrays({name: np.concatenate([each[name] for each in arrays]) for name in arrays[0]})

    def as_arrays(self) -> dict[str, NDArray]:
        """Return the arrays by name, as `numpy.savez` takes them."""
        return {"descriptors": self.descriptors, "positions": self.positions, "counts": self.counts}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray]) -> PointSets:
        """Build point sets from the arrays of `as_arrays`; other names are ignored."""
        return cls(arrays["descriptors"], arrays["positions"], arrays["counts"])

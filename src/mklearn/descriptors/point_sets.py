"""Point sets: the local descriptors of images with their positions, and what is learned from a sample of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.descriptors.images import Grey, Images, as_grey_images, whole_number
from mklearn.errors import ConfigError, DataError

Float32 = NDArray[np.float32]
Learned = Mapping[str, NDArray]

# How many images are held as floats at a time, and how many local descriptors principal axes are learned from.
_BATCH = 64
_SAMPLE = 50_000


@dataclass(frozen=True, eq=False)
class PointSets:
    """Local descriptors of n images at up to p points each.

    Parameters
    ----------
    descriptors : ndarray of float32, shape (n, p, d)
        One row per point; rows from ``counts[i]`` on are zero.
    positions : ndarray of float32, shape (n, p, 2)
        Row and column of each point, in pixels, (0, 0) being the centre of the first pixel; zero from ``counts[i]`` on.
    counts : ndarray of int32, shape (n,)
        How many of the p points are real; 0 for an image without points.

    Raises
    ------
    DataError
        Shapes or dtypes that do not fit together, counts outside 0..p, values that are not finite, or points beyond
        the counts that are not zero.
    """

    descriptors: Float32
    positions: Float32
    counts: NDArray[np.int32]

    def __post_init__(self) -> None:
        for name, dtype, ndim in (
            ("descriptors", np.float32, 3),
            ("positions", np.float32, 3),
            ("counts", np.int32, 1),
        ):
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != ndim:
                found = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
                raise DataError(f"{name} of point sets must be a {ndim}-d array of {np.dtype(dtype)}, not {found}")
        n, p, _ = self.descriptors.shape
        if self.positions.shape != (n, p, 2) or self.counts.shape != (n,):
            raise DataError(
                f"point sets with descriptors of shape {self.descriptors.shape} need positions of shape {(n, p, 2)} "
                f"and counts of shape {(n,)}, not {self.positions.shape} and {self.counts.shape}"
            )
        if n and (self.counts.min() < 0 or self.counts.max() > p):
            raise DataError(f"counts of point sets must lie in 0..{p}, the number of points that there is room for")
        if not (np.isfinite(self.descriptors).all() and np.isfinite(self.positions).all()):
            raise DataError("point sets must be finite: a descriptor or a position is NaN or infinite")
        beyond = ~self.mask
        if self.descriptors[beyond].any() or self.positions[beyond].any():
            raise DataError("descriptors and positions of point sets must be zero beyond the counts")

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def n_points(self) -> int:
        """How many points there is room for per image, p."""
        return int(self.descriptors.shape[1])

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Which points are real, shape (n, p)."""
        real: NDArray[np.bool_] = np.arange(self.n_points) < self.counts[:, None]
        return real

    @classmethod
    def from_lists(cls, local: Sequence[tuple[NDArray, NDArray]], n_points: int, n_features: int) -> PointSets:
        """Point sets from a pair of arrays per image: descriptors (k, n_features) and positions (k, 2), k <= n_points.

        Raises
        ------
        DataError
            More than `n_points` points, or arrays that do not fit together.
        """
        descriptors = np.zeros((len(local), n_points, n_features), dtype=np.float32)
        positions = np.zeros((len(local), n_points, 2), dtype=np.float32)
        counts = np.zeros(len(local), dtype=np.int32)
        for number, (values, where) in enumerate(local):
            k = len(values)
            if k > n_points or np.shape(values) != (k, n_features) or np.shape(where) != (k, 2):
                raise DataError(
                    f"image {number} has descriptors of shape {np.shape(values)} at positions of shape "
                    f"{np.shape(where)}; (k, {n_features}) and (k, 2) with k <= {n_points} are needed"
                )
            descriptors[number, :k] = values
            positions[number, :k] = where
            counts[number] = k
        return cls(descriptors, positions, counts)

    @classmethod
    def concatenate(cls, parts: Sequence[PointSets]) -> PointSets:
        """The images of all parts in order; where parts have room for fewer points than others, zeros are added.

        Raises
        ------
        DataError
            No parts, or descriptors of different lengths.
        """
        if not parts:
            raise DataError("there are no point sets to concatenate")
        lengths = {part.descriptors.shape[2] for part in parts}
        if len(lengths) > 1:
            raise DataError(
                f"point sets with descriptors of different lengths can't be concatenated: {sorted(lengths)}"
            )
        most = max(part.n_points for part in parts)

        def padded(array: Float32) -> Float32:
            return np.pad(array, ((0, 0), (0, most - array.shape[1]), (0, 0)))

        return cls(
            np.concatenate([padded(part.descriptors) for part in parts]),
            np.concatenate([padded(part.positions) for part in parts]),
            np.concatenate([part.counts for part in parts]),
        )

    def subset(self, index: ArrayLike | slice) -> PointSets:
        """Copy of the images that `index` names: integers, booleans (n,) or a slice.

        Raises
        ------
        DataError
            An index out of range, or not an index.
        """
        if isinstance(index, slice):
            rows = np.arange(len(self))[index]
        else:
            rows = np.atleast_1d(np.asarray(index))
            if rows.size == 0:
                rows = rows.astype(np.intp)
            if rows.ndim != 1 or rows.dtype.kind not in "iub" or (rows.dtype.kind == "b" and len(rows) != len(self)):
                raise DataError(
                    f"an index of {len(self)} point sets must be integers, {len(self)} booleans or a slice, not "
                    f"{rows.dtype} {rows.shape}"
                )
            if rows.dtype.kind != "b" and rows.size and not (-len(self) <= rows.min() and rows.max() < len(self)):
                raise DataError(f"an index is out of range: there are {len(self)} point sets")
        return PointSets(self.descriptors[rows], self.positions[rows], self.counts[rows])

    def project(self, mean: NDArray, components: NDArray) -> PointSets:
        """Replace each real descriptor x by ``components @ (x - mean)``; positions and counts stay.

        Parameters
        ----------
        mean : ndarray, shape (d,)
        components : ndarray, shape (k, d)

        Raises
        ------
        DataError
            Arrays that do not fit the descriptors.
        """
        length = self.descriptors.shape[2]
        if np.shape(mean) != (length,) or np.ndim(components) != 2 or np.shape(components)[1] != length:
            raise DataError(
                f"descriptors of length {length} can't be projected with a mean of shape {np.shape(mean)} and "
                f"components of shape {np.shape(components)}; ({length},) and (k, {length}) are needed"
            )
        # set by set: the rounding of one product over all would depend on which other sets there are
        local = [
            (_project(self.descriptors[i, :count], mean, components), self.positions[i, :count])
            for i, count in enumerate(self.counts)
        ]
        return PointSets.from_lists(local, self.n_points, len(components))

    def as_arrays(self) -> dict[str, NDArray]:
        """The fields by name, as `numpy.savez` takes them."""
        return {"descriptors": self.descriptors, "positions": self.positions, "counts": self.counts}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray]) -> PointSets:
        """The inverse of `as_arrays`; other names are ignored.

        Raises
        ------
        DataError
            A missing array, or arrays that are not point sets.
        """
        missing = [name for name in ("descriptors", "positions", "counts") if name not in arrays]
        if missing:
            raise DataError(f"point sets need arrays named descriptors, positions and counts; missing: {missing}")
        return cls(*(np.asarray(arrays[name]) for name in ("descriptors", "positions", "counts")))


def grey_in_turn(images: Images) -> Iterator[Grey]:
    """Grey images one after the other, so that a whole data set is never held as floats.

    Raises
    ------
    DataError
        As `mklearn.descriptors.images.as_grey_images`.
    """
    if isinstance(images, np.ndarray) and images.dtype != object and images.ndim not in (3, 4):
        as_grey_images(images)  # says what is wrong
    for start in range(0, max(len(images), 1), _BATCH):
        batch = images[start : start + _BATCH]
        try:
            yield from as_grey_images(batch)
        except DataError as error:
            if start == 0:
                raise
            raise DataError(f"images {start} to {start + len(batch) - 1}, counted from 0 again: {error}") from error


def sample_local_descriptors(local: Iterable[NDArray], n_images: int, most: int, random_state: int) -> Float32:
    """Local descriptors of all images, at most ``ceil(most / n_images)`` drawn at random from each, shape (k, d).

    Parameters
    ----------
    local : iterable of ndarray, shape (any, d)
        The local descriptors of one image after the other.
    n_images : int
        How many images there are.
    most : int
        How many descriptors there should be in all, about.
    random_state : int
        Seed of the draw. What is drawn from an image depends on the seed, its place and how many images there are.

    Raises
    ------
    ConfigError
        A seed that is not a whole number >= 0.
    """
    seed = whole_number(random_state, "random_state", least=0)
    each = -(-most // max(n_images, 1))
    drawn = []
    for number, descriptors in enumerate(local):
        if len(descriptors) > each:
            rng = np.random.default_rng([seed, number])
            descriptors = descriptors[np.sort(rng.choice(len(descriptors), each, replace=False))]
        drawn.append(descriptors.astype(np.float32, copy=False))
    sample: Float32 = np.concatenate(drawn)
    return sample


def learn_projection(
    images: Images, extract: Callable[[Grey], NDArray], n_components: int, random_state: int, name: str
) -> dict[str, NDArray]:
    """Mean and principal axes of a sample of about 50,000 local descriptors, spread over the images.

    Returns
    -------
    dict
        "mean" (d,) and "components" (n_components, d), float32, axes in order of variance.

    Raises
    ------
    DataError
        Not images, or fewer local descriptors than components.
    """
    local = (extract(image) for image in grey_in_turn(images))
    sample = sample_local_descriptors(local, len(images), _SAMPLE, random_state)
    if len(sample) < n_components:
        raise DataError(
            f"{name} with n_components = {n_components} learns from at least as many local descriptors, but the "
            f"{len(images)} images have {len(sample)}; use more images, larger ones, or fewer components"
        )

    from sklearn.decomposition import PCA

    fitted = PCA(n_components=n_components, svd_solver="covariance_eigh").fit(sample.astype(np.float64))
    return {"mean": fitted.mean_.astype(np.float32), "components": fitted.components_.astype(np.float32)}


def describe_points(
    images: Images,
    extract: Callable[[Grey], tuple[NDArray, NDArray]],
    learned: Learned,
    shape: tuple[int, int],
    n_points: int,
    name: str,
) -> PointSets:
    """Point sets of the images, each projected by itself on the axes of `learn_projection`.

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
    extract : callable
        Local descriptors (k, d) and positions (k, 2) of a grey image, k <= n_points.
    learned : mapping
        "mean" (d,) and "components" (n_components, d).
    shape : (int, int)
        (n_components, d) that the parameters ask for.
    n_points : int
        Room for points per image.
    name : str
        Of the descriptor, for messages.

    Raises
    ------
    DataError
        Not images.
    ConfigError
        `learned` is not what `learn_<name>` returns for these parameters.
    """
    missing = [key for key in ("mean", "components") if key not in learned]
    if missing:
        raise ConfigError(f"learned lacks {' and '.join(missing)}: pass what learn_{name} returned")
    mean, components = np.asarray(learned["mean"]), np.asarray(learned["components"])
    if mean.shape != shape[1:] or components.shape != shape:
        raise ConfigError(
            f"learned has a mean of shape {mean.shape} and components of shape {components.shape}, but {name} with "
            f"these parameters needs {shape[1:]} and {shape}: pass what learn_{name} returned for the same parameters"
        )
    local = []
    for image in grey_in_turn(images):
        descriptors, positions = extract(image)
        local.append((_project(descriptors, mean, components), positions))
    return PointSets.from_lists(local, n_points, shape[0])


def unit_rows(descriptors: NDArray) -> Float32:
    """Rows divided by their Euclidean length, in float32; rows of zeros stay."""
    length = np.linalg.norm(descriptors.astype(np.float64), axis=1, keepdims=True)
    return np.divide(descriptors, length, out=np.zeros(descriptors.shape), where=length > 0).astype(np.float32)


def _project(descriptors: NDArray, mean: NDArray, components: NDArray) -> Float32:
    values = descriptors.astype(np.float32) - mean.astype(np.float32)
    projected: Float32 = values @ components.astype(np.float32).T
    return projected

"""Common input and output of descriptors: parameters, images as grey or colour floats, learned arrays, features."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.base.parameters import constrained, make_constraint
from mklearn.checks import LARGEST_INTEGER, LARGEST_VALUE, check_kept, invalid, regular_array
from mklearn.errors import DataError

Grey = NDArray[np.float64]
Images = NDArray | Sequence[ArrayLike]
Learned = Mapping[str, NDArray]
"""Arrays by name, as returned by the ``learn_*`` function of a descriptor."""
Function = TypeVar("Function", bound=Callable[..., Any])

# Luma of ITU-R BT.709 as rounded by scikit-image. The weights sum to one, so a grey colour image keeps its values.
_LUMA = np.array([0.2125, 0.7154, 0.0721])

_WHITE = {np.dtype(bool): 1.0, np.dtype(np.uint8): 255.0, np.dtype(np.uint16): 65535.0}


def descriptor(function: Function) -> Function:
    """Decorate a function of images to raise `ConfigError` for values that the types of its parameters do not allow."""
    constraints = vars(constrained()(function))["_parameter_constraints"]
    valid = {name: [make_constraint(each) for each in several] for name, several in constraints.items()}
    del valid["images"]
    valid.pop("learned", None)

    @functools.wraps(function)
    def checked(images: Images, **parameters: Any) -> Any:
        for name, value in parameters.items():
            out_of_range = isinstance(value, int | float) and (isinstance(value, bool) or abs(value) > LARGEST_INTEGER)
            if name in valid and (out_of_range or not any(each.is_satisfied_by(value) for each in valid[name])):
                raise invalid(value, name, " or ".join(map(str, valid[name])))
        return function(images, **parameters)

    return cast("Function", checked)


def learned_array(
    learned: Learned, name: str, shape: tuple[int, ...], descriptor: str, dtype: type | None = None
) -> NDArray:
    """Return an array of ``learned``; raise `DataError` unless it has the shape that the parameters need."""
    actual = np.shape(learned[name]) if name in learned else None
    if actual != shape:
        has = f"shape {actual}" if actual is not None else "no array"
        raise DataError(
            f"`learned` has {has} for {name!r}, expected shape {shape}: pass what learn_{descriptor} returned for the "
            "same parameters."
        )
    return np.asarray(learned[name], dtype=dtype)


def as_grey_images(images: Images) -> list[Grey]:
    """Convert images to grey float64 arrays.

    Raise `DataError` for no images, and for an image, named by its index, without pixels, with a wrong number of axes
    or channels, with values that are not finite, or of a dtype without a known white value.

    Parameters
    ----------
    images : ndarray of shape (n, h, w) or (n, h, w, channels), or sequence of n arrays (h, w) or (h, w, channels)
        1 channel is grey, 3 are RGB, 4 are RGB and alpha. bool, uint8 and uint16 are divided by their white value (1,
        255, 65535); floats are not scaled.

    Returns
    -------
    list of ndarray of shape (h, w)
        Colour becomes luma (BT.709: 0.2125 R + 0.7154 G + 0.0721 B); transparent pixels are blended with white.
    """
    return list(iterate_grey_images(images))


def iterate_grey_images(images: Images) -> Iterator[Grey]:
    """Yield the images of `as_grey_images` one by one, so that a whole data set is never held as floats."""
    for values in _iterate_channels(images):
        yield values @ _LUMA if values.shape[2] == 3 else values[..., 0]


def as_colour_images(images: Images, user: str) -> list[NDArray[np.float64]]:
    """Convert images to float64 arrays of shape (h, w, 3); messages name `user`, the descriptor.

    Raise `DataError` as `as_grey_images`, and for a grey image, without a third axis of three or four channels.
    """
    coloured = list(_iterate_channels(images))
    for number, values in enumerate(coloured):
        if values.shape[2] != 3:
            raise DataError(
                f"Image {number} is grey, but {user} needs colour: to read the images of a study "
                "in colour, set colour: rgb in the data set."
            )
    return coloured


def by_channel(images: Images, channels: str, user: str) -> list[list[Grey]]:
    """Return the images in grey, or for the channels "colour" each of red, green and blue as grey images."""
    if channels == "grey":
        return [as_grey_images(images)]
    coloured = as_colour_images(images, f"{user} with channels: colour")
    return [[np.ascontiguousarray(image[..., channel]) for image in coloured] for channel in range(3)]


def _iterate_channels(images: Images) -> Iterator[NDArray[np.float64]]:
    """Yield checked images as arrays of shape (h, w, 1) or (h, w, 3)."""
    if isinstance(images, np.ndarray) and images.dtype != object and images.ndim not in (3, 4):
        raise DataError(
            f"The images have shape {images.shape}: expected (n, height, width) or (n, height, width, channels). "
            "Pass a single image as image[None]."
        )
    if len(images) == 0:
        raise DataError("There are no images: expected one or more.")
    for number, image in enumerate(images):
        check_kept(image, f"Image {number}")
        array = regular_array(image, f"Image {number}")
        if array.ndim not in (2, 3):
            raise DataError(
                f"Image {number} has shape {array.shape}: expected (height, width) or (height, width, channels)."
            )
        yield _channels(array if array.ndim == 3 else array[..., None], number)


def require_size(images: Sequence[Grey], least: int, user: str) -> None:
    """Raise `DataError` for the first image with fewer than `least` pixels a side; the message names `user`."""
    for number, image in enumerate(images):
        check_size(image, number, least, user)


def check_size(image: Grey, number: int, least: float, user: str) -> None:
    """Raise `DataError` for an image with fewer than `least` pixels a side; the message names `user`."""
    if min(image.shape) < least:
        raise DataError(
            f"Image {number} has {_size(image)} pixels, but {user} needs at least {least:g} x {least:g}: enlarge the "
            "images or choose a smaller parameter."
        )


def features_of(
    images: Sequence[Grey], extract: Callable[[Grey], NDArray], name: str, *, one_size: bool = False
) -> Grey:
    """Apply `extract` to every image and stack the features, shape (n, d); `name` is the descriptor's, for errors.

    With `one_size` a feature belongs to a place in the image: images of different sizes are rejected even if they have
    equally many features, such as an image and its rotation by 90 degrees. Raise `DataError` for features of different
    lengths, and then for images of different sizes.
    """
    features = [np.asarray(extract(image), dtype=np.float64).ravel() for image in images]
    for number, vector in enumerate(features):
        if vector.size != features[0].size or (one_size and images[number].shape != images[0].shape):
            raise DataError(
                f"{name} needs images of one size, and image {number} has {_size(images[number])} pixels "
                f"({vector.size} features) where image 0 has {_size(images[0])} ({features[0].size}): resize them to "
                "one shape first."
            )
    return np.stack(features)


def cell_histograms(
    bins: NDArray[np.int64], n_bins: int, side: int, weights: NDArray[np.float64] | None = None
) -> NDArray:
    """Count the pixels of each bin, or sum their weights, in ``side x side`` equal cells; shape (side^2, n_bins)."""
    row, column = (np.arange(length) * side // length for length in bins.shape)
    cell = row[:, None] * side + column
    votes = None if weights is None else weights.ravel()
    counts = np.bincount((cell * n_bins + bins).ravel(), weights=votes, minlength=side * side * n_bins)
    return counts.reshape(side * side, n_bins)


def _channels(image: NDArray, number: int) -> NDArray[np.float64]:
    if image.shape[2] not in (1, 3, 4):
        raise DataError(f"Image {number} has {image.shape[2]} channels: expected 1 (grey), 3 (RGB) or 4 (RGBA).")
    if image.size == 0:
        raise DataError(f"Image {number} has no pixels (shape {image.shape[:2]}).")
    if image.dtype.kind == "f":
        values = image.astype(np.float64)
    elif image.dtype in _WHITE:
        values = image / _WHITE[image.dtype]
    else:
        raise DataError(
            f"Image {number} has dtype {image.dtype}, whose white value is unknown: convert it to uint8, uint16 or "
            "float."
        )
    if not np.isfinite(values).all():
        raise DataError(f"Image {number} has NaN or infinite pixels.")
    if np.abs(values).max() > LARGEST_VALUE:
        raise DataError(f"Image {number} has pixels above {LARGEST_VALUE:g}, whose squares can't be computed with.")
    if image.shape[2] < 4:
        return values
    alpha = values[..., 3:]
    if alpha.min() < 0 or alpha.max() > 1:
        raise DataError(f"Image {number} has opacities (its fourth channel) outside 0..1: scale floats to 0..1.")
    return alpha * values[..., :3] + (1 - alpha)


def _size(image: Grey) -> str:
    return f"{image.shape[0]} x {image.shape[1]}"

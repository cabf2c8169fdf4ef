"""What every descriptor does first and last: images of any kind to grey floats, features of all to one matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import ConfigError, DataError

Grey = NDArray[np.float64]
Images = NDArray | Sequence[ArrayLike]

# Luma of ITU-R BT.709 as scikit-image rounds it; the three sum to one, so a grey colour image keeps its values.
_LUMA = np.array([0.2125, 0.7154, 0.0721])

_WHITE = {np.dtype(bool): 1.0, np.dtype(np.uint8): 255.0, np.dtype(np.uint16): 65535.0}


def as_grey_images(images: Images) -> list[Grey]:
    """Grey images in float64.

    Parameters
    ----------
    images : ndarray, shape (n, h, w) or (n, h, w, channels), or a sequence of n arrays (h, w) or (h, w, channels)
        1 channel is grey, 3 are RGB, 4 are RGB and alpha. bool, uint8 and uint16 are divided by their white (1, 255,
        65535); floats are left as they are, whatever their range.

    Returns
    -------
    list of ndarray, shape (h, w)
        Colour becomes luma (BT.709: 0.2125 R + 0.7154 G + 0.0721 B) and transparent pixels are laid over white.

    Raises
    ------
    DataError
        No images, an image without pixels, not an image (wrong number of axes or channels), not finite, or of another
        integer dtype, which does not say what value is white. The message names the image.
    """
    if isinstance(images, np.ndarray) and images.dtype != object:
        if images.ndim not in (3, 4):
            raise DataError(
                f"the images have shape {images.shape}; (n, height, width) or (n, height, width, channels) is needed "
                "(a single image is passed as image[None])"
            )
        # 3 axes are always grey images: (n, h, 3) is not taken for colour
        items: list[NDArray] = list(images if images.ndim == 4 else images[..., None])
    else:
        items = []
        for number, image in enumerate(images):
            try:
                array = np.asarray(image)
            except ValueError as error:
                raise DataError(f"image {number} is not a regular array: its rows have different lengths") from error
            if array.ndim not in (2, 3):
                raise DataError(
                    f"image {number} has shape {array.shape}; (height, width) or (height, width, channels) is needed"
                )
            items.append(array if array.ndim == 3 else array[..., None])
    if not items:
        raise DataError("there are no images")
    return [_grey(image, number) for number, image in enumerate(items)]


def require_size(images: Sequence[Grey], least: int | tuple[int, int], reason: str) -> None:
    """Raise `DataError` for the first image smaller than `least` (height, width); `reason` says what needs the size."""
    height, width = (least, least) if isinstance(least, int) else least
    for number, image in enumerate(images):
        if image.shape[0] < height or image.shape[1] < width:
            raise DataError(
                f"image {number} has {image.shape[0]} x {image.shape[1]} pixels, but {reason} needs at least "
                f"{height} x {width}; enlarge the images or choose a smaller parameter"
            )


def features_of(images: Sequence[Grey], extract: Callable[[Grey], NDArray], name: str) -> Grey:
    """Apply `extract` to every image by itself and stack the features, shape (n, d).

    Raises
    ------
    DataError
        Features of different lengths, which is what images of different sizes give for many descriptors.
    """
    features = [np.asarray(extract(image), dtype=np.float64).ravel() for image in images]
    for number, vector in enumerate(features):
        if vector.size != features[0].size:
            raise DataError(
                f"{name} gives {vector.size} features for image {number} ({_size(images[number])} pixels) and "
                f"{features[0].size} for image 0 ({_size(images[0])}); resize the images to one size first"
            )
    return np.stack(features)


def whole_number(value: int, name: str, least: int = 1) -> int:
    """Return `value` as an int; raise `ConfigError` unless it is a whole number >= `least`."""
    legal = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not legal or value < least:
        raise ConfigError(f"{name} = {value!r} is not legal: it must be a whole number, {least} or greater")
    return int(value)


def one_of(value: object, name: str, legal: Sequence[object]) -> None:
    """Raise `ConfigError` unless `value` is one of `legal`."""
    if value not in legal:
        raise ConfigError(f"{name} = {value!r} is not legal; legal: {', '.join(map(str, legal))}")


def _grey(image: NDArray, number: int) -> Grey:
    if image.shape[2] not in (1, 3, 4):
        raise DataError(f"image {number} has {image.shape[2]} channels; 1 (grey), 3 (RGB) or 4 (RGBA) are needed")
    if image.size == 0:
        raise DataError(f"image {number} has no pixels (shape {image.shape[:2]})")
    if image.dtype.kind == "f":
        values = image.astype(np.float64)
    elif image.dtype in _WHITE:
        values = image / _WHITE[image.dtype]
    else:
        raise DataError(
            f"image {number} has dtype {image.dtype}, which does not say what value is white; "
            "convert it to uint8, uint16 or float"
        )
    if not np.isfinite(values).all():
        raise DataError(f"image {number} has NaN or infinite pixels")
    if image.shape[2] == 1:
        return values[..., 0]
    colour = values[..., :3]
    if image.shape[2] == 4:
        alpha = values[..., 3:]
        colour = alpha * colour + (1 - alpha)
    return colour @ _LUMA


def _size(image: Grey) -> str:
    return f"{image.shape[0]} x {image.shape[1]}"

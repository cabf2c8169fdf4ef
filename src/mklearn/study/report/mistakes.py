"""Which samples methods get wrong most often, with what they are taken for and what decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklearn.study.data.samples import SampleSet
from mklearn.study.report.records import MethodMistakes, WrongSample, WrongSamples
from mklearn.study.report.thumbnails import small_images

MOST_SAMPLES = 16
"""Samples that are shown of a method."""
MOST_METHODS = 16
SIDE = 40
"""Pixels of a thumbnail's longer side, at most."""
PIXELS = 200_000
"""Pixels of all thumbnails of a page, at most: of large images fewer methods are shown."""
COLUMNS = 24
"""Thumbnails in a row of the sprite."""
READ = ["sample", "true", "predicted", "nearest"]


def wrong_samples(
    predictions: Mapping[str, pd.DataFrame], reference: str, data: SampleSet, pixels: int = PIXELS
) -> WrongSamples | None:
    """Find the samples that each method gets wrong most often, by the share of the splits that test them.

    Parameters
    ----------
    predictions : mapping of method to DataFrame
        ``sample, true, predicted, nearest`` by one rule in one setting. Methods without a choice of their own, whose
        ``predicted`` is missing, are left out.
    reference : str
        The method that stands beside the best one.
    data : SampleSet
        The samples, with their images if they have any.
    pixels : int, default=PIXELS
        Of all thumbnails together: the methods that come last are left out where there would be more.

    Returns
    -------
    found : WrongSamples or None
        The most accurate method first, then the reference, then the others by accuracy. None without predictions.
    """
    chosen = {method: rows.loc[rows["predicted"].notna(), READ] for method, rows in predictions.items()}
    shares = {method: float(_is_wrong(rows).mean()) for method, rows in chosen.items() if len(rows)}
    if not shares:
        return None
    ranked = sorted(shares, key=lambda method: shares[method])
    order = [ranked[0], *sorted(ranked[1:], key=lambda method: method != reference)][:MOST_METHODS]
    position = pd.Index(data.ids)
    found = [_mistakes(method, chosen[method], data.classes, position) for method in order]
    if data.images is None:
        return WrongSamples(found)
    return _with_images(found, data, position, pixels)


def _is_wrong(rows: pd.DataFrame) -> NDArray[np.bool_]:
    return rows["predicted"].to_numpy(np.int64) != rows["true"].to_numpy()


def _mistakes(method: str, rows: pd.DataFrame, classes: NDArray[np.str_], position: pd.Index) -> MethodMistakes:
    """Find what one method gets wrong; of samples that are wrong equally often, the first of the data set."""
    names, is_wrong = pd.Categorical(rows["sample"]), _is_wrong(rows)
    place = position.get_indexer(names.categories.astype(str))[names.codes]
    n_tested, n_wrong = (np.bincount(one, minlength=len(position)) for one in (place, place[is_wrong]))
    ever = np.flatnonzero(n_wrong)
    worst = ever[np.lexsort((ever, -n_wrong[ever], -n_wrong[ever] / n_tested[ever]))][:MOST_SAMPLES]
    true, predicted = rows["true"].to_numpy(), rows["predicted"].to_numpy(np.int64)
    nearest = rows["nearest"].astype(object).where(rows["nearest"].notna(), "").to_numpy()
    samples = []
    for number in worst:
        own = np.flatnonzero(is_wrong & (place == number))
        labels, counts = np.unique(predicted[own], return_counts=True)
        taken = labels[counts.argmax()]
        first = own[predicted[own] == taken][0]
        samples.append(
            WrongSample(
                str(position[number]), str(classes[true[first]]), str(classes[taken]), int(n_wrong[number]),
                int(n_tested[number]), str(nearest[first]),
            )
        )  # fmt: skip
    return MethodMistakes(method, int(is_wrong.sum()), len(is_wrong), tuple(samples))


def _with_images(found: Sequence[MethodMistakes], data: SampleSet, position: pd.Index, pixels: int) -> WrongSamples:
    """Add the images of as many methods as the pixels allow, and of the first two in any case."""
    assert data.images is not None
    shapes = [data.image_shape] if data.image_shape else [image.shape for image in data.images]
    height, width = np.max([shape[:2] for shape in shapes], axis=0)
    each = height * width * min(1.0, SIDE / max(height, width)) ** 2
    shown: list[MethodMistakes] = []
    numbers: dict[str, int] = {}
    for method in found:
        names = [name for one in method.samples for name in (one.sample, one.nearest) if name]
        more = [name for name in dict.fromkeys(names) if name not in numbers]
        if len(shown) >= 2 and (len(numbers) + len(more)) * each > pixels:
            break
        numbers |= {name: len(numbers) + k for k, name in enumerate(more)}
        shown.append(method)
    if not numbers:
        return WrongSamples(found)
    images = small_images(data, position.get_indexer(pd.Index(list(numbers))).tolist(), longer_side=SIDE)
    return WrongSamples(shown, numbers=numbers, sprite=_sprite(images), size=(images.shape[1], images.shape[2]))


def _sprite(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Lay images (k, height, width) in rows of ``COLUMNS``, as one image."""
    k, height, width = images.shape
    rows = -(-k // COLUMNS)
    sheet = np.full((rows * COLUMNS, height, width), 255, dtype=np.uint8)
    sheet[:k] = images
    return sheet.reshape(rows, COLUMNS, height, width).swapaxes(1, 2).reshape(rows * height, COLUMNS * width)

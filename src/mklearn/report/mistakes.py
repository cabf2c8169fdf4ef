"""Which samples methods get wrong: those that most splits do, with what they are taken for and what decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklearn.datasets.samples import SampleSet
from mklearn.report.records import MethodMistakes, WrongSample, WrongSamples
from mklearn.report.thumbnails import small_images

MOST_SAMPLES = 16
"""Samples that are shown of a method."""
MOST_METHODS = 16
SIDE = 40
"""Pixels of a thumbnail's longer side, at most."""
PIXELS = 200_000
"""Pixels of all thumbnails of a page, at most: of large images fewer methods are shown."""
COLUMNS = 24
"""Thumbnails in a row of the sprite."""


def wrong_samples(
    predictions: Mapping[str, pd.DataFrame], reference: str, data: SampleSet, pixels: int = PIXELS
) -> WrongSamples | None:
    """Find the samples that each method gets wrong in most of the splits that test them.

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
    known = {method: rows[rows["predicted"].notna()] for method, rows in predictions.items()}
    shares = {method: float(rows["predicted"].ne(rows["true"]).mean()) for method, rows in known.items() if len(rows)}
    if not shares:
        return None
    ranked = sorted(shares, key=lambda method: shares[method])
    order = [ranked[0], *sorted(ranked[1:], key=lambda method: method != reference)][:MOST_METHODS]
    position = {str(name): number for number, name in enumerate(data.ids)}
    found = [_mistakes(method, known[method], data.classes, position) for method in order]
    if data.images is None:
        return WrongSamples(found)
    return _with_images(found, data, position, pixels)


def _mistakes(
    method: str, rows: pd.DataFrame, classes: Sequence[object] | NDArray[np.str_], position: Mapping[str, int]
) -> MethodMistakes:
    """Find what one method gets wrong; of samples that are wrong equally often, the first of the data set."""
    wrong = rows[rows["predicted"].ne(rows["true"])].astype({"sample": str, "nearest": str})
    tested = rows["sample"].astype(str).value_counts()
    counts = wrong.groupby("sample")["true"].size().rename("wrong").to_frame()
    counts["tested"] = tested.reindex(counts.index)
    counts["share"] = counts["wrong"] / counts["tested"]
    counts["position"] = [position[name] for name in counts.index]
    worst = counts.sort_values(["share", "wrong", "position"], ascending=[False, False, True]).head(MOST_SAMPLES)
    groups = dict(iter(wrong[wrong["sample"].isin(worst.index)].groupby("sample")))
    samples = []
    for name, n_wrong, n_tested in zip(worst.index, worst["wrong"], worst["tested"], strict=True):
        own = groups[name]
        taken = own[own["predicted"].eq(own["predicted"].mode()[0])].iloc[0]
        true, predicted = (str(classes[int(taken[column])]) for column in ("true", "predicted"))
        samples.append(WrongSample(str(name), true, predicted, int(n_wrong), int(n_tested), taken["nearest"]))
    return MethodMistakes(method, len(wrong), len(rows), tuple(samples))


def _with_images(
    found: Sequence[MethodMistakes], data: SampleSet, position: Mapping[str, int], pixels: int
) -> WrongSamples:
    """Add the images of as many methods as the pixels allow, and of the first two in any case."""
    assert data.images is not None
    height, width = np.max([np.shape(image)[:2] for image in data.images], axis=0)
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
    images = small_images(data, [position[name] for name in numbers], longer_side=SIDE)
    return WrongSamples(shown, numbers=numbers, sprite=_sprite(images), size=(images.shape[1], images.shape[2]))


def _sprite(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Lay images (k, height, width) in rows of ``COLUMNS``, as one image."""
    k, height, width = images.shape
    rows = -(-k // COLUMNS)
    sheet = np.full((rows * COLUMNS, height, width), 255, dtype=np.uint8)
    sheet[:k] = images
    return sheet.reshape(rows, COLUMNS, height, width).swapaxes(1, 2).reshape(rows * height, COLUMNS * width)

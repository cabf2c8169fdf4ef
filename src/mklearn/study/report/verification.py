"""Verification of pairs: the mean ROC curve of a method, and the pairs that the best method is most wrong about."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklearn.study.data.pairs import LABELS, SEPARATOR
from mklearn.study.data.samples import SampleSet
from mklearn.study.report.records import WrongPairs
from mklearn.study.report.thumbnails import small_images

GRID = np.linspace(0.0, 1.0, 201)
"""Shares of accepted pairs of different classes at which curves are averaged."""
GAP = 2
"""Pixels between both images of a pair."""


def mean_roc(predicted: pd.DataFrame | None) -> pd.DataFrame | None:
    """Average the ROC curves of all splits at equal shares of false acceptances.

    Parameters
    ----------
    predicted : DataFrame or None
        Predictions of one method: ``repeat, fold, true, decision_value`` (of class 1).

    Returns
    -------
    curve : DataFrame or None
        ``accepted, mean``: share of pairs of different classes that are accepted, and of those of the same class. None
        without decision values or with a class missing in a split.
    """
    from sklearn.metrics import roc_curve

    if predicted is None or not len(predicted) or predicted["decision_value"].isna().any():
        return None
    curves = []
    for _, rows in predicted.groupby(["repeat", "fold"], sort=True):
        true = rows["true"].to_numpy()
        if len(np.unique(true)) < 2:
            return None
        accepted, detected, _ = roc_curve(true == 1, rows["decision_value"].to_numpy(), drop_intermediate=False)
        curves.append(np.interp(GRID, accepted, detected))
    return pd.DataFrame({"accepted": GRID, "mean": np.mean(curves, axis=0)})


def wrong_pairs(predictions: Mapping[str, pd.DataFrame], data: SampleSet, count: int) -> WrongPairs | None:
    """Show the pairs that the most accurate method is wrong about, those furthest on the wrong side first.

    Parameters
    ----------
    predictions : mapping of method title to DataFrame
        ``sample`` (id of the pair), ``true``, ``predicted`` and ``decision_value`` of methods on the same pairs.
    data : SampleSet
        The images.
    count : int
        Pairs that are shown, at most: half of them of each class, if there are enough.

    Returns
    -------
    found : WrongPairs or None
        None without images, pairs to show or decision values.
    """
    known = {title: rows for title, rows in predictions.items() if len(rows) and rows["decision_value"].notna().all()}
    if not count or not known or data.images is None:
        return None
    title = max(known, key=lambda name: float((known[name]["predicted"] == known[name]["true"]).mean()))
    wrong = known[title][known[title]["predicted"] != known[title]["true"]]
    # Class 1 has large values: of pairs of different classes the largest are the worst, of equal ones the smallest.
    worst = wrong.assign(surprise=np.where(wrong["true"].eq(1), -1.0, 1.0) * wrong["decision_value"])
    by_class = [worst[worst["true"] == code].sort_values("surprise", ascending=False, kind="stable") for code in (1, 0)]
    shown = pd.concat([rows.head(max(count // 2, 1)) for rows in by_class]).head(count)
    if not len(shown):
        return None
    position = {str(name): number for number, name in enumerate(data.ids)}
    named = [str(sample).split(SEPARATOR) for sample in shown["sample"]]
    images = small_images(data, [position[name] for pair in named for name in pair])
    captions = tuple(
        f"{first} and {second}: {LABELS[true]}, taken for {LABELS[1 - true]}"
        for (first, second), true in zip(named, shown["true"].astype(int), strict=True)
    )
    counts = tuple(int((worst["true"] == code).sum()) for code in (1, 0))
    return WrongPairs(title, len(known[title]), counts, _side_by_side(images), captions)


def _side_by_side(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Join images 0 and 1, 2 and 3, ...: (2 k, rows, columns) to (k, rows, 2 columns + gap)."""
    gap = np.full((len(images) // 2, images.shape[1], GAP), 255, dtype=np.uint8)
    return np.concatenate([images[0::2], gap, images[1::2]], axis=2)

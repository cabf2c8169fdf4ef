"""How often intervals contain the true difference: populations that are known, split as a study splits its data.

``python -m tests.benchmarks.interval_coverage`` writes ``reports/intervals/coverage.csv`` and the figure beside it.

Classes are Gaussian around random means. Each of two methods sees one view of a sample, the means plus its own noise;
the noises have a correlation. With noise of the same strength the true difference is 0; with a stronger noise in the
second view it is measured on 600 fresh training sets. Rules: nearest class mean and nearest neighbour. A pool of N
samples is drawn anew each time, and split J times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from mklearn.base.statistics import paired_difference, paired_sample_difference, sample_interval

FEATURES, NOISE, POPULATIONS = 6, 1.3, 8
TARGET = Path(__file__).parents[2] / "reports" / "intervals"
Array = NDArray[Any]


class Setting(NamedTuple):
    """A pool, its splits and two methods."""

    n_samples: int
    n_classes: int
    scheme: str
    train_share: float
    correlation: float
    gain: float
    """Strength of the second view's noise, relative to the first's."""
    rule: str


def nearest_mean(Z: Array, y: Array, new: Array) -> Array:
    means = np.stack([Z[y == code].mean(axis=0) for code in range(y.max() + 1)])
    return cdist(new, means, "sqeuclidean").argmin(axis=1)


def nearest_neighbour(Z: Array, y: Array, new: Array) -> Array:
    return np.asarray(y[cdist(new, Z, "sqeuclidean").argmin(axis=1)])


RULES = {"nearest mean": nearest_mean, "nearest neighbour": nearest_neighbour}
SPLITS = {"random": (5, 10, 30), "5-fold": (5, 25)}


def settings() -> list[Setting]:
    """Return all settings: pool, share of training samples, correlation, difference, rule."""
    pools = [(60, 3), (200, 5), (400, 10)]
    schemes = [("random", 0.1), ("random", 0.5), ("random", 0.9), ("5-fold", 0.8)]
    found = product(pools, schemes, (0.5, 0.97), (1.0, 1.15), RULES)
    return [Setting(*pool, *scheme, *rest) for pool, scheme, *rest in found]


def views(setting: Setting, rng: np.random.Generator) -> Callable[[Array], tuple[Array, Array]]:
    """Return a function that draws the two views of samples with given classes."""
    means = rng.normal(size=(setting.n_classes, FEATURES))

    def draw(y: Array) -> tuple[Array, Array]:
        own, other = rng.normal(size=(2, len(y), FEATURES))
        second = setting.correlation * own + np.sqrt(1 - setting.correlation**2) * other
        return means[y] + NOISE * own, means[y] + NOISE * setting.gain * second

    return draw


def true_values(setting: Setting, draw: Callable[[Array], tuple[Array, Array]]) -> tuple[float, float]:
    """Return the true accuracy of the first method, and its difference to the second, each averaged over 600 sets."""
    classes = np.arange(setting.n_classes)
    y, new = np.repeat(classes, _per_class(setting)), np.repeat(classes, 1200 // setting.n_classes)
    predict = RULES[setting.rule]
    found = []
    for _ in range(600):
        train, test = draw(y), draw(new)
        found.append([(predict(Z, y, T) == new).mean() for Z, T in zip(train, test, strict=True)])
    first, second = np.mean(found, axis=0)
    return float(first), 0.0 if setting.gain == 1.0 else float(first - second)


def splits(setting: Setting, y: Array, rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
    """Yield training and test samples of as many splits as are needed."""
    if setting.scheme == "random":
        for _ in range(max(SPLITS["random"])):
            shuffled = [rng.permutation(np.flatnonzero(y == code)) for code in range(setting.n_classes)]
            train = np.concatenate([own[: _per_class(setting)] for own in shuffled])
            yield train, np.setdiff1d(np.arange(len(y)), train)
        return
    for _ in range(5):
        fold = np.empty(len(y), dtype=int)
        for code in range(setting.n_classes):
            own = rng.permutation(np.flatnonzero(y == code))
            fold[own] = np.arange(len(own)) % 5
        for number in range(5):
            yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)


def _per_class(setting: Setting) -> int:
    return max(1, round(setting.train_share * setting.n_samples / setting.n_classes))


def measure(setting: Setting, draws: int, seed: int) -> list[dict[str, Any]]:
    """Return coverage and mean width of each interval, one row for each number of splits."""
    rng = np.random.default_rng(seed)
    found: list[dict[str, Any]] = []
    y = np.repeat(np.arange(setting.n_classes), setting.n_samples // setting.n_classes)
    predict = RULES[setting.rule]
    for _ in range(POPULATIONS):
        draw = views(setting, rng)
        accuracy, difference = true_values(setting, draw)
        for _ in range(draws // POPULATIONS):
            pool = draw(y)
            outcomes = np.full((2, max(SPLITS[setting.scheme]), len(y)), np.nan)
            for number, (train, test) in enumerate(splits(setting, y, rng)):
                for method, Z in enumerate(pool):
                    outcomes[method, number, test] = predict(Z[train], y[train], Z[test]) == y[test]
            n_train, n_test = len(train), len(test)
            for count in SPLITS[setting.scheme]:
                one, other = outcomes[:, :count]
                single = sample_interval(one, n_train)
                means = np.nanmean(one, axis=1), np.nanmean(other, axis=1)
                ours = paired_sample_difference(one, other, n_train)
                for name, interval, truth in (
                    ("accuracy", single, accuracy),
                    ("difference", ours, difference),
                    ("Nadeau-Bengio", paired_difference(*means, n_train, n_test), difference),
                    ("errors as bound", former(*means, n_train, n_test, len(y)), difference),
                    ("uncorrected t", paired_difference(*means, 1e12, n_test), difference),
                ):
                    found.append({
                        "splits": count, "interval": name, "covered": interval[1] <= truth <= interval[2],
                        "width": interval[2] - interval[1], "disagreement": ours.disagreement,
                    })  # fmt: skip
    table = pd.DataFrame(found).groupby(["splits", "interval"], as_index=False).mean()
    return [{**setting._asdict(), **row} for row in table.to_dict("records")]


def former(one: Array, other: Array, n_train: int, n_test: int, n_samples: int) -> tuple[float, float, float]:
    """Return the interval before predictions were kept: the disagreement is bounded by the sum of the errors."""
    from scipy.special import stdtrit

    values = one - other
    apart = max(0.0, min(1.0, 2.0 - one.mean() - other.mean()) - values.mean() ** 2)
    shared = min(values.var(ddof=1) * n_test / n_train, apart / n_samples)
    half = stdtrit(len(values) - 1, 0.975) * np.sqrt(values.var(ddof=1) / len(values) + shared)
    return values.mean(), values.mean() - half, values.mean() + half


def figure(table: pd.DataFrame) -> str:
    """Draw the coverage of each interval in every setting, by the number of splits, as SVG."""
    import vl_convert

    order = ["accuracy", "difference", "Nadeau-Bengio", "errors as bound", "uncorrected t"]
    points = {
        "mark": {"type": "tick", "opacity": 0.6},
        "encoding": {
            "x": {"field": "covered", "type": "quantitative", "title": "Coverage of the 95 % interval",
                  "axis": {"format": "%"}, "scale": {"domain": [0.3, 1]}},
            "y": {"field": "interval", "type": "nominal", "sort": order, "title": None},
        },
    }  # fmt: skip
    wanted = {"mark": {"type": "rule", "strokeDash": [4, 3]}, "encoding": {"x": {"datum": 0.95}}}
    chart = {
        "data": {"values": table.to_dict("records")},
        "facet": {"row": {"field": "splits", "type": "ordinal", "title": "Splits"}},
        "spec": {"width": 420, "layer": [points, wanted]},
        "config": {"aria": False},
    }
    return str(vl_convert.vegalite_to_svg(chart))


def main(draws: int = 240) -> None:
    rows = [row for seed, setting in enumerate(settings()) for row in measure(setting, draws, seed)]
    table = pd.DataFrame(rows).round(5)
    TARGET.mkdir(parents=True, exist_ok=True)
    table.to_csv(TARGET / "coverage.csv", index=False)
    (TARGET / "coverage.svg").write_text(figure(table), encoding="utf-8")


if __name__ == "__main__":
    main()

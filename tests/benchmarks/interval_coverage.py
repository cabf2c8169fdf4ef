"""How often intervals contain the true difference: populations that are known, split as a study splits its data.

``python -m tests.benchmarks.interval_coverage`` writes ``reports/intervals/coverage.csv`` and the figure beside it.
With folders of data sets (such as mfeat and protein_fold, or delaney and wheat with numbers: a table ``VIEW.csv.gz``
per view and ``samples.csv``) it writes ``pools.csv``: pools drawn from the samples of the set, and the mean over all
pools as the truth.

Classes are Gaussian around random means. Each of two methods sees one view of a sample, the means plus its own noise;
the noises have a correlation. With noise of the same strength the true difference is 0; with a stronger noise in the
second view it is measured on 120 fresh training sets. Rules: nearest class mean and nearest neighbour. A pool of N
samples is drawn anew each time, and split J times. Metrics of scores are those of the nearest mean's probabilities.

A half-width is compared with the one needed: 1.96 times the root mean square of the errors.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from mklearn.base.statistics import paired_difference, paired_sample_difference, sample_interval
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.sweeps import MethodOutput

FEATURES, NOISE, POPULATIONS = 6, 1.3, 2
TARGET = Path(__file__).parents[2] / "reports" / "intervals"
Array = NDArray[Any]


class Setting(NamedTuple):
    """A pool, its splits and two methods."""

    n_samples: int
    n_classes: int
    scheme: str
    train_share: float
    correlation: float
    shares: str
    """Of the classes in the pool: equal, or falling to a third from the first to the last."""
    gain: float
    """Strength of the second view's noise, relative to the first's."""
    rule: str


def nearest_mean(Z: Array, y: Array, new: Array) -> Array:
    """Return the class probabilities of samples with noise around class means."""
    means = np.stack([Z[y == code].mean(axis=0) for code in range(y.max() + 1)])
    exponents = -cdist(new, means, "sqeuclidean") / (2 * NOISE**2)
    shares = np.exp(exponents - exponents.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def nearest_neighbour(Z: Array, y: Array, new: Array) -> Array:
    """Return 1 for the class of the nearest sample, and 0 for the others."""
    return np.eye(y.max() + 1)[y[cdist(new, Z, "sqeuclidean").argmin(axis=1)]]


RULES = {"nearest mean": nearest_mean, "nearest neighbour": nearest_neighbour}
METRICS = {
    "nearest mean": ("accuracy", "balanced_accuracy", "minority_recall", "macro_f1", "log_loss", "auc"),
    "nearest neighbour": ("accuracy", "balanced_accuracy", "minority_recall", "macro_f1"),
    "numbers": ("r2", "rmse", "mae", "pearson", "spearman"),
}


class Answer:
    """A fitted classifier that gives known probabilities."""

    def __init__(self, shares: Array) -> None:
        self.shares, self.classes_ = shares, np.arange(shares.shape[1])

    def predict_proba(self, X: Any) -> Array:
        return self.shares


def values_of(name: str, y_train: Array, y: Array, outputs: Array) -> Array:
    """Return a metric's values of samples, whose mean is the metric; outputs are class probabilities, or numbers."""
    labels = outputs[:, 0] if outputs.shape[1] == 1 else outputs.argmax(axis=1)
    output = MethodOutput(Answer(outputs), y_train, y, labels, test=y)
    metric = metric_named(name)
    return (output.labels == y).astype(float) if metric.mean_of_samples else metric.sample_values(output)


SPLITS = {"random": (5, 10), "5-fold": (5, 25)}


def settings() -> list[Setting]:
    """Return all settings: pool, share of training samples, correlation, difference, rule."""
    pools = [(60, 3), (200, 5), (400, 10)]
    schemes = [("random", 0.1), ("random", 0.5), ("random", 0.9), ("5-fold", 0.8)]
    views_and_classes = [(0.5, "equal"), (0.97, "equal"), (0.97, "unequal")]
    found = product(pools, schemes, views_and_classes, (1.0, 1.15), RULES)
    return [Setting(*pool, *scheme, *own, *rest) for pool, scheme, own, *rest in found]


def pool_classes(setting: Setting, n_samples: int) -> Array:
    """Return the class codes of a pool with about so many samples."""
    weights = np.ones(setting.n_classes)
    if setting.shares == "unequal":
        weights = np.linspace(3, 1, setting.n_classes)
    counts = np.maximum(2, np.round(n_samples * weights / weights.sum()).astype(int))
    return np.repeat(np.arange(setting.n_classes), counts)


def views(setting: Setting, rng: np.random.Generator) -> Callable[[Array], tuple[Array, Array]]:
    """Return a function that draws the two views of samples with given classes."""
    means = rng.normal(size=(setting.n_classes, FEATURES))

    def draw(y: Array) -> tuple[Array, Array]:
        own, other = rng.normal(size=(2, len(y), FEATURES))
        second = setting.correlation * own + np.sqrt(1 - setting.correlation**2) * other
        return means[y] + NOISE * own, means[y] + NOISE * setting.gain * second

    return draw


def true_values(setting: Setting, draw: Callable[[Array], tuple[Array, Array]]) -> dict[str, tuple[float, float]]:
    """Return by metric the first method's value, and its difference to the second, averaged over 120 fresh sets."""
    y, new = pool_classes(setting, setting.n_samples), pool_classes(setting, 600)
    known = np.concatenate([np.flatnonzero(y == code)[:count] for code, count in enumerate(_train_counts(setting, y))])
    found: dict[str, list[list[float]]] = {name: [] for name in METRICS[setting.rule]}
    for _ in range(120):
        train, test = draw(y[known]), draw(new)
        shares = [RULES[setting.rule](Z, y[known], T) for Z, T in zip(train, test, strict=True)]
        for name, values in found.items():
            values.append([float(values_of(name, y[known], new, each).mean()) for each in shares])
    means = {name: np.mean(values, axis=0) for name, values in found.items()}
    return {name: (a, 0.0 if setting.gain == 1.0 else a - b) for name, (a, b) in means.items()}


def splits(setting: Setting, y: Array, rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
    """Yield training and test samples of as many splits as are needed."""
    if setting.scheme == "random":
        for _ in range(max(SPLITS["random"])):
            counts = _train_counts(setting, y)
            train = np.concatenate([
                rng.permutation(np.flatnonzero(y == code))[:count] for code, count in enumerate(counts)
            ])  # fmt: skip
            yield train, np.setdiff1d(np.arange(len(y)), train)
        return
    for _ in range(5):
        fold = np.empty(len(y), dtype=int)
        for code in range(setting.n_classes):
            own = rng.permutation(np.flatnonzero(y == code))
            fold[own] = np.arange(len(own)) % 5
        for number in range(5):
            yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)


def _train_counts(setting: Setting, y: Array) -> Array:
    """Return the training samples of each class in a split."""
    counts = np.bincount(y)
    return np.clip(np.round(setting.train_share * counts).astype(int), 1, counts - 1)


def measure(setting: Setting, draws: int, seed: int) -> list[dict[str, Any]]:
    """Return coverage and width of each interval, one row for each metric and number of splits."""
    rng = np.random.default_rng(seed)
    found: list[dict[str, Any]] = []
    y = pool_classes(setting, setting.n_samples)
    for _ in range(POPULATIONS):
        draw = views(setting, rng)
        truths = true_values(setting, draw)
        for _ in range(draws // POPULATIONS):
            pool = draw(y)
            tables = {name: np.full((2, max(SPLITS[setting.scheme]), len(y)), np.nan) for name in truths}
            for number, (train, test) in enumerate(splits(setting, y, rng)):
                for method, Z in enumerate(pool):
                    shares = RULES[setting.rule](Z[train], y[train], Z[test])
                    for name, table in tables.items():
                        table[method, number, test] = values_of(name, y[train], y[test], shares)
            for (name, table), count in product(tables.items(), SPLITS[setting.scheme]):
                one, other = table[:, :count]
                found += _intervals(name, one, other, len(train), truths[name])
    return [{**setting._asdict(), **row} for row in summary(pd.DataFrame(found))]


def _intervals(
    name: str, one: Array, other: Array, n_train: int, truth: tuple[float, float]
) -> Iterator[dict[str, Any]]:
    """Yield each interval of a metric with its error and half-width."""
    means, n_test = (np.nanmean(one, axis=1), np.nanmean(other, axis=1)), int((~np.isnan(one[0])).sum())
    bounds = metric_named(name).bounds
    intervals = {
        "single": (sample_interval(one, n_train, bounds=bounds), truth[0]),
        "difference": (paired_sample_difference(one, other, n_train, bounds=bounds), truth[1]),
        "Nadeau-Bengio": (paired_difference(*means, n_train, n_test), truth[1]),
        "uncorrected t": (paired_difference(*means, 1e12, n_test), truth[1]),
    }
    for kind, (interval, value) in intervals.items():
        yield {
            "metric": name, "splits": len(one), "interval": kind, "covered": interval[1] <= value <= interval[2],
            "half_width": (interval[2] - interval[1]) / 2, "error": interval[0] - value,
        }  # fmt: skip


def summary(found: pd.DataFrame) -> list[dict[str, Any]]:
    """Return coverage, median half-width and the half-width needed by metric, number of splits and interval."""
    rows = []
    for (metric, splits, interval), own in found.groupby(["metric", "splits", "interval"]):
        needed = 1.96 * np.sqrt(np.mean(own["error"] ** 2))
        half_width = own["half_width"].median()
        rows.append({
            "metric": metric, "splits": splits, "interval": interval, "covered": own["covered"].mean(),
            "half_width": half_width, "needed": needed, "ratio": half_width / needed,
        })  # fmt: skip
    return rows


POOL_SPLITS = (("random", 0.25, 10), ("random", 0.5, 10), ("random", 0.8, 10), ("5-fold", 0.8, 5), ("5-fold", 0.8, 25))
PAIRS = (
    ("ridge all", "ridge half"),
    ("ridge all", "1-NN all"),
    ("ridge half", "ridge first"),
    ("ridge all", "weak ridge"),
)


def measure_pools(folder: Path, pools: int = 150, n_samples: int = 190) -> list[dict[str, Any]]:
    """Return coverage and width on pools of about ``n_samples`` of a data set, for pairs of kernel methods."""
    rng, (kernels, y) = np.random.default_rng(0), _kernels(folder)
    codes = np.zeros(len(y), dtype=int) if are_numbers(y) else y
    metrics = METRICS["numbers" if are_numbers(y) else "nearest neighbour"]
    classes = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
    counts = [max(5, round(n_samples * len(own) / len(y))) for own in classes]
    tables: dict[tuple[Any, ...], list[tuple[Array, Array, int]]] = {}
    for _ in range(pools):
        pool = np.concatenate(
            [rng.choice(own, count, replace=False) for own, count in zip(classes, counts, strict=True)]
        )
        for scheme, share, count in POOL_SPLITS:
            setting = Setting(len(pool), len(classes), scheme, share, 0.0, "", 0.0, "")
            drawn = list(islice(splits(setting, codes[pool], rng), count))
            made = _pool_values(kernels, y[pool], pool, drawn, metrics)
            for (one, other), metric in product(PAIRS, metrics):
                entry = made[one, metric], made[other, metric], len(drawn[0][0])
                tables.setdefault((scheme, share, count, one, other, metric), []).append(entry)
    rows = []
    for (scheme, share, _, one, other, metric), found in tables.items():
        means = np.array([[np.nanmean(np.nanmean(table, axis=1)) for table in entry[:2]] for entry in found])
        truth = float(means[:, 0].mean()), float((means[:, 0] - means[:, 1]).mean())
        intervals = [row for first, second, n in found for row in _intervals(metric, first, second, n, truth)]
        place = {"dataset": folder.name, "scheme": scheme, "train_share": share, "first": one, "second": other}
        rows += [{**place, "gain": truth[1], **row} for row in summary(pd.DataFrame(intervals))]
    return rows


def _pool_values(
    kernels: dict[str, Array], y: Array, pool: Array, drawn: list[tuple[Array, Array]], metrics: Sequence[str]
) -> dict[tuple[str, str], Array]:
    """Return by method and metric the values of the samples of a pool in each split."""
    methods = dict.fromkeys(name for pair in PAIRS for name in pair)
    made = {key: np.full((len(drawn), len(pool)), np.nan) for key in product(methods, metrics)}
    targets = y[:, None] if are_numbers(y) else np.eye(int(y.max()) + 1)[y]
    for number, (train, test) in enumerate(drawn):
        for method in methods:
            K = kernels[method.rpartition(" ")[2] if method != "weak ridge" else "all"][np.ix_(pool, pool[train])]
            if method.startswith("1-NN"):
                outputs = targets[train][K[test].argmax(axis=1)]
            else:
                mean = targets[train].mean(axis=0)
                ridge = (1e-5 if method == "weak ridge" else 1e-3) * len(train)
                dual = np.linalg.solve(K[train] + ridge * np.eye(len(train)), targets[train] - mean)
                outputs = K[test] @ dual + mean
            for metric in metrics:
                made[method, metric][number, test] = values_of(metric, y[train], y[test], outputs)
    return made


def _kernels(folder: Path) -> tuple[dict[str, Array], Array]:
    """Return Gaussian kernels: the mean of all views, of the first half, and the first; and the classes or numbers."""
    table = pd.read_csv(folder / "samples.csv")
    labels = next(table[name] for name in table if name not in ("id", "group", "split"))
    stack = []
    for path in sorted(folder.glob("*.csv.gz")):
        X = pd.read_csv(path).iloc[:, 1:].to_numpy(dtype=float)
        X = ((X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1))[:, X.std(axis=0) > 0]
        distances = cdist(X, X, "sqeuclidean")
        stack.append(np.exp(-distances / distances.mean()))
    parts = {"all": stack, "half": stack[: len(stack) // 2], "first": stack[:1]}
    y = labels.to_numpy() if labels.dtype == float else np.unique(labels, return_inverse=True)[1]
    return {name: np.mean(part, axis=0) for name, part in parts.items()}, y


def are_numbers(y: Array) -> bool:
    return y.dtype == np.float64


def figure(table: pd.DataFrame) -> str:
    """Draw the coverage of each interval in every setting, by the number of splits, as SVG."""
    import vl_convert

    order = ["single", "difference", "Nadeau-Bengio", "uncorrected t"]
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


def main(draws: int = 24) -> None:
    if sys.argv[1:]:
        table, name = pd.DataFrame([row for folder in sys.argv[1:] for row in measure_pools(Path(folder))]), "pools.csv"
    else:
        jobs = [(setting, draws, seed) for seed, setting in enumerate(settings())]
        with multiprocessing.Pool(2) as pool:
            rows = [row for made in pool.starmap(measure, jobs, chunksize=4) for row in made]
        table, name = pd.DataFrame(rows), "coverage.csv"
        TARGET.mkdir(parents=True, exist_ok=True)
        (TARGET / "coverage.svg").write_text(figure(table[table["metric"] == "accuracy"]), encoding="utf-8")
    table.round(5).to_csv(TARGET / name, index=False)


if __name__ == "__main__":
    main()

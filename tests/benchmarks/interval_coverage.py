"""Measure how often intervals contain the true difference, on known populations and on pools of real data.

``python -m tests.benchmarks.interval_coverage`` writes ``reports/intervals/coverage.csv``; with folders of data sets (a
table ``VIEW.csv.gz`` per view and ``samples.csv``) it writes ``pools.csv``, with the mean over all pools of a set as
the truth, and for numbers ``distances.csv``, with prediction intervals of samples near and far from the training ones.

Classes are Gaussian around random means. Each of two methods sees one view of a sample: its class mean plus noise; the
noises of the two views are correlated. With noise of equal strength the true difference is 0; with stronger noise in
the second view it is measured on 120 fresh training sets. A half-width is compared with the one needed: 1.96 times the
root mean square of the errors.
"""

import multiprocessing
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import softmax
from sklearn.model_selection import RepeatedStratifiedKFold, ShuffleSplit, StratifiedShuffleSplit

from mklearn import MultiViewRegressor
from mklearn.base.statistics import paired_difference, paired_sample_difference, sample_interval
from mklearn.optimize.calibration import jackknife_radius
from mklearn.study.evaluation.fitted import lookup_of
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.outputs import MethodOutput

FEATURES, NOISE, POPULATIONS = 6, 1.3, 2
TARGET = Path(__file__).parents[2] / "reports" / "intervals"
Array = NDArray[Any]


class Setting(NamedTuple):
    n_samples: int
    n_classes: int
    scheme: str
    train_share: float
    correlation: float
    shares: str
    """Class proportions of the pool: equal, or falling to a third from the first class to the last."""
    gain: float
    """Strength of the second view's noise, relative to the first's."""
    rule: str


def nearest_mean(Z: Array, y: Array, new: Array) -> Array:
    """Return the class probabilities of samples with noise around class means."""
    means = np.stack([Z[y == code].mean(axis=0) for code in range(y.max() + 1)])
    return np.asarray(softmax(-cdist(new, means, "sqeuclidean") / (2 * NOISE**2), axis=1))


def nearest_neighbour(Z: Array, y: Array, new: Array) -> Array:
    """Return 1 for the class of the nearest sample, and 0 for the others."""
    return np.eye(y.max() + 1)[y[cdist(new, Z, "sqeuclidean").argmin(axis=1)]]


RULES = {"nearest mean": nearest_mean, "nearest neighbour": nearest_neighbour}
OF_LABELS = ("accuracy", "balanced_accuracy", "minority_recall", "macro_f1")
OF_NUMBERS = ("r2", "rmse", "mae", "pearson", "spearman")
METRICS = {"nearest mean": (*OF_LABELS, "log_loss", "auc"), "nearest neighbour": OF_LABELS}
SPLITS = {"random": (5, 10), "5-fold": (5, 25)}
"""Numbers of splits whose intervals are measured."""


def values_of(name: str, y_train: Array, y: Array, outputs: Array) -> Array:
    """Return a metric's value for each sample, with the metric as their mean, from class probabilities or numbers."""
    labels = outputs[:, 0] if outputs.shape[1] == 1 else outputs.argmax(axis=1)
    classifier = SimpleNamespace(predict_proba=lambda X: outputs, classes_=np.arange(outputs.shape[1]))
    output = MethodOutput(y_train, y, labels, lookup_of(classifier, y_train, y))
    metric = metric_named(name)
    return (output.labels == y).astype(float) if metric.mean_of_samples else metric.sample_values(output)


def settings() -> list[Setting]:
    pools = [(60, 3), (200, 5), (400, 10)]
    schemes = [("random", 0.1), ("random", 0.5), ("random", 0.9), ("5-fold", 0.8)]
    views_and_classes = [(0.5, "equal"), (0.97, "equal"), (0.97, "unequal")]
    combinations = product(pools, schemes, views_and_classes, (1.0, 1.15), RULES)
    return [Setting(*pool, *scheme, *views, gain, rule) for pool, scheme, views, gain, rule in combinations]


def pool_classes(setting: Setting, n_samples: int) -> Array:
    """Return the class codes of a pool of about ``n_samples``."""
    weights = np.linspace(3 if setting.shares == "unequal" else 1, 1, setting.n_classes)
    counts = np.maximum(2, np.round(n_samples * weights / weights.sum()).astype(int))
    return np.repeat(np.arange(setting.n_classes), counts)


def drawn_views(setting: Setting, means: Array, y: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the two views of samples with given classes."""
    first, other = rng.normal(size=(2, len(y), FEATURES))
    second = setting.correlation * first + np.sqrt(1 - setting.correlation**2) * other
    return means[y] + NOISE * first, means[y] + NOISE * setting.gain * second


def splits(scheme: str, train_share: float, y: Array, rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
    seed = int(rng.integers(2**31))
    if scheme == "random":
        random = StratifiedShuffleSplit(10, train_size=train_share, test_size=1 - train_share, random_state=seed)
        return random.split(y, y)
    return RepeatedStratifiedKFold(n_splits=5, n_repeats=5, random_state=seed).split(y, y)


def value_tables(
    methods: Mapping[Any, Callable[[Array, Array], Array]], y: Array, drawn: Sequence[tuple[Array, Array]],
    metrics: Sequence[str],
) -> dict[tuple[Any, str], Array]:  # fmt: skip
    """Return the values of samples, (splits, samples), by method and metric; methods map rows to outputs."""
    tables = {key: np.full((len(drawn), len(y)), np.nan) for key in product(methods, metrics)}
    for number, (train, test) in enumerate(drawn):
        for name, predict in methods.items():
            outputs = predict(train, test)
            for metric in metrics:
                tables[name, metric][number, test] = values_of(metric, y[train], y[test], outputs)
    return tables


def measure(setting: Setting, draws: int, seed: int) -> list[dict[str, Any]]:
    """Return coverage and width of each interval, one row for each metric and number of splits."""
    rng, rule, metrics = np.random.default_rng(seed), RULES[setting.rule], METRICS[setting.rule]
    y, fresh = pool_classes(setting, setting.n_samples), pool_classes(setting, 600)
    rows: list[dict[str, Any]] = []
    for _ in range(POPULATIONS):
        draw = partial(drawn_views, setting, rng.normal(size=(setting.n_classes, FEATURES)), rng=rng)
        y_train = y[next(splits(setting.scheme, setting.train_share, y, rng))[0]]
        outputs = [[rule(Z, y_train, T) for Z, T in zip(draw(y_train), draw(fresh), strict=True)] for _ in range(120)]
        truths = {}
        for metric in metrics:
            means = [[values_of(metric, y_train, fresh, each).mean() for each in both] for both in outputs]
            first, second = np.mean(means, axis=0)
            truths[metric] = first, 0.0 if setting.gain == 1.0 else first - second
        for _ in range(draws // POPULATIONS):
            drawn = list(splits(setting.scheme, setting.train_share, y, rng))
            methods = [partial(lambda Z, train, test: rule(Z[train], y[train], Z[test]), Z) for Z in draw(y)]
            tables = value_tables(dict(enumerate(methods)), y, drawn, metrics)
            for metric, count in product(metrics, SPLITS[setting.scheme]):
                one, other = (tables[method, metric][:count] for method in (0, 1))
                rows += _intervals(metric, one, other, len(drawn[0][0]), truths[metric])
    return [{**setting._asdict(), **row} for row in summary(rows)]


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


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return coverage, median half-width and the half-width needed by metric, number of splits and interval."""
    groups = pd.DataFrame(rows).groupby(["metric", "splits", "interval"])
    table = groups.agg(covered=("covered", "mean"), half_width=("half_width", "median"))
    table["needed"] = 1.96 * groups["error"].agg(lambda errors: np.sqrt(np.mean(errors**2)))
    table["ratio"] = table["half_width"] / table["needed"]
    return table.reset_index().to_dict("records")  # type: ignore[return-value]


POOL_SPLITS = (("random", 0.25, 10), ("random", 0.5, 10), ("random", 0.8, 10), ("5-fold", 0.8, 5), ("5-fold", 0.8, 25))
PAIRS = (
    ("ridge all", "ridge half"), ("ridge all", "1-NN all"), ("ridge half", "ridge first"), ("ridge all", "weak ridge"),
)  # fmt: skip


def measure_pools(folder: Path, pools: int = 150, n_samples: int = 190) -> list[dict[str, Any]]:
    """Return coverage and width on pools of about ``n_samples`` of a data set, for pairs of kernel methods."""
    rng, (kernels, y) = np.random.default_rng(0), _kernels(folder)
    numbers = y.dtype == float
    codes, metrics = (np.zeros(len(y), int), OF_NUMBERS) if numbers else (y, OF_LABELS)
    targets = y[:, None] if numbers else np.eye(int(y.max()) + 1)[y]
    tables: dict[tuple[Any, ...], list[tuple[Array, Array, int]]] = {}
    for _ in range(pools):
        classes = (np.flatnonzero(codes == code) for code in range(codes.max() + 1))
        sizes = ((rows, max(5, round(n_samples * len(rows) / len(y)))) for rows in classes)
        pool = np.concatenate([rng.choice(rows, size, replace=False) for rows, size in sizes])
        methods = {
            name: partial(_predict, name, {part: K[np.ix_(pool, pool)] for part, K in kernels.items()}, targets[pool])
            for name in dict.fromkeys(chain(*PAIRS))
        }
        for scheme, share, count in POOL_SPLITS:
            drawn = list(islice(splits(scheme, share, codes[pool], rng), count))
            values = value_tables(methods, y[pool], drawn, metrics)
            for (one, other), metric in product(PAIRS, metrics):
                entry = values[one, metric], values[other, metric], len(drawn[0][0])
                tables.setdefault((scheme, share, one, other, metric, count), []).append(entry)
    rows = []
    for (scheme, share, one, other, metric, _), entries in tables.items():
        first, second = (np.mean([np.nanmean(np.nanmean(e[method], axis=1)) for e in entries]) for method in (0, 1))
        truth = float(first), float(first - second)
        intervals = [row for a, b, n_train in entries for row in _intervals(metric, a, b, n_train, truth)]
        names = {"dataset": folder.name, "scheme": scheme, "train_share": share, "first": one, "second": other}
        rows += [{**names, "gain": truth[1], **row} for row in summary(intervals)]
    return rows


def _predict(method: str, kernels: dict[str, Array], targets: Array, train: Array, test: Array) -> Array:
    K = kernels[method.rpartition(" ")[2] if method != "weak ridge" else "all"]
    if method.startswith("1-NN"):
        return np.asarray(targets[train][K[np.ix_(test, train)].argmax(axis=1)])
    mean = targets[train].mean(axis=0)
    ridge = (1e-5 if method == "weak ridge" else 1e-3) * len(train)
    dual = np.linalg.solve(K[np.ix_(train, train)] + ridge * np.eye(len(train)), targets[train] - mean)
    return np.asarray(K[np.ix_(test, train)] @ dual + mean)


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


def measure_distances(folder: Path, draws: int = 20) -> pd.DataFrame:
    """Return coverage and half-width of 90 % intervals, and of equal ones, by thirds of the distance to the nearest."""
    (kernels, y), tables = _kernels(folder), []
    K = np.stack(list(kernels.values()), axis=-1)
    for train, test in ShuffleSplit(draws, train_size=300, random_state=0).split(y):
        model, rows = MultiViewRegressor(kernels="precomputed").fit(K[train][:, train], y[train]), K[test][:, train]
        half, errors = np.ptp(model.predict_interval(rows), axis=0) / 2, np.abs(y[test] - model.predict(rows))
        equal, third = jackknife_radius(model._errors_[:, 0], 0.9), pd.qcut(-rows[..., 0].max(axis=1), 3, labels=False)
        columns = {"covered": errors <= half, "half_width": half, "covered_equal": errors <= equal, "equal": equal}
        tables.append(pd.DataFrame({"dataset": folder.name, "third": third, **columns}))
    return pd.concat(tables).groupby(["dataset", "third"]).mean()


def main(draws: int = 24) -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    if sys.argv[1:]:
        folders = [Path(folder) for folder in sys.argv[1:]]
        tables = [measure_distances(folder) for folder in folders if _kernels(folder)[1].dtype == float]
        if tables:
            pd.concat(tables).round(5).to_csv(TARGET / "distances.csv")
        rows, name = list(chain(*map(measure_pools, folders))), "pools.csv"
    else:
        jobs = [(setting, draws, seed) for seed, setting in enumerate(settings())]
        with multiprocessing.Pool(2) as pool:
            rows, name = list(chain(*pool.starmap(measure, jobs, chunksize=4))), "coverage.csv"
    pd.DataFrame(rows).round(5).to_csv(TARGET / name, index=False)


if __name__ == "__main__":
    main()

"""The tables of a study, and the small frames that single figures and tables are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mklearn.report.records import FitRecord
from mklearn.report.series import Series, series_of
from mklearn.report.wording import missing, setting_title

if TYPE_CHECKING:
    import pandas as pd

MAX_CURVE_POINTS = 120
MAX_EMBEDDING_POINTS = 2500
MAX_POINTS_OF_ALL_EMBEDDINGS = 40_000
MIN_EMBEDDING_POINTS = 300
LEAST_SHARE = 1e-9
"""Eigenvalues below this share of the sum are rounding errors, and left out."""


@dataclass(frozen=True)
class Setting:
    """One data set, protocol and training size: what one result table and one group of figures are about."""

    dataset: str
    protocol: str
    train_size: int | None
    title: str
    dataset_title: str = ""

    @property
    def family(self) -> str:
        """The protocol without its training size: settings of one family differ in nothing else."""
        return protocol_family(self.protocol, self.train_size)

    def of(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of a score or summary table that belong to this setting."""
        size = frame["train_size"]
        same_size = size.isna() if self.train_size is None else size.eq(self.train_size).fillna(False).astype(bool)
        return frame[frame["dataset"].eq(self.dataset) & frame["protocol"].eq(self.protocol) & same_size]

    def fits(self, records: Sequence[FitRecord]) -> list[FitRecord]:
        """Return the fits of this setting."""
        key = (self.dataset, self.protocol, self.train_size)
        return [record for record in records if (record.dataset, record.protocol, record.train_size) == key]


@dataclass(frozen=True)
class Results:
    """The results of a study.

    Attributes
    ----------
    scores, summary : DataFrame
        The tidy score table, and :func:`mklearn.evaluation.summary.summarise` of it: the rows of the metric accuracy,
        with ``label``, the name of the series, and ``family``, the protocol without its training size.
    fits : sequence of FitRecord
    reference, reference_title : str
        Id and title of the method that differences are taken to.
    settings : list of Setting
        In order of first appearance.
    series : Series
    """

    scores: pd.DataFrame
    summary: pd.DataFrame
    fits: Sequence[FitRecord]
    reference: str
    reference_title: str
    settings: list[Setting]
    series: Series

    def inner_cv(self) -> pd.DataFrame:
        """Return the summary rows chosen by inner cross-validation."""
        return self.summary[self.summary["selection"].eq("inner_cv")]

    def method_titles(self) -> dict[str, str]:
        """Return the titles of the methods by id."""
        return dict(zip(self.summary["method"], self.summary["method_title"], strict=True))


def results_of(
    scores: pd.DataFrame, summary: pd.DataFrame, fits: Sequence[FitRecord], reference: str = "average"
) -> Results:
    """Collect the results of a study, and divide them into settings and series."""
    series = series_of(summary, reference)
    titles = summary.loc[summary["method"].eq(reference), "method_title"]
    scores, summary = _prepared(scores, series), _prepared(summary, series)
    return Results(
        scores=scores,
        summary=summary,
        fits=fits,
        reference=reference,
        reference_title=str(titles.iloc[0]) if len(titles) else reference,
        settings=_settings_of(summary),
        series=series,
    )


def _prepared(frame: pd.DataFrame, series: Series) -> pd.DataFrame:
    """Select the rows of the metric accuracy, and failures that name none; add ``label`` and ``family``."""
    if "metric" in frame:
        frame = frame[frame["metric"].fillna("").isin(["accuracy", ""])]
    frame = frame.assign(protocol=frame["protocol"].fillna(""), neighbour=frame["neighbour"].fillna(""))
    methods = zip(frame["method"], frame["kernel_set"].fillna(""), strict=True)
    protocols = zip(frame["protocol"], frame["train_size"], strict=True)
    return frame.assign(
        label=[series.label(method, kernel_set) for method, kernel_set in methods],
        family=[protocol_family(protocol, size) for protocol, size in protocols],
    )


def _settings_of(summary: pd.DataFrame) -> list[Setting]:
    rows = summary[["dataset", "dataset_title", "protocol", "train_size", "family"]].drop_duplicates()
    n_families = rows.drop_duplicates(["dataset", "family"])["dataset"].value_counts()
    settings = []
    for row in records(rows):
        family = row["family"] if n_families[row["dataset"]] > 1 else ""
        title = setting_title(str(row["dataset_title"]), row["train_size"], family)
        size = whole_or_none(row["train_size"])
        settings.append(Setting(row["dataset"], row["protocol"], size, title, str(row["dataset_title"])))
    return settings


def protocol_family(protocol: str, train_size: Any) -> str:
    """Return ``faces`` for ``faces-p2`` with training size 2: a protocol of several sizes has one id per size."""
    return protocol if missing(train_size) else protocol.removesuffix(f"-p{int(train_size)}")


def usable(scores: pd.DataFrame) -> pd.DataFrame:
    """Select the score rows that have a value."""
    return scores[scores["value"].notna() & ~scores["status"].isin(["failed", "not_applicable"])]


def curves(scores: pd.DataFrame) -> pd.DataFrame:
    """Compute mean and spread over repeats at each dimension.

    Returns
    -------
    curves : DataFrame
        ``label, neighbour, dimension (NA for a method without one), mean, low, high, std, n, best``; long curves are
        thinned evenly, the best dimension of the mean curve is kept and marked.
    """
    import pandas as pd

    rows = usable(scores)
    table = _mean_and_spread(rows[rows["selection"].eq("dimension")], ["label", "neighbour", "dimension"])
    parts = []
    for _, part in table.groupby(["label", "neighbour"], sort=False):
        ordered = part.sort_values("dimension", ignore_index=True)
        complete = ordered["n"].eq(ordered["n"].max())
        best = int(ordered["mean"].where(complete).to_numpy().argmax()) if complete.any() else 0
        ordered["best"] = ordered.index == best
        kept = np.unique(np.append(np.linspace(0, len(ordered) - 1, MAX_CURVE_POINTS).round().astype(int), best))
        parts.append(ordered.iloc[kept])
    return pd.concat(parts, ignore_index=True) if parts else table.assign(best=pd.Series(dtype=bool))


def iterations(scores: pd.DataFrame) -> pd.DataFrame:
    """Compute mean and spread over repeats after each iteration: ``label, neighbour, dimension, n_iter, mean, ...``.

    From score rows with selection "iteration": ``n_iter`` iterations, at size ``dimension``.
    """
    rows = usable(scores)
    if "n_iter" not in rows.columns:
        rows = rows.assign(n_iter=None)
    rows = rows[rows["selection"].eq("iteration")].dropna(subset=["n_iter", "dimension"])
    table = _mean_and_spread(rows, ["label", "neighbour", "dimension", "n_iter"])
    return table.sort_values(["dimension", "n_iter"], kind="stable", ignore_index=True)


def _mean_and_spread(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Group score rows; add ``mean``, ``std``, ``n``, and ``low`` and ``high``: one standard deviation around it."""
    table = (
        rows.assign(value=rows["value"].astype("float64"))
        .groupby(keys, sort=False, dropna=False)["value"]
        .agg(["mean", "std", "count"])
        .reset_index()
        .rename(columns={"count": "n"})
    )
    return with_band(table)


def with_band(table: pd.DataFrame) -> pd.DataFrame:
    """Add ``low`` and ``high``, one standard deviation around the mean."""
    spread = table["std"].fillna(0.0)
    return table.assign(low=table["mean"] - spread, high=table["mean"] + spread)


def fit_times(scores: pd.DataFrame) -> pd.DataFrame:
    """Return ``label, repeat, seconds``: one row for each fit."""
    rows = usable(scores).dropna(subset=["fit_seconds"])
    rows = rows[rows["selection"].ne("iteration")]
    fits = rows.drop_duplicates(["repeat", "fold", "method", "kernel_set"])
    return fits[["label", "repeat"]].assign(seconds=fits["fit_seconds"].astype("float64"))


def weights(record: FitRecord) -> pd.DataFrame:
    """Return ``kernel, repeat, weight`` of one fit."""
    import pandas as pd

    table = np.atleast_2d(np.asarray(record.weights, dtype=float))
    repeats, kernels = np.indices(table.shape)
    names = [record.kernel_ids[k] for k in kernels.ravel()]
    frame = pd.DataFrame({"kernel": names, "repeat": repeats.ravel(), "weight": table.ravel()})
    return frame.dropna(subset=["weight"])


def vary(weights: pd.DataFrame) -> bool:
    """Tell whether weights were learned: they are not the same for every kernel in every repeat."""
    return bool(len(weights) and np.ptp(weights["weight"].to_numpy()) > 1e-12)


def embedding_points(fits: Sequence[FitRecord]) -> int:
    """Return how many points each embedding may have, so that the page is not too large with all of them."""
    shown = sum(record.embedding is not None for record in fits)
    share = MAX_POINTS_OF_ALL_EMBEDDINGS // max(1, shown)
    return min(MAX_EMBEDDING_POINTS, max(MIN_EMBEDDING_POINTS, share))


def embedding(record: FitRecord, most: int = MAX_EMBEDDING_POINTS) -> pd.DataFrame:
    """Return the points of an embedding, evenly thinned to no more than ``most``."""
    assert record.embedding is not None
    frame = record.embedding
    if len(frame) > most:
        frame = frame.iloc[np.linspace(0, len(frame) - 1, most).round().astype(int)]
    return frame.assign(label=frame["label"].astype(str), role=frame["role"].astype(str))


def kernel_info(fits: Sequence[FitRecord]) -> pd.DataFrame | None:
    """Return diagnostics of the kernels of one setting, one row each: the worst over repeats and methods."""
    import pandas as pd

    known = [record.kernel_info for record in fits if record.kernel_info is not None and len(record.kernel_info)]
    if not known:
        return None
    frame = pd.concat(known, ignore_index=True)
    worst = {
        "min_eigenvalue": "min",
        "off_diagonal_mass": "min",
        "bandwidth": "median",
        "identity_like": "max",
        "n_negative": "max",
        "shift": "max",
    }
    present = {name: (name, how) for name, how in worst.items() if name in frame}
    return frame.groupby("kernel", sort=False).agg(**present).reset_index()


def spectra(fits: Sequence[FitRecord]) -> pd.DataFrame:
    """Return ``kernel, rank, share, negative``: the spectrum of each kernel, from the first fit that has it.

    Shares are absolute, of the sum of absolute eigenvalues. Model files written before spectra were kept have none.
    """
    import pandas as pd

    found: dict[str, Any] = {}
    for record in fits:
        info = record.kernel_info
        if info is not None and "spectrum" in info:
            for kernel, curve in zip(info["kernel"], info["spectrum"], strict=True):
                if isinstance(curve, list) and curve:
                    found.setdefault(str(kernel), curve)
    rows = [
        (kernel, int(rank), abs(float(share)), share < 0)
        for kernel, curve in found.items()
        for rank, share in curve
        if abs(share) >= LEAST_SHARE
    ]
    return pd.DataFrame(rows, columns=["kernel", "rank", "share", "negative"])


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as dicts."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def whole_or_none(value: Any) -> int | None:
    """Return a number of a nullable column as int, and a missing one as None."""
    return None if missing(value) else int(value)


def plain_rows(frame: pd.DataFrame, columns: dict[str, str]) -> list[dict[str, Any]]:
    """Return the rows as JSON values, columns renamed; NaN and NA become None."""
    values = [_plain(frame[name]) for name in columns]
    return [dict(zip(columns.values(), row, strict=True)) for row in zip(*values, strict=True)]


def _plain(column: pd.Series[Any]) -> list[Any]:
    """Convert a column, floats to six digits. Most columns are floats or text, and handled by their type."""
    if column.dtype.kind == "f":
        return [_short(value) for value in column.tolist()]
    if column.dtype.kind in "bi" and not column.hasnans:
        return column.tolist()
    return [_plain_value(value) for value in column.tolist()]


def _plain_value(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if missing(value):
        return None
    return int(value) if isinstance(value, int | np.integer) else _short(float(value))


def _short(number: float) -> float | None:
    return float(f"{number:.6g}") if math.isfinite(number) else None

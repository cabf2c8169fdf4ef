"""From the study's tables to the small frames that single figures and tables are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mklearn.report.records import FitRecord
from mklearn.report.series import Series
from mklearn.report.wording import missing, setting_title

if TYPE_CHECKING:
    import pandas as pd

MAX_CURVE_POINTS = 120
MAX_EMBEDDING_POINTS = 2500
MAX_POINTS_OF_ALL_EMBEDDINGS = 40_000
MIN_EMBEDDING_POINTS = 300
PICKED = 0.999
"""A kernel with more than this share of the weight is the one that was picked."""
NEARLY_ALWAYS = 0.9
"""In so many repeats a method has to pick one kernel for its weights to be shown as picks."""


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
        """Rows of a score or summary table that belong to this setting."""
        size = frame["train_size"]
        same_size = size.isna() if self.train_size is None else size.eq(self.train_size).fillna(False).astype(bool)
        return frame[frame["dataset"].eq(self.dataset) & frame["protocol"].fillna("").eq(self.protocol) & same_size]

    def has(self, record: FitRecord) -> bool:
        """Whether a fit belongs to this setting."""
        return (record.dataset, record.protocol, record.train_size) == (self.dataset, self.protocol, self.train_size)


def settings_of(summary: pd.DataFrame) -> list[Setting]:
    """The settings of a summary table, in order of first appearance."""
    columns = ["dataset", "dataset_title", "protocol", "train_size"]
    rows = summary[columns].assign(protocol=summary["protocol"].fillna("")).drop_duplicates()
    rows = rows.assign(family=families(rows))
    several = rows.drop_duplicates(["dataset", "family"])["dataset"].value_counts()
    return [
        Setting(
            row["dataset"],
            row["protocol"],
            None if missing(row["train_size"]) else int(row["train_size"]),
            setting_title(
                str(row["dataset_title"]), row["train_size"], row["family"] if several[row["dataset"]] > 1 else ""
            ),
            str(row["dataset_title"]),
        )
        for row in records(rows)
    ]


def protocol_family(protocol: str, train_size: Any) -> str:
    """``faces`` of ``faces-p2`` with training size 2: what the plan calls a protocol that has several sizes."""
    return protocol if missing(train_size) else protocol.removesuffix(f"-p{int(train_size)}")


def families(frame: pd.DataFrame) -> list[str]:
    """The protocol's family of every row of a score or summary table."""
    pairs = zip(frame["protocol"].fillna(""), frame["train_size"], strict=True)
    return [protocol_family(str(protocol), size) for protocol, size in pairs]


def usable(scores: pd.DataFrame) -> pd.DataFrame:
    """Score rows that have a value."""
    return scores[scores["value"].notna() & ~scores["status"].isin(["failed", "not_applicable"])]


def with_labels(frame: pd.DataFrame, series: Series) -> pd.DataFrame:
    """A score or summary table with the series' label in column ``label``."""
    pairs = zip(frame["method"], frame["kernel_set"].fillna(""), strict=True)
    return frame.assign(label=[series.label(method, kernel_set) for method, kernel_set in pairs])


def curves(scores: pd.DataFrame, series: Series) -> pd.DataFrame:
    """Mean and spread over repeats at each dimension.

    Returns
    -------
    curves : DataFrame
        ``label, neighbour, dimension (NA for a method without one), mean, low, high, std, n, best``; long curves are
        thinned evenly, the best dimension of the mean curve is kept and marked.
    """
    import pandas as pd

    rows = with_labels(usable(scores), series)
    rows = rows[rows["selection"].eq("dimension")].assign(neighbour=rows["neighbour"].fillna(""))
    table = (
        rows.assign(value=rows["value"].astype("float64"))
        .groupby(["label", "neighbour", "dimension"], sort=False, dropna=False)["value"]
        .agg(["mean", "std", "count"])
        .reset_index()
        .rename(columns={"count": "n"})
    )
    spread = table["std"].fillna(0.0)
    table = table.assign(low=table["mean"] - spread, high=table["mean"] + spread)
    parts = []
    for _, part in table.groupby(["label", "neighbour"], sort=False):
        ordered = part.sort_values("dimension", ignore_index=True)
        complete = ordered["n"].eq(ordered["n"].max())
        best = int(ordered["mean"].where(complete).to_numpy().argmax()) if complete.any() else 0
        ordered["best"] = ordered.index == best
        kept = np.unique(np.append(np.linspace(0, len(ordered) - 1, MAX_CURVE_POINTS).round().astype(int), best))
        parts.append(ordered.iloc[kept])
    return pd.concat(parts, ignore_index=True) if parts else table.assign(best=pd.Series(dtype=bool))


def iterations(scores: pd.DataFrame, series: Series) -> pd.DataFrame:
    """Mean and spread over repeats after each iteration: ``label, neighbour, dimension, iteration, mean, std, ...``.

    From score rows with selection "iteration": ``n_iter`` iterations, at size ``dimension``.
    """
    rows = usable(scores)
    if "n_iter" not in rows.columns:
        rows = rows.assign(n_iter=None)
    rows = with_labels(rows[rows["selection"].eq("iteration")], series).dropna(subset=["n_iter", "dimension"])
    keys = ["label", "neighbour", "dimension", "n_iter"]
    table = (
        rows.assign(value=rows["value"].astype("float64"), neighbour=rows["neighbour"].fillna(""))
        .groupby(keys, sort=False)["value"]
        .agg(["mean", "std", "count"])
        .reset_index()
        .rename(columns={"count": "n", "n_iter": "iteration"})
        .sort_values(["dimension", "iteration"], kind="stable", ignore_index=True)
    )
    spread = table["std"].fillna(0.0)
    return table.assign(low=table["mean"] - spread, high=table["mean"] + spread)


def fit_times(scores: pd.DataFrame, series: Series) -> pd.DataFrame:
    """``label, repeat, seconds``: one row for each fit."""
    rows = with_labels(usable(scores), series).dropna(subset=["fit_seconds"])
    rows = rows[rows["selection"].ne("iteration")]
    fits = rows.drop_duplicates(["repeat", "fold", "method", "kernel_set"])
    return fits[["label", "repeat"]].assign(seconds=fits["fit_seconds"].astype("float64"))


def weights(record: FitRecord) -> pd.DataFrame:
    """``kernel, repeat, weight`` of one fit."""
    import pandas as pd

    table = np.atleast_2d(np.asarray(record.weights, dtype=float))
    repeats, kernels = np.indices(table.shape)
    frame = pd.DataFrame(
        {
            "kernel": [record.kernel_ids[k] for k in kernels.ravel()],
            "repeat": repeats.ravel(),
            "weight": table.ravel(),
        }
    )
    return frame.dropna(subset=["weight"])


def vary(weights: pd.DataFrame) -> bool:
    """Whether weights were learned: not one and the same for every kernel in every repeat."""
    return bool(len(weights) and np.ptp(weights["weight"].to_numpy()) > 1e-12)


def pick_counts(record: FitRecord) -> dict[str, int]:
    """How many repeats put all the weight on each kernel; under "" those that mix kernels."""
    table = np.atleast_2d(np.asarray(record.weights, dtype=float))
    table = table[~np.isnan(table).any(axis=1)]
    counts = dict.fromkeys(record.kernel_ids, 0) | {"": 0}
    for row in table:
        total = row.sum()
        top = int(row.argmax())
        picked = total > 0 and row[top] > PICKED * total and row.min() >= -1e-9
        counts[record.kernel_ids[top] if picked else ""] += 1
    return counts


def picks(fits: Sequence[FitRecord]) -> list[tuple[FitRecord, dict[str, int]]]:
    """Fits of methods that nearly always put all the weight on one kernel of a data set, with their counts.

    A method is judged over all settings of a data set, so that a figure of it has a row for each of them.
    """
    counted = [(record, pick_counts(record)) for record in fits if record.weights is not None]
    groups: dict[tuple[str, str], list[dict[str, int]]] = {}
    for record, counts in counted:
        groups.setdefault((record.dataset, record.method), []).append(counts)
    chosen = set()
    for key, group in groups.items():
        total, mixed = sum(sum(counts.values()) for counts in group), sum(counts[""] for counts in group)
        if total and len(group[0]) > 2 and total - mixed >= NEARLY_ALWAYS * total:
            chosen.add(key)
    return [(record, counts) for record, counts in counted if (record.dataset, record.method) in chosen]


def embedding_points(fits: Sequence[FitRecord]) -> int:
    """How many points each embedding may have, so that the page can bear all of them."""
    shown = sum(record.embedding is not None for record in fits)
    share = MAX_POINTS_OF_ALL_EMBEDDINGS // max(1, shown)
    return min(MAX_EMBEDDING_POINTS, max(MIN_EMBEDDING_POINTS, share))


def embedding(record: FitRecord, most: int = MAX_EMBEDDING_POINTS) -> pd.DataFrame:
    """The points of an embedding, evenly thinned to no more than ``most``."""
    assert record.embedding is not None
    frame = record.embedding
    if len(frame) > most:
        frame = frame.iloc[np.linspace(0, len(frame) - 1, most).round().astype(int)]
    return frame.assign(label=frame["label"].astype(str), role=frame["role"].astype(str))


def kernel_info(records: Sequence[FitRecord]) -> pd.DataFrame | None:
    """Diagnostics of the kernels of one setting, one row for each kernel: the worst over repeats and methods."""
    import pandas as pd

    known = [record.kernel_info for record in records if record.kernel_info is not None and len(record.kernel_info)]
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


def records_of(setting: Setting, fits: Sequence[FitRecord]) -> list[FitRecord]:
    """The fits of a setting."""
    return [record for record in fits if setting.has(record)]


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as dicts."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def plain_rows(frame: pd.DataFrame, columns: dict[str, str]) -> list[dict[str, Any]]:
    """Rows as JSON values, columns renamed; NaN and NA become None."""
    values = [_plain(frame[name]) for name in columns]
    return [dict(zip(columns.values(), row, strict=True)) for row in zip(*values, strict=True)]


def _plain(column: pd.Series[Any]) -> list[Any]:
    """Its values; floats with six digits. Most of a report's data are floats or text, and are known by their type."""
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

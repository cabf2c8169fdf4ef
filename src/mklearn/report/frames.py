"""From the study's tables to the small frames that single figures and tables are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


@dataclass(frozen=True)
class Setting:
    """One data set, protocol and training size: what one result table and one group of figures are about."""

    dataset: str
    protocol: str
    train_size: int | None
    title: str

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
    several = rows.drop_duplicates(["dataset", "protocol"])["dataset"].value_counts()
    return [
        Setting(
            row["dataset"],
            row["protocol"],
            None if missing(row["train_size"]) else int(row["train_size"]),
            setting_title(
                str(row["dataset_title"]), row["train_size"], row["protocol"] if several[row["dataset"]] > 1 else ""
            ),
        )
        for row in records(rows)
    ]


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


def fit_times(scores: pd.DataFrame, series: Series) -> pd.DataFrame:
    """``label, repeat, seconds``: one row for each fit."""
    rows = with_labels(usable(scores), series).dropna(subset=["fit_seconds"])
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


def embedding(record: FitRecord) -> pd.DataFrame:
    """The points of an embedding, evenly thinned to a number that a page can bear."""
    assert record.embedding is not None
    frame = record.embedding
    if len(frame) > MAX_EMBEDDING_POINTS:
        frame = frame.iloc[np.linspace(0, len(frame) - 1, MAX_EMBEDDING_POINTS).round().astype(int)]
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
    return list(_plain(frame, columns))


def _plain(frame: pd.DataFrame, columns: dict[str, str]) -> Iterator[dict[str, Any]]:
    for values in zip(*(frame[name] for name in columns), strict=True):
        row: dict[str, Any] = {}
        for name, value in zip(columns.values(), values, strict=True):
            if isinstance(value, bool | np.bool_):
                row[name] = bool(value)
            elif missing(value):
                row[name] = None
            elif isinstance(value, str):
                row[name] = value
            elif isinstance(value, int | np.integer):
                row[name] = int(value)
            else:
                number = float(value)
                row[name] = float(f"{number:.6g}") if np.isfinite(number) else None
        yield row

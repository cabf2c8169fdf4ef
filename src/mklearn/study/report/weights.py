"""Kernel weights over splits: how much they differ, and mean and standard deviation of each kernel's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from mklearn.inspection import WeightStability, weight_stability
from mklearn.study.report.frames import Results, Setting
from mklearn.study.report.records import FitRecord
from mklearn.study.report.tables import Cell, Column, Table, number_cell
from mklearn.study.report.wording import DASH, count, enumeration

SHOWN = 5
"""So many of the largest weights are in the table."""
COLUMNS = (
    Column("Method", numeric=False),
    Column("Between splits", "total variation distance between the weights of two splits, from 0 to 1"),
    Column("From equal", "total variation distance from equal weights"),
    Column("Splits"),
    Column("Largest weights", "mean ± std over splits", numeric=False),
)


def learned_weights(results: Results, setting: Setting) -> Iterator[tuple[FitRecord, pd.DataFrame]]:
    """Yield the fits of a setting whose weights are not the same for every kernel, and the weights by repeat."""
    for record in setting.fits(results.fits):
        if record.weights is not None:
            weights = pd.DataFrame(np.atleast_2d(record.weights), columns=record.kernel_ids).dropna()
            if len(weights) and np.ptp(weights.to_numpy()) > 1e-12:
                yield record, weights


def _stability(results: Results, setting: Setting) -> Iterator[tuple[FitRecord, WeightStability]]:
    for record, weights in learned_weights(results, setting):
        yield record, weight_stability(weights.to_numpy(), record.kernel_ids)


def weights_tables(results: Results) -> list[Table]:
    """Tabulate the stability of learned weights, a table for each setting that has some."""
    tables = []
    for setting in results.settings:
        rows = [
            (
                Cell(results.series.of_method(record.method, record.method_title)),
                *(
                    number_cell(DASH if np.isnan(value) else f"{value:.2f}", value)
                    for value in (found.between_splits, found.from_equal)
                ),
                number_cell(count(len(found.weights)), len(found.weights)),
                Cell(_largest(found)),
            )
            for record, found in _stability(results, setting)
        ]
        if rows:
            tables.append(Table(setting.title, COLUMNS, rows))
    return tables


def weights_frame(results: Results) -> pd.DataFrame:
    """Return the mean and standard deviation of each kernel's weight over splits, and the stability of its method."""
    rows = [
        {
            "dataset": record.dataset, "protocol": record.protocol, "train_size": record.train_size,
            "method": record.method, "kernel": kernel, "mean": mean, "std": std, "splits": len(found.weights),
            "between_splits": found.between_splits, "from_equal": found.from_equal,
        }
        for setting in results.settings
        for record, found in _stability(results, setting)
        for kernel, mean, std in zip(found.kernels, found.mean, found.std, strict=True)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def _distance_cell(value: float) -> Cell:
    return number_cell(DASH if np.isnan(value) else f"{value:.2f}", value)


def _largest(found: WeightStability) -> str:
    order = np.argsort(-np.abs(found.mean), kind="stable")
    shown = [
        f"{found.kernels[k]} {found.mean[k]:.2f}" + ("" if np.isnan(found.std[k]) else f" ± {found.std[k]:.2f}")
        for k in order
        if found.weights[:, k].any()
    ]
    return enumeration(shown, limit=SHOWN)

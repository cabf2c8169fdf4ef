"""The score rows of a fit: their columns, and a row before anything is known of its values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

COLUMNS = {
    "dataset": "str", "protocol": "str", "train_size": "Int64", "repeat": "int64", "fold": "int64", "method": "str",
    "kernel_set": "str", "neighbour": "str", "selection": "str", "dimension": "Int64", "metric": "str",
    "value": "float64", "status": "str", "message": "str", "parameters": "str", "seed": "int64", "n_train": "int64",
    "n_test": "int64", "n_iter": "Int64", "objective": "float64", "gap": "float64", "solver": "str", "code": "str",
    "fit_seconds": "float64", "predict_seconds": "float64", "peak_mb": "float64", "utc": "str",
}  # fmt: skip
"""Columns of the score rows of one fit, and their types; the study's table adds study and commit."""
_NAN = float("nan")


def fit_of(spec: Mapping[str, Any], setting: Mapping[str, Any]) -> dict[str, Any]:
    """What rows say of the fit that they belong to: from its specification, at one of its ``settings``."""
    return {
        "dataset": spec["dataset"], "protocol": setting["protocol"], "train_size": setting["train_size"],
        "method": spec["method"]["id"], "seed": spec["seed"],
        "kernel_set": "+".join(kernel["id"] for kernel in spec["kernels"]) or spec["method"]["input"],
    }  # fmt: skip


def blank(fit: Mapping[str, Any], repeat: int, fold: int, n_train: int, n_test: int) -> dict[str, Any]:
    """A row of a fit (see :func:`fit_of`) on one split, without values."""
    return {
        **fit, "repeat": repeat, "fold": fold, "neighbour": "", "selection": "", "dimension": None,
        "metric": "accuracy", "value": _NAN, "status": "ok", "message": "", "parameters": "{}", "n_train": n_train,
        "n_test": n_test, "n_iter": None, "objective": _NAN, "gap": _NAN, "solver": "", "code": "",
        "fit_seconds": _NAN, "predict_seconds": _NAN, "peak_mb": _NAN, "utc": "",
    }  # fmt: skip

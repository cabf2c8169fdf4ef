"""The score rows of a fit: their columns, and a row before any value is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mklearn.contract.fit_spec import FitSpec, Setting

COLUMNS = {
    "dataset": "str", "protocol": "str", "train_size": "Int64", "repeat": "int64", "fold": "int64", "method": "str",
    "kernel_set": "str", "neighbour": "str", "selection": "str", "dimension": "Int64", "metric": "str",
    "value": "float64", "status": "str", "message": "str", "parameters": "str", "seed": "int64", "n_train": "int64",
    "n_test": "int64", "n_validation": "int64", "test_part": "int64", "n_iter": "Int64", "objective": "float64",
    "gap": "float64", "solver": "str", "code": "str",
    "fit_seconds": "float64", "predict_seconds": "float64", "peak_mb": "float64", "utc": "str",
}  # fmt: skip
"""Columns of the score rows of one fit, and their types; the study's table adds study and commit.

Rows with the same ``test_part`` in a repeat are of models that share the test samples: see
:func:`mklearn.study.data.splits.numbered_test_parts`.
"""
_NAN = float("nan")


def fit_of(spec: FitSpec, setting: Setting) -> dict[str, Any]:
    """Return the columns that name a fit, at one of its training sizes.

    ``metric`` is the study's metric or, of several, "": a row without a value counts for each of them.
    """
    kinds = [entry.kind for entry in spec.method.inputs.values()]
    metrics = spec.evaluation.metrics
    return {
        "dataset": spec.dataset, "protocol": setting.protocol, "train_size": setting.train_size,
        "method": spec.method.id, "seed": spec.seed, "metric": metrics[0] if len(metrics) == 1 else "",
        "kernel_set": "+".join(kernel["id"] for kernel in spec.kernels) or kinds[0],
    }  # fmt: skip


def blank(
    fit: Mapping[str, Any], repeat: int, fold: int, n_train: int, n_test: int, n_validation: int = 0,
    test_part: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return a row of a fit (see :func:`fit_of`) on one split, without values.

    By default no other split of the repeat has the same test part.
    """
    return {
        "metric": "accuracy", **fit, "repeat": repeat, "fold": fold, "neighbour": "", "selection": "",
        "dimension": None, "value": _NAN, "status": "ok", "message": "", "parameters": "{}", "n_train": n_train,
        "n_test": n_test, "n_validation": n_validation, "test_part": fold if test_part is None else test_part,
        "n_iter": None, "objective": _NAN, "gap": _NAN, "solver": "", "code": "",
        "fit_seconds": _NAN, "predict_seconds": _NAN, "peak_mb": _NAN, "utc": "",
    }  # fmt: skip

"""Metrics of the support vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from mklearn.cards import MetricCard
from mklearn.errors import NotApplicable


@MetricCard(
    kind="support_vector_share",
    title="Share of support vectors",
    larger_is_better=False,
    targets=("classes", "numbers"),
)
def support_vector_share(estimator: Any, n_train: int) -> float:
    """Return the share of the training samples that are support vectors."""
    support = getattr(estimator, "support_", None)
    if support is not None:
        return len(support) / n_train
    counts = getattr(estimator, "n_support_", None)
    if counts is not None:
        return float(np.sum(counts)) / n_train
    dual = np.atleast_2d(getattr(estimator, "dual_coef_", np.empty((0, 0))))
    if dual.shape[1] != n_train:
        raise NotApplicable("the method has no support vectors (support_, n_support_ or dual_coef_)")
    return float(np.mean((dual != 0).any(axis=0)))

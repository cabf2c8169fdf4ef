"""Metrics of the support vectors."""

from __future__ import annotations

from mklearn.cards import MetricCard


@MetricCard(
    kind="support_vector_share",
    title="Share of support vectors",
    larger_is_better=False,
    targets=("classes", "numbers"),
)
def support_vector_share(n_support_vectors: int, n_train: int) -> float:
    """Return the share of the training samples that are support vectors."""
    return float(n_support_vectors / n_train)

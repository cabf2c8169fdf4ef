"""Metrics of the support vectors."""

from __future__ import annotations


def support_vector_share(n_support_vectors: int, n_train: int) -> float:
    """Return the share of the training samples that are support vectors."""
    return float(n_support_vectors / n_train)

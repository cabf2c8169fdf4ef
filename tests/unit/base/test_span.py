"""The span of centred samples: rank, axes and coordinates."""

from __future__ import annotations

import numpy as np
import pytest

from mklearn.errors import NotApplicable
from mklearn.optimize.whitening import centred_span


@pytest.mark.parametrize(("n", "d", "rank"), [(9, 4, 4), (5, 20, 4), (12, 6, 2)])
def test_span_reproduces_the_centred_samples(n: int, d: int, rank: int) -> None:
    generator = np.random.default_rng(2)
    X = generator.normal(size=(n, rank)) @ generator.normal(size=(rank, d))
    span = centred_span(X)
    assert span.rank == rank
    np.testing.assert_allclose(span.axes @ span.axes.T, np.eye(rank), atol=1e-12)
    np.testing.assert_allclose(span.mean + span.coordinates() @ span.axes, X, atol=1e-11)
    np.testing.assert_array_equal(span.coordinates(1), span.coordinates()[:, :1])
    assert span.require_variance() is span


def test_constant_features_have_no_variance() -> None:
    span = centred_span(np.full((4, 3), 0.5))
    assert span.rank == 0
    with pytest.raises(NotApplicable, match="constant"):
        span.require_variance()


def test_equal_samples_span_nothing_though_their_mean_is_rounded() -> None:
    X = np.full((10, 3), 0.1)
    assert (X.mean(axis=0) != 0.1).any()
    assert centred_span(X).rank == 0

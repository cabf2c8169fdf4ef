"""Points of a kernel's spectrum."""

from __future__ import annotations

import numpy as np
import pytest

from mklearn.kernels.spectrum import MOST_POINTS, spectrum_curve
from mklearn.kernels.transform import KernelTransform


@pytest.mark.parametrize("n", [1, 7, MOST_POINTS, 1530])
def test_points_are_eigenvalues_at_their_ranks_as_shares(n: int) -> None:
    values = np.sort(np.random.default_rng(n).normal(1.0, 1.0, n))[::-1]
    curve = spectrum_curve(values)
    ranks, shares = np.array(curve).T
    assert ranks[0] == 1
    assert ranks[-1] == n
    assert len(curve) <= MOST_POINTS
    assert np.all(np.diff(ranks) > 0)
    np.testing.assert_allclose(shares, values[ranks.astype(int) - 1] / np.abs(values).sum(), rtol=1e-14)
    if n <= MOST_POINTS:
        assert np.abs(shares).sum() == pytest.approx(1.0)


def test_a_zero_kernel_has_none() -> None:
    assert spectrum_curve(np.zeros(5)) == []


@pytest.mark.filterwarnings("ignore:kernel '' is close to the identity")
@pytest.mark.parametrize("psd", ["clip", "shift", "flip", "none"])
def test_a_fitted_kernel_knows_the_spectrum_before_its_repair(psd: str) -> None:
    A = np.random.default_rng(0).normal(size=(12, 12))
    K = A + A.T
    curve = KernelTransform("precomputed", psd=psd, identity_like_below=0.0).fit(K).info_["spectrum"]
    values = np.linalg.eigvalsh(K)[::-1]
    np.testing.assert_allclose([share for _, share in curve], values / np.abs(values).sum(), atol=1e-12)

"""Refits without each sample with shared work equal plain refits."""

from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist, squareform

from mklearn.kernels.functions import gaussian_kernel
from mklearn.subspace.kernel_mmc import KernelMMC
from mklearn.subspace.kernel_pca import KernelPCA


def samples(n_classes: int, per_class: int, n_features: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), per_class)
    return 2.0 * random.standard_normal((n_classes, n_features))[y] + random.standard_normal((len(y), n_features)), y


def kernel_of(X: np.ndarray, bandwidth: float) -> np.ndarray:
    distances = squareform(pdist(X, "sqeuclidean"))
    return gaussian_kernel(distances, bandwidth * distances.mean())


@pytest.mark.parametrize("bandwidth", [0.03, 1.0, 30.0])
@pytest.mark.parametrize(
    ("estimator", "per_class", "n_features"),
    [
        (KernelMMC(constraint="rkhs"), 3, 40),
        (KernelMMC(constraint="coef"), 3, 40),
        (KernelMMC(constraint="sample"), 3, 40),
        (KernelMMC(constraint="rkhs", trade_off=0.5), 4, 40),
        (KernelMMC(constraint="coef", trade_off=3.0), 2, 40),
        (KernelMMC(2, constraint="rkhs"), 3, 40),
        (KernelPCA(), 3, 40),
        (KernelPCA(4), 2, 40),
    ],
    ids=lambda value: str(value).replace(" ", ""),
)
def test_equals_the_refits(estimator: Any, per_class: int, n_features: int, bandwidth: float) -> None:
    """Distances between embedded samples in all leading components, which 1-NN uses, equal those of the refits."""
    X, y = samples(5, per_class, n_features)
    K = kernel_of(X, bandwidth)[:, :, None]
    order = np.random.default_rng(1).permutation(len(y))
    found = []
    for i, others, left_out in estimator.leave_one_out(K, y, order):
        rest = np.delete(np.arange(len(y)), i)
        refit = type(estimator)(**estimator.get_params()).fit(K[np.ix_(rest, rest)], y[rest])
        wanted, held = refit.embedding_, refit.transform(K[i : i + 1, rest])
        assert others.shape == wanted.shape
        for q in range(1, others.shape[1] + 1):
            scale = np.abs(cdist(wanted[:, :q], wanted[:, :q])).max()
            assert cdist(left_out[:, :q], others[:, :q]) == pytest.approx(
                cdist(held[:, :q], wanted[:, :q]), abs=1e-7 * scale
            )
        found.append(i)
    assert found == order.tolist()


def test_a_class_that_vanishes() -> None:
    """Leaving out the last sample of a class gives one component fewer, as in the refit."""
    X, y = samples(4, 2, 30)
    keep = np.arange(1, len(y))  # class 0 keeps one sample
    K = kernel_of(X[keep], 1.0)[:, :, None]
    widths = [others.shape[1] for _, others, _ in KernelMMC().leave_one_out(K, y[keep])]
    assert widths == [2, 3, 3, 3, 3, 3, 3]


def test_a_kernel_of_low_rank() -> None:
    """If the samples span fewer directions than classes, null directions outside the span are not used."""
    X, y = samples(6, 3, 2)
    K = (X @ X.T)[:, :, None]
    for i, others, left_out in KernelMMC().leave_one_out(K, y):
        rest = np.delete(np.arange(len(y)), i)
        refit = KernelMMC().fit(K[np.ix_(rest, rest)], y[rest])
        assert others.shape == refit.embedding_.shape
        assert cdist(left_out, others) == pytest.approx(cdist(refit.transform(K[i : i + 1, rest]), refit.embedding_))


POINTS = np.random.default_rng(1).normal(size=(14, 3))
OUTLIER = np.where(np.arange(14)[:, None] == 3, 3000 * POINTS, POINTS)


@pytest.mark.parametrize(
    ("kernel", "rtol"),
    [
        *(((0.05 * POINTS + offset) @ (0.05 * POINTS + offset).T, 1e-2) for offset in (0.0, 1e3, 2e4)),
        (np.exp(-1e-6 * cdist(POINTS, POINTS, "sqeuclidean")).astype(np.float32), 1e-2),
        ((OUTLIER @ OUTLIER.T).astype(np.float32), 1e-5),
    ],
    ids=["centred", "large constant part", "larger constant part", "wide in single precision", "outlier"],
)
def test_components_are_those_of_a_refit(kernel: np.ndarray, rtol: float) -> None:
    """Rounding errors are no components, and the length of an outlier says nothing of which of the others are."""
    rest = np.arange(14) != 3
    _, embedded, _ = next(KernelPCA().leave_one_out(kernel, order=[3]))
    refit = KernelPCA().fit(kernel[np.ix_(rest, rest)]).embedding_
    assert embedded.shape == refit.shape
    np.testing.assert_allclose(embedded.std(axis=0), refit.std(axis=0), rtol=rtol)


@pytest.mark.parametrize("offset", [0.0, 1e3, 2e4])
def test_lengths_of_components_of_a_kernel_with_a_large_constant_part(offset: float) -> None:
    features = 0.05 * POINTS + offset
    lengths = np.linalg.svd(features - features.mean(axis=0), compute_uv=False) / np.sqrt(14)
    np.testing.assert_allclose(KernelPCA().fit(features @ features.T).embedding_.std(axis=0), lengths, rtol=1e-2)

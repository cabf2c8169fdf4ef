"""Every registered kernel with every option, on digits."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.conformance.conftest import Digits
from tests.entries import kernel

from mklearn.kernels.specs import kernel_class
from mklearn.kernels.table import KERNELS

pytestmark = pytest.mark.filterwarnings("ignore::mklearn.kernels.matrices.IdentityLikeKernelWarning")

FACTORS = [{"bandwidth": 2.0}, {"measure": "chi2"}, {"measure": "distance"}]
CASES = [
    (kind, measure, normalise, centre, psd)
    for kind in KERNELS
    for measure in kernel_class(kind).measures
    for normalise in ("none", "unit_diagonal", "centred_trace")
    for centre in (False, True)
    for psd in ("clip", "none")
]


def input_of(digits: Digits, measure: str) -> NDArray[np.float64]:
    """The pairwise matrix of a measure; precomputed kernels are indefinite, plain distances not Euclidean."""
    if measure == "kernel":
        rng = np.random.default_rng(0)
        noise = rng.normal(size=digits.pairwise["inner_product"].shape)
        return digits.pairwise["inner_product"] + 40 * (noise + noise.T) + 400 * np.eye(len(noise))
    if measure in ("distance", "point_set"):
        return np.abs(digits.X[:, None] - digits.X[None]).sum(axis=2)
    return digits.pairwise[measure]


@pytest.mark.parametrize(("kind", "measure", "normalise", "centre", "psd"), CASES)
def test_on_digits(digits: Digits, kind: str, measure: str, normalise: Any, centre: bool, psd: Any) -> None:
    parameters = kernel(kind, normalise=normalise, centre=centre, psd=psd).parameters()
    parameters |= {"factors": FACTORS} if kind == "product" else {"measure": measure}
    fitted = kernel_class(kind)(**parameters)
    matrices = [input_of(digits, measure) for _, measure in fitted.inputs]
    blocks = [matrix[np.ix_(digits.train, digits.train)] for matrix in matrices]
    rows = [matrix[np.ix_(digits.test, digits.train)] for matrix in matrices]
    own, own_test = ([np.diagonal(matrix)[index] for matrix in matrices] for index in (digits.train, digits.test))
    before = [matrix.copy() for matrix in (*blocks, *rows)]
    K = fitted.fit(*blocks).kernel_train_
    training, info = K.copy(), dict(fitted.info_)
    np.testing.assert_array_equal(K, K.T)
    assert np.isfinite(K).all()
    scale = np.abs(K).max()
    if psd != "none":
        assert np.linalg.eigvalsh(K).min() >= -1e-9 * scale * len(K)
    if normalise == "centred_trace":
        assert np.trace(K) / len(K) - K.mean() == pytest.approx(1.0)
    if centre:
        np.testing.assert_allclose(K.mean(axis=0), 0, atol=1e-9 * scale)
    if normalise == "unit_diagonal" and not centre and fitted.repair_.vectors is None:
        np.testing.assert_array_equal(np.diagonal(K), 1)
    np.testing.assert_array_equal(kernel_class(kind)(**parameters).fit(*blocks).kernel_train_, K)

    # rows of the training samples are those of the training kernel, and no row depends on the other new samples
    np.testing.assert_allclose(fitted.transform(*blocks, own=own), K, rtol=0, atol=1e-8 * scale)
    new = fitted.transform(*rows, own=own_test)
    assert new.shape == (len(digits.test), len(digits.train))
    assert np.isfinite(new).all()
    one = [fitted.transform(*(b[i : i + 1] for b in rows), own=[o[i : i + 1] for o in own_test]) for i in range(3)]
    np.testing.assert_allclose(np.concatenate(one), new[:3], rtol=0, atol=1e-10 * scale)
    np.testing.assert_array_equal(fitted.kernel_train_, training)
    assert fitted.info_ == info

    # float32 in gives float32 out; neither inputs nor results share memory
    single = kernel_class(kind)(**parameters).fit(*(block.astype(np.float32) for block in blocks))
    assert single.kernel_train_.dtype == np.float32
    assert single.transform(*(block.astype(np.float32) for block in rows), own=own_test).dtype == np.float32
    np.testing.assert_allclose(single.kernel_train_, K, rtol=0, atol=1e-4 * scale)
    new[:] = fitted.kernel_train_[:] = 7
    for matrix, copy in zip((*blocks, *rows), before, strict=True):
        np.testing.assert_array_equal(matrix, copy)

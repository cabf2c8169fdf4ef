"""Every registered kernel with every option, on digits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.conformance.conftest import Digits
from tests.conformance.signatures import about, disagreements

from mklearn.kernels.transform import LEGAL_MEASURES, KernelTransform
from mklearn.study.registry import registered

MODELS: dict[str, Any] = registered("kernels")
WITHOUT_PAPER = {"linear", "polynomial", "precomputed"}
OTHER_DEFAULTS = {"normalise": "none"}
"""KernelTransform by itself leaves the scale alone; a study brings its kernels to one scale before it weighs them."""
CASES = [
    (kind, measure, normalise, centre, psd)
    for kind in LEGAL_MEASURES
    for measure in LEGAL_MEASURES[kind]
    for normalise in ("none", "unit_diagonal", "centred_trace")
    for centre in (False, True)
    for psd in ("clip", "flip", "shift")
]


@pytest.mark.parametrize("kind", MODELS)
def test_kernels_are_described_and_agree_with_their_code(kind: str) -> None:
    assert not about(MODELS[kind], paper=kind not in WITHOUT_PAPER)
    assert disagreements(MODELS[kind], kind, {}, OTHER_DEFAULTS) == []


def test_every_kind_of_the_code_is_registered() -> None:
    assert set(MODELS) == set(LEGAL_MEASURES) | {"product"}


def input_of(digits: Digits, measure: str) -> NDArray[np.float64]:
    """The pairwise matrix of a measure; given kernels are indefinite, plain distances not Euclidean."""
    if measure == "kernel":
        rng = np.random.default_rng(0)
        noise = rng.normal(size=digits.pairwise["inner_product"].shape)
        return digits.pairwise["inner_product"] + 40 * (noise + noise.T) + 400 * np.eye(len(noise))
    if measure in ("distance", "point_set"):
        return np.abs(digits.X[:, None] - digits.X[None]).sum(axis=2)
    return digits.pairwise[measure]


@pytest.mark.filterwarnings("ignore::mklearn.kernels.identity_like.IdentityLikeKernelWarning")
@pytest.mark.parametrize(("kind", "measure", "normalise", "centre", "psd"), CASES)
def test_on_digits(digits: Digits, kind: str, measure: str, normalise: Any, centre: bool, psd: Any) -> None:
    """Symmetric, no negative eigenvalue, finite, the same again; rows of training samples are those of the kernel."""
    pairwise = input_of(digits, measure)
    P, rows = pairwise[np.ix_(digits.train, digits.train)], pairwise[np.ix_(digits.test, digits.train)]
    before, own = P.copy(), np.diagonal(pairwise)
    parameters = MODELS[kind](kind=kind, normalise=normalise, centre=centre, psd=psd).parameters()
    parameters["measure"] = measure
    transform = KernelTransform(kind, **parameters).fit(P)
    K = transform.kernel_train_
    np.testing.assert_array_equal(P, before)
    np.testing.assert_array_equal(K, K.T)
    assert np.isfinite(K).all()
    scale = np.abs(K).max()
    assert np.linalg.eigvalsh(K).min() >= -1e-9 * scale * len(K)
    np.testing.assert_array_equal(KernelTransform(kind, **parameters).fit(P).kernel_train_, K)

    if psd != "shift" or transform.repair_.shift == 0:
        np.testing.assert_allclose(transform.transform(P, own[digits.train]), K, rtol=0, atol=1e-8 * scale)
    new = transform.transform(rows, own[digits.test])
    assert new.shape == (len(digits.test), len(digits.train))
    assert np.isfinite(new).all()
    one_by_one = [transform.transform(rows[i : i + 1], own[digits.test[i : i + 1]]) for i in range(3)]
    np.testing.assert_allclose(np.concatenate(one_by_one), new[:3], rtol=0, atol=1e-10 * scale)
    if normalise == "centred_trace":
        assert np.trace(K) / len(K) - K.mean() == pytest.approx(1.0)

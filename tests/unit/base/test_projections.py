"""Projections of the samples of pairs: by the exact components, and stored ones equal to computed ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.decomposition import PCA

from mklearn.base.pairs import PairedSamples, PairView, principal_projection
from mklearn.contract.fit_spec import PairFeatures
from mklearn.errors import DataError
from mklearn.study.data.pairs import load_projections, save_projections

SPEC = PairFeatures(
    components=3, square_root=False, whiten=True, unit_length=True, terms=["absolute_difference", "product"]
)
TABLE = np.random.default_rng(0).normal(size=(40, 6))


def project(table: np.ndarray, learned: np.ndarray, features: PairFeatures) -> np.ndarray:
    """Return the projection of all samples, computed from their features."""
    return PairedSamples(lambda: table).projected(np.arange(len(table)), learned, features)


def test_samples_of_pairs() -> None:
    pairs = PairView([5, 1, 5, 0], [2, 3, 1, 7], PairedSamples(lambda: TABLE), SPEC)
    np.testing.assert_array_equal(pairs[[0, 2]].used, [1, 2, 5])
    np.testing.assert_array_equal(pairs[np.array([True, False, True, True])].used, [0, 1, 2, 5, 7])
    assert (pairs.shape, pairs[1:].shape) == ((4,), (3,))


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("unit_length", [False, True])
def test_projection_is_that_of_the_exact_components(whiten: bool, unit_length: bool) -> None:
    features = SPEC.model_copy(update={"whiten": whiten, "unit_length": unit_length})
    learned = np.arange(25)
    expected = PCA(3, svd_solver="full", whiten=whiten).fit(TABLE[learned]).transform(TABLE)
    if unit_length:
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    found = project(TABLE, learned, features)
    # Only 6 features: the randomised decomposition is exact. Signs do not matter to pairs.
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-4)


def test_square_roots() -> None:
    rooted = SPEC.model_copy(update={"square_root": True})
    squares = TABLE**2
    np.testing.assert_allclose(
        project(squares, np.arange(20), rooted), project(np.abs(TABLE), np.arange(20), SPEC), atol=1e-4
    )
    with pytest.raises(DataError, match="square_root"):
        project(TABLE, np.arange(20), rooted)


@pytest.mark.parametrize(("whiten", "unit_length"), [(True, True), (False, False)])
def test_a_stored_projection_equals_the_computed_one_bit_by_bit(
    tmp_path: Path, whiten: bool, unit_length: bool
) -> None:
    features = SPEC.model_copy(update={"whiten": whiten, "unit_length": unit_length, "square_root": True})
    table, rng = TABLE**2, np.random.default_rng(1)
    splits = [np.sort(rng.permutation(40)[:30]) for _ in range(12)]
    learned = [samples[: 10 + number] for number, samples in enumerate(splits)]
    made = [
        principal_projection(table, *split, components=3, square_root=True)
        for split in zip(splits, learned, strict=True)
    ]
    save_projections(tmp_path / "p.npz", made, {})
    loaded = load_projections(tmp_path / "p.npz")
    stored, computed = PairedSamples(stored=loaded), PairedSamples(lambda: table)
    assert {projection.values.dtype for projection in loaded} == {np.dtype(np.float32)}
    for split in zip(splits, learned, strict=True):
        found, expected = (samples.projected(*split, features) for samples in (stored, computed))
        np.testing.assert_array_equal(found, expected, strict=True)

"""2DLDA by its definition; what it is not."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from tests.unit.papers.two_d_mmc.conftest import make_images, one_sided

from mklearn.errors import SolverFailed
from mklearn.papers.two_d_mmc.two_d_lda import TwoDLDA

SCALINGS = ["within", "total", "unit", "orthonormal"]


def leading(between, within, ridge, size, scaling):
    """The half step by scipy's generalised eigenproblem."""
    regular = within + ridge * np.trace(within) / len(within) * np.eye(len(within))
    V = scipy.linalg.eigh(between, regular)[1][:, : -size - 1 : -1]
    if scaling == "total":
        V = V / np.sqrt(np.diag(V.T @ (between + regular) @ V))
    elif scaling == "unit":
        V = V / np.linalg.norm(V, axis=0)
    elif scaling == "orthonormal":
        V = np.linalg.qr(V)[0]
    return V, np.trace(V.T @ between @ V) / np.trace(V.T @ regular @ V)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("ridge", [0.0, 1e-10, 0.1, 1.0])
def test_equals_explicit_loops(images, scaling, ridge):
    X, y = images
    R, values = np.eye(5, 2), []
    for _ in range(3):
        L, value = leading(*one_sided(X, y, R), ridge, 3, scaling)
        values.append(value)
        R, value = leading(*one_sided(X.transpose(0, 2, 1), y, L), ridge, 2, scaling)
        values.append(value)
    model = TwoDLDA((3, 2), ridge=ridge, scaling=scaling, max_iter=3, tol=0.0).fit(X, y)
    np.testing.assert_allclose(model.objective_history_, values, rtol=1e-7)
    # up to signs of columns
    np.testing.assert_allclose(np.abs(model.left_components_), np.abs(L), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(np.abs(model.right_components_), np.abs(R), rtol=1e-6, atol=1e-8)


def test_scales(images):
    X, y = images
    models = {s: TwoDLDA((3, 2), scaling=s, max_iter=1, ridge=0.5).fit(X, y) for s in SCALINGS}
    start = np.eye(5, 2)
    between, within = one_sided(X, y, start)
    regular = within + 0.5 * np.trace(within) / 7 * np.eye(7)
    L = {s: m.left_components_ for s, m in models.items()}
    np.testing.assert_allclose(L["within"].T @ regular @ L["within"], np.eye(3), atol=1e-10)
    np.testing.assert_allclose(L["total"].T @ (between + regular) @ L["total"], np.eye(3), atol=1e-10)
    np.testing.assert_allclose(np.linalg.norm(L["unit"], axis=0), 1)
    np.testing.assert_allclose(L["orthonormal"].T @ L["orthonormal"], np.eye(3), atol=1e-12)
    for scale in SCALINGS:  # one subspace, whatever the scale
        q = np.linalg.qr(L[scale])[0]
        np.testing.assert_allclose(q @ q.T, L["orthonormal"] @ L["orthonormal"].T, atol=1e-10)


def test_on_vectors_it_is_lda(images):
    """sklearn's LDA scales to S_w = I of the features too."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    X, y = make_images(2, per_class=12, rows=6, cols=1)
    model = TwoDLDA(3, ridge=0.0).fit(X[:, :, 0], y)
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X[:, :, 0], y)
    theirs = lda.scalings_[:, :3]
    cosines = np.abs(np.sum(model.left_components_ * theirs, axis=0))
    cosines /= np.linalg.norm(model.left_components_, axis=0) * np.linalg.norm(theirs, axis=0)
    np.testing.assert_allclose(cosines, 1, atol=1e-8)


def test_a_singular_scatter_needs_a_ridge():
    X, y = make_images(0, classes=2, per_class=2, rows=12, cols=3)
    with pytest.raises(SolverFailed, match="ridge"):
        TwoDLDA(1, ridge=0.0).fit(X, y)
    assert np.isfinite(TwoDLDA(1, ridge=1e-10, scaling="orthonormal").fit(X, y).embedding_).all()

"""What every bilinear estimator does: scikit-learn's rules, both forms of input, invariances, clear errors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from tests.unit.papers.two_d_mmc.conftest import make_images

from mklearn.errors import ConfigError, DataError, NotApplicable, UserError
from mklearn.papers.two_d_mmc.glram import GLRAM
from mklearn.papers.two_d_mmc.path import fit_iterations, fit_path
from mklearn.papers.two_d_mmc.two_d_lda import TwoDLDA
from mklearn.papers.two_d_mmc.two_d_mmc import TwoDMMC

METHODS = [GLRAM, TwoDLDA, TwoDMMC]
DISCRIMINANTS = [TwoDLDA, TwoDMMC]
every_method = pytest.mark.parametrize("method", METHODS)


@every_method
def test_flat_images_with_their_shape(method, images):
    X, y = images
    flat = X.reshape(len(X), -1)
    whole = method((3, 2)).fit(X, y)
    by_shape = method((3, 2), shape=(7, 5)).fit(flat, y)
    assert whole.shape_ == by_shape.shape_ == (7, 5)
    assert whole.n_features_in_ == by_shape.n_features_in_ == 35
    np.testing.assert_array_equal(whole.embedding_, by_shape.embedding_)
    np.testing.assert_array_equal(whole.transform(flat), by_shape.transform(X))
    np.testing.assert_array_equal(whole.fit_transform(X, y), whole.embedding_)
    np.testing.assert_allclose(whole.transform(X), whole.embedding_, atol=1e-12)
    # features are L'XR, row by row
    first = whole.left_components_.T @ X[0] @ whole.right_components_
    np.testing.assert_allclose(whole.embedding_[0], first.ravel(), atol=1e-12)
    matrices = method((3, 2), flatten=False).fit(X, y)
    np.testing.assert_array_equal(matrices.transform(X).reshape(len(X), -1), whole.transform(X))
    assert len(whole.get_feature_names_out()) == 6


@every_method
def test_orthonormal_columns_with_fixed_signs(method, images):
    X, y = images
    parameters = {"scaling": "orthonormal"} if method is TwoDLDA else {}
    model = method((3, 2), **parameters).fit(X, y)
    for columns in (model.left_components_, model.right_components_):
        np.testing.assert_allclose(columns.T @ columns, np.eye(columns.shape[1]), atol=1e-12)
        assert (columns[np.abs(columns).argmax(axis=0), np.arange(columns.shape[1])] > 0).all()
    again = method((3, 2), **parameters).fit(X, y)
    np.testing.assert_array_equal(again.embedding_, model.embedding_)


@every_method
@pytest.mark.parametrize("factor", [1 / 255, 255.0, 1e-9, 1e9])
def test_scale_of_pixels_does_not_matter(method, factor, images):
    X, y = images
    one, two = method((3, 2)).fit(X, y), method((3, 2)).fit(factor * X, y)
    unit = [m.left_components_ / np.linalg.norm(m.left_components_, axis=0) for m in (one, two)]
    np.testing.assert_allclose(unit[0], unit[1], atol=1e-7)
    assert one.n_iter_ == two.n_iter_
    distances = [np.linalg.norm(m.embedding_[:, None] - m.embedding_[None], axis=2) for m in (one, two)]
    np.testing.assert_allclose(*[d / d.max() for d in distances], atol=1e-7)


@pytest.mark.parametrize("method", [GLRAM, TwoDMMC])
def test_transposed_images(method, images):
    """Rows and columns change places; which side the alternation starts from makes no difference in the end."""
    X, y = images
    one = method((3, 2), max_iter=300, tol=1e-14).fit(X, y)
    two = method((2, 3), max_iter=300, tol=1e-14).fit(X.transpose(0, 2, 1), y)
    assert one.objective_history_[-1] == pytest.approx(two.objective_history_[-1], rel=1e-9)
    np.testing.assert_allclose(one.left_components_, two.right_components_, atol=1e-4)


@every_method
def test_a_path_equals_single_fits(method, images):
    X, y = images
    sizes = [1, 2, (3, 2), (7, 5)]
    estimator = method(max_iter=7)
    before = vars(estimator).copy()
    path = fit_path(estimator, X, y, sizes)
    assert vars(estimator) == before
    for model, size in zip(path, sizes, strict=True):
        alone = clone(estimator).set_params(n_components=size).fit(X, y)
        assert vars(alone).keys() == vars(model).keys()
        assert alone.n_iter_ == model.n_iter_
        np.testing.assert_allclose(model.objective_history_, alone.objective_history_, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(model.transform(X), alone.transform(X), rtol=1e-6, atol=1e-6)


@every_method
def test_iterations_equal_fits_with_that_max_iter(method, images):
    X, y = images
    models = fit_iterations(method(2, init="random", random_state=3), X, y, 5)
    for t, model in enumerate(models, start=1):
        alone = method(2, init="random", random_state=3, max_iter=t, tol=0.0).fit(X, y)
        np.testing.assert_array_equal(model.embedding_, alone.embedding_)
        np.testing.assert_array_equal(model.objective_history_, alone.objective_history_)
        assert (model.n_iter_, model.status_) == (t, "max_iter")
    with pytest.raises(ConfigError, match="Invalid value 0 for `iterations`"):
        fit_iterations(method(2), X, y, 0)


# ------------------------------------------------------------------------------------------------------------ errors


@pytest.mark.parametrize("method", DISCRIMINANTS)
def test_classes_without_variation(method):
    X, y = np.random.default_rng(0).normal(size=(3, 4, 4)).repeat(2, axis=0), np.repeat([0, 1, 2], 2)
    with pytest.raises(NotApplicable, match="no class varies"):
        method(2).fit(X, y)
    assert TwoDMMC(2, trade_off=1.0).fit(X, y).embedding_.shape == (6, 4)


@every_method
@pytest.mark.parametrize(
    ("shape", "parameter", "message"),
    [
        ((26, 35), (5, 6), "needs 30"),
        ((26, 7, 5), (5, 7), "omit `shape`"),
        ((26, 7, 5), (7.0, 5.0), "two integers >= 1"),
    ],
)
def test_wrong_shapes(method, shape, parameter, message, images):
    with pytest.raises(UserError, match=message):
        method(shape=parameter).fit(np.ones(shape), images[1])


@every_method
def test_images_of_another_shape_than_in_fit(method, images):
    X, y = images
    model = method(2).fit(X, y)
    with pytest.raises(DataError, match=r"\(5, 7\), but .* fitted with \(7, 5\)"):
        model.transform(X.transpose(0, 2, 1))
    with pytest.raises(DataError, match="35 features"):
        model.transform(X.reshape(len(X), -1)[:, :-1])


@every_method
def test_invalid_numbers_of_components(method, images):
    X, y = images
    for wrong, error in [(6, NotApplicable), ((8, 5), NotApplicable), ((1, 2, 3), ConfigError), ((0, 2), ConfigError)]:
        with pytest.raises(error, match="n_components"):
            method(wrong).fit(X, y)
        with pytest.raises(error, match="n_components"):
            fit_path(method(), X, y, [1, wrong])
    with pytest.raises(ConfigError, match="sizes is empty"):
        fit_path(method(), X, y, [])


@every_method
@pytest.mark.parametrize("init", ["ones", np.ones((5, 2)), np.eye(4, 2)])
def test_invalid_starts(method, init, images):
    with pytest.raises(ConfigError, match="init"):
        method((2, 2), init=init).fit(*images)


@pytest.mark.parametrize("model", [TwoDMMC(2), GLRAM(2), TwoDLDA(2)], ids=lambda model: type(model).__name__)
def test_blank_margins_do_not_stop_the_alternation(model) -> None:
    """Kills: the start (I, 0)', which sees the margin alone: every objective is 0, which is "converged"."""
    images, y = make_images(0)
    padded = np.pad(images, ((0, 0), (3, 3), (3, 3)))
    fitted = clone(model).fit(padded, y)
    assert fitted.objective_history_[-1] > 0
    assert fitted.embedding_.std(axis=0).min() > 1e-6
    (alone,) = fit_path(model, padded, y, [2])
    np.testing.assert_allclose(alone.embedding_, fitted.embedding_, atol=1e-8)

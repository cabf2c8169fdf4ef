"""The subspace estimators as scikit-learn estimators."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from mklearn.kernels.specs import compute_stack
from mklearn.subspace.kernel_lde import KernelLDE
from mklearn.subspace.kfd import KernelFDA
from mklearn.subspace.lde import LDE
from mklearn.subspace.mkldr import MKLDR

GAUSSIAN = [{"kind": "gaussian"}]
SPECS = [{"kind": "gaussian"}, {"kind": "gaussian", "bandwidth": 4.0}, {"kind": "linear", "normalise": "centred_trace"}]
KERNEL_METHODS = [KernelFDA, KernelLDE, MKLDR]


@parametrize_with_checks(
    [
        KernelFDA(kernels=GAUSSIAN),
        KernelFDA(),
        KernelLDE(kernels=GAUSSIAN),
        KernelLDE(),
        LDE(),
        MKLDR(kernels=["gaussian", "linear"]),
        MKLDR(),
        MKLDR(kernels=GAUSSIAN, graph="lde"),
        MKLDR(kernels=GAUSSIAN, graph="pca"),
        MKLDR(kernels=GAUSSIAN, graph="lpp"),
        MKLDR(kernels=GAUSSIAN, a_step="trace_ratio"),
    ]
)
@pytest.mark.filterwarnings("ignore::mklearn.kernels.identity_like.IdentityLikeKernelWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=5, return_X_y=True)
    # Pixels are integers, and many distances equal: noise makes neighbours the same in single and double precision.
    X, y = X[:200] + np.random.default_rng(0).normal(size=(200, 64)), y[:200]
    return X, y, compute_stack(X, SPECS).as_last_axis()


@pytest.mark.parametrize("method", KERNEL_METHODS)
def test_precomputed_kernels_equal_kernels_of_features(digits, method):
    X, y, K = digits
    a, b = method(kernels=SPECS).fit(X, y), method().fit(K, y)
    np.testing.assert_allclose(a.embedding_, b.embedding_, atol=1e-8)
    np.testing.assert_allclose(a.transform(X), b.transform(K), atol=1e-6)


@pytest.mark.parametrize("method", KERNEL_METHODS)
def test_cross_validation_slices_the_kernels(digits, method):
    X, y, K = digits
    assert get_tags(method()).input_tags.pairwise
    assert not get_tags(method(kernels=SPECS)).input_tags.pairwise
    pipeline = make_pipeline(method(), KNeighborsClassifier(1))
    assert get_tags(pipeline).input_tags.pairwise
    folds = StratifiedKFold(3)
    scores = cross_val_score(pipeline, K, y, cv=folds)
    for score, (train, test) in zip(scores, folds.split(X, y), strict=True):
        model = method().fit(K[np.ix_(train, train)], y[train])
        nearest = KNeighborsClassifier(1).fit(model.transform(K[np.ix_(train, train)]), y[train])
        assert score == nearest.score(model.transform(K[np.ix_(test, train)]), y[test])
        assert score > 0.8


def test_grid_search_over_a_pipeline(digits):
    X, y, K = digits
    pipeline = make_pipeline(MKLDR(max_iter=2), KNeighborsClassifier(1))
    grid = {"mkldr__ridge": [1e-4, 1e-1], "mkldr__n_components": [1, 4]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(K, y)
    assert search.best_params_["mkldr__n_components"] == 4
    assert search.predict(K[:7]).shape == (7,)
    features = GridSearchCV(make_pipeline(MKLDR(kernels=SPECS), KNeighborsClassifier(1)), grid, cv=3).fit(X, y)
    assert features.best_score_ > 0.9


@pytest.mark.parametrize("method", [*KERNEL_METHODS, LDE])
def test_names_and_frames_of_features_out(digits, method):
    X, y, _ = digits
    model = method(2) if method is LDE else method(2, kernels=SPECS)
    names = [f"{method.__name__.lower()}{i}" for i in range(2)]
    frame = model.set_output(transform="pandas").fit_transform(X, y)
    assert list(frame.columns) == list(model.get_feature_names_out()) == names
    np.testing.assert_array_equal(frame.to_numpy(), model.embedding_)


@pytest.mark.parametrize("method", KERNEL_METHODS)
@pytest.mark.parametrize("precomputed", [True, False])
def test_float32_in_float32_out(digits, method, precomputed):
    X, y, K = digits
    data, model = (K, method()) if precomputed else (X, method(kernels=SPECS))
    single = clone(model).fit(data.astype(np.float32), y)
    double = model.fit(data, y)
    assert single.embedding_.dtype == single.transform(data[:3].astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.embedding_, double.embedding_, atol=2e-3 * np.abs(double.embedding_).max())


@pytest.mark.parametrize("method", KERNEL_METHODS)
def test_inputs_are_not_changed_and_refits_agree(digits, method):
    _, y, K = digits
    before = K.copy()
    model = method()
    first = model.fit(K, y).embedding_.copy()
    np.testing.assert_array_equal(K, before)
    np.testing.assert_array_equal(model.fit(K, y).embedding_, first)
    np.testing.assert_array_equal(clone(model).fit(K, y).embedding_, first)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(K[:4]), model.transform(K[:4]))


@pytest.mark.parametrize("method", [*KERNEL_METHODS, LDE])
def test_labels_may_be_strings(digits, method):
    X, y, K = digits
    names = np.array(["zero", "one", "two", "three", "four"])[y]
    data = X if method is LDE else K
    model = method().fit(data, names)
    np.testing.assert_array_equal(model.classes_, sorted(set(names)))
    assert model.embedding_.shape == (200, 4)

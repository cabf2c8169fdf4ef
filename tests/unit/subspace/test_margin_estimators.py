"""The margin criteria, principal components and discriminant analyses as scikit-learn estimators."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from mklearn.classifiers.ledoit_wolf_lda import LedoitWolfLDA
from mklearn.kernels.specs import compute_stack
from mklearn.subspace.fisherface import Fisherface
from mklearn.subspace.kernel_mmc import KernelMMC
from mklearn.subspace.kernel_pca import KernelPCA
from mklearn.subspace.mkmmc import MKMMC
from mklearn.subspace.mmc import MMC
from mklearn.subspace.null_space_lda import NullSpaceLDA
from mklearn.subspace.pca import PCA

SPECS = [{"kind": "gaussian"}, {"kind": "gaussian", "bandwidth": 4.0}, {"kind": "linear", "normalise": "centred_trace"}]
KERNEL_METHODS = [KernelMMC, MKMMC, KernelPCA]
LINEAR_METHODS = [MMC, Fisherface, PCA, LedoitWolfLDA, NullSpaceLDA]


@parametrize_with_checks(
    [
        MMC(),
        MMC(trade_off="trace_ratio"),
        Fisherface(),
        Fisherface(ridge=1.0, n_pca="all", scaling="within"),
        PCA(),
        LedoitWolfLDA(),
        LedoitWolfLDA(rule="euclidean"),
        KernelMMC(kernels=[{"kind": "gaussian"}]),
        KernelMMC(),
        KernelMMC(kernels=[{"kind": "gaussian"}], constraint="coef", trade_off="trace_ratio"),
        KernelPCA(kernels=[{"kind": "gaussian"}]),
        KernelPCA(),
        MKMMC(kernels=["gaussian", "linear"]),
        MKMMC(constraint="coef"),
    ]
)
@pytest.mark.filterwarnings("ignore::mklearn.kernels.identity_like.IdentityLikeKernelWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=5, return_X_y=True)
    X, y = X[:150] + np.random.default_rng(0).normal(size=(150, 64)), y[:150]
    wide = np.hstack([X, np.random.default_rng(1).normal(size=(150, 200))])  # null-space LDA needs it
    return wide, y, compute_stack(X, SPECS).as_last_axis()


def data_for(method, digits):
    return digits[2] if method in KERNEL_METHODS else digits[0]


@pytest.mark.parametrize("method", KERNEL_METHODS)
def test_precomputed_kernels_equal_kernels_of_features(digits, method):
    X, y, _ = digits
    K = compute_stack(X, SPECS).as_last_axis()
    a, b = method(2, kernels=SPECS).fit(X, y), method(2).fit(K, y)
    np.testing.assert_allclose(a.embedding_, b.embedding_, atol=1e-8)
    np.testing.assert_allclose(a.transform(X), b.transform(K), atol=1e-6)


@pytest.mark.parametrize("method", KERNEL_METHODS)
def test_cross_validation_slices_the_kernels(digits, method):
    _, y, K = digits
    assert get_tags(method()).input_tags.pairwise
    pipeline = make_pipeline(method(4), KNeighborsClassifier(1))
    folds = StratifiedKFold(3)
    scores = cross_val_score(pipeline, K, y, cv=folds)
    for score, (train, test) in zip(scores, folds.split(K, y), strict=True):
        model = method(4).fit(K[np.ix_(train, train)], y[train])
        nearest = KNeighborsClassifier(1).fit(model.transform(K[np.ix_(train, train)]), y[train])
        assert score == nearest.score(model.transform(K[np.ix_(test, train)]), y[test])
        assert score > 0.6


@pytest.mark.parametrize("method", [*KERNEL_METHODS, *LINEAR_METHODS])
def test_conventions(digits, method):
    data, y = data_for(method, digits), digits[1]
    before = data.copy()
    model = method(2)
    first = model.fit(data, y).embedding_.copy()
    np.testing.assert_array_equal(data, before)
    np.testing.assert_array_equal(clone(model).fit_transform(data, y), first)
    np.testing.assert_allclose(model.transform(data), first, atol=1e-8)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(data[:4]), model.transform(data[:4]))
    assert list(model.get_feature_names_out()) == [f"{method.__name__.lower()}{i}" for i in range(2)]
    single = clone(model).fit(data.astype(np.float32), y)
    assert single.embedding_.dtype == single.transform(data[:3].astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.embedding_, first, atol=5e-3 * np.abs(first).max())
    names = np.array(["zero", "one", "two", "three", "four"])[y]
    if hasattr(model, "classes_"):
        named = clone(model).fit(data, names)
        np.testing.assert_array_equal(named.classes_, sorted(set(names)))
        np.testing.assert_allclose(named.embedding_, first, atol=1e-8)


@pytest.mark.parametrize("method", LINEAR_METHODS)
def test_frames(digits, method):
    X, y, _ = digits
    frame = method(2).set_output(transform="pandas").fit(X, y).transform(X)
    assert list(frame.columns) == [f"{method.__name__.lower()}{i}" for i in range(2)]

"""Embeddings follow scikit-learn's conventions: its own checks, cross-validation, precision, labels and names."""

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

from mklearn.classifiers import LedoitWolfLDA
from mklearn.kernels.specs import compute_stack
from mklearn.subspace import (
    LDE,
    MKLDR,
    MKMMC,
    MMC,
    PCA,
    ConvexMKLDR,
    Fisherface,
    GuardedMKL,
    KernelFDA,
    KernelLDE,
    KernelMMC,
    KernelPCA,
    LeaveOneOutMKL,
    NullSpaceLDA,
)

GAUSSIAN = [{"kind": "gaussian"}]
TWO = ["gaussian", "linear"]
SPECS = [{"kind": "gaussian"}, {"kind": "gaussian", "bandwidth": 4.0}, {"kind": "linear", "normalise": "centred_trace"}]
KERNEL_METHODS = [KernelFDA, KernelLDE, MKLDR, KernelMMC, MKMMC, KernelPCA, ConvexMKLDR, LeaveOneOutMKL, GuardedMKL]
LINEAR_METHODS = [LDE, MMC, Fisherface, PCA, LedoitWolfLDA, NullSpaceLDA]


def integer_gram_matrices(estimator):
    """Return the checks that round a Gram matrix to integers, which leaves it with negative eigenvalues."""
    if isinstance(estimator, ConvexMKLDR) and estimator.kernels == "precomputed":
        return {"check_estimators_dtypes": "rounds the Gram matrix to integers, which makes it indefinite"}
    return {}


@parametrize_with_checks(
    [
        KernelFDA(kernels=GAUSSIAN),
        KernelFDA(),
        KernelLDE(kernels=GAUSSIAN),
        KernelLDE(),
        MKLDR(kernels=TWO),
        MKLDR(),
        MKLDR(kernels=GAUSSIAN, graph="lde"),
        MKLDR(kernels=GAUSSIAN, graph="pca"),
        MKLDR(kernels=GAUSSIAN, graph="lpp"),
        MKLDR(kernels=GAUSSIAN, a_step="trace_ratio"),
        KernelMMC(kernels=GAUSSIAN),
        KernelMMC(),
        KernelMMC(kernels=GAUSSIAN, constraint="coef", trade_off="trace_ratio"),
        MKMMC(kernels=TWO),
        MKMMC(constraint="coef"),
        KernelPCA(kernels=GAUSSIAN),
        KernelPCA(),
        ConvexMKLDR(kernels=TWO),
        ConvexMKLDR(),
        LeaveOneOutMKL(kernels=TWO),
        LeaveOneOutMKL(),
        GuardedMKL(kernels=TWO),
        GuardedMKL(),
        LDE(),
        MMC(),
        MMC(trade_off="trace_ratio"),
        Fisherface(),
        Fisherface(ridge=1.0, n_pca="all", scaling="within"),
        PCA(),
        LedoitWolfLDA(),
        LedoitWolfLDA(rule="euclidean"),
    ],
    expected_failed_checks=integer_gram_matrices,
)
@pytest.mark.filterwarnings("ignore::mklearn.kernels.identity_like.IdentityLikeKernelWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    """Features, labels and kernels; null-space LDA needs more features than samples."""
    X, y = load_digits(n_class=5, return_X_y=True)
    # Pixels are integers with many equal distances: noise gives the same neighbours in single and double precision.
    X, y = X[:150] + np.random.default_rng(0).normal(size=(150, 64)), y[:150]
    wide = np.hstack([X, np.random.default_rng(1).normal(size=(150, 200))])
    return wide, y, compute_stack(X, SPECS).as_last_axis()


def data_for(method, digits):
    return digits[2] if method in KERNEL_METHODS else digits[0]


@pytest.mark.parametrize("method", KERNEL_METHODS)
def test_precomputed_kernels_equal_kernels_of_features(digits, method):
    X, y, _ = digits
    K = compute_stack(X, SPECS).as_last_axis()
    computed, given = method(2, kernels=SPECS).fit(X, y), method(2).fit(K, y)
    np.testing.assert_allclose(computed.embedding_, given.embedding_, atol=1e-8)
    np.testing.assert_allclose(computed.transform(X), given.transform(K), atol=1e-6)


@pytest.mark.parametrize("method", KERNEL_METHODS)
def test_cross_validation_slices_the_kernels(digits, method):
    _, y, K = digits
    pipeline = make_pipeline(method(4), KNeighborsClassifier(1))
    assert get_tags(method()).input_tags.pairwise
    assert get_tags(pipeline).input_tags.pairwise
    assert not get_tags(method(kernels=SPECS)).input_tags.pairwise
    folds = StratifiedKFold(3)
    scores = cross_val_score(pipeline, K, y, cv=folds)
    for score, (train, test) in zip(scores, folds.split(K, y), strict=True):
        model = method(4).fit(K[np.ix_(train, train)], y[train])
        nearest = KNeighborsClassifier(1).fit(model.transform(K[np.ix_(train, train)]), y[train])
        assert score == nearest.score(model.transform(K[np.ix_(test, train)]), y[test])
        assert score > 0.6


@pytest.mark.parametrize(
    ("method", "name", "values"),
    [
        (MKLDR, "ridge", [1e-4, 1e-1]),
        (ConvexMKLDR, "p", [1.0, 2.0]),
        (LeaveOneOutMKL, "shrinkage", [0.0, 1.0]),
        (GuardedMKL, "standard_errors", [0.0, 9.0]),
    ],
)
def test_grid_search_over_a_pipeline(digits, method, name, values):
    X, y, K = digits
    step = method.__name__.lower()
    grid = {f"{step}__{name}": values, f"{step}__n_components": [1, 4]}
    for data, kernels in ((K, "precomputed"), (X[:, :64], SPECS)):
        pipeline = make_pipeline(method(kernels=kernels), KNeighborsClassifier(1))
        search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(data, y)
        assert search.best_params_[f"{step}__n_components"] == 4
        assert search.best_score_ > 0.85
        assert search.predict(data[:7]).shape == (7,)


@pytest.mark.parametrize("method", [*KERNEL_METHODS, *LINEAR_METHODS])
def test_fits_are_repeatable_and_leave_their_input_unchanged(digits, method):
    data, y = data_for(method, digits), digits[1]
    before = data.copy()
    model = method(2)
    first = model.fit(data, y).embedding_.copy()
    np.testing.assert_array_equal(data, before)
    np.testing.assert_array_equal(model.fit(data, y).embedding_, first)
    np.testing.assert_array_equal(clone(model).fit_transform(data, y), first)
    np.testing.assert_allclose(model.transform(data), first, atol=1e-8)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(data[:4]), model.transform(data[:4]))


@pytest.mark.parametrize("method", [*KERNEL_METHODS, *LINEAR_METHODS])
def test_float32_in_float32_out(digits, method):
    data, y = data_for(method, digits), digits[1]
    cases = [(data, method(2))]
    if method in KERNEL_METHODS:
        cases.append((digits[0][:, :64], method(2, kernels=SPECS)))
    for given, model in cases:
        single = clone(model).fit(given.astype(np.float32), y)
        double = model.fit(given, y)
        assert single.embedding_.dtype == single.transform(given[:3].astype(np.float32)).dtype == np.float32
        np.testing.assert_allclose(single.embedding_, double.embedding_, atol=5e-3 * np.abs(double.embedding_).max())


@pytest.mark.parametrize("method", [*KERNEL_METHODS, *LINEAR_METHODS])
def test_labels_may_be_strings(digits, method):
    data, y = data_for(method, digits), digits[1]
    names = np.array(["zero", "one", "two", "three", "four"])[y]
    model, named = method(2).fit(data, y), method(2).fit(data, names)
    if hasattr(model, "classes_"):
        np.testing.assert_array_equal(named.classes_, sorted(set(names)))
    np.testing.assert_allclose(named.embedding_, model.embedding_, atol=1e-8)


@pytest.mark.parametrize("method", [*KERNEL_METHODS, *LINEAR_METHODS])
def test_names_and_frames_of_features_out(digits, method):
    X, y, _ = digits
    model = method(2, kernels=SPECS) if method in KERNEL_METHODS else method(2)
    names = [f"{method.__name__.lower()}{i}" for i in range(2)]
    frame = model.set_output(transform="pandas").fit_transform(X, y)
    assert list(frame.columns) == list(model.get_feature_names_out()) == names
    np.testing.assert_array_equal(frame.to_numpy(), model.embedding_)

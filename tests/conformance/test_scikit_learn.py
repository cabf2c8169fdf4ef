"""Estimators pass scikit-learn's own checks, and its grid search tunes them in a pipeline."""

from __future__ import annotations

import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.conformance.conftest import Digits

from mklearn.classifiers import (
    FSVC,
    RMMSVC,
    EmbeddedLinearSVC,
    KernelFSVC,
    KernelRidgeClassifier,
    KernelRMMSVC,
    KernelRSVMPlus,
    KernelRSVMPlusMu,
    KernelSAMME,
    KernelVoting,
    LedoitWolfLDA,
    LedoitWolfSVC,
    MajorityClassifier,
    RSVMPlus,
    RSVMPlusMu,
)
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
)

GAUSSIAN = [{"kind": "gaussian"}]
TWO = ["gaussian", "linear"]
SPECS = [{"kind": "gaussian"}, {"kind": "gaussian", "bandwidth": 4.0}, {"kind": "linear", "normalise": "centred_trace"}]


def integer_gram_matrices(estimator):
    """Return the checks that round a Gram matrix to integers, which leaves it with negative eigenvalues."""
    if isinstance(estimator, ConvexMKLDR | KernelRidgeClassifier) and estimator.kernels == "precomputed":
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
        KernelVoting(kernels=TWO),
        KernelVoting(),
        KernelSAMME(kernels=TWO),
        KernelSAMME(),
        KernelRidgeClassifier(kernels=TWO),
        KernelRidgeClassifier(),
        EmbeddedLinearSVC(kernels=TWO),
        EmbeddedLinearSVC(),
        MajorityClassifier(),
        FSVC(),
        FSVC(power=0.25, feature_scaling="standard"),
        FSVC(solver="alternating", step="armijo", n_iter=3),
        RMMSVC(),
        RMMSVC(B="inf"),
        RSVMPlus(),
        RSVMPlusMu(),
        LedoitWolfSVC(),
        KernelFSVC(kernels=TWO),
        KernelFSVC(),
        KernelRMMSVC(kernels=TWO),
        KernelRSVMPlus(),
        KernelRSVMPlusMu(kernels=GAUSSIAN),
    ],
    expected_failed_checks=integer_gram_matrices,
)
@pytest.mark.filterwarnings("ignore::mklearn.kernels.identity_like.IdentityLikeKernelWarning")
@pytest.mark.filterwarnings("ignore:no kernel is better than chance")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("method", "name", "values"),
    [(MKLDR, "ridge", [1e-4, 1e-1]), (ConvexMKLDR, "p", [1.0, 2.0]), (LeaveOneOutMKL, "shrinkage", [0.0, 1.0])],
)
@pytest.mark.parametrize("kernels", ["precomputed", SPECS], ids=["precomputed", "specs"])
def test_grid_search_over_a_pipeline(digits: Digits, method, name, values, kernels):
    X, y = digits.X, digits.y
    data = compute_stack(X, SPECS).as_last_axis() if kernels == "precomputed" else X
    step = method.__name__.lower()
    grid = {f"{step}__{name}": values, f"{step}__n_components": [1, 3]}
    pipeline = make_pipeline(method(kernels=kernels), KNeighborsClassifier(1))
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(data, y)
    assert search.best_params_[f"{step}__n_components"] == 3
    assert search.best_score_ > 0.85
    assert search.predict(data[:7]).shape == (7,)

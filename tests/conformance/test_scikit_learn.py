"""Every public estimator passes scikit-learn's own checks."""

import inspect
from typing import Any

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import check_estimator
from tests.unit.core_install import estimators

from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.classifiers import (
    FSVC,
    LMKLSVC,
    EasyMKL,
    KernelRidgeClassifier,
    KernelSVC,
    LedoitWolfLDA,
    MultiViewClassifier,
    NearestNeighbours,
    StackingSVC,
)
from mklearn.papers.fsvm import RMMSVC
from mklearn.papers.mkmmc import MKMMC
from mklearn.papers.two_d_mmc import TwoDLDA
from mklearn.regressors import KernelRidge, MultiViewRegressor
from mklearn.subspace import MKLDR, MMC, ConvexMKLDR, Fisherface, KernelMMC, NullSpaceLDA

KERNELS = ["gaussian", "linear"]
ESTIMATORS: list[type[BaseEstimator]] = estimators()
UNCHECKED = {NullSpaceLDA}
"""It needs more features than samples less classes, which no data of the checks have."""
FEWER: dict[type[BaseEstimator], dict[str, int]] = {LMKLSVC: {"max_iter": 2}}
"""Fewer steps where kernels are computed from features; on precomputed kernels as many as by default."""
ONE_SAMPLE = (
    "check_dont_overwrite_parameters", "check_f_contiguous_array_estimator", "check_methods_sample_order_invariance",
    "check_methods_subset_invariance", "check_fit2d_1feature", "check_dict_unchanged", "check_fit2d_predict1d",
)  # fmt: skip
"""Checks whose Gram matrices have the entries of a column as labels, a single one of some class."""
OFTEN = {FSVC, KernelRidge, KernelSVC, LedoitWolfLDA, MKLDR, MMC, MultiViewClassifier}
"""Estimators that `make test` checks: the recommended ones, and one of each kind. test_methods.py fits the others."""
OTHER_WAYS = [
    MKLDR(kernels=["gaussian"], graph="lde", max_iter=3),
    MKLDR(kernels=["gaussian"], graph="pca", max_iter=3),
    MKLDR(kernels=["gaussian"], graph="lpp", max_iter=3),
    MKLDR(kernels=["gaussian"], a_step="trace_ratio", max_iter=3),
    KernelMMC(kernels=["gaussian"], constraint="coef", trade_off=2.0),
    MKMMC(constraint="coef"),
    MMC(trade_off="trace_ratio"),
    Fisherface(ridge=1.0, n_pca="all", scaling="within"),
    LedoitWolfLDA(rule="euclidean"),
    KernelRidgeClassifier(kernels=[{"kind": "linear", "centre": False, "normalise": "none"}]),
    FSVC(power=0.25, feature_scaling="standard"),
    FSVC(solver="alternating", step="armijo", n_iter=3),
    RMMSVC(B="inf"),
    MultiViewClassifier(kernels="precomputed"),
    MultiViewClassifier(decision="cosine"),
    KernelRidge(kernels=KERNELS, kernel_weights="learned"),
    NearestNeighbours(1),
    TwoDLDA(scaling="orthonormal"),
    LandmarkFeatures(n=4),
    LandmarkFeatures(["gaussian", "linear", {"kind": "polynomial", "degree": 2}], n=4),
    LandmarkFeatures([{"bandwidth": 0.5}, "linear"], n=4, dtype="float32"),
]


def instances() -> list[Any]:
    """Every estimator with its default input, those on kernels also with kernels of features, and other ways."""
    found: list[Any] = []
    for estimator in ESTIMATORS:
        if estimator in UNCHECKED:
            continue
        found.append(estimator())
        if "kernels" in inspect.signature(estimator).parameters:
            found.append(estimator(kernels=KERNELS, **FEWER.get(estimator, {})))
    often = {str(estimator()) for estimator in OFTEN} | {str(MKLDR(kernels=KERNELS)), str(OTHER_WAYS[-3])}
    return [
        pytest.param(each, marks=[] if str(each) in often else [pytest.mark.full]) for each in [*found, *OTHER_WAYS]
    ]


def expected_failures(estimator: Any) -> dict[str, str]:
    """Return the checks that fail, and why: their data, or sample weights where kernels are fitted to features."""
    indefinite = ConvexMKLDR | KernelRidgeClassifier | EasyMKL | MultiViewClassifier
    regressors = KernelRidge | MultiViewRegressor
    weighted = KernelRidgeClassifier | KernelSVC | MultiViewClassifier
    found = {}
    if isinstance(estimator, indefinite) and estimator.kernels == "precomputed":
        found["check_estimators_dtypes"] = "rounds the Gram matrix to integers, which makes it indefinite"
    if isinstance(estimator, weighted) and estimator.kernels == "precomputed":
        found["check_classifiers_one_label_sample_weights"] = "gives a Gram matrix that is not symmetric"
    if isinstance(estimator, weighted | regressors) and estimator.kernels in (KERNELS, "dictionary"):
        # tests/unit/classifiers/test_sample_weight.py has kernels that are not fitted
        found["check_sample_weight_equivalence_on_dense_data"] = "kernels are fitted to features without weights"
        if estimator.kernels == "dictionary":
            found["check_sample_weight_equivalence_on_sparse_data"] = "likewise"
    if isinstance(estimator, StackingSVC) and estimator.kernels == "precomputed":
        found |= dict.fromkeys(ONE_SAMPLE, "the only sample of a class can't be left out")
    if isinstance(estimator, MultiViewClassifier | StackingSVC) and estimator.kernels == "precomputed":
        found["check_decision_proba_consistency"] = "gives features, not a Gram matrix"
    if isinstance(estimator, MultiViewClassifier) and estimator.decision == "cosine":
        found["check_class_weight_classifiers"] = "the cosine is about the class frequencies, whatever they are"
    return found


def test_every_estimator_is_checked() -> None:
    names = {estimator.__name__ for estimator in ESTIMATORS}
    assert {"MKLDR", "KernelSVC", "TwoDMMC", "ShrinkageLDA", "NullSpaceLDA"} <= names
    assert len(names) >= 35


@pytest.mark.parametrize("estimator", instances(), ids=str)
@pytest.mark.filterwarnings("ignore::mklearn.kernels.matrices.IdentityLikeKernelWarning")
@pytest.mark.filterwarnings("ignore:no kernel is better than chance")
def test_scikit_learn_checks(estimator: BaseEstimator, monkeypatch: pytest.MonkeyPatch) -> None:
    """All checks of an estimator in one test: thousands of tests would cost each worker seconds."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # else scikit-learn skips a check that NumPy alone is enough for
    expected = expected_failures(estimator)
    results = check_estimator(estimator, expected_failed_checks=expected, on_skip=None, on_fail=None)
    assert len(results) > 40
    wrong = [
        (result["check_name"], result["status"], result["exception"])
        for result in results
        if result["status"] != ("xfail" if result["expected_to_fail"] else "passed")
        # skipped: it does not have the method that the check is about
        and not (result["status"] == "skipped" and "does not have a" in str(result["exception"]))
    ]
    assert not wrong

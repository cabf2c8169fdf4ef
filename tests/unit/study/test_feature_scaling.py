"""Kernels on scaled features in a study: their names, what is planned for them, and what has no features to scale."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from mklearn.errors import ConfigError
from mklearn.study.jobs import Jobs, wildcards_of
from mklearn.study.plan.plan import Plan, plan_study
from mklearn.study.reading import check_study
from mklearn.study.resources import Requests

STUDY: dict[str, Any] = {
    "study": "s",
    "datasets": {"digits": {"per_class": 20}},
    "descriptors": {"pixels": {"kind": "pixels"}, "lbp": {"kind": "lbp", "grid": 2}},
    "kernels": {
        "gauss": {"kind": "gaussian", "feature_scaling": "standard", "bandwidth": [1, 2]},
        "zunit": {"kind": "linear", "descriptor": "pixels", "feature_scaling": "standard", "centre": False,
                  "normalise": "unit_diagonal"},
    },
    "methods": {"average": {"kind": "kernel_fda"}},
    "protocols": {"folds": {"kind": "k_fold", "folds": 2}},
}  # fmt: skip


def planned(**changes: Any) -> Plan:
    return plan_study(check_study(STUDY | changes))


def the_fit(plan: Plan, method: str = "average") -> Any:
    return next(fit for fit in plan.fits.values() if fit.method_id == method)


def test_features_are_the_source_and_no_matrix_is_cached() -> None:
    plan = planned()
    fit = the_fit(plan)
    assert not plan.pairwise
    assert fit.spec.pairwise == []
    pixels, lbp = sorted(fit.spec.kernel_features, reverse=True)
    assert {(pixels.split("-")[0], lbp.split("-")[0])} == {("pixels", "lbp")}
    assert {name for _, name in plan.descriptors} == {pixels, lbp}
    ids = {kernel["id"]: kernel for kernel in fit.spec.kernels}
    assert list(ids) == ["gauss-lbp-1", "gauss-lbp-2", "gauss-pixels-1", "gauss-pixels-2", "zunit"]
    assert ids["gauss-lbp-2"] == {
        "id": "gauss-lbp-2", "view": lbp, "feature_scaling": "standard", "kind": "gaussian", "bandwidth": 2.0,
        "bandwidth_rule": "mean_squared_distance", "centre": True, "normalise": "centred_trace", "psd": "clip",
        "measure": "squared_euclidean",  # histograms have chi2 as long as they are histograms
    }  # fmt: skip
    jobs = Jobs(plan)
    wildcards, asked_mb = wildcards_of(jobs.keys("fit")[0]), Requests(jobs).of("fit")["mem_mb"]
    inputs = jobs.job("fit", wildcards).inputs
    assert not inputs["matrices"]
    assert [path.split("/")[-1] for path in inputs["sources"]] == [f"{lbp}.npz", f"{pixels}.npz"]
    assert asked_mb(wildcards, SimpleNamespace(size_mb=100), 1) > asked_mb(wildcards, SimpleNamespace(size_mb=1), 1)


def test_point_sets_and_matrices_have_no_features(matrices: dict[str, Any]) -> None:
    kernels = {"k": {"kind": "gaussian", "feature_scaling": "rank"}}
    with pytest.raises(ConfigError, match=r"kernels\.k\.feature_scaling: descriptor 'points' is a set of points"):
        planned(kernels=kernels, descriptors={"points": {"kind": "geometric_blur"}})
    with pytest.raises(ConfigError, match=r"kernels\.k\.feature_scaling: 'a' is a matrix and has no features"):
        planned(kernels=kernels, datasets={"mine": matrices | {"measure": "distance"}}, descriptors={})


def test_automatic_scaling_is_one_kernel_and_no_entry_of_the_grid() -> None:
    kernels = {
        "gauss": {"kind": "gaussian", "feature_scaling": "auto"},
        "raw": {"kind": "linear", "descriptor": "pixels"},
        "p": {"kind": "product"},
    }
    methods = {
        "average": {"kind": "kernel_fda", "ridge": [1e-3, 1e-2]},
        "raw": {"kind": "kernel_fda", "kernels": ["raw"]},
        "product": {"kind": "kernel_fda", "kernels": ["p"]},
    }
    plan = planned(kernels=kernels, methods=methods)
    fit = the_fit(plan)
    assert [kernel["id"] for kernel in fit.spec.kernels] == ["gauss-lbp", "gauss-pixels", "raw"]
    assert [kernel.get("feature_scaling") for kernel in fit.spec.kernels] == ["auto", "auto", None]
    assert list(fit.spec.method.grid) == ["ridge"]
    (product,) = the_fit(plan, "product").spec.kernels
    assert [factor.get("feature_scaling") for factor in product["factors"]] == ["auto", "auto"]
    for scaling in ("auto", "standard"):
        with pytest.raises(ConfigError, match=f"measure chi2 can't compare features with scaling {scaling}; use"):
            planned(kernels={"k": {"kind": "gaussian", "feature_scaling": scaling, "measure": "chi2"}})


def test_kernels_by_default_choose_the_scaling_of_tables_only() -> None:
    plan = planned(datasets=["digits", "wine"], kernels={}, descriptors={
        "features": {"kind": "table", "table": "features"}, "pixels": {"kind": "pixels"},
    })  # fmt: skip
    found = {fit.dataset.id: fit.spec.kernels for fit in plan.fits.values()}
    assert [(kernel["id"], kernel["feature_scaling"]) for kernel in found["wine"]] == [("features", "auto")]
    assert [(kernel["id"], "feature_scaling" in kernel) for kernel in found["digits"]] == [("pixels", False)]

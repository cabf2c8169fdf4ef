"""Kernels of a study: on scaled features, and products of Gaussian kernels; what is planned for them and refused."""

from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.planned_jobs import wildcards_of

from mklearn.errors import ConfigError
from mklearn.study.jobs import Jobs
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

PRODUCTS: dict[str, Any] = {
    "kernels": {
        "gauss": {"kind": "gaussian", "bandwidth_rule": "squared_mean_distance", "psd": "flip"},
        "wide": {"kind": "gaussian", "descriptor": "pixels", "bandwidth": [2, 4]},
        "linear": {"kind": "linear", "descriptor": "pixels"},
        "product": {"kind": "product"},
    },
    "methods": {
        "kfd": {"kind": "kernel_fda", "kernels": "each"},
        "average": {"kind": "kernel_fda"},
        "geometric": {"kind": "kernel_fda", "kernels": ["product"]},
        "both": {"kind": "kernel_fda", "kernels": ["product", "linear"], "kernel_weights": {"product": 2, "linear": 1}},
    },
}
GAUSSIANS = ["gauss-pixels", "gauss-lbp", "wide-2", "wide-4"]


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


def test_kernels_by_default_choose_the_scaling_of_tables_only() -> None:
    plan = planned(datasets=["digits", "wine"], kernels={}, descriptors={
        "features": {"kind": "table", "table": "features"}, "pixels": {"kind": "pixels"},
    })  # fmt: skip
    found = {fit.dataset.id: fit.spec.kernels for fit in plan.fits.values()}
    assert [(kernel["id"], kernel["feature_scaling"]) for kernel in found["wine"]] == [("features", "auto")]
    assert [(kernel["id"], "feature_scaling" in kernel) for kernel in found["digits"]] == [("pixels", False)]


# --- products


def test_all_and_each_leave_the_product_out() -> None:
    plan = planned(**PRODUCTS)
    names = {fit.method_id: [kernel["id"] for kernel in fit.spec.kernels] for fit in plan.fits.values()}
    assert names["average"] == sorted([*GAUSSIANS, "linear"])
    assert names["geometric"] == ["product"]
    assert [name for name in names if name.startswith("kfd-")] == [f"kfd-{name}" for name in [*GAUSSIANS, "linear"]]
    fit = the_fit(plan, "both")
    assert list(zip(names["both"], fit.spec.method.parameters["kernel_weights"], strict=True)) == [
        ("linear", 1.0), ("product", 2.0),
    ]  # fmt: skip


def test_factors_are_the_kernels_before_centring_and_normalising() -> None:
    plan = planned(**PRODUCTS)
    singles = {kernel["id"]: kernel for kernel in the_fit(plan, "average").spec.kernels}
    (product,) = the_fit(plan, "geometric").spec.kernels
    assert {key: value for key, value in product.items() if key != "factors"} == {
        "id": "product", "kind": "product",
        "centre": True, "normalise": "centred_trace", "psd": "clip",
    }  # fmt: skip
    assert [factor["id"] for factor in product["factors"]] == sorted(GAUSSIANS)
    for factor in product["factors"]:
        assert set(factor) == {"id", "view", "measure", "bandwidth", "bandwidth_rule"}
        assert factor.items() <= singles[factor["id"]].items()
    assert [factor["measure"] for factor in product["factors"][:2]] == ["chi2", "squared_euclidean"]


def test_factors_have_to_apply_to_every_data_set(matrices: dict[str, Any]) -> None:
    datasets = STUDY["datasets"] | {"mine": matrices | {"measure": "kernel"}}
    methods = {"average": {"kind": "kernel_fda"}}
    kernels = PRODUCTS["kernels"] | {"product": {"kind": "product", "of": ["gauss-pixels", "gauss-lbp"]}}
    with pytest.raises(ConfigError, match=r"product\.of: .* no Gaussian kernel gauss-pixels, gauss-lbp; it has none\."):
        planned(datasets=datasets, kernels=kernels, methods=methods)
    scaled = {"k": {"kind": "gaussian", "feature_scaling": "rank"}}
    with pytest.raises(ConfigError, match=r"kernels\.k\.feature_scaling: 'a' is a matrix and has no features"):
        planned(kernels=scaled, datasets={"mine": matrices | {"measure": "distance"}}, descriptors={})
    kernels = PRODUCTS["kernels"]  # of all: none where there are no Gaussian kernels; who asks for it there is told
    plan = planned(datasets=datasets, kernels=kernels, methods=methods)
    assert {len(fit.spec.kernels) for fit in plan.fits.values()} == {2, 5}
    with pytest.raises(ConfigError, match="data set 'mine' has no kernel product; it has a, b"):
        planned(datasets=datasets, kernels=kernels, methods={"m": methods["average"] | {"kernels": ["product"]}})


# --- names that stand for several


SEVERAL: dict[str, Any] = {
    "descriptors": {
        "p4": {"kind": "patches", "size": 4, "patch": "each", "grid": [2, 2]},
        "r2": {"kind": "multiresolution", "resolutions": [2]},
        "r4": {"kind": "multiresolution", "resolutions": [4]},
    },
    "kernels": {
        "lin": {"kind": "linear"},
        "gauss": {"kind": "gaussian", "descriptor": "p4-*-1"},
        "some": {"kind": "linear", "descriptor": ["r4", "r*"]},
    },
    "methods": {
        "patches": {"kind": "kernel_fda", "kernels": ["lin-p4-*"]},
        "several": {"kind": "kernel_fda", "kernels": ["gauss-*", "lin-r2", "lin-r*"]},
    },
}
PATCHES = ["p4-0-0", "p4-0-1", "p4-1-0", "p4-1-1"]


def test_each_patch_is_a_descriptor() -> None:
    study = check_study(STUDY | SEVERAL)
    assert list(study.descriptors) == [*PATCHES, "r2", "r4"]
    assert study.descriptors["p4-1-0"].parameters() == {"size": 4, "patch": (1, 0)}
    alone = SEVERAL["descriptors"]["p4"] | {"patch": [1, 0]}
    del alone["grid"]
    keys = {key for _, key in planned(**SEVERAL).descriptors}
    descriptors = {"p4-1-0": alone, **SEVERAL["descriptors"]}
    same = planned(**SEVERAL | {"descriptors": descriptors})
    assert {key for _, key in same.descriptors} == keys


def test_patterns_stand_for_kernels() -> None:
    plan = planned(**SEVERAL)
    names = {fit.method_id: [kernel["id"] for kernel in fit.spec.kernels] for fit in plan.fits.values()}
    assert names["patches"] == [f"lin-{name}" for name in PATCHES]
    assert names["several"] == ["gauss-p4-0-1", "gauss-p4-1-1", "lin-r2", "lin-r4"]
    assert plan.kernels[-2:] == ["some-r4", "some-r2"]

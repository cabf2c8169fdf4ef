"""A product of Gaussian kernels in a study: its factors, their matrices, the methods that take it, invalid products."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mklearn.errors import ConfigError
from mklearn.study.plan.plan import Plan, plan_study
from mklearn.study.reading import check_study

STUDY: dict[str, Any] = {
    "study": "s",
    "datasets": {"digits": {"per_class": 20}},
    "descriptors": {"pixels": {"kind": "pixels"}, "lbp": {"kind": "lbp", "grid": 2}},
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
    "protocols": {"folds": {"kind": "k_fold", "folds": 2}},
}
GAUSSIANS = ["gauss-pixels", "gauss-lbp", "wide-2", "wide-4"]


def planned(**changes: Any) -> Plan:
    return plan_study(check_study(STUDY | changes))


def kernels_of(plan: Plan, method: str) -> list[dict[str, Any]]:
    return next(fit.spec.kernels for fit in plan.fits.values() if fit.method_id == method)


def test_all_and_each_leave_the_product_out() -> None:
    plan = planned()
    names = {fit.method_id: [kernel["id"] for kernel in fit.spec.kernels] for fit in plan.fits.values()}
    assert names["average"] == sorted([*GAUSSIANS, "linear"])
    assert names["geometric"] == ["product"]
    assert [name for name in names if name.startswith("kfd-")] == [f"kfd-{name}" for name in [*GAUSSIANS, "linear"]]
    fit = next(fit for fit in plan.fits.values() if fit.method_id == "both")
    assert dict(zip(names["both"], fit.spec.method.parameters["kernel_weights"], strict=True)) == {
        "product": 2.0,
        "linear": 1.0,
    }


def test_factors_are_the_kernels_before_centring_and_normalising() -> None:
    plan = planned()
    singles = {kernel["id"]: kernel for kernel in kernels_of(plan, "average")}
    (product,) = kernels_of(plan, "geometric")
    assert {key: value for key, value in product.items() if key != "factors"} == {
        "id": "product", "kind": "product",
        "centre": True, "normalise": "centred_trace", "psd": "clip",
    }  # fmt: skip
    assert [factor["id"] for factor in product["factors"]] == sorted(GAUSSIANS)
    for factor in product["factors"]:
        assert set(factor) == {"id", "view", "measure", "bandwidth", "bandwidth_rule"}
        assert factor.items() <= singles[factor["id"]].items()
    assert [factor["measure"] for factor in product["factors"][:2]] == ["chi2", "squared_euclidean"]


# --- data sets that do not have all kernels


def test_factors_have_to_apply_to_every_data_set(matrices: dict[str, Any]) -> None:
    datasets = STUDY["datasets"] | {"mine": matrices | {"measure": "kernel"}}
    methods = {"average": {"kind": "kernel_fda"}}
    kernels = STUDY["kernels"] | {"product": {"kind": "product", "of": ["gauss-pixels", "gauss-lbp"]}}
    sentence = "kernels.product.of: data set 'mine' has no Gaussian kernel gauss-pixels, gauss-lbp; it has none."
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        planned(datasets=datasets, kernels=kernels, methods=methods)
    # of all: none where there are no Gaussian kernels; who asks for it there is told
    plan = planned(datasets=datasets, methods=methods)
    assert {len(fit.spec.kernels) for fit in plan.fits.values()} == {2, 5}
    with pytest.raises(ConfigError, match=re.escape("data set 'mine' has no kernel product; it has a, b.")):
        planned(datasets=datasets, methods={"m": {"kind": "kernel_fda", "kernels": ["product"]}})

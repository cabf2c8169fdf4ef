"""Names that stand for several: a descriptor of each patch, and patterns of descriptors and kernels."""

from __future__ import annotations

from typing import Any

from mklearn.study.plan.plan import Plan, plan_study
from mklearn.study.reading import check_study

STUDY: dict[str, Any] = {
    "study": "s",
    "datasets": ["digits"],
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
    "protocols": {"folds": {"kind": "k_fold", "folds": 2}},
}
PATCHES = ["p4-0-0", "p4-0-1", "p4-1-0", "p4-1-1"]


def planned(**changes: Any) -> Plan:
    return plan_study(check_study(STUDY | changes))


def kernels_of(plan: Plan, method: str) -> list[str]:
    return [kernel["id"] for fit in plan.fits.values() if fit.method_id == method for kernel in fit.spec.kernels]


def test_each_patch_is_a_descriptor() -> None:
    study = check_study(STUDY)
    assert list(study.descriptors) == [*PATCHES, "r2", "r4"]
    assert study.descriptors["p4-1-0"].parameters() == {"size": 4, "patch": (1, 0)}
    alone = STUDY["descriptors"]["p4"] | {"patch": [1, 0]}
    del alone["grid"]
    keys = {key for _, key in planned().descriptors}
    same = planned(descriptors=STUDY["descriptors"] | {"p4-1-0": alone} | {"p4": STUDY["descriptors"]["p4"]})
    assert {key for _, key in same.descriptors} == keys


def test_patterns_stand_for_kernels() -> None:
    plan = planned()
    assert kernels_of(plan, "patches") == [f"lin-{name}" for name in PATCHES]
    assert kernels_of(plan, "several") == ["gauss-p4-0-1", "gauss-p4-1-1", "lin-r2", "lin-r4"]
    assert plan.kernels[-2:] == ["some-r4", "some-r2"]

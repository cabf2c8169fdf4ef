"""Planned fits: the inputs, kernels and candidates of a method on one data set."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import pytest
from tests.entries import descriptor, method
from tests.unit.study.test_method import GATED

from mklearn.errors import ConfigError
from mklearn.study.plan.fits import PlannedFit, planned_fits
from mklearn.study.specs.fit_spec import Setting
from mklearn.study.study import Evaluation

KERNELS = [{"id": name, "kind": "gaussian", "view": f"{name}-0a/d"} for name in ("pixels", "hog", "lbp")]
PROTOCOLS = [
    SimpleNamespace(
        id=name, key=f"{name}-0b", settings=[Setting(protocol=name, train_size=None)], choice="inner_cv", composes=False
    )
    for name in ("folds", "halves")
]


DESCRIPTORS = {name: (f"{name}-0a", descriptor("pixels")) for name in ("pixels", "hog")}


def planned(
    method: Any, kernels: Any = KERNELS, family: str = "images", descriptors: Any = DESCRIPTORS, **evaluation: Any
) -> list[PlannedFit]:
    dataset: Any = SimpleNamespace(id="d", key="d-0c", family=family, impute="none", is_incomplete=False)
    protocols: Any = PROTOCOLS
    return planned_fits(dataset, "m", method, kernels, descriptors, protocols, Evaluation(**evaluation), 0)


def test_an_optional_input_that_is_null_is_left_out() -> None:
    """Gates on the rows of the average kernel: the estimator gets no view for them."""
    with_view, without = (planned(method("lmkl_svc", gating=gating))[0].spec for gating in ("hog", None))
    assert with_view.method.inputs["gating"].descriptors == ["hog-0a"]
    assert list(without.method.inputs) == ["kernels"]
    for needed in ("descriptor", "descriptors"):
        nothing = method({"descriptor": "linear_svc", "descriptors": "logistic_regression"}[needed], **{needed: None})
        assert dict(nothing.option_mistakes()) == {needed: "invalid value None; omit the key."}


def test_a_method_of_several_inputs() -> None:
    """One fit for each protocol; the descriptors with their inputs; nothing that was given is changed."""
    kernels = copy.deepcopy(KERNELS)
    fits = planned(method(GATED, gating="pixels", kernels=["hog", "lbp"]), kernels)
    assert kernels == KERNELS
    assert [(fit.protocol, fit.protocol_id, fit.dataset.id) for fit in fits] == [
        ("folds-0b", "folds", "d"), ("halves-0b", "halves", "d"),
    ]  # fmt: skip
    (name,) = {fit.method for fit in fits}
    assert name.startswith("m-")
    fit = fits[0]
    inputs = {name: entry.model_dump(exclude_defaults=True) for name, entry in fit.spec.method.inputs.items()}
    assert inputs == {
        "kernels": {"kind": "kernels"}, "gating": {"kind": "features", "descriptors": ["pixels-0a"]},
        "more": {"kind": "features", "descriptors": ["hog-0a"]},
    }  # fmt: skip
    assert fit.spec.kernels == KERNELS[1:]
    assert fit.spec.pairwise == ["hog-0a/d", "lbp-0a/d"]


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({}, ["hog-0a", "pixels-0a"]), ({"descriptors": ["pixels", "hog"]}, ["hog-0a", "pixels-0a"]),
    ],
)  # fmt: skip
def test_an_input_of_several_descriptors(chosen: dict[str, Any], expected: list[str]) -> None:
    fit = planned(method("logistic_regression", **chosen))[0]
    (entry,) = fit.spec.method.inputs.values()
    assert entry.model_dump(exclude_defaults=True) == {"kind": "features", "descriptors": expected}
    assert fit.spec.pairwise == []
    assert "descriptors" not in fit.spec.method.parameters


def test_a_method_on_some_protocols() -> None:
    fits = planned(method("mmc", protocols=["halves"]))
    assert [fit.protocol_id for fit in fits] == ["halves"]
    (everywhere,) = {fit.method for fit in planned(method("mmc"))}
    assert fits[0].method == everywhere, "where a method runs is in no key"
    assert "protocols" not in fits[0].spec.method.parameters


POINTS = DESCRIPTORS | {"sift": ("sift-0a", descriptor("sift_points"))}


@pytest.mark.parametrize(
    ("chosen", "descriptors", "sentence"),
    [
        ("all", {}, "methods.m.descriptors: Logistic regression takes features, and data set 'd' has none (images)."),
        (["hog", "x"], DESCRIPTORS, "methods.m.descriptors: data set 'd' has no descriptor 'x'; it has hog, pixels."),
        ("all", POINTS, "methods.m.descriptors: 'sift' is a set of points for each image, and Logistic regression "
         "takes one vector; name the others, [pixels, hog], or use a method on kernels."),
    ],
)  # fmt: skip
def test_descriptors_that_can_not_be_put_side_by_side(chosen: Any, descriptors: Any, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        planned(method("logistic_regression", descriptors=chosen), descriptors=descriptors)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("weights", "count"),
    [({"pixels": 1, "hog": 2}, 1), ("uniform", 1), ("best_single", 3), ("cv_accuracy", 3)],
)
def test_given_kernel_weights_are_one_candidate(weights: Any, count: int) -> None:
    fit = planned(method("kernel_fda", kernel_weights=weights))[0]
    assert fit.spec.method.n_candidates(3) == count
    if isinstance(weights, dict):
        assert fit.spec.method.parameters["kernel_weights"] == [2.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("method", "more", "sentence"),
    [
        (method(GATED, gating="blocks"), {},
         "methods.m.gating: data set 'd' has no descriptor 'blocks'; it has hog, pixels."),
        (method(GATED, gating="pixels", more="sift"), {}, "methods.m.more: data set 'd' has no descriptor 'sift'"),
        (method("mmc", inner_folds="leave_one_out"), {"metrics": ["auc"], "choose_by": "auc"},
         "evaluation.choose_by (methods.m): 'auc' has no value for a single sample"),
    ],
)  # fmt: skip
def test_what_can_not_be_planned(method: Any, more: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        planned(method, **more)
    assert sentence in str(caught.value)


def test_a_dictionary_of_kernels_is_of_all_descriptors() -> None:
    """Whatever kernels the study names; unless it names some for the method."""
    fit = planned(method("multi_view"))[0]
    assert fit.spec.kernels == []
    assert fit.spec.pairwise == []
    assert fit.spec.descriptors == ["hog-0a", "pixels-0a"]
    assert fit.spec.n_kernels == 20
    named = planned(method("multi_view", kernels=["hog"]))[0]
    assert [kernel["id"] for kernel in named.spec.kernels] == ["hog"]
    assert named.spec.descriptors == []
    each = planned(method("multi_view", kernels="each"))
    assert len(each) == 2 * len(KERNELS)


def test_all_but_each_leaves_a_view_out_of_the_dictionary() -> None:
    """Kills: variants on the study's kernels beside a reference on the dictionary, which differ in more than a view."""
    whole = planned(method("multi_view"))[0].spec
    found = {fit.method_id: fit.spec for fit in planned(method("multi_view", kernels="all_but_each"))}
    assert {name: spec.descriptors for name, spec in found.items()} == {
        "m-without-pixels": ["hog-0a"], "m-without-hog": ["pixels-0a"],
    }  # fmt: skip
    assert all(spec.kernels == [] and spec.n_kernels == whole.n_kernels / 2 for spec in found.values())
    assert all(spec.method.parameters == whole.method.parameters for spec in found.values())
    with pytest.raises(ConfigError, match="has one descriptor, 'hog'"):
        planned(method("multi_view", kernels="all_but_each"), descriptors={"hog": DESCRIPTORS["hog"]})


def test_matrices_have_no_dictionary_but_their_kernels() -> None:
    fit = planned(method("multi_view"), family="matrices", descriptors={})[0]
    assert [kernel["id"] for kernel in fit.spec.kernels] == ["hog", "lbp", "pixels"]
    less = planned(method("multi_view", kernels="all_but_each"), family="matrices", descriptors={})[0]
    assert [kernel["id"] for kernel in less.spec.kernels] == ["hog", "lbp"]


def test_a_dictionary_is_not_of_point_sets() -> None:
    descriptors = DESCRIPTORS | {"blur": ("blur-0a", descriptor("geometric_blur"))}
    with pytest.raises(ConfigError, match="'blur' is a set of points"):
        planned(method("multi_view"), descriptors=descriptors)
    assert planned(method("multi_view", kernels="all"), descriptors=descriptors)

"""Methods of a study: what is a parameter, a grid, an input; and the specification of a fit."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.entries import method

from mklearn.methods import MethodRow
from mklearn.study.method import Method


class Gated:
    study_row = MethodRow(views={"gating": "", "more": "hog"}, tuned=("strength",))


GATED = f"{__name__}:Gated"


@pytest.mark.parametrize(
    ("chosen", "parameters", "grid"),
    [
        (method("kernel_fda"), {"kernel_weights": "uniform"}, {}),
        (method("kernel_fda", ridge=[1e-2, 1e-3]), {"kernel_weights": "uniform"}, {"ridge": [1e-3, 1e-2]}),
        (method("kernel_fda", ridge=["1e-3", 1]), {"kernel_weights": "uniform"}, {"ridge": [1e-3, 1]}),
        (method("kernel_svc", kernel_weights="best_single"), {"kernel_weights": "uniform"}, {}),
        (method("loo_mkl", max_iter=[1, 2], shrinkage=[0.0]), {}, {"shrinkage": [0.0], "max_iter": [1, 2]}),
        (method("mmc", trade_off=["trace_ratio", 0.5]), {}, {"trade_off": ["trace_ratio", 0.5]}),
        (method("kernel_ridge_regressor", alpha=[2, 1]), {"alpha": [2, 1], "kernel_weights": "uniform"}, {}),
        (method("nearest_neighbour"), {"n_neighbors": 1}, {}),
        (method(GATED, gating="pixels", strength=["auto", 2.0]), {}, {"strength": ["auto", 2.0]}),
    ],
)
def test_lists_of_tuned_values_make_grids(
    chosen: Method, parameters: Mapping[str, Any], grid: Mapping[str, Any]
) -> None:
    assert list(chosen.grid().items()) == list(grid.items())
    assert chosen.parameters() == parameters


def test_options_of_the_study_are_no_parameters() -> None:
    gated = method(GATED, gating="pixels", label="x", kernels=["a"], inner_folds=5, time_limit=1.0)
    assert gated.parameters() == {}
    assert gated.named_descriptors() == {"gating": ("gating", "pixels"), "more": ("more", "hog")}
    assert method("mmc", descriptor="hog").named_descriptors() == {"features": ("descriptor", "hog")}
    assert "sizes" not in method("mkmmc", sizes=[2, 3]).parameters()
    assert method("fsvc", feature_scaling="none").parameters() == {"feature_scaling": "none"}
    assert method("linear_svc", feature_scaling="rank").parameters() == {}
    assert method("kernel_fda", kernel_weights="cv_accuracy").kernel_choice() == "cv_accuracy"
    choices = [method("kernel_svc", kernel_weights=each).kernel_choice() for each in ("uniform", "best_single")]
    assert choices == [None, "best_single"]
    assert not method("mkl_dr", kernel_weights="uniform").learns_weights()


def test_an_option_that_a_kind_does_not_take_is_a_mistake() -> None:
    (key, sentence), *others = method("kernel_svc", sizes=[2]).option_mistakes()
    assert key == "sizes"
    assert sentence.startswith("unknown key 'sizes'. Valid keys: datasets, inner_folds, kernel_weights, ")
    assert not others
    assert dict(method(GATED).option_mistakes()) == {"gating": "is required but missing: the name of a descriptor."}

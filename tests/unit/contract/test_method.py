"""Models of methods: what is a parameter, a grid, an input; and the specification of a fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import pytest
from pydantic import ValidationError

from mklearn.cards import Input
from mklearn.contract.fit_spec import FitSpec
from mklearn.contract.model import Slug
from mklearn.study.config.registry import registered
from mklearn.study.specs.method import Classifier, KernelMethod, Method, Positive, Tuned

MODELS: dict[str, Any] = registered("methods")


def model(kind: str, **fields: Any) -> Any:
    return MODELS[kind](kind=kind, **fields)


class Gated(KernelMethod, Classifier):
    """A method with three inputs."""

    inputs: ClassVar[Mapping[str, Input]] = {
        "kernels": Input("kernels"), "gating": Input("features"), "second": Input("features", "more"),
    }  # fmt: skip
    implementation = "somewhere:Gated"

    kind: Literal["gated"] = "gated"
    gating: Slug
    more: Slug = "hog"
    widths: list[Positive] = [1.0, 2.0]  # noqa: RUF012 - pydantic copies it
    strength: Tuned[Literal["auto"] | Positive] = "auto"


@pytest.mark.parametrize(
    ("method", "parameters", "grid"),
    [
        (model("kernel_fda"), {"ridge": 1e-3}, {}),
        (model("kernel_fda", ridge=[1e-3, 1e-2]), {"scaling": "total"}, {"ridge": [1e-3, 1e-2]}),
        (model("loo_mkl", shrinkage=[0.0], max_iter=[1, 2]), {"regularisation": 1.0},
         {"shrinkage": [0.0], "max_iter": [1, 2]}),
        (model("mmc", trade_off=["trace_ratio", 0.5]), {}, {"trade_off": ["trace_ratio", 0.5]}),
        (Gated(gating="pixels", strength=["auto", 2.0]), {"widths": [1.0, 2.0]}, {"strength": ["auto", 2.0]}),
    ],
)  # fmt: skip
def test_only_tuned_fields_are_grids(method: Method, parameters: Mapping[str, Any], grid: Mapping[str, Any]) -> None:
    assert method.grid() == grid
    found = method.parameters()
    assert parameters.items() <= found.items()
    assert not set(found) & set(grid)


def test_fields_of_the_study_are_no_parameters() -> None:
    """Neither are the descriptors of inputs, whatever their fields are called."""
    gated = Gated(gating="pixels", label="x", kernels=["a"], inner_folds=5, time_limit=1.0)
    assert gated.parameters() == {"widths": [1.0, 2.0], "strength": "auto"}
    assert gated.descriptor_fields() == {"gating": "gating", "second": "more"}
    assert model("mmc", descriptor="hog").descriptor_fields() == {"features": "descriptor"}
    assert "sizes" not in model("mkmmc", sizes=[2, 3]).parameters()
    assert "iterations_at" not in model("two_d_mmc", iterations_at=[2]).parameters()


@pytest.mark.parametrize("kind", ["kernel_fda", "kernel_ridge", "kernel_svc", "embedded_linear_svc"])
def test_a_choice_among_kernels_is_the_evaluations(kind: str) -> None:
    for weights in ("best_single", "cv_accuracy", "oracle_single"):
        chosen = model(kind, kernel_weights=weights)
        assert chosen.kernel_choice() == weights
        assert chosen.parameters()["kernel_weights"] == "uniform"
    for weights in ("uniform", {"a": 1.0}):
        given = model(kind, kernel_weights=weights)
        assert given.kernel_choice() is None
        assert given.parameters()["kernel_weights"] == weights
        assert not given.grid()
    tuned = {"kernel_fda": "ridge", "kernel_ridge": "alpha"}.get(kind, "C")
    with pytest.raises(ValidationError, match="oracle_single chooses the kernel alone; give one value of"):
        model(kind, kernel_weights="oracle_single", **{tuned: [1, 10]})


@pytest.mark.parametrize("trade_off", [[], [0.5, -1.0], ["ratio"], "ratio", 0])
def test_candidates_are_checked_like_the_value(trade_off: Any) -> None:
    with pytest.raises(ValidationError):
        model("mmc", trade_off=trade_off)


@pytest.mark.parametrize("names", [[], ["hog", "hog"], "some", "hog"])
def test_descriptors_side_by_side_are_all_or_a_list_without_repetition(names: Any) -> None:
    assert model("logistic_regression", descriptors=["hog"]).descriptors == ["hog"]
    with pytest.raises(ValidationError):
        model("logistic_regression", descriptors=names)


def spec(**changes: Any) -> FitSpec:
    glram = model("glram", iterations_at=[2])
    method = {
        "id": "m", "implementation": glram.implementation, "parameters": glram.parameters(),
        "grid": {"ridge": [1, 2.5]}, "inputs": {"images": {"kind": "images"}},
        "sweep": glram.sweep(), "iterations": glram.iterations(),
    }  # fmt: skip
    content = {
        "dataset": "d", "settings": [{"protocol": "p-p2", "train_size": 2}], "seed": 3, "method": method,
        "evaluation": {"neighbours": ["cosine"], "inner_folds": "leave_one_out"},
    }  # fmt: skip
    return FitSpec.model_validate(content | changes)


def test_defaults_are_in_no_key() -> None:
    """A field that is added later changes the keys of no fit that does not use it."""
    found = spec().as_dict()
    assert found["evaluation"] == {"neighbours": ["cosine"], "inner_folds": "leave_one_out"}
    assert "kernels" not in found
    more = spec(evaluation=found["evaluation"] | {"metrics": ["accuracy", "auc"]}).as_dict()
    assert more["evaluation"]["metrics"] == ["accuracy", "auc"]


def test_a_specification_refuses_what_it_does_not_know() -> None:
    with pytest.raises(ValidationError, match="colour"):
        spec(colour="red")

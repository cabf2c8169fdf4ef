"""The section `final`: what can't be made is a mistake of the study, and its job is planned with its files."""

from __future__ import annotations

import copy
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.workflow.conftest import SMOKE

from mklearn.errors import ConfigError, MissingExtra
from mklearn.study.jobs import Jobs
from mklearn.study.plan.plan import plan_study
from mklearn.study.plan.tables import report_spec, tables_spec
from mklearn.study.provenance import code_files, named_modules
from mklearn.study.reading import check_study


def study(final: dict[str, Any], **sections: Any) -> dict[str, Any]:
    return copy.deepcopy(SMOKE) | sections | {"final": final}


def message(raw: dict[str, Any]) -> str:
    with pytest.raises(ConfigError) as caught:
        plan_study(check_study(raw))
    return str(caught.value)


@pytest.mark.parametrize(
    ("final", "sentence"),
    [
        ({"method": "averge"}, "final.method: there is no method 'averge'. Did you mean 'average'?"),
        ({"dataset": "digit"}, "final.dataset: there is no data set 'digit'. Did you mean 'digits'?"),
        ({"metric": "auc"}, "final.metric: 'auc' is not among evaluation.metrics: accuracy."),
    ],
)
def test_names_that_refer_to_nothing(final: dict[str, Any], sentence: str) -> None:
    assert sentence in message(study(final))


GATED = {"kind": "lmkl_svc"}
AVERAGE = {"kind": "kernel_fda"}


@pytest.mark.parametrize(
    ("name", "sections", "sentence"),
    [
        (
            "gated",
            {"methods": {"gated": GATED}},
            "takes several inputs (kernels, gating), and a model takes views only",
        ),
        (
            "forest",
            {"methods": {"forest": {"kind": "random_forest", "descriptors": "all"}, "average": AVERAGE}},
            "final.method: 'forest' holds trees, which a model file can't: they would be read without a check; valid:",
        ),
        (
            "average",
            {"evaluation": {"neighbours": ["cosine"]}},
            "final.method: 'average' predicts by Euclidean distance, which the study does not evaluate",
        ),
        (
            "best",
            {"protocols": {"random": {"kind": "random_per_class", "train_size": 4, "choose": "test_set"}}},
            "final.protocol: no protocol can say what is expected of single samples: random chooses parameters on test",
        ),
        (
            "best",
            {"datasets": {"digits": {"per_class": 20}, "more": {"name": "digits"}}},
            "final.dataset: is needed, as there are several: digits, more.",
        ),
    ],
)
def test_what_is_no_model_is_a_mistake_with_what_is_possible(
    name: str, sections: dict[str, Any], sentence: str
) -> None:
    assert sentence in message(study({"method": name}, **sections))


def test_matrices_have_no_model(matrices: dict[str, Any]) -> None:
    raw = study({}, datasets={"own": matrices}, protocols={"folds": {"kind": "k_fold", "folds": 2}})
    del raw["descriptors"]
    assert "final.dataset: 'own' has matrices among its samples only" in message(raw)


@pytest.mark.parametrize(
    ("sections", "reason"),
    [
        (
            {"descriptors": {"blur": {"kind": "geometric_blur"}}},
            "average takes kernel 'blur', which compares sets of points",
        ),
        (
            {
                "kernels": {
                    "gauss": {"kind": "gaussian"},
                    "product": {"kind": "product", "of": ["gauss-pixels", "gauss-blocks"]},
                },
                "methods": {"average": {"kind": "kernel_fda", "kernels": ["product"]}},
            },
            "average takes kernel 'product', a product of kernels of several descriptors",
        ),
    ],
)
def test_kernels_that_the_library_does_not_compute(sections: dict[str, Any], reason: str) -> None:
    raw = study({"method": "average"}, **sections)
    raw["methods"] = {"average": raw["methods"]["average"]}
    found = message(raw)
    assert found.startswith("final.method: this method can't be a model of data set 'digits'")
    assert reason in found


def test_best_leaves_out_what_is_no_model() -> None:
    raw = study({}, methods=SMOKE["methods"] | {"gated": GATED})
    plan = plan_study(check_study(raw))
    assert plan.final is not None
    names = [candidate.fit.method.id for candidate in plan.final.spec.candidates]
    assert names == ["kfd-pixels", "kfd-blocks", "average", "mkl-lda"]
    assert all(candidate.fit.settings[0].train_size == 6 for candidate in plan.final.spec.candidates)
    assert tables_spec(plan, "")["neighbour"] == report_spec(plan).neighbour == "euclidean", (
        "one reference for all methods"
    )
    one = plan_study(check_study(study({"method": "kfd-blocks"}))).final
    assert one is not None
    assert [view.name for view in one.spec.inputs.views] == ["blocks"]


@pytest.mark.parametrize("order", [("folds", "persons"), ("persons", "folds")])
def test_groups_hold_whatever_the_order_of_protocols(order: tuple[str, str]) -> None:
    """The protocol also decides whether the inner cross-validation and the intervals hold groups."""
    kinds = {"folds": {"kind": "k_fold"}, "persons": {"kind": "group_k_fold"}}
    protocols = {name: kinds[name] for name in order}
    made = plan_study(check_study(study({}, protocols=protocols)))
    assert made.final is not None
    assert {candidate.entry.protocol for candidate in made.final.spec.candidates} == {"persons"}
    assert made.protocols[made.final.protocol].kind == "group_k_fold"
    named = plan_study(check_study(study({"protocol": "folds"}, protocols=protocols)))
    assert named.final is not None
    assert {candidate.entry.protocol for candidate in named.final.spec.candidates} == {"folds"}


def test_the_job_reads_what_it_needs() -> None:
    made = Jobs(plan_study(check_study(study({"method": "average"}))))
    assert made.path("model") in made.everything()
    assert [Path(path).name.split("-")[0] for path in made.job("model").inputs["sources"]] == ["blocks", "pixels"]
    code = {path.name for path in code_files("model", named_modules(made.specification("model", None)))}
    assert {"final_model.py", "kfd.py", "gaussian.py", "saved_models.py"} <= code
    without = Jobs(plan_study(check_study(SMOKE)))
    assert without.path("model") not in without.everything()


def test_the_page_waits_for_the_model_only_if_it_shows_importances() -> None:
    made = Jobs(plan_study(check_study(study({"importances": 3}))))
    assert made.specification("model", None)["permutations"] == 3
    assert made.job("page").inputs["importances"] == [made.path("model", "importances")]
    assert Jobs(plan_study(check_study(study({})))).job("page").inputs["importances"] == []
    assert "final.importances: invalid value 0" in message(study({"importances": 0}))


def test_skops_is_missed_before_anything_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "skops", None)
    with pytest.raises(MissingExtra, match=re.escape('pip install "mklearn[models]"')):
        plan_study(check_study(study({})))


def test_the_page_names_what_the_model_is_chosen_by() -> None:
    """Metric, rule and methods of the page's headline are those of the model's job."""
    plan = plan_study(
        check_study(study({}, evaluation=SMOKE.get("evaluation", {}) | {"neighbours": ["cosine", "euclidean"]}))
    )
    spec = report_spec(plan)
    assert plan.final is not None
    assert spec.final is not None
    assert (spec.metric, spec.neighbour, spec.final.chosen) == (plan.final.spec.metric, "euclidean", True)
    assert spec.final.entries == [candidate.entry for candidate in plan.final.spec.candidates]
    without = report_spec(plan_study(check_study(copy.deepcopy(SMOKE))))
    assert (without.metric, without.neighbour, without.final) == ("accuracy", "euclidean", None)
    assert without.gain_that_matters == 1

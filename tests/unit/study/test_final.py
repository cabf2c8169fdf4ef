"""The section `final`: what can't be made is a mistake of the study, and its job is planned with its files."""

import copy
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.workflow.conftest import SMOKE

from mklearn.errors import ConfigError, MissingExtra
from mklearn.study.jobs import Jobs, page_spec
from mklearn.study.plan.plan import Plan, plan_study
from mklearn.study.provenance import code_files, named_modules
from mklearn.study.reading import check_study

GATED = {"kind": "lmkl_svc"}
AVERAGE = {"kind": "kernel_fda"}
FOREST = {"kind": "random_forest", "descriptors": "all"}
PRODUCT = {"gauss": {"kind": "gaussian"}, "product": {"kind": "product", "of": ["gauss-pixels", "gauss-blocks"]}}
NO_MODEL = "final.method: this method can't be a model of data set 'digits': average takes kernel"


def study(final: dict[str, Any], **sections: Any) -> dict[str, Any]:
    return copy.deepcopy(SMOKE) | sections | {"final": final}


def planned(final: dict[str, Any], **sections: Any) -> Plan:
    return plan_study(check_study(study(final, **sections)))


@pytest.mark.parametrize(
    ("final", "sections", "sentence"),
    [
        ({"method": "averge"}, {}, "final.method: there is no method 'averge'. Did you mean 'average'?"),
        ({"dataset": "digit"}, {}, "final.dataset: there is no data set 'digit'. Did you mean 'digits'?"),
        ({"metric": "auc"}, {}, "final.metric: 'auc' is not among evaluation.metrics: accuracy."),
        ({"importances": 0}, {}, "final.importances: invalid value 0"),
        ({"method": "gated"}, {"methods": {"gated": GATED}}, "takes several inputs (kernels, gating), and a model"),
        ({"method": "forest"}, {"methods": {"forest": FOREST, "average": AVERAGE}},
         "final.method: this method can't be a model of data set 'digits': forest has trees or objects of another "
         "package, which a model file can't hold: they would be read unchecked."),
        ({"method": "average"}, {"evaluation": {"neighbours": ["cosine"]}},
         "final.method: this method can't be a model of data set 'digits': average predicts by Euclidean distance"),
        ({}, {"protocols": {"random": {"kind": "random_per_class", "train_size": 4, "choose": "test_set"}}},
         "final.protocol: no protocol can estimate the performance for samples: random chooses parameters on test"),
        ({}, {"protocols": {"c": {"kind": "clustering", "train_size": 4}}, "evaluation": {"neighbours": ["clusters"]}},
         "final.protocol: no protocol can estimate the performance for samples: c clusters samples without labels"),
        ({}, {"protocols": {"given": {"kind": "given", "path": __file__}}}, "final.method: name a method; with given"),
        ({}, {"datasets": {"digits": {"per_class": 20}, "more": {"name": "digits"}}},
         "final.dataset: is needed, as there are several: digits, more."),
        ({"method": "average"}, {"descriptors": {"blur": {"kind": "geometric_blur"}}, "methods": {"average": AVERAGE}},
         f"{NO_MODEL} 'blur', which compares sets of points"),
        ({"method": "average"}, {"kernels": PRODUCT, "methods": {"average": AVERAGE | {"kernels": ["product"]}}},
         f"{NO_MODEL} 'product', a product of kernels of several descriptors"),
    ],
)  # fmt: skip
def test_an_impossible_model_is_a_mistake(final: dict[str, Any], sections: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        planned(final, **sections)


def test_matrices_have_no_model(matrices: dict[str, Any]) -> None:
    raw = study({}, datasets={"own": matrices}, protocols={"folds": {"kind": "k_fold", "folds": 2}})
    del raw["descriptors"]
    with pytest.raises(ConfigError, match=r"final\.dataset: 'own' has matrices among its samples only"):
        plan_study(check_study(raw))


def test_best_is_of_all_that_can_be_models_and_of_the_page_s_headline() -> None:
    sections = {"methods": SMOKE["methods"] | {"gated": GATED}, "evaluation": {"neighbours": ["cosine", "euclidean"]}}
    plan = planned({}, **sections)
    assert plan.final is not None
    candidates = plan.final.spec.candidates
    assert [each.method.id for each in candidates] == ["kfd-pixels", "kfd-blocks", "average", "mkl-lda"]
    assert all(each.largest[2] == 6 for each in candidates)
    assert (plan.final.spec.method, plan.study.headline_rule) == ("best", "euclidean")
    assert page_spec(plan)["final"] == plan.final.spec.as_dict()
    one = planned({"method": "kfd-blocks"}, **sections).final
    assert one is not None
    assert [view.name for view in one.spec.inputs.views] == ["blocks"]
    assert (plan.final.rivals, one.rivals) == ([], ["kfd-pixels", "average", "mkl-lda"])


@pytest.mark.parametrize("whole", [{"kind": "group_k_fold"}, {"kind": "random", "train_size": 4, "whole_groups": True}])
@pytest.mark.parametrize("order", [("folds", "persons"), ("persons", "folds")])
def test_groups_hold_whatever_the_order_of_protocols(order: tuple[str, str], whole: dict[str, Any]) -> None:
    kinds = {"folds": {"kind": "k_fold"}, "persons": whole}
    for final, protocol in (({}, "persons"), ({"protocol": "folds"}, "folds")):
        plan = planned(final, protocols={name: kinds[name] for name in order})
        assert plan.final is not None
        assert {fit.largest[1].removesuffix("-p4") for fit in plan.final.spec.candidates} == {protocol}
        assert plan.protocols[plan.final.protocol].kind == kinds[protocol]["kind"]


def test_the_job_reads_what_it_needs_and_the_page_waits_for_importances() -> None:
    made = Jobs(planned({"method": "average", "importances": 3}))
    assert made.path("model") in made.everything()
    sources = [Path(path).parent.name for path in made.job("model").inputs["sources"]]
    assert [name.split("-")[0] for name in sources] == ["blocks", "pixels"]
    assert made.job("page").inputs["importances"] == [made.path("model", "importances")]
    code = {path.name for path in code_files("model", named_modules(made.specification("model", None)))}
    assert {"final_model.py", "kfd.py", "functions.py", "saved_models.py"} <= code
    assert Jobs(planned({})).job("page").inputs["importances"] == []
    without = Jobs(plan_study(check_study(copy.deepcopy(SMOKE))))
    assert without.path("model") not in without.everything()


def test_skops_is_missed_before_anything_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "skops", None)
    with pytest.raises(MissingExtra, match=re.escape('pip install "mklearn[models]"')):
        planned({})

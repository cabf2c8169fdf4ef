"""The final model: its plan and mistakes in it; it is the library's estimator, by the inner choice on all samples."""

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from tests.unit.study.small_study import run_study, working_in
from tests.workflow.conftest import SMOKE

from mklearn.atomic import read_parquet
from mklearn.base.side_by_side import SideBySide
from mklearn.descriptors.multiresolution import multiresolution
from mklearn.descriptors.pixels import pixels
from mklearn.errors import ConfigError, MissingExtra
from mklearn.kernels import Views
from mklearn.rows import load
from mklearn.saved_models import SavedModel, load_model
from mklearn.study.data.samples import SampleSet
from mklearn.study.data.splits import Splits
from mklearn.study.engine.workflow_files import load_script
from mklearn.study.evaluation.candidates import MethodOnViews
from mklearn.study.final_model import card_text, final_model
from mklearn.study.jobs import Jobs
from mklearn.study.plan.plan import Plan, plan_study
from mklearn.study.provenance import code_files, named_modules
from mklearn.study.reading import check_study
from mklearn.study.script import call
from mklearn.study.specs.fit_spec import IMAGES

pytestmark = pytest.mark.full

BOTH = ["gauss-*", "square"]
STUDY: dict[str, Any] = {
    "study": "final",
    "datasets": {"digits": {"per_class": 8, "classes": ["0", "1", "8"]}},
    "descriptors": {
        "pixels": {"kind": "pixels"},
        "blocks": {"kind": "multiresolution", "resolutions": [2, 4]},
    },
    "kernels": {
        "gauss": {"kind": "gaussian", "psd": "none"},
        "scaled": {"kind": "gaussian", "descriptor": "blocks", "feature_scaling": "auto", "bandwidth": [0.5, 2]},
        "square": {"kind": "polynomial", "descriptor": "pixels", "normalise": "unit_diagonal"},
    },
    "methods": {
        "average": {"kind": "kernel_fda", "kernels": ["gauss-*"]},
        "best-single": {"kind": "kernel_svc", "kernel_weights": "best_single", "C": [0.1, 10]},
        "by-accuracy": {"kind": "kernel_fda", "kernel_weights": "cv_accuracy", "ridge": [1e-4, 1e-2]},
        "multi-view": {"kind": "multi_view"},
        "multi-view-drawn": {"kind": "multi_view", "landmarks": [4, 12]},
        "stacking": {"kind": "stacking", "kernels": ["gauss-*"]},
        "each": {"kind": "kernel_ridge", "kernels": "each"},
        "mkl-lda": {"kind": "mkl_dr", "kernels": ["gauss-*", "square"], "ridge": [1e-3, 1e-1]},
        "mkmmc": {"kind": "mkmmc", "kernels": ["gauss-*"], "max_iter": 2, "sizes": [1, 2, 3]},
        "kpca-svc": {"kind": "kernel_pca_classifier", "kernels": ["square"], "n_components": [2, 4]},
        "pca": {"kind": "pca", "descriptor": "blocks", "n_components": 4},
        "svc": {"kind": "linear_svc", "descriptor": ["blocks", "pixels"], "feature_scaling": "auto", "C": [0.1, 1]},
        "fsvc": {"kind": "fsvc", "descriptor": "blocks", "feature_scaling": "standard"},
        "two-d-lda": {"kind": "two_d_lda", "sizes": [2, 3]},
        "kfd-landmarks": {"kind": "kernel_fda", "kernels": BOTH, "ridge": [1e-4, 1.0], "landmarks": {"n": [3, 12]}},
        "ridge-landmarks": {"kind": "kernel_ridge", "kernels": BOTH, "alpha": [1e-3, 10], "landmarks": {"n": [4, 12]}},
        "single-landmarks": {
            "kind": "kernel_fda", "kernel_weights": "best_single", "kernels": BOTH,
            "landmarks": {"n": 5, "rank_tolerance": 0.01},
        },
    },
    "protocols": {"folds": {"kind": "k_fold", "folds": 2}},
    "evaluation": {"inner_folds": 2},
    "final": {},
}  # fmt: skip
METHODS = [name for name in STUDY["methods"] if name != "each"] + ["each-square"]


def jobs(method: str = "best", **final: Any) -> Jobs:
    return Jobs(plan_study(check_study(STUDY | {"final": {"method": method, **final}})))


def run(jobs: Jobs, folder: Path, prefix: str) -> SavedModel:
    files = {**jobs.job("model").inputs, "summary": jobs.path("tables", "summary")}
    files |= {"model": f"{prefix}.mklearn", "card": f"{prefix}.md", "importances": f"{prefix}-importances.parquet"}
    with working_in(folder):
        call(load_script("model"), **files, spec=jobs.specification("model", None))
        return load_model(f"{prefix}.mklearn")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_study(tmp_path_factory.mktemp("final"), STUDY, last="tables").folder


@pytest.fixture(scope="module")
def model(folder: Path) -> Callable[[str], SavedModel]:
    made: dict[str, SavedModel] = {}

    def of(method: str) -> SavedModel:
        if method not in made:
            made[method] = run(jobs(method), folder, method)
        return made[method]

    return of


@pytest.fixture(scope="module")
def samples(folder: Path) -> SampleSet:
    with working_in(folder):
        return SampleSet.load(jobs().job("page").inputs["samples"][0])


def views_of(images: Any) -> Views:
    return Views({"pixels": pixels(images), "blocks": multiresolution(images, resolutions=[2, 4])})


def new_images(samples: SampleSet) -> Any:
    return (0.7 * samples.images + 0.3 * np.roll(samples.images, 5, axis=0))[::2]


@pytest.mark.parametrize("method", METHODS)
def test_predictions_equal_the_library(method: str, model: Callable[[str], SavedModel], samples: SampleSet) -> None:
    saved = model(method)
    card, views = saved.card["method"], [view["name"] for view in saved.card["inputs"]["views"]]
    estimator = load(card["implementation"])(**card["parameters"])
    labels = samples.labels
    X, new = views_of(samples.images), views_of(new_images(samples))
    if not views:
        X, new = Views({IMAGES: samples.images}), Views({IMAGES: new_images(samples)})
    elif card["kernels"]:
        estimator.set_params(kernels=card["kernels"])
    else:
        estimator = make_pipeline(SideBySide(views, card["feature_scaling"]), estimator)
    estimator.fit(X, labels)
    np.testing.assert_array_equal(saved.estimator.predict(new), estimator.predict(new))
    if method.endswith("-landmarks"):
        np.testing.assert_array_equal(saved.estimator.coefficients_, estimator.coefficients_)
    assert saved.arrays["ids"].tolist() == samples.ids.tolist()
    assert saved.card["data"]["classes"] == {"0": 8, "1": 8, "8": 8}
    assert all(card["parameters"].get(name, value) == value for name, value in card["chosen"].items())
    assert card["chosen"].get("kernel") in (None, *card["kernels"])
    assert ("C" in card["chosen"]) == (method in ("best-single", "svc"))
    assert ("n of landmarks" in card["chosen"]) == (method in ("kfd-landmarks", "ridge-landmarks"))


def test_models_of_tables_with_landmarks_take_samples_that_lack_a_view() -> None:
    X, y = load_digits(return_X_y=True)
    train, new = Views({"a": X[:150], "b": X[:150, ::2]}), Views({"a": X[150:160], "b": np.full((10, 32), np.nan)})
    methods = {"m": {"kind": "kernel_fda", "landmarks": 30, "ridge": [1e-3, 1e-1]}}
    (planned,) = plan_study(check_study(STUDY | {"methods": methods, "final": None})).fits.values()
    kernels = [{"id": view, "kind": "gaussian", "view": view, "missing_views": "mean"} for view in train.names]
    model, *_ = final_model(MethodOnViews(train, y[:150], planned.spec.method, kernels), planned.spec)
    assert (model.fit(train, y[:150]).predict(new) == y[150:160]).mean() > 0.7


def test_the_best_is_that_of_the_summary(model: Callable[[str], SavedModel], folder: Path) -> None:
    card = model("best").card
    rows, _ = read_parquet(folder / jobs().path("tables", "summary"))
    rows = rows[rows["selection"].eq("inner_cv") & rows["neighbour"].isin(["", "euclidean"])]
    rows = rows[rows["mean"].notna()]
    best = rows.sort_values("mean", ascending=False, kind="stable").iloc[0]
    assert card["method"]["name"] == best["method"]
    assert (card["expected"]["value"], card["expected"]["protocol"]) == (best["mean"], "folds")
    assert card["expected"]["chosen_among"] == rows["method"].nunique() > 10
    text = (folder / "best.md").read_text(encoding="utf-8")
    assert f"It is optimistic: the method was chosen among {card['expected']['chosen_among']}" in text
    one = model("pca").card["expected"]
    own = rows[rows["method"].eq("pca")].iloc[0]
    assert (one["value"], one["chosen_among"]) == (own["mean"], 1)
    assert "optimistic" not in (folder / "pca.md").read_text(encoding="utf-8")


def test_of_images_whole_views_have_importances(folder: Path) -> None:
    rows = {}
    for method in ("average", "two-d-lda"):
        run(jobs(method, importances=1), folder, "shuffled")
        rows[method] = read_parquet(folder / "shuffled-importances.parquet")[0]
    assert sorted(rows["average"]["view"]) == ["blocks", "pixels"]
    assert rows["average"]["feature"].eq("").all()
    assert rows["two-d-lda"].empty


def test_names_in_a_card_are_no_html_and_end_no_line(model: Callable[[str], SavedModel]) -> None:
    card = dict(model("pca").card)
    title = "a <script>\n# x\x1b[2J\n```"
    card["data"] = card["data"] | {"title": title}
    block = card_text(card, {"mklearn": "0"}).partition("```yaml\n")[2].removesuffix("```\n")
    assert yaml.safe_load(block)["data"]["title"] == title
    assert not any(line.lstrip(" ").startswith("```") for line in block.splitlines())


@pytest.mark.parametrize("divided", [False, True])
def test_parameters_are_chosen_by_groups_that_no_split_divides(
    divided: bool, folder: Path, samples: SampleSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fit ends at the choice of parameters, with an error that says whether it has groups."""
    with working_in(folder):
        test = Splits.load(jobs().job("model").inputs["splits"], samples.ids)[0].test[divided:]
    groups = np.isin(np.arange(len(samples.ids)), test).astype(str)
    monkeypatch.setattr(SampleSet, "load", lambda _: replace(samples, groups=groups))
    monkeypatch.setattr("mklearn.study.final_model.final_model", lambda problem, _: {}[problem.groups is not None])
    with pytest.raises(KeyError, match=str(not divided)):
        run(jobs(), folder, "grouped")


# --- the plan of the final model


GATED = {"kind": "lmkl_svc"}
AVERAGE = {"average": {"kind": "kernel_fda"}}
PRODUCT = {"kernels": {"gauss": {"kind": "gaussian"}, "product": {"kind": "product"}}}
NO_MODEL = "final.method: this method can't be a model of data set 'digits': "


def planned(final: dict[str, Any] | None, **sections: Any) -> Plan:
    return plan_study(check_study(SMOKE | sections | {"final": final}))


@pytest.mark.parametrize(
    ("final", "sections", "sentence"),
    [
        ({"method": "averge"}, {}, "final.method: there is no method 'averge'. Did you mean 'average'?"),
        ({"dataset": "digit"}, {}, "final.dataset: there is no data set 'digit'. Did you mean 'digits'?"),
        ({"metric": "auc"}, {}, "final.metric: 'auc' is not among evaluation.metrics: accuracy."),
        ({"importances": 0}, {}, "final.importances: invalid value 0"),
        ({"method": "gated"}, {"methods": {"gated": GATED}}, "takes several inputs (kernels, gating), and a model"),
        ({"method": "forest"}, {"methods": {"forest": {"kind": "random_forest"}} | AVERAGE},
         f"{NO_MODEL}forest has trees or objects of another package, which a model file can't hold: they would"),
        ({"method": "average"}, {"evaluation": {"neighbours": ["cosine"]}}, f"{NO_MODEL}average predicts by Euclidean"),
        ({}, {"protocols": {"random": {"kind": "random_per_class", "train_size": 4, "choose": "test_set"}}},
         "final.protocol: no protocol can estimate the performance for samples: random chooses parameters on test"),
        ({}, {"protocols": {"c": {"kind": "clustering", "train_size": 4}}, "evaluation": {"neighbours": ["clusters"]}},
         "final.protocol: no protocol can estimate the performance for samples: c clusters samples without labels"),
        ({}, {"protocols": {"given": {"kind": "given", "path": __file__}}}, "final.method: name a method; with given"),
        ({}, {"datasets": {"digits": {}, "more": {"name": "digits"}}}, "there are several: digits, more."),
        ({"method": "average"}, {"descriptors": {"blur": {"kind": "geometric_blur"}}, "methods": AVERAGE},
         f"{NO_MODEL}average takes kernel 'blur', which compares sets of points"),
        ({"method": "m"}, PRODUCT | {"methods": {"m": {"kind": "kernel_fda", "kernels": ["product"]}}},
         f"{NO_MODEL}m takes kernel 'product', a product of kernels of several descriptors"),
    ],
)  # fmt: skip
def test_an_impossible_model_is_a_mistake(final: dict[str, Any], sections: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        planned(final, **sections)


def test_matrices_have_no_model(matrices: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"final\.dataset: 'own' has matrices among its samples only"):
        planned({}, datasets={"own": matrices}, descriptors=None, protocols={"folds": {"kind": "k_fold", "folds": 2}})


def test_best_is_of_all_that_can_be_models_and_of_the_page_s_headline() -> None:
    sections = {"methods": SMOKE["methods"] | {"gated": GATED}, "evaluation": {"neighbours": ["cosine", "euclidean"]}}
    plan = planned({}, **sections)
    assert plan.final is not None
    candidates = plan.final.spec.candidates
    assert [each.method.id for each in candidates] == ["kfd-pixels", "kfd-blocks", "average", "mkl-lda"]
    assert all(each.largest[2] == 6 for each in candidates)
    assert (plan.final.spec.method, plan.study.headline_rule) == ("best", "euclidean")
    assert Jobs(plan).specification("page")["final"] == plan.final.spec.as_dict()
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
    without = Jobs(planned(None))
    assert without.path("model") not in without.everything()


def test_skops_is_missed_before_anything_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "skops", None)
    with pytest.raises(MissingExtra, match=re.escape('pip install "mklearn[models]"')):
        planned({})

"""A study predicts, bit for bit, as a short script with the library's estimator on views."""

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from tests.conformance.test_methods import few_trees
from tests.scores import rows_of, samples_of
from tests.unit.study.small_study import SmallStudy, run_study

from mklearn.atomic import read_npz
from mklearn.base.side_by_side import SideBySide
from mklearn.kernels import Pairwise, Views
from mklearn.kernels.distances import squared_euclidean
from mklearn.methods import METHODS
from mklearn.rows import load
from mklearn.study.data.samples import SampleSet
from mklearn.study.data.splits import Split, Splits
from mklearn.study.engine.workflow_files import studies
from mklearn.study.plan.plan import Plan, plan_study
from mklearn.study.reading import check_study

pytestmark = pytest.mark.filterwarnings("ignore")
STUDIES = [Path("config.yaml"), *studies().values()]
OWN = {
    "lmkl_svc": {"gating": "blocks", "max_iter": 3},
    "r_svm_plus_mu": {"C": 1.0},
    "two_d_lda": {"sizes": [3, 5]},
}
"""Fields that a method needs, or that make it fast; 2DLDA needs more components than the empty border of digits."""


RECOMMENDED = {
    "multi_view", "multi_view_regressor", "multi_view_survival", "kernel_ridge_regressor", "stacking",
}  # fmt: skip
"""Methods that are tried here whether or not a published study has them."""


@functools.cache
def published_methods() -> list[str]:
    methods = [yaml.safe_load(path.read_text(encoding="utf-8")).get("methods", {}) for path in STUDIES]
    return sorted({entry["kind"] for of_study in methods for entry in of_study.values()} | RECOMMENDED)


@dataclass(frozen=True)
class Fitted:
    """A study of all these methods on one split, and the samples that it was fitted to."""

    plan: Plan
    study: SmallStudy
    views: dict[str, NDArray[Any]]
    samples: SampleSet
    split: Split

    def predictions(self, key: tuple[str, ...]) -> Path:
        (job,) = [job for job in self.study.of("fit") if tuple(job.wildcards.values()) == key]
        return self.study.folder / job.outputs["predictions"]


DIGITS = {
    "datasets": {"digits": {"per_class": 10}},
    "descriptors": {"pixels": {"kind": "pixels"}, "blocks": {"kind": "multiresolution", "resolutions": [2, 4]}},
    "protocols": {"random": {"kind": "random_per_class", "train_size": 5, "repeats": 1}},
    "evaluation": {"metrics": ["accuracy"]},
}
DIABETES = {
    "datasets": {"diabetes": {}},
    "protocols": {"halves": {"kind": "k_fold", "folds": 2}},
    "evaluation": {"metrics": ["r2"]},
}


def survival_times(folder: Path) -> dict[str, Any]:
    """A study of own tables, whose times depend on the first feature."""
    rng = np.random.default_rng(0)
    tables = {name: pd.DataFrame(rng.normal(size=(80, 3))).add_prefix(name) for name in ("a", "b")}
    tables["a"] = tables["a"].assign(days=rng.exponential(np.exp(-tables["a"]["a0"])), died=rng.integers(2, size=80))
    for name, table in tables.items():
        table.rename_axis("id").to_csv(folder / f"{name}.csv")
    files = {name: str(folder / f"{name}.csv") for name in tables}
    entry = {"kind": "feature_tables", "tables": files, "target": {"time": "days", "event": "died"}}
    return DIABETES | {"datasets": {"trial": entry}, "evaluation": {"metrics": ["harrell_c"]}}


@pytest.fixture(scope="module")
def of_each_target(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Fitted]:
    """The studies of methods that predict classes, numbers and survival times."""
    targets = ("classes", "numbers", "survival")
    folders = [tmp_path_factory.mktemp(target) for target in targets]
    studies_of_target = (DIGITS, DIABETES, survival_times(folders[2]))
    return {
        target: fit([kind for kind in published_methods() if METHODS[kind].targets[0] == target], data, folder)
        for target, data, folder in zip(targets, studies_of_target, folders, strict=True)
    }


@pytest.fixture
def fitted(kind: str, of_each_target: dict[str, Fitted]) -> Fitted:
    return of_each_target[METHODS[kind].targets[0]]


def fit(kinds: list[str], data: dict[str, Any], folder: Path) -> Fitted:
    methods = {kind.replace("_", "-"): {"kind": kind} | few_trees(kind) | OWN.get(kind, {}) for kind in kinds}
    study = {
        **data, "study": "one-fit", "kernels": {"gauss": {"kind": "gaussian"}}, "methods": methods,
        "evaluation": {"neighbours": ["euclidean"], "inner_folds": 2, "components": "all", **data["evaluation"]},
    }  # fmt: skip
    made, plan = run_study(folder, study, last="fit"), plan_study(check_study(study))
    (read,), (split_job,) = made.of("read"), made.of("split")
    samples = SampleSet.load(folder / read.outputs["samples"])
    features = {tuple(job.wildcards.values()): folder / job.outputs["features"] for job in made.of("describe")}
    views = {each.id: read_npz(features[*key, "1of1"])["features"] for key, each in plan.descriptors.items()}
    split = Splits.load(folder / split_job.outputs["splits"], samples.ids).splits[0]
    return Fitted(plan, made, views, samples, split)


def script(kind: str, fitted: Fitted, parameters: dict[str, Any], spec: Any) -> Any:
    """Ten lines that a user writes: the samples, and the estimator."""
    distances = {f"{name} d2": Pairwise(squared_euclidean(features)) for name, features in fitted.views.items()}
    views = {**fitted.views, **distances}
    kernels = {f"gauss-{name}": {"kind": "gaussian", "view": f"{name} d2"} for name in fitted.views}
    gate = {"gating": "blocks"} if kind == "lmkl_svc" else {}
    estimator = load(spec.method.implementation)
    first = next(iter(spec.method.inputs.values()))
    if first.kind == "kernels" and first.descriptors:  # a dictionary of its own, on all views
        return Views(fitted.views), estimator(**parameters)
    if first.kind == "kernels":
        return Views(views), estimator(kernels=kernels, **parameters, **gate)
    if first.kind == "images":
        return np.asarray(fitted.samples.images, dtype=np.float64), estimator(**parameters)
    names = list(fitted.views) if len(first.descriptors) > 1 else ["pixels"]
    return Views(views), make_pipeline(SideBySide(names), estimator(**parameters))


@pytest.mark.parametrize("kind", published_methods())
def test_predictions_of_a_study_are_those_of_a_script(kind: str, fitted: Fitted) -> None:
    key, planned = next(each for each in fitted.plan.fits.items() if each[1].spec.method.id == kind.replace("_", "-"))
    rows = rows_of(fitted.predictions(key))
    assert set(rows["status"]) == {"ok"}, rows[["status", "message"]].to_string()
    scores = rows.query("selection == 'inner_cv'").iloc[0]
    parameters = json.loads(scores["parameters"])
    if planned.spec.method.refit:
        parameters["n_components"] = int(scores["dimension"])
    X, model = script(kind, fitted, parameters, planned.spec)
    train, test = fitted.split.train, fitted.split.test
    model.fit(X[train], fitted.samples.y[train])

    found = samples_of(fitted.predictions(key)).query("fold == 0")
    assert list(found["sample"]) == list(fitted.samples.ids[test])
    np.testing.assert_array_equal(found["predicted"].to_numpy(dtype=fitted.samples.y.dtype), model.predict(X[test]))
    if found["neighbour"].iloc[0]:
        return
    decide = getattr(model, "decision_function", getattr(model, "predict_proba", None))
    if decide is not None:
        values = decide(X[test])[np.arange(len(test)), np.searchsorted(model.classes_, model.predict(X[test]))]
        np.testing.assert_array_equal(found["decision_value"], values.astype(np.float32))

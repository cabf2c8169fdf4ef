"""Studies of numbers: which kind a target is, what is refused and how, folds, and targets of any scale."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.scores import chosen_score
from tests.unit.study.small_study import write_tables

from mklearn.base.folds import inner_folds
from mklearn.errors import ConfigError, NotApplicable
from mklearn.kernels.views import Views
from mklearn.study.data.read import read_dataset
from mklearn.study.engine.data_check import check_data
from mklearn.study.evaluation.candidates import MethodOnViews
from mklearn.study.evaluation.split import evaluate_split
from mklearn.study.plan.plan import plan_study
from mklearn.study.reading import check_study
from mklearn.study.specs.fit_spec import EvaluationSpec, InputSpec, MethodSpec


def table(path: Path, weeks: list[Any], **more: list[Any]) -> Path:
    x = np.random.default_rng(0).normal(size=(len(weeks), 3))
    write_tables(path.parent, {path.stem: x}, [f"s{row}" for row in range(len(weeks))], weeks=weeks, **more)
    return path


def study(path: Path, *, entry: dict[str, Any] | None = None, **more: Any) -> Any:
    data = {"kind": "feature_tables", "target": "weeks", "tables": {"one": str(path)}, **(entry or {})}
    return check_study({"study": "s", "datasets": {"d": data}, **more})


TIMES = {"target": {"time": "weeks", "event": "end", "occurred": "dead"}}


def test_the_kind_of_target_follows_from_the_data(tmp_path: Path) -> None:
    numbers, words = table(tmp_path / "n.csv", ["", "1.5", "2", "9"] * 5), table(tmp_path / "w.csv", ["a", "b"] * 10)
    found = study(numbers)
    assert found.datasets["d"].task_of_target == "numbers"
    assert found.evaluation.metrics == ["r2", "rmse", "mae", "pearson", "spearman"]
    assert found.evaluation.choose_by == "r2"
    assert "multi-view" in found.methods
    assert "kfd" not in found.methods
    (count,) = check_data(plan_study(found)).counts
    assert count == "d: 15 samples, numbers from 1.5 to 9, median 2"
    for evaluation, final, names in (
        ({"metrics": ["mae", "r2"], "choose_by": "r2"}, {}, ("r2", "mae")),
        ({"metrics": ["rmse", "r2"]}, {"metric": "r2"}, ("rmse", "r2")),
    ):
        plan = plan_study(study(numbers, evaluation=evaluation, final=final))
        assert plan.final is not None
        assert (plan.final.spec.candidates[0].evaluation.choose_by, plan.final.spec.metric) == names
    classes = study(words)
    assert classes.evaluation.metrics == ["accuracy"]
    assert "kfd" in classes.methods
    assert check_data(plan_study(classes)).counts == ["d: 20 samples of 2 classes: a 10, b 10"]
    pinned = study(table(tmp_path / "p.csv", [1, 2] * 10), entry={"task": "classes"})
    assert check_data(plan_study(pinned)).counts == ["d: 20 samples of 2 classes: 1 10, 2 10"]
    times = table(tmp_path / "t.csv", [1.5, 2.0, 4.0, 9.5] * 5, end=["dead", "alive", "lost", "dead"] * 5)
    (count,) = check_data(plan_study(study(times, entry=TIMES))).counts
    assert count == "d: 20 samples, 10 events, times from 1.5 to 9.5, median 3"


@pytest.mark.parametrize(
    ("values", "wrong"),
    [
        ([1.5, 2.5, 2.5, 2.5, "late"], "'late'"),
        ([1, 1, 1, 2, 2, 2, "late"], "'late'"),  # censored counts of days
        (["1,358", "2,249", "249"], "'1,358', '2,249'"),
        ([1, 2, "a", "b"], ""),
        (["1,2", "1,3", "2,3"], ""),
    ],
)
def test_text_among_numbers_is_a_mistake_and_not_a_class(values: list[Any], wrong: str, tmp_path: Path) -> None:
    path = table(tmp_path / "n.csv", values if wrong else values * 3)
    found = study(path)
    assert found.datasets["d"].task_of_target == ("numbers" if wrong else "classes")
    if wrong:
        (mistake,) = check_data(plan_study(found)).mistakes
        assert f"column 'weeks' has values that are no numbers below 1e+30: {wrong} of samples 's" in mistake


def test_a_list_of_targets_makes_a_data_set_of_each(tmp_path: Path) -> None:
    path = table(tmp_path / "n.csv", [1.5, 2.0, 4.0] * 5, Dose=[1.0, 3.0, None] * 5)
    found = study(path, entry={"target": ["weeks", "Dose"]})
    assert list(found.datasets) == ["d-weeks", "d-dose"]
    made = [read_dataset(planned.read) for planned in plan_study(found).datasets.values()]
    assert [(samples.tables["one"].shape, samples.y.max()) for samples in made] == [((15, 3), 4.0), ((10, 3), 3.0)]


def test_targets_of_one_name_do_not_replace_each_other(tmp_path: Path) -> None:
    amounts = {name: [1.0, 3.0, factor] * 5 for factor, name in enumerate(["Fe+", "Fe-", "β", "γ"])}
    path = table(tmp_path / "n.csv", [1.5, 2.0, 4.0] * 5, **amounts)
    entry = {"kind": "feature_tables", "tables": {"one": str(path)}, "target": list(amounts)}
    other = {"kind": "feature_tables", "tables": {"one": str(path)}, "target": "weeks"}
    found = check_study({"study": "s", "datasets": {"d": entry, "d-fe-2": other}})
    targets = {name: dataset.target for name, dataset in found.datasets.items()}
    assert targets == {"d-fe": "Fe+", "d-fe-3": "Fe-", "d-target": "β", "d-target-2": "γ", "d-fe-2": "weeks"}


@pytest.mark.parametrize(
    ("more", "entry", "words"),
    [
        ({"methods": {"m": {"kind": "kernel_fda"}}}, {}, "methods.m: Kernel Fisher discriminant predicts classes, and"),
        ({"protocols": {"p": {"kind": "random_per_class", "train_size": 2}}}, {}, "protocols.p: .* needs classes"),
        ({"evaluation": {"metrics": ["r2", "accuracy"]}}, {}, "metric 'accuracy' takes classes, and the target is num"),
        ({"evaluation": {"metrics": ["support_vector_share"]}}, {}, "does not measure predictions; add a metric that"),
        ({"evaluation": {"metrics": ["support_vector_share", "mae"]}}, {}, "does not measure predictions; valid: mae"),
        ({"evaluation": {"metrics": []}}, {}, "1 mistake:\n.*a list with at least 1 item"),
        ({}, {"label_column": "class"}, "target stands in place of label_column"),
        ({"methods": {"m": {"kind": "kernel_ridge_regressor", "kernel_weights": "cv_accuracy"}}}, {},
         "cv_accuracy weights by accuracy"),
        ({"methods": {"m": {"kind": "kernel_fda"}}}, TIMES, "predicts classes, and the target is survival: name a m"),
        ({"methods": {"m": {"kind": "ridge"}}}, TIMES, "m: Ridge regression predicts numbers, and .* survival: name"),
        ({"methods": {"m": {"kind": "multi_view_survival"}}}, {}, "name the columns as `target: {time: COLUMN, event:"),
        ({"protocols": {"p": {"kind": "random_per_class", "train_size": 2}}}, TIMES, "needs classes, and .* is surv"),
        ({"protocols": {"p": {"kind": "k_fold", "exclude_classes": ["a"]}}}, TIMES, "survival: there are no classes"),
        ({"evaluation": {"metrics": ["r2"]}}, TIMES, "metric 'r2' takes numbers, and the target is survival"),
        ({}, TIMES | {"task": "numbers"}, "task: `target` names columns of survival times; omit one of them"),
        ({}, TIMES | {"exclude_classes": ["a"]}, "exclude_classes: the target is survival and has no classes"),
        ({}, {"target": {"time": "weeks", "evnt": "end"}}, "unknown key 'evnt'. Did you mean 'event'"),
    ],
)  # fmt: skip
def test_keys_of_another_kind_refused(tmp_path: Path, more: dict[str, Any], entry: dict[str, Any], words: str) -> None:
    path = table(tmp_path / "n.csv", [1.5, 2.0, 4.0] * 5)
    with pytest.raises(ConfigError, match=words):
        study(path, entry=entry, **more)


def test_inner_folds_of_groups_hold_out_whole_groups() -> None:
    y, groups = np.arange(12.0), np.repeat([f"g{k}" for k in range(4)], 3)
    folds = inner_folds(y, 3, 0, groups, "numbers")
    assert len(folds) == 3
    assert all(not set(groups[known]) & set(groups[held]) for known, held in folds)
    single = inner_folds(y, 20, 0, np.arange(12).astype(str), "numbers")  # one sample per group: leave one out
    assert sorted(len(held) for _, held in single) == [1] * 12
    with pytest.raises(NotApplicable, match="needs two training groups"):
        inner_folds(y, 3, 0, np.repeat("g", 12), "numbers")


def evaluated(kind: str, X: Any, y: Any, n_train: int, groups: Any = None, choose_by: str = "r2") -> Any:
    method = MethodSpec(
        id="m", implementation=f"mklearn.regressors.baselines:{kind}",
        inputs={"features": InputSpec(kind="features", descriptors=["one"])},
        grid={"alpha": [0.01, 1.0]} if kind == "elastic_net" else {},
    )  # fmt: skip
    evaluation = EvaluationSpec(neighbours=["cosine"], inner_folds=3, choose_by=choose_by)
    problem, rows = MethodOnViews(Views({"one": X}), y, method, groups=groups), np.arange(len(y))
    return evaluate_split(problem, rows[:n_train], rows[n_train:], evaluation=evaluation, seed=0).rules[""]


@pytest.mark.parametrize("scale", [1.0, 1e-12])
@pytest.mark.parametrize(
    "kind", ["ridge", "elastic_net", "mean_regressor", "random_forest_regressor", "gradient_boosting_regressor"]
)
def test_baselines_predict_at_any_scale(kind: str, scale: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = scale * (X @ [1.0, 2.0, 0.0, 0.0] + 0.1 * rng.normal(size=60) + 5.0)
    result = evaluated(kind, X, y, 45, np.array([f"g{row}" for row in range(60)]))
    r2, rmse = (chosen_score(result, name) for name in ("r2", "rmse"))
    assert r2 is not None
    assert rmse is not None
    assert r2 < 0 if kind == "mean_regressor" else r2 > 0.3
    for error in ("rmse", "mae") if kind == "elastic_net" else ():
        assert evaluated(kind, X, y, 45, choose_by=error).candidate.parameters == {"alpha": 0.01}
    train = np.arange(45)
    assert rmse / scale == pytest.approx(np.sqrt((1 - r2) * np.var(y[train])) / scale, rel=1e-9)

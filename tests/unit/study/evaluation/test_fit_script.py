"""The script of a fit: which file is which, the rows that come out, and splits that end early."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.metrics import f1_score, log_loss
from tests import entries
from tests.scores import rows_of, samples_of
from tests.unit.study.evaluation.test_split import GatedMeans

from mklearn.atomic import read_npz, read_parquet, write_npz, write_parquet
from mklearn.errors import DataError, SolverFailed
from mklearn.kernels import Views
from mklearn.kernels.distances import MEASURES
from mklearn.papers.fsvm.pairs import Pairs
from mklearn.rows import load
from mklearn.study.artefacts import read_record
from mklearn.study.data.splits import Split, Splits
from mklearn.study.engine.failures import write_missing
from mklearn.study.engine.workflow_files import load_script
from mklearn.study.evaluation.score_table import evaluated_fit, score_table
from mklearn.study.script import call
from mklearn.study.specs.fit_spec import FitSpec
from mklearn.subspace.pca import PCA

N = 30
IDS = np.array([f"s{number:02}" for number in range(N)])
ONE: list[dict[str, Any]] = [{"protocol": "p", "train_size": None}]
fit = load_script("fit")


class Gated(GatedMeans):
    """Gated by features of width 2; others have width 3."""

    def __init__(self, kernels: Any = "linear", gating: str = "", others: str = "", fails: str = "") -> None:
        super().__init__(kernels=kernels, gating=gating)
        self.others, self.fails = others, fails

    def fit(self, X: Views, y: NDArray[Any]) -> GatedMeans:
        assert (X[self.gating].shape, X[self.others].shape) == ((20, 2), (20, 3))
        if self.fails == "fit":
            raise SolverFailed("no solution")
        return super().fit(X, y)

    def predict(self, X: Views) -> NDArray[Any]:
        labels = super().predict(X)
        return {"short": labels[1:], "text": ["a"] * len(labels), "column": labels[:, None]}.get(self.fails, labels)

    def decision_function(self, X: Views) -> NDArray[Any]:
        return super().decision_function(X) / (self.fails != "infinite")


def without_value(y: NDArray[Any]) -> float:
    return float("nan")


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Any]:
    """Thirty samples of three classes in four splits, as two kernels and two tables of features."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], 10)
    X = rng.normal(size=(N, 4)) + 2 * np.eye(4)[y]
    write_parquet(tmp_path / "labels.parquet", pd.DataFrame({"id": IDS, "y": y, "label": y.astype(str)}))
    write_npz(tmp_path / "gating.npz", features=X[:, :2])
    write_npz(tmp_path / "more.npz", features=X[:, :3])
    matrix = MEASURES["squared_euclidean"](X)
    write_npz(tmp_path / "d.npz", matrix=matrix, ids=IDS)
    drawn = []
    for repeat in range(4):
        order = np.argsort(rng.permuted(np.tile(np.arange(10), (3, 1)), axis=1).ravel() >= 7, kind="stable")
        drawn.append(Split(repeat, 0, np.sort(order[:20]), np.sort(order[20:])))
    Splits(tuple(drawn), N).save(tmp_path / "splits.parquet", IDS)
    return {
        "labels": tmp_path / "labels.parquet", "splits": tmp_path / "splits.parquet",
        "matrices": [tmp_path / "d.npz"], "sources": [tmp_path / "gating.npz", tmp_path / "more.npz"],
        "model": tmp_path / "model.npz", "predictions": tmp_path / "predictions.npz",
    }  # fmt: skip


def fit_spec(method: dict[str, Any], **content: Any) -> FitSpec:
    evaluation = {"neighbours": ["cosine"], "inner_folds": 2}
    shared = {"dataset": "d", "settings": ONE, "seed": 0, "evaluation": evaluation}
    return FitSpec.model_validate(shared | {"method": {"id": "m"} | method} | content)


def spec(**parameters: Any) -> FitSpec:
    kernels = [{"id": f"g{width}", "view": "d/m", "kind": "gaussian", "bandwidth": width} for width in (0.5, 1.0)]
    inputs = {"kernels": {"kind": "kernels"}, "gating": {"kind": "features", "descriptors": ["gating-0a"]},
              "others": {"kind": "features", "descriptors": ["more-0a"]}}  # fmt: skip
    method = {"implementation": f"{__name__}:Gated", "parameters": parameters, "inputs": inputs}
    return fit_spec(method, kernels=kernels)


def run_fit(spec: FitSpec, **arguments: Any) -> None:
    call(fit, **arguments, spec=spec.as_dict())


def test_every_metric_has_a_row_on_every_split(files: dict[str, Any]) -> None:
    run_fit(spec(), **files)
    metadata = read_record(files["predictions"])
    frame = rows_of(files["predictions"], "accuracy", "auc", "support_vector_share")
    columns = ["repeat", "metric", "selection", "status"]
    assert frame[columns].to_numpy().tolist() == [
        [repeat, *rest]
        for repeat in range(4)
        for rest in (
            ["accuracy", "inner_cv", "ok"], ["auc", "inner_cv", "ok"],
            ["support_vector_share", "inner_cv", "not_applicable"],
        )
    ]  # fmt: skip
    values = frame.set_index(["metric", "repeat"])["value"]
    assert values["accuracy"].between(0.5, 1).all()
    assert (values["auc"] >= values["accuracy"]).all()
    assert values["support_vector_share"].isna().all()
    assert set(frame["kernel_set"]) == {"g0.5+g1.0"}
    assert set(metadata["inputs"]["sources"]) == {"gating.npz", "more.npz"}
    assert metadata["spec"] == spec().as_dict()
    predicted = samples_of(files["predictions"])
    assert len(predicted) == 40
    assert predicted["decision_value"].notna().all()


def of_tables(kind: str) -> FitSpec:
    model = entries.method(kind)
    inputs = {"features": {"kind": "features", "descriptors": ["gating-0a", "more-0a"]}}
    return fit_spec({"implementation": model.row.implementation, "parameters": model.parameters(), "inputs": inputs})


@pytest.mark.parametrize("kind", ["logistic_regression", "standardised_shrinkage_lda"])
def test_tables_of_several_descriptors_are_put_side_by_side(files: dict[str, Any], kind: str) -> None:
    found = of_tables(kind)
    run_fit(found, **files | {"matrices": None})
    metadata = read_record(files["predictions"])
    frame, _ = evaluated_fit(files["predictions"], ["accuracy", "macro_f1", "log_loss", "auc"])
    assert set(metadata["inputs"]["sources"]) == {"gating.npz", "more.npz"}
    assert set(frame["status"]) == {"ok"}
    values = frame.set_index(["metric", "repeat"])["value"]
    X = np.concatenate([read_npz(path, ("features",))["features"] for path in files["sources"]], axis=1)
    y = read_parquet(files["labels"])[0]["y"].to_numpy()
    for split in Splits.load(files["splits"], IDS):
        model = load(found.method.implementation)().fit(X[split.train], y[split.train])
        predicted, probabilities = model.predict(X[split.test]), model.predict_proba(X[split.test])
        expected = {
            "accuracy": np.mean(predicted == y[split.test]),
            "macro_f1": f1_score(y[split.test], predicted, average="macro"),
            "log_loss": log_loss(y[split.test], probabilities),
        }
        for metric, value in expected.items():
            assert values[metric, split.repeat] == pytest.approx(value), metric
        assert values["auc", split.repeat] > 0.8


@pytest.mark.parametrize("choice", ["inner_cv", "test_set"])
def test_a_choice_on_the_test_samples_ignores_pairs_to_choose_by(files: dict[str, Any], choice: str) -> None:
    """A protocol whose name ends in -optimistic has the oracle's values, also where it has pairs for the choice."""
    first, second = np.tile(np.arange(8), 4), np.tile(np.r_[np.arange(1, 9), np.arange(11, 19)], 2)
    tested = np.arange(16)
    folds = tuple(Split(0, k, tested[tested % 2 != k], tested[tested % 2 == k]) for k in range(2))
    comparison = {"components": None, "unit_length": False, "terms": ["product"]}
    pairs = Pairs(first.tolist(), second.tolist(), [*(tested % 2).tolist(), *[-1] * 16], comparison)
    Splits(folds, 32, (np.arange(16, 32, 2), np.arange(17, 32, 2)), pairs).save(files["splits"], IDS)
    found = of_tables("nearest_neighbour").as_dict()
    found["method"]["grid"] = {"n_neighbors": [1, 3]}
    found["evaluation"]["choice"] = choice
    run_fit(FitSpec.model_validate(found), **files | {"matrices": None})
    frame = rows_of(files["predictions"])
    with_value = set(frame.loc[frame["value"].notna(), "selection"])
    assert with_value == {"inner_cv" if choice == "inner_cv" else "dimension"}


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize(
    ("fails", "message"),
    [
        ("fit", "no solution"),
        ("short", "the predictions have shape (9,); expected (10,), one per test sample"),
        ("text", "a prediction is 'a'; expected classes in the y of fit"),
        ("infinite", "decision_function is not finite; expected finite values of shape (10, 3)"),
    ],
)
def test_a_failure_is_one_row_for_all_metrics(files: dict[str, Any], fails: str, message: str) -> None:
    run_fit(spec(fails=fails), **files)
    frame = rows_of(files["predictions"], "accuracy", "auc")
    assert frame[["metric", "status", "message"]].to_numpy().tolist() == [["", "failed", message]] * 4


def test_a_column_of_predictions_is_accepted_and_an_invalid_value_is_a_failed_row(files: dict[str, Any]) -> None:
    run_fit(spec(fails="column"), **files)
    frame = rows_of(files["predictions"], "accuracy", f"{__name__}:without_value")
    assert frame["status"].tolist() == ["ok", "failed"] * 4
    assert frame["message"].iloc[1] == f"{__name__}:without_value is nan; expected a finite value from 0 to 1"


def test_files_that_are_missing_or_of_other_samples_are_named(files: dict[str, Any]) -> None:
    for name, views in (("matrices", "d/m; got 0"), ("sources", "gating-0a, more-0a; got 1")):
        with pytest.raises(DataError, match=f"{name} must be a file for each of these views: {views}"):
            run_fit(spec(), **files | {name: files[name][:-1]})
    matrix = files["matrices"][0]
    held = read_npz(matrix)
    write_npz(matrix, **held | {"ids": held["ids"][::-1]})
    with pytest.raises(DataError, match="holds other samples, or the same in another order"):
        run_fit(spec(), **files)


def test_classifiers_of_several_sizes_leave_a_curve_and_diagnostics(files: dict[str, Any]) -> None:
    alternating = {"implementation": "mklearn.classifiers.fsvc:FSVC", "solver": "alternating", "n_iter": 2}
    method = {
        "implementation": "mklearn.classifiers.kernel_pca_classifier:KernelPCAClassifier", "refit": {"sizes": [1, 3]},
        "grid": {"machine": [alternating | {"C": C} for C in (1.0, 10.0)]}, "inputs": {"kernels": {"kind": "kernels"}},
    }  # fmt: skip
    Splits(Splits.load(files["splits"], IDS).splits[:2], N).save(files["splits"], IDS)
    run_fit(fit_spec(method, kernels=spec().kernels), **files | {"sources": []})
    frame = rows_of(files["predictions"]).query("metric == 'accuracy'")
    swept, chosen = (frame[frame["selection"].eq(name)] for name in ("dimension", "inner_cv"))
    assert swept[["repeat", "dimension"]].to_numpy().tolist() == [[0, 1], [0, 3], [1, 1], [1, 3]]
    values = swept.set_index(["repeat", "dimension"])["value"]
    assert [values[row.repeat, row.dimension] for row in chosen.itertuples()] == chosen["value"].tolist()
    arrays = read_npz(files["model"])
    diagnostics, history = (json.loads(str(arrays[f"p/{name}"])) for name in ("diagnostics", "history"))
    assert [(entry["repeat"], entry["fold"]) for entry in diagnostics] == [(0, 0)] * 3 + [(1, 0)] * 3
    assert [str(entry["C"]) for entry in diagnostics[::3]] == [
        str(json.loads(parameters)["machine"]["C"]) for parameters in chosen["parameters"]
    ]
    rows = json.loads(str(arrays["p/chosen"]))
    values = [[row["value"] for row in rows if row["parameter"] == name] for name in ("C of machine", "n_components")]
    assert values == [[entry["C"] for entry in diagnostics[::3]], chosen["dimension"].tolist()]
    assert {(row["value"], row["end"]) for row in rows} <= {(1, "smallest"), (10, "largest"), (1, ""), (3, "largest")}
    assert all(entry["equivalent_C"] >= entry["C0"] and entry["end"] >= 0 for entry in diagnostics)
    assert [entry["half_step"] for entry in history] == [0, 1, 2] * 2
    assert all(entry["value"] >= entry["optimum"] > 0 for entry in history)


def test_the_status_of_a_pipeline_is_that_of_its_last_step(files: dict[str, Any]) -> None:
    train = np.array([0, 1, 10, 11, 20, 21])
    Splits((Split(0, 0, train, np.setdiff1d(np.arange(N), train)),), N).save(files["splits"], IDS)
    found = of_tables("standardised_shrinkage_lda")
    run_fit(found, **files | {"matrices": None})
    frame = rows_of(files["predictions"])
    assert set(frame["status"]) == {"inaccurate"}
    assert frame["message"].str.contains("shrinkage is 0").all()


# --- splits that end early

CALLS_OF_A_SPLIT = 3
"""Two inner folds, and the last fit."""


class Hungry(PCA):
    calls: ClassVar[int] = 0

    def fit(self, X: Any, y: Any = None) -> Hungry:
        type(self).calls += 1
        if type(self).calls == CALLS_OF_A_SPLIT + 1:
            np.empty((1 << 30, 1 << 20))
        super().fit(X, y)
        return self


class Slow(PCA):
    """Does not end in its second split, or on too many samples."""

    calls: ClassVar[int] = 0
    most: ClassVar[int] = 30
    time_over: ClassVar[Path]

    def fit(self, X: Any, y: Any = None) -> Slow:
        type(self).calls += 1
        while type(self).calls > CALLS_OF_A_SPLIT or len(X) > self.most:
            self.time_over.touch()
            time.sleep(0.05)
        super().fit(X, y)
        return self


def early(implementation: str, settings: list[dict[str, Any]] = ONE, **evaluation: Any) -> FitSpec:
    features = {"kind": "features", "descriptors": ["gating-0a"]}
    method = {"implementation": f"{__name__}:{implementation}", "inputs": {"X": features}, "embeds": True}
    evaluation = {"neighbours": ["euclidean"], "inner_folds": 2} | evaluation
    return fit_spec(method, settings=settings, evaluation=evaluation)


def early_rows(files: dict[str, Any], estimator: str, *settings: list[dict[str, Any]], **evaluation: Any) -> Any:
    run_fit(early(estimator, *settings, **evaluation), **files | {"matrices": None, "sources": files["sources"][:1]})
    return rows_of(files["predictions"])


def test_memory_that_runs_out_in_one_split_costs_that_split(files: dict[str, Any]) -> None:
    Hungry.calls = 0
    frame = early_rows(files, "Hungry")
    assert frame.groupby("repeat")["status"].agg(set).tolist() == [{"ok"}, {"out_of_memory"}, {"ok"}, {"ok"}]
    one = frame[frame["status"].eq("out_of_memory")]
    assert len(one) == 1
    assert "memory ran out: Unable to allocate" in one["message"].item()
    assert one["value"].isna().all()
    assert len(read_npz(files["model"])["p/weights"]) == 3


def test_after_the_limit_done_splits_keep_their_values(files: dict[str, Any], time_over: Path) -> None:
    Slow.calls = -10_000  # without end of patience: what the values are
    whole = early_rows(files, "Slow")
    Slow.calls, Slow.time_over = 0, time_over
    frame = early_rows(files, "Slow", time_limit=2 / 60)
    assert frame.groupby("repeat")["status"].agg(set).tolist() == [{"ok"}, *[{"time_limit"}] * 3]
    late = frame[frame["status"].eq("time_limit")]
    assert late["message"].str.contains(r"time limit of 0\.0333333 minutes").all()
    assert late[["n_train", "n_test"]].to_numpy().tolist() == [[20, 10]] * 3
    columns = ["dimension", "selection", "value"]
    first, expected = (f.loc[f["repeat"].eq(0), columns].reset_index(drop=True) for f in (frame, whole))
    pd.testing.assert_frame_equal(first, expected)


@pytest.mark.full
def test_each_size_has_its_limit(files: dict[str, Any], time_over: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Splits.load(files["splits"], IDS)
    few = [replace(split, train=split.train[::2], train_size=3) for split in held]
    many = [replace(split, train_size=6) for split in held]
    Splits((*few, *many), 30).save(files["splits"], IDS)
    settings = [{"protocol": f"p-p{size}", "train_size": size} for size in (6, 3)]
    for name, value in {"calls": -10_000, "most": 12, "time_over": time_over}.items():
        monkeypatch.setattr(Slow, name, value, raising=False)
    frame = early_rows(files, "Slow", settings, time_limit=2 / 60)
    assert frame["protocol"].drop_duplicates().tolist() == ["p-p6", "p-p3"]
    assert frame.groupby("train_size")["status"].agg(set).to_dict() == {3: {"ok"}, 6: {"time_limit"}}
    assert set(frame["n_train"].groupby(frame["train_size"]).first()) == {10, 20}
    model = read_npz(files["model"])
    assert (len(model["p-p3/weights"]), len(model["p-p6/weights"])) == (4, 0)


def test_kernels_of_a_row_are_named_in_the_order_of_the_study(files: dict[str, Any], tmp_path: Path) -> None:
    kernels = [{"id": name, "view": "f"} for name in ("a", "b", "other")]
    missing = tmp_path / "missing.npz"
    write_missing(str(missing), early("PCA").model_copy(update={"kernels": kernels}), "lost")
    Slow.calls = -10_000
    early_rows(files, "Slow")
    table, _ = score_table([missing, files["predictions"]], "s", ["accuracy"], ["c", "b", "a"])
    assert table["kernel_set"].drop_duplicates().tolist() == ["b+a+other", "features"]

"""Methods with landmarks in jobs: the results of the dense method, in any blocks, and a sentence for what is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from tests.scores import rows_of, samples_of
from tests.unit.study.landmark_jobs import LandmarkJobs, parts, spec_of

from mklearn.base.folds import inner_folds
from mklearn.errors import DataError
from mklearn.study.artefacts import read_arrays, write_arrays
from mklearn.study.data.splits import Split
from mklearn.study.evaluation import landmarks as on_landmarks
from mklearn.study.evaluation.landmark_files import read_moments
from mklearn.study.specs.fit_spec import Setting
from mklearn.subspace.kfd import KernelFDA

pytestmark = pytest.mark.full

N, N_TRAIN = 120, 80
MKL: dict[str, Any] = {"kind": "mkl_dr", "landmarks": N_TRAIN, "max_iter": 3}
METHODS: dict[str, dict[str, Any]] = {
    "mkl_dr": MKL,
    "convex_mkl_dr": {"kind": "convex_mkl_dr", "landmarks": N_TRAIN},
    "kernel_fda": {"kind": "kernel_fda", "landmarks": N_TRAIN},
    "kernel_mmc": {"kind": "kernel_mmc", "kernels": ["g-b"], "landmarks": N_TRAIN},
    "mkmmc": {"kind": "mkmmc", "landmarks": N_TRAIN, "max_iter": 3},
    "kernel_ridge": {"kind": "kernel_ridge", "landmarks": N_TRAIN},
    "kernel_ridge_regressor": {"kind": "kernel_ridge_regressor", "alpha": 0.01, "landmarks": N_TRAIN},
    "best_single": {
        "kind": "kernel_ridge_regressor", "alpha": [0.01], "kernel_weights": "best_single", "landmarks": N_TRAIN
    },
}  # fmt: skip

Made = Callable[..., LandmarkJobs]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Jobs on 120 digits, or on numbers of them, in two splits; arguments replace what they are on."""

    def jobs(folder: str = "jobs", numbers: bool = False, **changes: Any) -> LandmarkJobs:
        X, y = load_digits(return_X_y=True)
        X = X[:N] / 16
        if numbers:  # large beside their differences
            y = 1e5 + y[:N] * X.sum(axis=1)
        orders = [np.random.default_rng(seed).permutation(N) for seed in range(2)]
        splits = [Split(k, 0, np.sort(order[:N_TRAIN]), np.sort(order[N_TRAIN:])) for k, order in enumerate(orders)]
        given: dict[str, Any] = {"views": {"a": X, "b": np.sqrt(X[:, ::2])}, "y": y[:N], "splits": splits}
        return LandmarkJobs(tmp_path / folder, **(given | changes))

    return jobs


def predicts_numbers(method: str) -> bool:
    return METHODS[method]["kind"].endswith("_regressor")


def values(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[["repeat", "neighbour", "selection", "dimension", "value", "status", "n_train"]]


# --- the dense method's results


@pytest.mark.parametrize("kind", METHODS)
def test_with_all_training_samples_as_landmarks_the_results_are_the_dense_methods(made: Made, kind: str) -> None:
    jobs, spec = made(numbers=predicts_numbers(kind)), spec_of(**METHODS[kind])
    frame = jobs.run(spec, n_blocks=2)
    model, predictions = read_arrays(jobs.files["model"]), samples_of(jobs.files["predictions"])
    assert set(frame["status"]) == {"ok"}
    dense = jobs.dense(spec)
    of_dense = read_arrays(jobs.files["model"])
    chosen = frame[frame["selection"].eq("inner_cv")].reset_index(drop=True)
    expected = dense[dense["selection"].eq("inner_cv")].reset_index(drop=True)
    pd.testing.assert_frame_equal(values(chosen), values(expected))
    np.testing.assert_allclose(model["p/weights"], of_dense["p/weights"], atol=1e-6)
    assert model["p/kernel_ids"].tolist() == of_dense["p/kernel_ids"].tolist()
    columns = [name for name in predictions if not name.startswith(("score", "predicted_oracle"))]
    own = samples_of(jobs.files["predictions"])
    pd.testing.assert_frame_equal(predictions[columns], own[columns], rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", ["mkl_dr", "kernel_ridge_regressor"])
def test_the_number_of_blocks_changes_nothing(made: Made, kind: str) -> None:
    spec = spec_of(**METHODS[kind] | {"landmarks": 30})
    frames, weights, sums = [], [], []
    for n_blocks in (1, 2, 5):
        jobs = made(f"{n_blocks}", numbers=predicts_numbers(kind))
        frames.append(values(jobs.run(spec, n_blocks)))
        weights.append(read_arrays(jobs.files["model"])["p/weights"])
        blocks = [jobs.folder / "moments" / f"{part}.npz" for part in parts(n_blocks)]
        total = read_moments(blocks, 1).total
        sums.append(np.hstack([total.scatter, total.cross]))
    for k in (1, 2):
        pd.testing.assert_frame_equal(frames[k], frames[0])
        np.testing.assert_allclose(weights[k], weights[0], rtol=1e-9)
        np.testing.assert_allclose(sums[k], sums[0], rtol=0, atol=1e-10 * np.abs(sums[0]).max())


def test_the_ridge_is_the_one_that_the_folds_choose(made: Made) -> None:
    """Computed here from kernels of the landmark features, centred and scaled on the training part of each fold."""
    ridges = [1e-6, 1e-4, 1e-2, 1e-1, 1.0, 30.0]
    kernels = {"g": {"kind": "gaussian", "descriptor": "b"}}
    spec = spec_of(kernels, kind="kernel_fda", landmarks=25, ridge=ridges, inner_folds=4)
    rng = np.random.default_rng(3)
    y = np.tile([0, 1, 2], 40)
    jobs = made(y=y, views={"b": rng.normal(size=(N, 6)) + 0.8 * np.eye(3, 6)[y]})
    blocks = jobs.pass_over(spec, 2)
    frame = jobs.fit(spec, blocks)
    for number, split in enumerate(jobs.splits):
        known = read_moments(blocks, number)
        made_features, labels = known.sample_features, y[split.train]
        np.testing.assert_array_equal(known.sample_y, labels)
        folds = inner_folds(labels, 4, spec.seed)
        for number, (_, validation) in enumerate(folds):
            np.testing.assert_array_equal(np.flatnonzero(known.sample_folds == number), validation)
        scores = [np.mean([accuracy(made_features, labels, *fold, ridge) for fold in folds]) for ridge in ridges]
        (parameters,) = set(frame.loc[frame["repeat"].eq(split.repeat), "parameters"])
        assert json.loads(parameters)["ridge"] == ridges[int(np.argmax(np.round(scores, 9)))]
        assert len(set(np.round(scores, 9))) > 2, "the ridge should matter"


def accuracy(phi: np.ndarray, y: np.ndarray, known: np.ndarray, asked: np.ndarray, ridge: float) -> float:
    """Return the share of validation samples whose nearest neighbour in the embedding has their class."""
    centred = phi - phi[known].mean(axis=0)
    centred /= np.sqrt((centred[known] ** 2).sum() / len(known))
    kernel = centred @ centred[known].T
    model = KernelFDA(kernels="precomputed", ridge=ridge).fit(kernel[known][:, :, None], y[known])
    embedded = model.transform(kernel[:, :, None])
    distances = np.linalg.norm(embedded[asked][:, None] - embedded[known], axis=2)
    return float((y[known][distances.argmin(axis=1)] == y[asked]).mean())


# --- splits


def test_sizes_two_classes_and_groups(made: Made) -> None:
    X, y = load_digits(n_class=2, return_X_y=True)
    order = np.argsort(y[:N], kind="stable")
    X, y = X[:N][order] / 16, y[:N][order]
    drawn = []
    for size in (6, 20):
        train = np.sort(np.concatenate([np.flatnonzero(y == c)[:size] for c in (0, 1)]))
        drawn.append(Split(0, 0, train, np.setdiff1d(np.arange(N), train), train_size=size))
    groups = np.array([f"g{number % 6}" for number in range(N)])
    jobs = made(views={"a": X, "b": X[:, ::2]}, y=y, splits=drawn, groups=groups)
    spec = spec_of(kind="kernel_ridge", landmarks=8, alpha=[1e-4, 1e-2])
    settings = [Setting(protocol=f"p-p{size}", train_size=size) for size in (20, 6)]
    frame = jobs.run(spec.model_copy(update={"settings": settings}), n_blocks=3)
    assert frame["protocol"].drop_duplicates().tolist() == ["p-p20", "p-p6"]
    assert frame.groupby("train_size")["n_train"].agg(set).to_dict() == {6: {12}, 20: {40}}
    assert set(frame["status"]) == {"ok"}
    assert rows_of(jobs.files["predictions"], "accuracy", "auc")["value"].min() > 0.9
    assert set(samples_of(jobs.files["predictions"])["protocol"]) == {"p-p20", "p-p6"}


def test_inner_folds_hold_out_whole_groups_where_the_split_does(made: Made) -> None:
    groups = np.array([f"g{number // 10:02}" for number in range(N)])
    train = np.flatnonzero(np.arange(N) < N_TRAIN)
    whole = Split(0, 0, train, np.setdiff1d(np.arange(N), train))
    y = np.arange(N) % 4
    jobs, spec = made(splits=[whole], groups=groups, y=y), spec_of(**MKL | {"landmarks": 20})
    known = read_moments(jobs.pass_over(spec), 0)
    of_group = pd.DataFrame({"group": groups[train], "fold": known.sample_folds}).groupby("group")["fold"].nunique()
    assert of_group.eq(1).all()
    assert len(known.folds) == 3


@pytest.mark.parametrize("ridge", [1e-3, [1e-3, 1e-2]])
def test_a_class_with_one_training_sample_costs_the_choice_alone(made: Made, ridge: Any) -> None:
    """A row with the reason where something is to be chosen, a value where nothing is; the other split has values."""
    first, second = made("whole").splits
    y = made("whole").y
    zeros = second.train[y[second.train] == 0]
    jobs = made(splits=[first, replace(second, train=np.setdiff1d(second.train, zeros[1:]))])
    frame = jobs.run(spec_of(kind="kernel_fda", landmarks=20, ridge=ridge), n_blocks=2)
    assert frame.loc[frame["repeat"].eq(0), "status"].eq("ok").all()
    last = frame[frame["repeat"].eq(1)]
    if isinstance(ridge, float):
        assert last["status"].eq("ok").all()
        return
    assert last["status"].tolist() == ["not_applicable"]
    assert "needs two training samples of each class; class 0 has one" in last["message"].item()
    assert read_arrays(jobs.files["model"])["p/repeats"].tolist() == [0]


@pytest.mark.parametrize(
    ("y", "kind", "words"),
    [(np.zeros(N, dtype=np.int64), "mkl_dr", "of one class only"),
     (np.full(N, 2.5), "kernel_ridge_regressor", "the target is 2.5 for all training samples")],
)  # fmt: skip
def test_no_split_may_have_a_value(made: Made, y: np.ndarray, kind: str, words: str) -> None:
    frame = made(y=y).run(spec_of(kind=kind, landmarks=20), n_blocks=2)
    assert frame["status"].tolist() == ["not_applicable"] * 2
    assert frame["message"].str.contains(words).all()


def test_a_split_with_fewer_samples_than_landmarks_costs_its_own_row(
    made: Made, caplog: pytest.LogCaptureFixture
) -> None:  # fmt: skip
    first, second = made("whole").splits
    alone, both = made("alone", splits=[first]), made(splits=[first, replace(second, train=second.train[:29])])
    spec = spec_of(kind="kernel_fda", landmarks={"n": 30, "how": "leverage"})
    frame = both.run(spec, n_blocks=2)
    pd.testing.assert_frame_equal(frame[frame["repeat"].eq(0)], alone.run(spec, n_blocks=2))
    last = frame[frame["repeat"].eq(1)]
    assert last["status"].tolist() == ["not_applicable"]
    assert last["message"].tolist() == ["n_landmarks=30, but there are 29 training samples: give at most 29"]
    assert f"{second.name}: no landmarks: n_landmarks=30, but" in caplog.text


def test_a_fit_that_fails_is_a_row(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs, spec = made(), spec_of(**MKL | {"landmarks": 20})
    blocks = jobs.pass_over(spec)

    class Failing(KernelFDA):
        def fit_moments(self, features: Any, moments: Any) -> Any:
            raise np.linalg.LinAlgError("did not converge")

    loaded = on_landmarks.load
    calls_of_load = []

    def load(name: str) -> Any:
        if name.endswith(":MKLDR"):
            calls_of_load.append(name)
            if len(calls_of_load) == 1:
                return lambda **_: Failing()
        return loaded(name)

    monkeypatch.setattr(on_landmarks, "load", load)
    frame = jobs.fit(spec, blocks, here=True)
    assert frame.groupby("repeat")["status"].agg(set).tolist() == [{"failed"}, {"ok"}]
    assert frame.loc[frame["repeat"].eq(0), "message"].item() == "linear algebra failed: did not converge"


def test_splits_after_the_time_limit_have_its_reason(
    made: Made, monkeypatch: pytest.MonkeyPatch, time_over: Path
) -> None:
    jobs, spec = made(), spec_of(**MKL | {"landmarks": 20}, time_limit=3 / 60)
    blocks = jobs.pass_over(spec)
    solved = on_landmarks.solve
    calls = []

    def slow(*arguments: Any) -> Any:
        calls.append(arguments)
        while len(calls) > 1:
            time_over.touch()
            np.linalg.eigvalsh(np.eye(20))
        return solved(*arguments)

    monkeypatch.setattr(on_landmarks, "solve", slow)
    frame = jobs.fit(spec, blocks)
    assert frame.groupby("repeat")["status"].agg(set).tolist() == [{"ok"}, {"time_limit"}]
    assert (
        frame.loc[frame["repeat"].eq(1), "message"].item() == "the time limit of 0.05 minutes for all splits was over"
    )


# --- what is wrong is said


def test_a_constant_descriptor_is_named(made: Made) -> None:
    jobs = made(views=dict(made("whole").views) | {"b": np.ones((N, 3))})
    with pytest.raises(DataError, match=r"repeat 0, fold 0: kernel 'g-b': all training samples have distance zero"):
        jobs.landmarks(spec_of(**MKL | {"landmarks": 20}))
    assert not jobs.files["landmarks"].exists()


def test_features_that_are_not_finite_name_their_block(made: Made) -> None:
    jobs, spec = made(), spec_of(**MKL | {"landmarks": 20})
    of_set = jobs.landmarks(spec, 8)
    block = jobs.block(of_set.descriptors[1], "7of8")
    held = read_arrays(block, ("features", "ids"))
    held["features"][2, 0] = np.nan
    write_arrays(block, {}, **held)
    for run in (lambda: jobs.moments(of_set, "7of8"), lambda: jobs.landmarks(spec, 8)):
        with pytest.raises(DataError, match=rf"^{re.escape(str(block))}: .*'s092'"):
            run()
    assert not (jobs.folder / "moments" / "7of8.npz").exists()


def test_blocks_that_are_missing_doubled_or_of_other_landmarks(made: Made) -> None:
    jobs, spec = made(), spec_of(**MKL | {"landmarks": 20})
    of_set = jobs.landmarks(spec, 3)
    one, two, three = (jobs.moments(of_set, part) for part in parts(3))
    half = jobs.moments(of_set, "1of2")
    features = jobs.features(spec.descriptors, parts(3))
    cases = [
        ([one, three], "no block has samples 40 to 79; delete the folder and run again."),
        ([two, three], "no block has samples 0 to 39; delete the folder and run again."),
        ([one, two], "the blocks end with sample 79, but the data set has 120; delete the folder and run again."),
        ([one, two, two, three], "samples 40 to 79 are in another block too; delete the folder and run again."),
        ([half, two, three], "samples 40 to 59 are in another block too; delete the folder and run again."),
    ]
    for blocks, sentence in cases:
        with pytest.raises(DataError, match=re.escape(sentence)):
            jobs.fit(spec, blocks, features)
        assert not jobs.files["predictions"].exists()
    jobs.landmarks(spec_of(**MKL | {"landmarks": 21}), 3)
    with pytest.raises(DataError, match=rf"{one}: was made with other landmarks; delete it and run again\."):
        jobs.fit(spec, [one, two, three])
    jobs.landmarks(spec, 3)  # the same ones, in another time
    jobs.fit(spec, [one, two, three])

"""Methods with landmarks on samples in blocks: the results of one block and of the dense method, and damaged files."""

import json
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from tests.scores import rows_of
from tests.unit.study.small_study import SmallStudy, run_study

from mklearn.atomic import read_npz
from mklearn.base.folds import inner_folds
from mklearn.base.moments import Moments
from mklearn.errors import DataError
from mklearn.study.artefacts import write_arrays
from mklearn.study.data.splits import Split
from mklearn.study.evaluation import moments as in_blocks
from mklearn.study.evaluation.candidates import Candidate, MethodOnViews
from mklearn.study.evaluation.moments import Block, Folds, SplitSums, SummedSamples
from mklearn.study.plan.plan import plan_study
from mklearn.study.reading import check_study
from mklearn.subspace.kfd import KernelFDA

RIDGES = [1e-6, 1e-2, 30.0]
METHODS: dict[str, dict[str, Any]] = {
    "mkl": {"kind": "mkl_dr", "max_iter": 3},
    "convex": {"kind": "convex_mkl_dr"},
    "kfd": {"kind": "kernel_fda", "ridge": RIDGES},
    "ridge": {"kind": "kernel_ridge", "alpha": RIDGES},
    "single": {"kind": "kernel_ridge", "alpha": 0.01, "kernel_weights": "best_single"},
}
STUDY: dict[str, Any] = {
    "study": "blocks",
    "blocks": 3,
    "datasets": {"digits": {"per_class": 12}},
    "descriptors": {"a": {"kind": "pixels"}, "b": {"kind": "multiresolution", "resolutions": [2]}},
    "kernels": {"g": {"kind": "gaussian"}, "linear": {"kind": "linear", "descriptor": "a"}},
    "protocols": {"sizes": {"kind": "random_per_class", "train_size": [1, 8], "repeats": 2}},
    "evaluation": {"neighbours": ["euclidean"]},
}


def predictions(study: SmallStudy) -> dict[str, Path]:
    return {job.spec["method"]["id"]: study.folder / job.outputs["predictions"] for job in study.of("fit")}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> SmallStudy:
    """All methods, with all 80 training samples as landmarks and without landmarks; and with as many as classes."""
    methods = METHODS | {f"{name}-landmarks": entry | {"landmarks": 80} for name, entry in METHODS.items()}
    methods |= {"few": {"kind": "kernel_fda", "landmarks": 10}, "few-ridges": {**METHODS["kfd"], "landmarks": 10}}
    return run_study(tmp_path_factory.mktemp("blocks"), STUDY | {"methods": methods}, last="fit")


@pytest.mark.parametrize("name", METHODS)
def test_with_all_training_samples_as_landmarks_the_results_are_the_dense_methods(done: SmallStudy, name: str) -> None:
    files = predictions(done)
    dense, found = (rows_of(files[each]) for each in (name, f"{name}-landmarks"))
    few = found["train_size"].eq(1)
    assert set(found.loc[few, "status"]) == {"not_applicable"}
    assert set(found.loc[few, "message"]) == {"n_landmarks=80, but there are 10 training samples: give at most 10"}
    large = [frame[frame["train_size"].eq(8) & frame["selection"].eq("inner_cv")] for frame in (found, dense)]
    known, expected = (frame.set_index("repeat") for frame in large)
    columns = ["neighbour", "selection", "dimension", "value", "status", "n_train"]
    pd.testing.assert_frame_equal(known[columns], expected[columns])
    grid = METHODS[name].keys() & {"ridge", "alpha"}
    chosen = [[[json.loads(each)[key] for key in grid] for each in frame["parameters"]] for frame in (known, expected)]
    assert chosen[0] == chosen[1]


def test_a_class_with_one_training_sample_costs_the_choice_alone(done: SmallStudy) -> None:
    fixed, chosen = (rows_of(predictions(done)[name]) for name in ("few", "few-ridges"))
    assert set(fixed["status"]) == {"ok"}
    assert set(chosen.loc[chosen["train_size"].eq(1), "status"]) == {"not_applicable"}
    assert chosen["message"].str.contains("needs two training samples of each class").sum() == 2
    assert set(chosen.loc[chosen["train_size"].eq(8), "status"]) == {"ok"}


def test_files_that_are_damaged_or_of_other_samples_are_named(done: SmallStudy, tmp_path: Path) -> None:
    study = done.copy(tmp_path / "copy")
    (fit,) = [job for job in study.of("fit") if job.spec["method"]["id"] == "mkl-landmarks"]
    first, second, _ = (job for job in study.of("moments") if job.outputs["moments"] in fit.inputs["moments"])

    def damage(path: str, **changes: Any) -> None:
        held = read_npz(study.folder / path)
        (study.folder / path).unlink()
        write_arrays(study.folder / path, {}, **{k: v for k, v in held.items() if k != "provenance"} | changes)

    counts = read_npz(study.folder / second.outputs["moments"], ("2/fold0/counts",))["2/fold0/counts"]
    damage(second.outputs["moments"], **{"2/fold0/counts": 2 * counts})
    with pytest.raises(DataError, match="not the moments of training size 8, repeat 0, fold 0"):
        study.run(fit)
    path = second.inputs["features"][1]
    ids = read_npz(study.folder / path, ("ids",))["ids"]
    damage(path, features=np.full((len(ids), 4), np.nan))
    for job in (second, first):  # the second reads the moments of the first
        with pytest.raises(DataError, match=f"{path}: the features of sample '{ids[0]}' are not finite"):
            study.run(job)
    damage(path, ids=ids[::-1])
    with pytest.raises(DataError, match=f"{path}: not the samples of part 2of3"):
        study.run(first)
    assert not (study.folder / first.outputs["moments"]).exists()


N = 300
Y = np.arange(N) % 3
SPLIT = Split(0, 0, np.arange(0, N, 2), np.arange(1, N, 4))


@pytest.mark.parametrize("y", [Y, np.sqrt(np.arange(N))])
@pytest.mark.parametrize("grouped", [True, False])
def test_folds_are_those_of_the_inner_cross_validation(y: np.ndarray, grouped: bool) -> None:
    groups = np.array([f"g{number % 10}" for number in range(N)])  # even ones in training, odd ones in test samples
    folds = Folds.of(y, SPLIT, 3, 5, groups if grouped else None)
    assert folds.n_folds == 3
    assert (np.delete(folds.number, SPLIT.train) == -1).all()
    target: Any = "classes" if y is Y else "numbers"
    parts = inner_folds(y[SPLIT.train], 3, 5, groups[SPLIT.train] if grouped else None, target)
    for number, (_, validation) in enumerate(parts):
        np.testing.assert_array_equal(np.flatnonzero(folds.number == number), SPLIT.train[validation])


def test_candidates_are_compared_on_a_random_sample_of_many_training_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    np.testing.assert_array_equal(Folds.of(Y, SPLIT, 3, 5, None).sample, SPLIT.train)
    monkeypatch.setattr(in_blocks, "CHOICE_SAMPLE", 60)
    samples = [Folds.of(Y, SPLIT, 3, seed, None).sample for seed in (5, 5, 6)]
    for sample in samples:
        assert len(np.unique(sample)) == 60
        assert np.isin(sample, SPLIT.train).all()
        assert 60 < np.searchsorted(SPLIT.train, sample).mean() < 90  # spread: the first 60 have mean 29.5
    np.testing.assert_array_equal(samples[0], samples[1])
    assert not np.array_equal(samples[0], samples[2])
    monkeypatch.setattr(in_blocks, "SAMPLE", 10)
    y, spec = np.arange(100) // 99, cast("Any", SimpleNamespace(landmarks={"n": 5}, seed=0))
    drawn = in_blocks._landmark_candidates(np.arange(100), y, spec)
    assert (len(drawn), len(np.unique(drawn)), drawn[-1]) == (11, 11, 99), "and one of a class that is not drawn"


def test_samples_are_embedded_one_block_at_a_time() -> None:
    views = {"v": np.random.default_rng(0).normal(size=(N, 4)) + np.eye(3, 4)[Y]}
    model = KernelFDA(kernels={"v": "gaussian"}, landmarks=20).fit({"v": views["v"][SPLIT.train]}, Y[SPLIT.train])
    unused = np.setdiff1d(np.arange(N), np.concatenate([SPLIT.train, SPLIT.test]))
    read: list[weakref.ref[np.ndarray]] = []

    def blocks() -> Iterator[Block]:
        for start in range(0, N, 75):
            assert all(each() is None for each in read)
            rows = np.arange(start, start + 75)
            table = np.where(np.isin(rows, unused)[:, None], np.nan, views["v"][rows])
            read.append(weakref.ref(table))
            block = rows, {"v": table}
            del table
            yield block
            del block

    methods = {"m": {"kind": "kernel_fda", "landmarks": 20, "kernels": ["g-a"]}}
    (fit, *_) = plan_study(check_study(STUDY | {"methods": methods})).fits.values()
    features = model.landmark_features_
    assert features is not None
    moments = Moments().partial_fit(features.transform({"v": views["v"][SPLIT.train]}), Y[SPLIT.train])
    folds = Folds(np.full(N, -1), 1, SPLIT.train)
    problem = MethodOnViews(None, Y, fit.spec.method, fit.spec.kernels)
    sums = SplitSums(features, folds, [moments], np.empty((0, 20)), 2.0, blocks)
    fitted = SummedSamples(sums, problem, SPLIT.train, SPLIT.test).fit(Candidate(fit.spec.method.parameters))
    assert len(read) == 4
    for found, rows in zip(fitted.embeddings[0], (SPLIT.train, SPLIT.test), strict=True):
        np.testing.assert_allclose(found, model.transform({"v": views["v"][rows]}), atol=1e-6)
    assert fitted.fit_seconds >= 2.0

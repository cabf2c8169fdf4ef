"""Methods on landmarks: what candidates are compared by, and samples that are embedded block after block."""

from __future__ import annotations

import weakref
from collections.abc import Iterator

import numpy as np
import pytest
from tests.unit.study.landmark_jobs import spec_of

from mklearn.base.folds import inner_folds
from mklearn.study.data.splits import Split
from mklearn.study.evaluation import landmarks
from mklearn.study.evaluation.landmarks import Block, Folds, Solved, evaluate
from mklearn.study.evaluation.split import Candidate
from mklearn.study.specs.data_specs import TargetKind
from mklearn.subspace.kfd import KernelFDA

N = 300
Y = np.arange(N) % 3
SPLIT = Split(0, 0, np.arange(0, N, 2), np.arange(1, N, 4))


def test_candidates_are_compared_on_a_random_sample_of_many_training_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Folds.of(Y, SPLIT, 3, 5, None)
    np.testing.assert_array_equal(whole.chosen_by, SPLIT.train)
    monkeypatch.setattr(landmarks, "CHOICE_SAMPLE", 60)
    samples = [Folds.of(Y, SPLIT, 3, seed, None).chosen_by for seed in (5, 5, 6)]
    for sample in samples:
        assert len(sample) == len(np.unique(sample)) == 60
        assert np.isin(sample, SPLIT.train).all()
        assert (np.diff(sample) > 0).all()
        # Ranks among the training samples are spread as 60 of 150 drawn at random: the first 60 have mean 29.5.
        assert 60 < np.searchsorted(SPLIT.train, sample).mean() < 90
    np.testing.assert_array_equal(samples[0], samples[1])
    assert not np.array_equal(samples[0], samples[2])


@pytest.mark.parametrize(("y", "target"), [(Y, "classes"), (np.sqrt(np.arange(N)), "numbers")])
def test_folds_are_those_of_the_inner_cross_validation(y: np.ndarray, target: TargetKind) -> None:
    folds = Folds.of(y, SPLIT, 3, 5, None)
    assert folds.n_folds == 3
    assert (np.delete(folds.number, SPLIT.train) == -1).all()
    for number, (_, validation) in enumerate(inner_folds(y[SPLIT.train], 3, 5, target=target)):
        np.testing.assert_array_equal(np.flatnonzero(folds.number == number), SPLIT.train[validation])


def test_samples_are_embedded_one_block_at_a_time() -> None:
    """Each block is given up before the next is read; samples outside the split may hold anything."""
    views = {"v": np.random.default_rng(0).normal(size=(N, 4)) + np.eye(3, 4)[Y]}
    model = KernelFDA(kernels={"v": "gaussian"}, landmarks=20).fit({"v": views["v"][SPLIT.train]}, Y[SPLIT.train])
    unused = np.setdiff1d(np.arange(N), np.concatenate([SPLIT.train, SPLIT.test]))
    read: list[weakref.ref[np.ndarray]] = []

    def table(rows: np.ndarray) -> np.ndarray:
        found = np.where(np.isin(rows, unused)[:, None], np.nan, views["v"][rows])
        read.append(weakref.ref(found))
        return found

    def blocks() -> Iterator[Block]:
        for start in range(0, N, 75):
            assert all(each() is None for each in read)
            rows = np.arange(start, start + 75)
            yield rows, {"v": table(rows)}

    spec = spec_of(kind="kernel_fda", landmarks=20)
    solved = Solved([model], [Candidate({}, None)], {"euclidean": 0}, [0.5])
    result = evaluate(solved, blocks(), SPLIT, Y, spec.method, pass_seconds=2.0)
    assert len(read) == 4
    (rule,) = result.rules.values()
    known, asked = rule.fitted.embeddings[0]
    np.testing.assert_allclose(known, model.transform({"v": views["v"][SPLIT.train]}), atol=1e-6)
    np.testing.assert_allclose(asked, model.transform({"v": views["v"][SPLIT.test]}), atol=1e-6)
    assert rule.fitted.fit_seconds == 2.5

"""The samples by which candidates of a method on landmarks are compared."""

from __future__ import annotations

import numpy as np
import pytest

from mklearn.study.data.splits import Split
from mklearn.study.evaluation import landmarks
from mklearn.study.evaluation.landmarks import Folds


def test_candidates_are_compared_on_a_random_sample_of_the_training_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Data sets come sorted by class: the first samples would be of the first classes alone."""
    monkeypatch.setattr(landmarks, "CHOICE_SAMPLE", 40)
    y = np.repeat(np.arange(4), 30)
    train = np.flatnonzero(np.arange(120) % 6 > 0)
    split = Split(train=train, test=np.setdiff1d(np.arange(120), train), repeat=0, fold=0)
    drawn = [Folds.of(y, split, 2, seed, None).chosen_by for seed in range(300)]
    for sample in drawn:
        assert len(np.unique(sample)) == 40
        assert np.isin(sample, train).all()
        assert (np.diff(sample) > 0).all()
    times = np.bincount(np.concatenate(drawn), minlength=120)[train]  # 300 draws of 40 in 100: 120 times each
    assert abs(times - 120).max() < 5 * np.sqrt(300 * 0.4 * 0.6)
    np.testing.assert_array_equal(Folds.of(y, split, 2, 7, None).chosen_by, drawn[7])
    monkeypatch.setattr(landmarks, "CHOICE_SAMPLE", 100)
    np.testing.assert_array_equal(Folds.of(y, split, 2, 7, None).chosen_by, train)

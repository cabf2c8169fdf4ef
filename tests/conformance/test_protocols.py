"""Every registered protocol: described, consistent with its code, and reproducible."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from tests.conformance.signatures import about, disagreements, implementation

from mklearn.study.config.registry import registered

MODELS: dict[str, Any] = registered("protocols")
GIVEN: dict[str, dict[str, Any]] = {"random_per_class": {"train_size": 3}, "given": {"path": "splits.csv"}}
NEEDS_GROUPS = ["group_k_fold"]
DRAWN = [kind for kind in MODELS if kind not in ("given", "released", "verification")]
"""The others are read from files."""


@pytest.mark.parametrize("kind", MODELS)
def test_protocols_are_described_and_agree_with_their_code(kind: str) -> None:
    assert not about(MODELS[kind], paper=False)
    assert disagreements(MODELS[kind], kind, GIVEN.get(kind, {}), {}) == []


@pytest.mark.parametrize("kind", DRAWN)
def test_splits_depend_on_seed_and_data_set_only(kind: str) -> None:
    y = np.repeat(np.arange(3), 8)
    draw = implementation(MODELS[kind])
    assert {"seed", "name", "classes"} <= set(inspect.signature(draw).parameters)
    parameters = MODELS[kind](kind=kind, **GIVEN.get(kind, {})).parameters()
    if kind in NEEDS_GROUPS:
        parameters["groups"] = np.arange(len(y)).astype(str)

    def drawn(seed: int = 0, name: str = "x") -> list[list[int]]:
        splits = list(draw(y, **parameters, seed=seed, name=name))
        for split in splits:
            assert not np.intersect1d(split.train, split.test).size
            assert set(y[split.train]) == set(y[split.test]) == {0, 1, 2}
        return [split.train.tolist() for split in splits]

    assert drawn() == drawn()
    assert drawn() != drawn(seed=1)
    assert drawn() != drawn(name="y")

"""Every protocol that draws splits: reproducible."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from tests.entries import implementation, protocol

from mklearn.study.data.protocols import PROTOCOLS

GIVEN: dict[str, dict[str, Any]] = {"random_per_class": {"train_size": 3}}
NEEDS_GROUPS = ["group_k_fold"]
DRAWN = [kind for kind in PROTOCOLS if kind not in ("given", "released", "verification")]
"""The others are read from files."""


@pytest.mark.parametrize("kind", DRAWN)
def test_splits_depend_on_seed_and_data_set_only(kind: str) -> None:
    y = np.repeat(np.arange(3), 8)
    draw = implementation(PROTOCOLS[kind])
    assert {"seed", "name", "classes"} <= set(inspect.signature(draw).parameters)
    parameters = protocol(kind, **GIVEN.get(kind, {})).parameters()
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

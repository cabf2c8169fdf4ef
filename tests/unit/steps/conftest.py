"""What tests of steps share: a small study that has run."""

from __future__ import annotations

import os

import pytest
from tests.unit.steps.small_study import SmallStudy, run_small_study


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> SmallStudy:
    """The small study with its tables. Shared: tests that change it make a copy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)  # whether these files reach the disk is of no interest
        return run_small_study(tmp_path_factory.mktemp("small-study"))

"""What unit tests of several rooms share: the scripts in docs."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def import_from_docs(repository: Path) -> Callable[[str], Any]:
    """Import a script in docs, which may import its neighbours, by its name."""

    def imported(name: str) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(str(repository / "docs"))
            return importlib.import_module(name)

    return imported

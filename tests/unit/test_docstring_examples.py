"""Examples in docstrings print what they say."""

import doctest
import importlib
from pathlib import Path

import pytest

pytestmark = pytest.mark.full

SOURCE = Path(__file__).resolve().parents[2] / "src"
MODULES = [
    ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    for path in sorted((SOURCE / "mklearn").rglob("*.py"))
    if ">>>" in path.read_text(encoding="utf-8") and path.name != "__init__.py"
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_print_what_they_say(module: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(module))
    assert tried > 0
    assert failed == 0, f"python -m doctest -v src/{module.replace('.', '/')}.py"

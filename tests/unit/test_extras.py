"""The core install and its extras: what each needs, and the sentence where a package is missing."""

import ast
import importlib.metadata
import re
import sys
import tomllib
from pathlib import Path

import pytest

from mklearn.errors import MissingExtra, UserError
from mklearn.extras import EXTRAS, require

WITH_ANOTHER = {
    "joblib": "scikit-learn",
    "llvmlite": "numba",
    "markupsafe": "jinja2",
    "pydantic_core": "pydantic",
    "snakemake_interface_logger_plugins": "snakemake",
    "threadpoolctl": "scikit-learn",
}
"""Modules that come with another package."""


@pytest.fixture(scope="module")
def project(repository: Path) -> dict:
    return tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def names(lines: list[str]) -> set[str]:
    return {re.match(r"[\w.-]+", line).group() for line in lines}  # type: ignore[union-attr]


def test_a_missing_extra_is_an_import_error_and_a_users_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cv2", None)
    for kind in (MissingExtra, ImportError, UserError):
        with pytest.raises(kind) as caught:
            require("pandas", "cv2")
    assert 'pip install "mklearn[images]"' in str(caught.value)


@pytest.mark.full
def test_every_optional_import_is_of_an_extra_that_installs_it(repository: Path, project: dict) -> None:
    imported: set[str] = set()
    for path in (repository / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.split(".")[0])
    own = imported - set(sys.stdlib_module_names) - {"mklearn"}
    brought = {module: extra for extra, modules in EXTRAS.items() for module in modules}
    packages = importlib.metadata.packages_distributions()
    core = names(project["dependencies"])
    extras = {extra: names(lines) for extra, lines in project["optional-dependencies"].items()}
    extras["workflow"] |= extras["report"]
    for module in sorted(own | set(brought)):
        found = {WITH_ANOTHER.get(module, name.lower()) for name in packages.get(module, [module])}
        where = extras[brought[module]] if module in brought else core | extras["workflow"]
        assert found & where, f"{module} is in no dependency of {brought.get(module, 'the core')}"
        assert module in brought or module in WITH_ANOTHER or found & core, f"{module} needs an entry in EXTRAS"

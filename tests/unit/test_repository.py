"""The repository: public names, examples in docstrings, locks, environments and extras, no place of one machine."""

import ast
import doctest
import importlib
import importlib.metadata
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import mklearn
from mklearn.errors import MissingExtra, UserError
from mklearn.extras import EXTRAS, require

ROOT = Path(__file__).resolve().parents[2]


def test_public_names_are_those_of_the_list() -> None:
    pytest.importorskip("mklearn.papers")
    found = runpy.run_path(str(ROOT / "docs" / "site" / "api_pages.py"))["full_names"]()
    expected = Path(__file__).with_name("public_names.txt").read_text(encoding="utf-8").splitlines()
    assert found == expected, "docs/versions.md says what may change; `make schema` renews the list"


def test_the_changelog_begins_with_this_version() -> None:
    version = mklearn.__version__.removesuffix(".dev0")
    heading = f"## {version}" + (" (unreleased)" if version != mklearn.__version__ else "")
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    first = next(line for line in lines if line.startswith("## "))
    assert first.startswith(heading)


# --- examples in docstrings

SOURCE = ROOT / "src"
MODULES = [
    ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    for path in sorted((SOURCE / "mklearn").rglob("*.py"))
    if ">>>" in path.read_text(encoding="utf-8") and path.name != "__init__.py"
]


@pytest.mark.full
@pytest.mark.parametrize("module", MODULES)
def test_examples_print_what_they_say(module: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(module))
    assert tried > 0
    assert failed == 0, f"python -m doctest -v src/{module.replace('.', '/')}.py"


# --- locks and places

LOCKS = ("requirements.lock", "envs/bootstrap.lock", "envs/docs.lock", "envs/slurm.lock")
PLACES = re.compile(rb"(?<![\w.])/(work|home/[a-z]\w*|Users|root)/")
"""Folders that exist on one machine only."""


@pytest.fixture(scope="module")
def from_lock(repository: Path) -> dict[str, Any]:
    return runpy.run_path(str(repository / "envs" / "from_lock.py"))


def test_conda_environment_is_made_from_the_lock(repository: Path, from_lock: dict[str, Any]) -> None:
    text = (repository / "envs" / "mklearn.yaml").read_text(encoding="utf-8")
    assert text == from_lock["environment"](), "run `make lock` (or python envs/from_lock.py)"


@pytest.mark.parametrize("name", LOCKS)
def test_locks_pin_every_package_by_hash_and_agree(repository: Path, from_lock: dict[str, Any], name: str) -> None:
    text = (repository / name).read_text(encoding="utf-8")
    assert "://" not in text
    entries = [entry for entry in re.split(r"\n(?=\S)", text.strip()) if not entry.startswith("#")]
    assert entries
    for entry in entries:
        assert re.match(r"[a-z0-9._-]+==\S+", entry), entry[:80]
        assert "--hash=sha256:" in entry, entry[:80]
    if name != "envs/bootstrap.lock":
        ours, more = (from_lock["locked"](repository / each) for each in (LOCKS[0], name))
        assert {package: version for package, version in more.items() if ours.get(package, version) != version} == {}


def test_no_file_names_a_place_of_one_machine_or_is_large(repository: Path) -> None:
    done = subprocess.run(["git", "-C", str(repository), "ls-files", "-z"], capture_output=True)
    if done.returncode:
        pytest.skip("not a checkout")
    kept = [repository / name for name in done.stdout.decode().split("\0") if name and (repository / name).is_file()]
    assert [path for path in kept if path.name != Path(__file__).name and PLACES.search(path.read_bytes())] == []
    assert [path for path in kept if path.stat().st_size > 1_000_000 and "oracle" not in path.parts] == []


# --- extras

WITH_ANOTHER = {
    "joblib": "scikit-learn",
    "llvmlite": "numba",
    "markupsafe": "jinja2",
    "pydantic_core": "pydantic",
    "snakemake_interface_logger_plugins": "snakemake",
    "threadpoolctl": "scikit-learn",
}
"""Modules that come with another package."""


def names(lines: list[str]) -> set[str]:
    return {re.match(r"[\w.-]+", line).group() for line in lines}  # type: ignore[union-attr]


def test_a_missing_extra_is_an_import_error_and_a_users_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cv2", None)
    for kind in (MissingExtra, ImportError, UserError):
        with pytest.raises(kind) as caught:
            require("pandas", "cv2")
    assert 'pip install "mklearn[images]"' in str(caught.value)


@pytest.mark.full
def test_every_optional_import_is_of_an_extra_that_installs_it(repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
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

"""Packages outside mklearn: what they add is listed and fingerprinted, and one that can't be used is named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests.commands import Commands
from tests.outside_package.install import install, write_metadata
from tests.workflow.conftest import SMOKE

pytestmark = pytest.mark.full

BROKEN = [
    ("mklearn.kernels", "missing_package.models:Kernel", "No module named 'missing_package'"),
    ("mklearn.kernels", "json:dumps", "json:dumps has no mklearn.cards.KernelCard."),
    ("mklearn.methods", "mklearn.kernels.linear:LinearKernel", "has no mklearn.cards.MethodCard."),
    ("mklearn.protocols", "json:dumps", "json:dumps has no mklearn.cards.ProtocolCard."),
    ("mklearn.kernels", "mklearn.kernels.linear:LinearKernel", "kind 'linear' is registered already"),
]
"""Entry points that can't be used: group, value, and what is said."""


def environment(site: Path) -> dict[str, str]:
    """The environment of a process, with the packages of a folder installed."""
    path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))
    return os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture(scope="module")
def commands() -> Commands:
    """Command lines, without the import of these packages for each."""
    return Commands("numpy", "pydantic.main", "scipy.optimize", "sklearn.svm", "yaml")


def mklearn(commands: Commands, site: Path, *arguments: str, code: int = 0) -> str:
    """What the command says, which ends with a code."""
    ended, said = commands.run("mklearn", *arguments, folder=Path.cwd(), environment=environment(site))
    assert ended == code, said
    assert "Traceback" not in said
    return said


def run(site: Path, *arguments: str) -> str:
    """What Python says."""
    done = subprocess.run([sys.executable, *arguments], env=environment(site), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def test_a_package_that_can_not_be_used_is_named(tmp_path: Path, commands: Commands) -> None:
    """All that is wrong, where a study is checked and where kinds are listed; not a traceback from somewhere else."""
    points: dict[str, dict[str, str]] = {}
    for number, (group, value, _) in enumerate(BROKEN):
        points.setdefault(group, {})[f"mine{number}"] = value
    write_metadata(tmp_path, "broken", "1.0", points)
    study = tmp_path / "study.yaml"
    study.write_text(yaml.safe_dump(SMOKE), encoding="utf-8")
    for command in (["validate", str(study)], ["list", "methods"]):
        said = mklearn(commands, tmp_path, *command, code=1)
        for number, (group, _, sentence) in enumerate(BROKEN):
            (line,) = (line for line in said.splitlines() if f"entry point 'mine{number}' ({group})" in line)
            assert "package broken: " in line
            assert "can't be loaded: " in line
            assert sentence in line


def test_a_data_set_is_registered_once(tmp_path: Path, commands: Commands) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").touch()
    entry = {"title": "t", "files": [], "reader": "mine:read", "expected": {}, "licence": "", "citation": ""}
    (tmp_path / "mine" / "data.yaml").write_text(yaml.safe_dump({"digits": entry | {"homepage": ""}}), encoding="utf-8")
    write_metadata(tmp_path, "mine", "1.0", {"mklearn.datasets": {"mine": "mine:data.yaml"}})
    said = mklearn(commands, tmp_path, "list", "datasets", code=1)
    assert "mklearn: package mine: data set 'digits' is registered already." in said


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the example package is installed."""
    return install(tmp_path_factory.mktemp("site"))


ADDED = [
    ("methods", "gated_centroids", "gating (required): The descriptor whose features gate the kernels."),
    ("kernels", "cauchy", "scale (default 1.0)"),
    ("descriptors", "column_means", "Means of columns"),
    ("protocols", "first_per_class", "train_size (required)"),
    ("datasets", "stripes", "samples 36, classes 3"),
]
"""What the example package adds: a sort, a kind, and what is said of it."""


def test_what_a_package_adds_is_listed_with_its_name(site: Path) -> None:
    """In one process: the package brings the libraries that it imports, which take a second."""
    # The list of methods has a line for each: what a section says of the others is said of one by its name.
    calls = [["methods", "gated_centroids"], ["methods", "kernel_fda"], *([what] for what, *_ in ADDED[1:])]
    command = f"from mklearn.__main__ import main\nfor call in {calls}: main(['list', *call]); print('====')"
    said = [part.strip().split("\n\n") for part in run(site, "-c", command).split("====")[: len(calls)]]
    of_methods = said.pop(0) + said.pop(0)
    for (what, kind, words), parts in zip(ADDED, [of_methods, *said], strict=True):
        sections = {part.split(":")[0]: part for part in parts}
        assert "package: mklearn-outside" in sections[kind], what
        assert words in sections[kind]
        own = "kernel_fda" if what == "methods" else next(iter(sections))
        assert "package:" not in sections[own]


def test_a_package_may_bring_a_registry_file_and_studies(tmp_path: Path, commands: Commands) -> None:
    """Its methods are listed without its code being imported; its studies are found by name."""
    command = "import mklearn.study.config.registry_entries as r; r.main(['outside_package'])"
    install(tmp_path / "other")
    run(tmp_path / "other", "-c", command)
    package = tmp_path / "mine"
    (package / "studies").mkdir(parents=True)
    (package / "__init__.py").touch()
    (tmp_path / "other" / "outside_package" / "registry.json").rename(package / "registry.json")
    (package / "studies" / "gated.yaml").write_text(yaml.safe_dump(SMOKE), encoding="utf-8")
    points = {"mklearn.methods": {"m": "mine:registry.json"}, "mklearn.studies": {"m": "mine:studies"}}
    write_metadata(tmp_path, "mine", "1.0", points)
    assert "  gated_centroids " in mklearn(commands, tmp_path, "list", "methods")  # outside_package is not there
    assert "gated: study 'smoke' is valid" in mklearn(commands, tmp_path, "validate", "gated")
    (package / "studies" / "gated.yaml").unlink()
    said = mklearn(commands, tmp_path, "validate", "gated", code=1)
    assert "package mine: there is no study file (*.yaml) in mine:studies." in said

"""Packages outside mklearn: what they add is listed and fingerprinted, and one that can't be used is named."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.commands import Commands
from tests.outside_package.install import install, write_metadata
from tests.workflow.conftest import SMOKE

pytestmark = pytest.mark.full

BROKEN = {
    "kernels.missing": ("missing_package.models:Kernel", "No module named 'missing_package'"),
    "kernels.function": ("json:dumps", "is not a subclass of mklearn.kernels.Kernel"),
    "methods.nothing": ("outside_package.powers:Powers", "has no 'Powers'"),
    "methods.failing": ("outside_package.failing:Method", "can't be imported: ZeroDivisionError"),
    "protocols.constant": ("math:pi", "is no class or function"),
    "descriptors.module": ("outside_package", "unknown kind 'outside_package'"),
}
"""Kinds that can't be used, and the message about each."""


def environment(site: Path) -> dict[str, str]:
    """The environment of a process, with the packages of a folder installed."""
    path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))
    return os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture(scope="module")
def commands() -> Commands:
    """Command lines, without the import of these packages for each."""
    return Commands("numpy", "pydantic.main", "scipy.optimize", "sklearn.svm", "yaml")


def mklearn(commands: Commands, site: Path, *arguments: str, code: int = 0) -> str:
    ended, output = commands.run("mklearn", *arguments, folder=Path.cwd(), environment=environment(site))
    assert ended == code, output
    assert "Traceback" not in output
    return output


def run(site: Path, *arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], env=environment(site), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def test_what_can_not_be_used_is_named(site: Path, tmp_path: Path, commands: Commands) -> None:
    (site / "outside_package" / "failing.py").write_text("1 / 0\n", encoding="utf-8")
    broken: dict[str, dict[str, Any]] = {}
    for path, (kind, _) in BROKEN.items():
        section, name = path.split(".")
        broken.setdefault(section, {})[name] = {"kind": kind}
    study = tmp_path / "study.yaml"
    study.write_text(yaml.safe_dump(SMOKE | broken), encoding="utf-8")
    output = mklearn(commands, site, "validate", str(study), code=1)
    for path, (_, sentence) in BROKEN.items():
        (line,) = (line for line in output.splitlines() if f". {path}: " in line)
        assert sentence in line


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("site"))


ADDED = {
    "methods": ("gated_centroids:GatedCentroids", "gating (required): Name of the view whose features gate"),
    "kernels": ("cauchy:CauchyKernel", "scale (default 1.0): Multiple of the mean squared training distance."),
    "descriptors": ("column_means:column_means", "power (default 1.0): Exponent of the means."),
    "protocols": ("first_per_class:first_per_class", "train_size (required)"),
}
"""Additions of the example package, and their descriptions."""


def test_what_a_package_adds_is_described_by_its_name(site: Path) -> None:
    calls = [["list", what, f"outside_package.{name}"] for what, (name, _) in ADDED.items()]
    command = f"from mklearn.__main__ import main\nfor call in {[*calls, ['list', 'datasets', 'stripes']]}: main(call)"
    output = " ".join(run(site, "-c", command).split())
    for name, words in ADDED.values():
        assert f"outside_package.{name}: " in output
        assert words in output
    assert "stripes: Noisy stripes (8 x 8, drawn) package: mklearn-outside samples 36, classes 3" in output


def test_a_package_may_bring_studies_and_data_sets_of_new_names(tmp_path: Path, commands: Commands) -> None:
    package = tmp_path / "mine"
    (package / "studies").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "studies" / "gated.yaml").write_text(yaml.safe_dump(SMOKE), encoding="utf-8")
    write_metadata(tmp_path, "mine", "1.0", {"mklearn.studies": {"m": "mine:studies"}})
    assert "gated: study 'smoke' is valid" in mklearn(commands, tmp_path, "validate", "gated")
    (package / "studies" / "gated.yaml").unlink()
    output = mklearn(commands, tmp_path, "validate", "gated", code=1)
    assert "package mine: there is no study file (*.yaml) in mine:studies." in output
    entry = {"title": "t", "files": [], "reader": "mine:read", "expected": {}, "licence": "", "citation": ""}
    (package / "data.yaml").write_text(yaml.safe_dump({"digits": entry | {"homepage": ""}}), encoding="utf-8")
    write_metadata(tmp_path, "sets", "1.0", {"mklearn.datasets": {"mine": "mine:data.yaml"}})
    output = mklearn(commands, tmp_path, "list", "datasets", code=1)
    assert "mklearn: package sets: data set 'digits' is registered already." in output

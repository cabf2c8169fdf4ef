"""Where the Snakefile and the studies are: in a checkout, and in a wheel."""

import tomllib
from pathlib import Path

import pytest

from mklearn.errors import ConfigError
from mklearn.study.engine import workflow_files
from mklearn.study.engine.workflow_files import study_file, workflow_file
from mklearn.study.provenance import PACKAGE


def test_the_present_checkout_comes_before_the_one_of_the_code(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert workflow_file("Snakefile") == repository / "Snakefile"
    (tmp_path / "Snakefile").touch()  # of another workflow
    assert workflow_file("Snakefile") == repository / "Snakefile"
    (tmp_path / "src" / "mklearn").mkdir(parents=True)
    assert workflow_file("Snakefile") == Path("Snakefile")


def test_a_wheel_has_every_file_where_it_is_looked_for(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))
    carried = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    package = tmp_path / "site-packages" / "mklearn"
    package.mkdir(parents=True)
    monkeypatch.setattr(workflow_files, "PACKAGE", package)
    monkeypatch.setattr(workflow_files, "_IN_WHEEL", package / "workflow_files")
    monkeypatch.chdir(tmp_path)
    for name, place in carried.items():
        assert (repository / name).exists()
        usual = name.removeprefix("workflow/") if name == "workflow/profiles" else name
        assert workflow_file(usual) == tmp_path / "site-packages" / place
    # Everything that the Snakefile and the rules name is among them.
    texts = [
        path.read_text(encoding="utf-8") for path in [repository / "Snakefile", *repository.glob("workflow/rules/*")]
    ]
    named = {word for text in texts for word in text.replace('"', " ").split() if word.startswith(("workflow/", "../"))}
    for name in named:
        inside = (repository / ("workflow/rules" if name.startswith("../") else ".") / name).resolve()
        assert any(inside.is_relative_to((repository / part).resolve()) for part in carried), name


def test_a_study_is_a_file_or_one_of_mklearn(tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert study_file(None) == repository / "config.yaml"
    assert study_file("weights") == repository / "workflow" / "studies" / "weights.yaml"
    assert study_file("2dmmc") == PACKAGE / "papers" / "two_d_mmc" / "studies" / "2dmmc.yaml"
    for name in ("config.yaml", "fsvm", "photos.yaml"):
        (tmp_path / name).touch()
    assert [str(study_file(name)) for name in (None, "fsvm", "photos.yaml")] == ["config.yaml", "fsvm", "photos.yaml"]
    (tmp_path / "folder").mkdir()
    for name, sentence in (
        ("photo.yaml", r"photo\.yaml: there is no such file\. Did you mean 'photos\.yaml'\? Studies of mklearn: 2d"),
        ("nowhere/photos.yaml", r"nowhere/photos\.yaml: there is no such file\. Studies of"),
        ("mkldr_small", "Did you mean 'mkldr-small'"),
        ("folder", "folder: is a folder, not a file"),
    ):
        with pytest.raises(ConfigError, match=sentence):
            study_file(name)

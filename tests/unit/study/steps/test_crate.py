"""``mklearn export``: the archive describes its files and what the run read; damaged or old results are refused."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest
import yaml
from PIL import Image
from tests.unit.every_step import data_jobs, model_jobs, table_jobs
from tests.unit.study.steps.conftest import without_content
from tests.unit.study.steps.small_study import working_in

from mklearn.__main__ import main
from mklearn.study.artefacts import read_record, write_record
from mklearn.study.config.reading import check_study
from mklearn.study.data.registry import registry
from mklearn.study.engine.reforms import AUTHOR, MODULES
from mklearn.study.plan.plan import plan_study
from mklearn.study.stages.targets import Targets
from mklearn.study.steps.runner import call

STUDY: dict[str, Any] = {
    "study": "small",
    "title": "Small & round",
    "datasets": {
        "iris": None,
        "mine": {"kind": "feature_tables", "tables": {"a": "tables/a.csv"}, "group_column": "person"},
        "photos": {"kind": "image_folder", "path": "my photos", "resize": {"shape": [8, 8]}},
    },
    "methods": {"average": {"kind": "kernel_fda", "ridge": [0.001, 0.1]}},
    "protocols": {
        "folds": {"kind": "k_fold", "folds": 2},
        "seen": {"kind": "k_fold", "folds": 2, "choose": "test_set", "datasets": ["mine"]},
    },
    "descriptors": {
        "a": {"kind": "table", "table": "a", "datasets": ["mine"]},
        "features": {"kind": "table", "table": "features", "datasets": ["iris"]},
        "pixels": {"kind": "pixels", "datasets": ["photos"]},
    },
    "kernels": {"gaussian": {"kind": "gaussian"}},
    "final": {"method": "average", "dataset": "mine", "protocol": "folds"},
}
RUN = "results/small"


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory: pytest.TempPathFactory, mirror: Path) -> Path:
    """A folder in which a study of registered and own data has run, with its page and its model."""
    folder = tmp_path_factory.mktemp("run")
    with working_in(folder), pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        patch.setenv("MKLEARN_MIRROR", str(mirror))
        patch.setenv("MKLEARN_COMMAND", "mklearn run small.yaml")
        patch.setenv("MKLEARN_STARTED", "2026-01-31T12:00:00Z")
        without_content(patch)
        _write_data(np.random.default_rng(0))
        Path("small.yaml").write_text(yaml.safe_dump(STUDY), encoding="utf-8")
        targets = Targets(plan_study(check_study(STUDY)))
        for job in [*data_jobs(targets), *model_jobs(targets), *table_jobs(targets)]:
            call(job["step"], job["inputs"], job["outputs"], job["spec"])
    return folder


def _write_data(rng: np.random.Generator) -> None:
    Path("tables").mkdir()
    table = pd.DataFrame(rng.normal(size=(24, 3)), columns=list("xyz"))
    table = table.assign(id=range(24), label=["no", "yes"] * 12, person=[n // 4 for n in range(24)])
    table.to_csv("tables/a.csv", index=False)
    for number in range(12):
        path = Path(f"my photos/class {number % 2}/p#{number}.png")
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 255, (8, 8), dtype=np.uint8)).save(path)


@pytest.fixture
def run_folder(finished_run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished_run, tmp_path / "run"))


def exported(folder: Path, *options: str) -> tuple[dict[str, dict[str, Any]], dict[str, bytes]]:
    """Export; return the entities by id, and the files of the archive."""
    with working_in(folder):
        assert main(["export", "small.yaml", "out/crate.zip", *options]) == 0
    with zipfile.ZipFile(folder / "out/crate.zip") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    graph = json.loads(files["ro-crate-metadata.json"])["@graph"]
    return {entity["@id"]: entity for entity in graph}, files


def ids(value: Any) -> set[str]:
    return {each["@id"] for each in (value if isinstance(value, list) else [value])}


@pytest.fixture(scope="module")
def crate(finished_run: Path) -> tuple[dict[str, dict[str, Any]], dict[str, bytes]]:
    return exported(finished_run, "--author", "A. Person", "--orcid", "0000-0002-1825-0097", "--licence", "CC BY 4.0")


@pytest.mark.full
def test_every_file_is_described_with_its_checksum(crate: tuple) -> None:
    entities, files = crate
    described = {unquote(name): entity for name, entity in entities.items() if "File" in entity["@type"]}
    assert set(files) - {"ro-crate-metadata.json", "ro-crate-preview.html"} == {
        name for name in described if "://" not in name
    }
    for name, entity in described.items():
        if name in files:
            assert entity["sha256"] == hashlib.sha256(files[name]).hexdigest(), name
            assert entity["encodingFormat"]
    assert {unquote(name) for name in ids(entities["./"]["hasPart"])} == set(described)
    assert {f"results/{name}" for name in ("run.json", "report/index.html", "summary.parquet", "model.mklearn")} <= set(
        files
    )
    linked = {name for entity in entities.values() for value in entity.values() for name in _links(value)}
    assert {name for name in linked if "://" not in name} <= set(entities)


def _links(value: Any) -> set[str]:
    if isinstance(value, list):
        return {name for each in value for name in _links(each)}
    return {value["@id"]} if isinstance(value, dict) else set()


def test_the_run_connects_study_data_parameters_and_results(crate: tuple) -> None:
    entities, files = crate
    root, run, workflow = (entities[name] for name in ("./", "#run", "Snakefile"))
    assert ids(run["instrument"]) == ids(root["mainEntity"]) == {"Snakefile"}
    assert "#run" in ids(root["mentions"])
    assert run["startTime"] == "2026-01-31T12:00:00+00:00"
    assert run["endTime"] == json.loads(files["results/run.json"])["utc"].replace("Z", "+00:00")
    assert run["description"].startswith("mklearn run small.yaml (on ")
    assert entities[next(iter(ids(run["agent"])))]["name"] == "A. Person"
    assert {"small.yaml", "#value-methods", "#value-seed", "#data-iris", "#data-mine"} <= ids(run["object"])
    assert json.loads(entities["#value-methods"]["value"])["average"]["ridge"] == [0.001, 0.1]
    assert {"results/report/index.html", "results/report/summary.csv"} <= ids(run["result"])
    for side in ("input", "output"):
        assert len(ids(workflow[side])) == len(workflow[side])
        for parameter in ids(workflow[side]):
            example = entities[next(iter(ids(entities[parameter]["workExample"])))]
            assert ids(example["exampleOfWork"]) == {parameter}
    assert {f"https://w3id.org/ro/wfrun/{name}/0.5" for name in ("process", "workflow")} < ids(root["conformsTo"])
    assert {"#output-model.mklearn", "#output-model.md", "#output-index.html"} <= ids(workflow["output"])
    packages = {entities[name]["name"] for name in ids(workflow["softwareRequirements"])}
    assert {"python", "mklearn", "numpy", "snakemake"} <= packages


def test_data_are_named_by_address_and_checksum_and_not_copied(crate: tuple, run_folder: Path) -> None:
    entities, files = crate
    iris = entities["#data-iris"]
    (address,) = ids(iris["hasPart"])
    assert address.endswith("/iris.mat")
    assert entities[address]["sha256"].startswith("e848dd1f")
    assert entities[next(iter(ids(iris["license"])))]["name"].startswith("CC BY 4.0")
    table = hashlib.sha256((run_folder / "tables/a.csv").read_bytes()).hexdigest()
    assert files["data/mine.sha256"].decode() == f"{table}  a.csv\n"
    assert files["data/photos.sha256"].count(b"\n") == 12
    assert not [name for name in files if name.endswith((".mat", "a.csv")) or name.startswith("data/photos/")]

    _, more = exported(run_folder, "--include-data")
    added = set(more) - set(files)
    assert len(added) == 13
    assert {"data/mine/a.csv", "data/photos/class 1/p#1.png"} <= added
    assert not [name for name in more if name.endswith(".mat")]


def test_reforms_has_32_items_and_tells_what_is_left(crate: tuple) -> None:
    text = crate[1]["reforms.md"].decode()
    items = dict(re.findall(r"^### (\d\w) .*?\n\n(.*?)(?=\n\n##|\n\Z)", text, flags=re.MULTILINE | re.DOTALL))
    assert list(items) == [item for module in MODULES.values() for item in module]
    assert (len(items), len(MODULES)) == (32, 8)
    assert all(items.values())
    assert "24 samples" in items["3e"]
    assert "no 12, yes 12" in items["3d"]
    assert "seen" in items["6a"]
    assert "mine" in items["6b"]
    assert "0.1" in items["5a"]
    alone = {item for item, answer in items.items() if answer == f"{AUTHOR} this item."}
    assert alone == {"1a", "1b", "1c", "3b", "3c", "3g", "4b", "5b", "6c", "8a", "8b"}


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def _change(path: Path) -> None:
    path.write_text(path.read_text(encoding="utf-8") + "\n\n", encoding="utf-8")


def _edit(path: Path) -> None:
    path.write_text(yaml.safe_dump(STUDY | {"seed": 1}), encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "damage", "sentence"),
    [
        (f"{RUN}/run.json", Path.unlink, r"run\.json is missing: run the study \(mklearn run small\.yaml\)\."),
        (f"{RUN}/model.md", Path.unlink, r"model\.md is missing: run the study"),
        (f"{RUN}/scores.parquet", _truncate, r"scores\.parquet: not a readable Parquet file.* `mklearn verify`"),
        (f"{RUN}/report/summary.csv", _change, r"summary\.csv is not what was written"),
        (f"{RUN}/report/provenance.json", Path.unlink, r"provenance\.json"),
        ("small.yaml", _edit, r"small\.yaml: not the study that was run at .*: it was changed; run the study"),
        ("tables/a.csv", _change, r"tables/a\.csv: not the file that the run has read"),
        ("my photos/class 1/p#1.png", Path.unlink, r"my photos: not the images that the run has read"),
    ],
)
def test_what_is_missing_damaged_or_changed_is_refused(
    run_folder: Path, capsys: pytest.CaptureFixture[str], name: str, damage: Callable[[Path], None], sentence: str
) -> None:
    damage(run_folder / name)
    with working_in(run_folder):
        assert main(["export", "small.yaml", "crate.zip", "--include-data"]) == 1
    message = capsys.readouterr().err
    assert re.search(sentence, message), message
    assert not (run_folder / "crate.zip").exists()


def test_tables_of_another_run_than_the_page_are_refused(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = run_folder / RUN / "run.json"
    write_record(record, read_record(record) | {"utc": "2027-01-01T00:00:00Z"})
    with working_in(run_folder):
        assert main(["export", "small.yaml", "crate.zip"]) == 1
    assert "index.html was not made from the present results/small/run.json" in capsys.readouterr().err


def test_data_of_another_mirror_are_refused(
    run_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = registry()["iris"]
    other = [known.files[0].model_copy(update={"name": "other.mat"})]
    monkeypatch.setitem(registry(), "iris", known.model_copy(update={"files": other}))
    with working_in(run_folder):
        assert main(["export", "small.yaml", "crate.zip"]) == 1
    assert "iris: the run has read iris.mat, which another mirror has: set MKLEARN_MIRROR" in capsys.readouterr().err


def test_another_ending_and_a_missing_package(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "digits-weights", "crate.tar"]) == 1
    assert "crate.tar: the archive is a zip file; end its name with .zip" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "rocrate", None)
    assert main(["export", "digits-weights", "crate.zip"]) == 1
    assert 'pip install "mklearn[archive]"' in capsys.readouterr().err


def test_a_study_that_has_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with working_in(tmp_path):
        Path("digits.yaml").write_text("study: digits\ndatasets: {digits: }\n", encoding="utf-8")
        assert main(["export", "digits.yaml", "crate.zip"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("mklearn: results/digits/")
    assert "is missing: run the study" in said


def test_the_archive_passes_the_validator(finished_run: Path) -> None:
    """Needs the package roc-validator, of no extra, and the network for the context of RO-Crate."""
    models = pytest.importorskip("rocrate_validator.models")
    services = pytest.importorskip("rocrate_validator.services")
    exported(finished_run)
    settings = models.ValidationSettings(
        rocrate_uri=str(finished_run / "out/crate.zip"), profile_identifier="workflow-run-crate-0.5",
        requirement_severity=models.Severity.REQUIRED,
    )  # fmt: skip
    result = services.validate(settings)
    assert [issue.message for issue in result.get_issues()] == []

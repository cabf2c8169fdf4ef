"""``mklearn export`` and ``mklearn show``: a run as an archive, and where one of its files came from."""

import json
import sys
import zipfile
from pathlib import Path

import pytest
import yaml
from tests.unit.study.small_study import STUDY, SmallStudy, working_in

from mklearn.__main__ import main


def test_an_archive_has_the_study_its_record_and_its_results(finished: SmallStudy, tmp_path: Path) -> None:
    study = finished.copy(tmp_path / "study")
    with working_in(study.folder):
        Path("small.yaml").write_text(yaml.safe_dump(STUDY), encoding="utf-8")
        assert main(["export", "small.yaml", "out.zip", "--licence", "https://spdx.org/licenses/CC-BY-4.0"]) == 0
        with zipfile.ZipFile("out.zip") as archive:
            names = set(archive.namelist())
            graph = json.loads(archive.read("ro-crate-metadata.json"))["@graph"]
    described = {entity["@id"]: entity for entity in graph}
    assert {"Snakefile", "small.yaml", "envs/mklearn.yaml", "results/run.json", "results/scores.parquet"} <= names
    run, root = described["#run"], described["./"]
    assert run["instrument"] == root["mainEntity"] == {"@id": "Snakefile"}
    assert run["object"] == [{"@id": "small.yaml"}]
    assert {"@id": "results/summary.parquet"} in run["result"]
    assert {"@id": "https://w3id.org/ro/wfrun/workflow/0.5"} in root["conformsTo"]
    assert root["license"] == "https://spdx.org/licenses/CC-BY-4.0"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["changed.yaml", "out.zip"], "changed.yaml: not the study that was run at "),
        (["smoke", "out.zip"], "results/smoke/run.json is missing: run the study first (mklearn run "),
        (["changed.yaml", "out.tar"], "out.tar: the archive is a zip file; end its name with .zip"),
        (["no-package", "out.zip"], 'pip install "mklearn[archive]"'),
    ],
)
def test_no_archive(
    words: list[str], sentence: str, finished: SmallStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    if words[0] == "no-package":
        monkeypatch.setitem(sys.modules, "rocrate", None)
    with working_in(finished.copy(tmp_path / "study").folder):
        Path("changed.yaml").write_text(yaml.safe_dump(STUDY | {"seed": 1}), encoding="utf-8")
        assert main(["export", *words]) == 1
        assert not Path(words[1]).exists()
    assert sentence in capsys.readouterr().err


def test_a_file_shows_its_record_and_the_command_of_its_job(
    finished: SmallStudy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, command = "results/small/summary.parquet", "python workflow/scripts/tables.py --study '{}'"
    with working_in(finished.copy(tmp_path / "study").folder):
        log = Path("logs/tables/small.log")
        log.parent.mkdir(parents=True)
        log.write_text(f"{command}\n[  0.1 s] done\n", encoding="utf-8")
        assert main(["show", table]) == 0
        shown = capsys.readouterr().out
        record = yaml.safe_load(shown.partition("log: ")[0])
        assert record["spec"]["study"]["study"] == "small"
        assert record["inputs"].keys() == {"scores", "predictions"}
        assert shown.endswith(f"log: {log}\nreplay: {command}\n")
        Path("mine.csv").touch()
        for path, sentence in (("mine.csv", "no record"), ("none", "there is no such file"), ("logs", "is a folder")):
            assert main(["show", path]) == 1
            assert f"mklearn: {path}: " in (message := capsys.readouterr().err)
            assert sentence in message

"""`mklearn compare`, `table`, `export` and `show` read the results of runs; and the cost of a rule."""

import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from tests.unit.study.small_study import STUDY, SmallStudy, working_in

from mklearn.study.run_record import rule_cost


@pytest.mark.full
@pytest.mark.usefixtures("plain_figures")
def test_compare_files_and_folders(finished: SmallStudy, tmp_path: Path, mklearn: Callable[..., str]) -> None:
    study = finished.copy(tmp_path / "study")
    with working_in(study.folder):
        Path("small.yaml").write_text(yaml.safe_dump(STUDY), encoding="utf-8")
        mklearn("compare", "small.yaml", "results/small", "--output", "out.md")
        text = Path("out.md").read_text(encoding="utf-8")
        assert "A is small.yaml" in text
        assert text.count(" | 0 |") > 3
        assert mklearn("compare", "small.yaml", "results/small") == text
        Path("empty").mkdir()
        for other, sentence in (
            ("./results/small", "are the same results"),
            ("results/none", "there is no such file"),
            ("empty", "empty: there is no run.json: run the study first"),
        ):
            assert sentence in mklearn("compare", "results/small", other, code=1)


@pytest.mark.full
def test_a_table_printed_or_written(finished: SmallStudy, tmp_path: Path, mklearn: Callable[..., str]) -> None:
    with working_in(finished.folder):
        assert mklearn("table", "results/small").splitlines()[2].startswith("| Method | ")
        out = tmp_path / "table.tex"
        words = ["--format", "latex", "--columns", "score", "time", "--caption", "Ours & theirs", "--label", "tab:ours"]
        assert mklearn("table", "results/small", *words, "--output", out) == ""
        of_columns = mklearn("table", "results/small", "--columns", "ponts", code=1)
        of_metrics = mklearn("table", "results/small", "--metric", "auc", code=1)
    text = out.read_text(encoding="utf-8")
    assert r"\caption{Ours \& theirs}" in text
    assert r"\label{tab:ours}" in text
    assert "mklearn: --columns ponts: the results have nothing there (difference, time and p need" in of_columns
    assert "mklearn: results/small: no metric 'auc'. Valid: accuracy." in of_metrics


# --- archives and records


def test_an_archive_has_the_study_its_record_and_its_results(
    finished: SmallStudy, tmp_path: Path, mklearn: Callable[..., str]
) -> None:
    study = finished.copy(tmp_path / "study")
    with working_in(study.folder):
        Path("small.yaml").write_text(yaml.safe_dump(STUDY), encoding="utf-8")
        mklearn("export", "small.yaml", "out.zip", "--licence", "https://spdx.org/licenses/CC-BY-4.0")
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
    mklearn: Callable[..., str],
) -> None:  # fmt: skip
    if words[0] == "no-package":
        monkeypatch.setitem(sys.modules, "rocrate", None)
    with working_in(finished.copy(tmp_path / "study").folder):
        Path("changed.yaml").write_text(yaml.safe_dump(STUDY | {"seed": 1}), encoding="utf-8")
        assert sentence in mklearn("export", *words, code=1)
        assert not Path(words[1]).exists()


def test_show_record_and_command(finished: SmallStudy, tmp_path: Path, mklearn: Callable[..., str]) -> None:
    table, command = "results/small/summary.parquet", "python workflow/scripts/tables.py --study '{}'"
    with working_in(finished.copy(tmp_path / "study").folder):
        log = Path("logs/tables/small.log")
        log.parent.mkdir(parents=True)
        log.write_text(f"{command}\n[  0.1 s] done\n", encoding="utf-8")
        shown = mklearn("show", table)
        record = yaml.safe_load(shown.partition("log: ")[0])
        assert record["spec"]["study"]["study"] == "small"
        assert record["inputs"].keys() == {"scores", "predictions"}
        assert shown.endswith(f"log: {log}\nreplay: {command}\n")
        Path("mine.csv").touch()
        for path, sentence in (("mine.csv", "no record"), ("none", "there is no such file"), ("logs", "is a folder")):
            message = mklearn("show", path, code=1)
            assert message.startswith(f"mklearn: {path}: ")
            assert sentence in message


# --- cost


def test_seconds_of_jobs_that_ran_are_summed_by_rule(here: Path) -> None:
    for name, line in {"a": "10.25\t0:00:10", "b": "NA\tNA", "c": "20.5\t0:00:20"}.items():
        path = Path(f"logs/fit/data/{name}.tsv")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"s\th:m:s\n{line}\n", encoding="utf-8")
    assert rule_cost("fit", [f"data/{name}" for name in "abcd"]) == {
        "rule": "fit", "title": "Fit and predict", "jobs": 2, "seconds": 30.75, "longest": 20.5,
    }  # fmt: skip
    assert rule_cost("read", ["data"]) is None

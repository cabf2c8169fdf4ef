"""`mklearn compare` and `mklearn table` read the results of runs, verified."""

from pathlib import Path

import pytest
import yaml
from tests.unit.study.small_study import STUDY, SmallStudy, working_in

from mklearn.study.cli.command_line import main

pytestmark = pytest.mark.full


@pytest.mark.usefixtures("plain_figures")
def test_the_command_reads_study_files_and_folders(
    finished: SmallStudy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = finished.copy(tmp_path / "study")
    with working_in(study.folder):
        Path("small.yaml").write_text(yaml.safe_dump(STUDY), encoding="utf-8")
        assert main(["compare", "small.yaml", "results/small", "--output", "out.md"]) == 0
        text = Path("out.md").read_text(encoding="utf-8")
        assert "A is small.yaml" in text
        assert text.count(" | 0 |") > 3
        assert main(["compare", "small.yaml", "results/small"]) == 0
        assert capsys.readouterr().out == text
        assert main(["compare", "results/small", "results/none"]) == 1
        assert "there is no such file" in capsys.readouterr().err
        Path("empty").mkdir()
        assert main(["compare", "empty", "results/small"]) == 1
        assert "empty: there is no run.json: run the study first" in capsys.readouterr().err


def test_the_result_table_is_printed_or_written(
    finished: SmallStudy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with working_in(finished.folder):
        assert main(["table", "results/small"]) == 0
        printed = capsys.readouterr().out
        assert printed.splitlines()[2].startswith("| Method | ")
        out = tmp_path / "table.tex"
        words = ["--format", "latex", "--columns", "score", "time", "--caption", "Ours & theirs", "--label", "tab:ours"]
        assert main(["table", "results/small", *words, "--output", str(out)]) == 0
        assert main(["table", "results/small", "--columns", "ponts"]) == 1
    text = out.read_text(encoding="utf-8")
    assert r"\caption{Ours \& theirs}" in text
    assert r"\label{tab:ours}" in text
    said = capsys.readouterr()
    assert said.out == ""
    assert "mklearn: --columns ponts: the results have no such column; valid: score, difference, time" in said.err


def test_an_edited_study_and_equal_results_are_refused(
    finished: SmallStudy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Kills: the table of an earlier state of the study, without a word."""
    with working_in(finished.copy(tmp_path / "study").folder):
        Path("small.yaml").write_text(yaml.safe_dump(STUDY | {"title": "Another"}), encoding="utf-8")
        assert main(["table", "small.yaml"]) == 1
        assert "small.yaml: not the study that was run at" in capsys.readouterr().err
        assert main(["compare", "results/small", "./results/small"]) == 1
        assert "are the same results" in capsys.readouterr().err

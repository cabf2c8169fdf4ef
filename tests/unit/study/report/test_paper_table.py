"""The result table for a paper: what stands in it, and that LaTeX takes it."""

import io
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.unit.study.report.test_comparison import score_table

from mklearn.errors import ConfigError
from mklearn.study.evaluation.summary import summarise
from mklearn.study.report.result_tables import paper_table
from mklearn.study.report.results import Results
from mklearn.study.report.tables import csv, escape_latex, latex, markdown

NASTY = r"50 % & a_b {x} ^ ~ \foo #1 $5 [a] <b> | é · 2"
TITLES = {"methods": {"svm": NASTY, "fsvm": "F-SVM", "rmm": "RMM"}, "datasets": {"a": "A_1", "b": "B"}}
MEANS = {
    ("a", "once", "svm"): 0.70, ("a", "once", "fsvm"): 0.75, ("a", "once", "rmm"): 0.60,
    ("b", "once", "svm"): 0.80, ("b", "once", "fsvm"): 0.80,
}  # fmt: skip


def results(*datasets: str) -> Results:
    scores = score_table({key: mean for key, mean in MEANS.items() if key[0] in datasets})
    # differences that are certain, but not the same in each split
    scores["value"] += scores["method"].eq("fsvm") * scores["dataset"].eq("a") * (scores["fold"] - 2) * 1e-3
    return Results(scores, summarise(scores, reference="svm", titles=TITLES), [], "svm")


def compiles(table: str, folder: Path) -> bool:
    """Whether pdflatex takes a table, with the one package that the table names."""
    folder.mkdir(exist_ok=True)
    text = rf"\documentclass{{article}}\usepackage{{booktabs}}\begin{{document}}{table}\end{{document}}"
    (folder / "paper.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-draftmode", "paper.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    print(done.stdout[-2000:])
    return done.returncode == 0


def test_settings_are_columns_and_scores_have_the_marks_of_their_differences() -> None:
    """Kills: a mark in the wrong setting, a method that one setting lacks, the reference in another place."""
    table = paper_table(results("a", "b"))
    assert [column.title for column in table.columns] == ["Method", "A_1", "B"]
    assert [[cell.text for cell in row] for row in table.rows] == [
        [NASTY, "70.0 ± 1.6", "80.0 ± 1.6"],
        ["F-SVM", "75.0 ± 1.7 ▲", "80.0 ± 1.6"],
        ["RMM", "60.0 ± 1.6 ▼", "–"],
    ]
    assert table.caption.startswith("Test accuracy, chosen by inner CV, %: mean ± std over splits")
    assert f"worse than {NASTY}: the 95 % interval of the paired difference excludes 0" in table.caption


def test_several_columns_of_one_setting_are_named_by_what_they_are() -> None:
    found = results("a")
    table = paper_table(found, ["score", "p", "difference"])
    titles = [column.title for column in table.columns]
    assert titles == ["Method", "Test accuracy, chosen by inner CV, %", "p", f"Difference to {NASTY}, points"]
    ours = [cell.text for cell in table.rows[1]]
    (p_holm,) = found.summary.query("method == 'fsvm' and selection == 'inner_cv'")["p_holm"]
    assert ours[1:3] == ["75.0 ± 1.7", f"{p_holm:.3f}" if p_holm >= 0.001 else "< 0.001"]
    assert ours[3].startswith("+5.0 [")
    assert ours[3].endswith(" ▲")
    both = paper_table(results("a", "b"), ["score", "p"])
    assert [column.title for column in both.columns][3] == "B: Test accuracy, chosen by inner CV, %"
    with pytest.raises(ConfigError, match=r"--columns wins: .* evaluation.reference.; valid: score, difference"):
        paper_table(found, ["wins"])


def test_latex_is_a_booktabs_table_of_plain_text(tmp_path: Path) -> None:
    text = latex(paper_table(results("a", "b"), ["score", "p"]), "tab:x")
    for part in (r"\label{tab:x}", r"\begin{tabular}{lrrrr}", r"\toprule", r"\bottomrule", r"\centering"):
        assert text.count(part) == 1
    rows = [line.removesuffix(r" \\").split(" & ") for line in text.splitlines() if line.endswith(r" \\")]
    assert [len(row) for row in rows] == [5] * 4
    assert escape_latex(NASTY) == (
        r"50 \% \& a\_b \{x\} \textasciicircum{} \textasciitilde{} \textbackslash{}foo \#1 \$5 {[}a{]} $<$b$>$ $|$ é "
        r"$\cdot$ 2"
    )
    assert text.count(escape_latex(NASTY)) == 2, "in its row and in the caption"
    assert rows[2][1] == r"\textbf{75.0 $\pm$ 1.7 $\bigtriangleup$}"
    assert not set("±−▲▼·") & set(text)
    if shutil.which("pdflatex") is not None:
        assert compiles(text, tmp_path)


def test_csv_and_markdown_have_the_same_cells() -> None:
    table = paper_table(results("a", "b"), caption="Mine")
    frame: Any = pd.read_csv(io.StringIO(csv(table)))
    assert frame.to_numpy().tolist() == [[cell.text for cell in row] for row in table.rows]
    lines = markdown(table).splitlines()
    assert lines[0] == "Mine"
    assert lines[2:4] == [r"| Method | A\_1 | B |", "| --- | ---: | ---: |"]
    assert lines[5] == "| F-SVM | **75.0 ± 1.7 ▲** | **80.0 ± 1.6** |"

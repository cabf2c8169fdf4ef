"""The files of a report: complete, self-contained, escaped, the same every time, whatever is missing."""

import base64
import gzip
import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.unit.study.report.conftest import HOSTILE, bare_study, make_numbers_study, read, write_report

from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.split import ON_TEST
from mklearn.study.evaluation.summary import summarise
from mklearn.study.report.charts import LONGEST, printable
from mklearn.study.report.page import build_report, link, script_json
from mklearn.study.report.parts import PartFigure, ReportPart
from mklearn.study.report.result_tables import failures_section, metrics_section, result_table
from mklearn.study.report.results import Results
from mklearn.study.report.tables import Cell, Column, Table

SECTIONS = ("results", "dimension", "confusion", "weights", "objective", "embedding")
GONE = "killed by signal 9 (SIGKILL); log: logs/fit/x.log"


@pytest.fixture(scope="module")
def built(study, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    return folder, build_report(folder, **study)


def specs_of(html):
    (text,) = re.findall(r'id="figures-data">([^<]*)<', html)
    return json.loads(gzip.decompress(base64.b64decode(text)))["specs"]


def bare(study, **more):
    """Nothing but scores: no fits, no data."""
    return study | {"study": bare_study("bare"), "fits": [], "data": [], "cited": []} | more


def test_writes_every_kind_of_figure_as_files_that_can_be_opened(built):
    folder, paths = built
    assert [path.name for path in paths[:4]] == ["index.html", "summary.md", "summary.csv", "answer.txt"]
    assert sorted(paths) == sorted(path for path in folder.rglob("*") if path.is_file())
    slugs = specs_of(read(folder)[0])
    figures = [path for path in paths if path.parent.name == "figures"]
    assert {path.name for path in figures} == {f"{slug}.svg" for slug in slugs}
    assert [name for name in SECTIONS if not any(slug.startswith(name) for slug in slugs)] == []
    for path in figures:
        root = ElementTree.parse(path).getroot()
        assert "training size 5" in "".join(root.itertext())
        marks = [
            each for each in root.iter() if "mark-" in each.get("class", "") and "role-mark" in each.get("class", "")
        ]
        assert any(len(each) for each in marks), "an empty figure"


def test_same_arguments_give_the_same_bytes_and_the_page_asks_for_nothing(built, report):
    folder, _ = built
    for name in ("index.html", "summary.md", "summary.csv"):
        assert (report / name).read_bytes() == (folder / name).read_bytes()
    outside = re.sub(r"<script.*?</script>", "", read(folder)[0], flags=re.DOTALL)
    assert "default-src 'none'" in outside
    sources = re.findall(r'(?:src|href)="([^"]*)"', outside)
    assert all(source.startswith(("#", "data:", "https://doi.org/10.24432")) for source in sources)
    assert not re.search(r"@import|url\(", outside)


def test_numbers_of_the_summary_stand_in_page_and_markdown(built, study):
    folder, _ = built
    html, text = read(folder)
    rows = study["summary"].query("neighbour != 'euclidean' and selection == 'inner_cv'").dropna(subset="mean")
    for row in rows.to_dict("records"):
        shown = f"{100 * row['mean']:.1f} ± {100 * row['std']:.1f}"
        assert shown in html
        assert shown in text
    saved = pd.read_csv(folder / "summary.csv")[["method", "mean"]]
    pd.testing.assert_frame_equal(saved, study["summary"][["method", "mean"]], check_dtype=False)
    for words in ("90.0 ± 2.0", "the solver ended without a solution", "close to the identity", "ab" * 32):
        assert words in html


def test_what_a_study_adds_is_on_the_page_and_in_files(study, tmp_path):
    panel = {"data": {"values": [{"x": 1}]}, "mark": "point", "encoding": {"x": {"field": "x", "type": "quantitative"}}}
    drawn = {"concat": [panel | {"title": "left"}, panel | {"title": "right"}]}
    wins = Table("Numbers of wins", [Column("Set"), Column("Wins")], [[Cell("a"), Cell("7 of 11")]], note="By hand.")
    part = ReportPart(
        [PartFigure("Two panels", "A dot in each.", lambda: drawn), PartFigure("None", "", lambda: 1 / 0),
         PartFigure("No file", "", lambda: {"mark": "unknown"})], [wins],
        {"wins.csv": pd.DataFrame({"set": ["a"], "wins": [7]})},
    )  # fmt: skip
    nothing = {name: study[name].iloc[:0] for name in ("scores", "summary")}
    paths = build_report(tmp_path, **bare(study, **nothing), parts=[part])
    html, summary = read(tmp_path)
    assert specs_of(html)["this-study-two-panels"]["concat"] == drawn["concat"]
    assert (tmp_path / "figures" / "this-study-two-panels.svg").read_text().count(">left<") == 1
    assert "This figure could not be drawn: ZeroDivisionError" in html
    assert "this-study-no-file" in specs_of(html), "a browser may draw what has no file"
    for words in ("Numbers of wins", "7 of 11", "By hand."):
        assert words in html
        assert words in summary
    assert (tmp_path / "wins.csv") in paths
    assert (tmp_path / "wins.csv").read_text() == "set,wins\na,7\n"


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("index >= 0", ("<h1>bare</h1>",)),
        ("method == ''", ("The score table is empty",)),
        ("method == 'sdp'", ("No method has a value of accuracy", "the solver ended without a solution")),
    ],
)
def test_a_study_with_little_has_a_report_and_none_of_the_files_of_an_earlier_one(study, tmp_path, rows, words):
    for name in ("figures/earlier.svg", "notes.txt", "weights.csv", "chosen.csv", "importances.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    tables = {name: study[name].query(rows) for name in ("scores", "summary")}
    write_report(tmp_path, **bare(study, **tables))
    html, _ = read(tmp_path)
    assert [text for text in words if text not in html] == []
    assert "None" not in re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    assert {path.name for path in tmp_path.rglob("*.*")} == {
        "notes.txt", "index.html", "summary.md", "summary.csv", "answer.txt",
    }  # fmt: skip


@pytest.mark.parametrize("method", ["kfd", "average"])
def test_a_lost_method_and_a_data_set_that_was_never_read_have_their_rows(method: str, study, tmp_path: Path) -> None:
    scores = study["scores"]
    lost = scores[scores["method"].eq(method)].drop_duplicates(["repeat", "fold"]).assign(
        value=float("nan"), neighbour="", selection="", dimension=pd.NA, status="lost", message=GONE,
        fit_seconds=float("nan"),
    )  # fmt: skip
    unread = lost.iloc[[0]].assign(dataset="unread", n_train=0, n_test=0)
    everywhere = [unread.assign(method=name) for name in scores["method"].unique()]
    frame = pd.concat([*everywhere, lost, scores[scores["method"].ne(method)]], ignore_index=True)
    summary = summarise(frame.astype({"dimension": "Int64"}))
    fits = [fit for fit in study["fits"] if fit.method != method]
    write_report(tmp_path, **study | {"scores": frame, "summary": summary, "fits": fits})
    text = read(tmp_path)[1]
    assert "unread" in text
    assert GONE in text.replace("\\", "")
    gone, kept = (summary[summary["dataset"].eq("digits") & side] for side in
                  (summary["method"].eq(method), summary["method"].ne(method)))  # fmt: skip
    assert set(gone["status"]) == {"lost"}
    before = summarise(scores).query("method != @method")
    columns = ["mean", "ci_low", *(["difference"] if method == "kfd" else [])]
    pd.testing.assert_frame_equal(*(rows[columns].reset_index(drop=True) for rows in (kept, before)))
    assert kept["difference"].notna().any() == (method == "kfd"), "a lost reference leaves no differences"


def test_what_is_chosen_on_the_test_samples_has_not_failed(study) -> None:
    scores = study["scores"].copy()
    chosen = scores["method"].eq("kfd") & scores["selection"].eq("inner_cv")
    for message, is_failure in ((ON_TEST, False), ("no solution", True)):
        scores.loc[chosen, ["value", "status", "message"]] = float("nan"), "not_applicable", message
        results = Results(scores, summarise(scores), [])
        table = result_table(results, results.settings[0])
        places = [[column.title for column in table.columns].index(name) for name in ("Splits", "Status")]
        rows = [[row[place].text for place in places] for row in table.rows if row[0].text == "kfd"]
        assert rows == [["5", "not applicable"]]
        named = [row[1].text for part in failures_section(results).parts for row in part.tables[0].rows]
        assert ("kfd" in named) == is_failure


def test_other_metrics_and_warnings_of_the_data_are_shown(study, tmp_path):
    summary = study["summary"]
    other = summary.assign(metric="auc", published=None, mean=0.123)
    lost = summary.assign(metric="log_loss", published=None, mean=np.nan, message="one class has no test sample")
    scores = pd.concat([study["scores"].assign(metric="accuracy"), study["scores"].assign(metric="auc", value=0.123)])
    more = {
        "data": [replace(study["data"][0], warnings=("3 samples without a label are left out",))],
        "scores": scores.reset_index(drop=True),
        "summary": pd.concat([summary.assign(metric="accuracy"), other, lost], ignore_index=True),
    }
    write_report(tmp_path, **study | more)
    html, text = read(tmp_path)
    assert "Area under the ROC curve, %" in text
    assert "| 12.3 ±" in text
    metrics = html[html.index('id="metrics"') :].split("</details>")[0]
    for words in ("12.3", "<li>one class has no test sample</li>", "–<sup>1</sup>"):
        assert words in metrics, "not only under the pointer"
    for content, end in ((html, 'id="results"'), (text, "chosen by inner CV")):
        assert "Digits 8 × 8: 3 samples without a label are left out." in content.split(end)[0], "below the headline"


def test_metrics_are_averaged_over_targets():
    one = make_numbers_study()["scores"]
    other = one[one["method"].eq("average")].assign(dataset="pulse", value=lambda rows: rows["value"] - 0.2)
    results = Results((scores := pd.concat([one, other])), summarise(scores), [], metric=metric_named("r2"))
    ((diabetes, pulse, mean),) = [part.tables for part in metrics_section(results).parts]
    assert (len(diabetes.rows), len(pulse.rows), mean.caption) == (2, 1, "Mean over 2 targets, random")
    assert [column.title for column in mean.columns] == ["Method", "R², %"]
    ((_, cell),) = mean.rows
    assert float(cell.sort) == pytest.approx(float(pulse.rows[0][1].sort) + 0.1)


def test_metrics_of_classes_are_not_averaged_over_data_sets(study) -> None:
    one = pd.concat([study["scores"].assign(metric=metric) for metric in ("accuracy", "support_vector_share")])
    scores = pd.concat([one, one.assign(dataset="other")], ignore_index=True)
    (part,) = metrics_section(Results(scores, summarise(scores), [])).parts
    assert len(part.tables) == 2


# --- hostile names


def test_half_a_surrogate_pair_loses_no_page_and_a_broken_figure_only_itself(study, tmp_path, monkeypatch, caplog):
    def broken(*_: Any, **__: Any) -> Any:
        raise KeyError("no such class")

    monkeypatch.setattr("mklearn.study.report.figures_of_fits.embedding", broken)
    data = [replace(study["data"][0], title="half \ud800", note="\udfff")]
    page = write_report(tmp_path, **study | {"data": data})[0].read_text(encoding="utf-8")
    assert "half \\ud800" in page
    assert page.count("This figure could not be drawn: KeyError: &#39;no such class&#39;") == 2
    assert "can't be drawn: KeyError" in caplog.text
    assert len(re.findall(r'class="chart" data-figure="', page)) > 5


def test_names_in_figures_are_short_and_without_what_vega_evaluates() -> None:
    forms = printable(HOSTILE)
    assert len(set(forms)) == len(HOSTILE)
    assert max(map(len, forms)) <= LONGEST
    assert printable({"s": ["constructor", 1, None, "a\x01b", "Ελένη 猫", "\\ n"]}) == {
        "s": ["constructor ", 1, None, "a<U+0001>b", "Ελένη 猫", "∖ n"]
    }


def test_json_in_a_script_can_not_break_out_and_only_web_addresses_become_links():
    for text in ("</script><script>alert(1)</script>", "<!--", "\u2028\u2029", "&amp;", "😀"):
        written = script_json({text: [text]})
        assert not set(written) & set("<>&\u2028\u2029")
        assert json.loads(written) == {text: [text]}
    for address in ("javascript:alert(1)", "data:text/html,x", "file:///etc", "", None, "http://[", "x y"):
        assert link(address) == ""

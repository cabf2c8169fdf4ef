"""The files of a report: complete, self-contained, escaped, the same every time."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from tests.unit.study.report.conftest import (
    charts_of,
    make_numbers_study,
    read,
    report_spec,
)

from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.split import ON_TEST
from mklearn.study.evaluation.summary import summarise
from mklearn.study.report.build import build_report
from mklearn.study.report.figures import MOST_CONTENDERS, accuracy_by_dimension, accuracy_by_train_size, differences
from mklearn.study.report.frames import curves, results_of
from mklearn.study.report.page import link, script_json
from mklearn.study.report.parts import PartFigure, ReportPart
from mklearn.study.report.records import RunRecord
from mklearn.study.report.sections import figure_sections
from mklearn.study.report.series import Series
from mklearn.study.report.tables import Cell, Column, Table, failure_table, metric_tables


@pytest.fixture(scope="module")
def built(study, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    return folder, build_report(folder, **study)


@pytest.fixture(scope="module")
def with_more(study, tmp_path_factory):
    """The report with something to know of the data, values of another metric, and a metric without a value."""
    summary = study["summary"]
    other = summary.assign(metric="auc", published=None, mean=0.123)
    lost = summary.assign(metric="log_loss", published=None, mean=np.nan, message="one class has no test sample")
    scores = pd.concat([study["scores"].assign(metric="accuracy"), study["scores"].assign(metric="auc", value=0.123)])
    more = {
        "data": [replace(study["data"][0], warnings=("3 samples without a label are left out",))],
        "scores": scores.reset_index(drop=True),
        "summary": pd.concat([summary.assign(metric="accuracy"), other, lost], ignore_index=True),
    }
    folder = tmp_path_factory.mktemp("more")
    build_report(folder, **study | more, figure_files=False)
    return folder


def specs_of(html):
    text = re.search(r'<script type="application/json" id="figures-data">(.*?)</script>', html, re.DOTALL)
    return json.loads(text.group(1))


def test_writes_what_it_says_with_every_kind_of_figure(built):
    folder, paths = built
    assert [path.name for path in paths[:4]] == ["index.html", "summary.md", "summary.csv", "answer.txt"]
    assert sorted(paths) == sorted(path for path in folder.rglob("*") if path.is_file())
    slugs = specs_of((folder / "index.html").read_text(encoding="utf-8"))["specs"]
    files = sorted(path.name for path in paths if path.parent.name == "figures")
    assert files == sorted(f"{slug}.{kind}" for slug in slugs for kind in ("png", "svg"))
    for section in {*figure_sections(), "published"} - {"train-size", "own", "predictions", "kernels"}:
        assert any(slug.startswith(section) for slug in slugs), section


def test_methods_far_behind_are_counted_below_the_title_and_not_drawn():
    """Kills an axis that one far method stretches, and methods that leave the figure without a word."""
    high = {"best": 0.02, "close": 0.01, "wide": -0.02, "far": -0.031, "farthest": -0.8}
    rows = pd.DataFrame(high.items(), columns=["label", "difference_high"]).assign(neighbour="")
    rows = rows.assign(difference=rows["difference_high"] - 0.01, difference_low=rows["difference_high"] - 0.02)
    series = Series(tuple(high), {}, 0)

    def drawn(rows, metric="accuracy"):
        chart = differences(
            rows, series, reference_title="average", title="", metric=metric_named(metric), matters=0.01
        )
        assert "yOffset" not in chart["encoding"], "one row for a method with one rule"
        return {row["s"] for row in chart["data"]["values"]}, chart["title"]["subtitle"]

    assert drawn(rows) == (
        {"best", "close", "wide"},
        ["difference to average", "not drawn: 2 methods at −4.1 to −81.0 points"],
    )
    assert drawn(rows[3:])[0] == {"far", "farthest"}, "an empty figure shows nothing"
    assert drawn(rows, "log_loss")[0] == set(high), "of a metric with a unit of its own no gap is large"
    many = pd.concat([rows[:1].assign(label=f"m{k}", difference=-0.001 * k) for k in range(MOST_CONTENDERS + 2)])
    names, (_, said) = drawn(many)
    assert names == {f"m{k}" for k in range(MOST_CONTENDERS)}
    assert "2 methods at −1.0 to −1.1 points" in said


def test_the_majority_class_stretches_no_axis(study):
    """A method that is above it in no setting is named below the title; the reference is drawn anywhere."""
    value = study["summary"]["method"].map({"svc": 0.9, "average": 0.9}).fillna(0.1)
    results = results_of(study["scores"], study["summary"].assign(majority=value), [])
    level = results.level_with_majority(results.settings)
    assert level == ["linear SVC"]
    options = {"title": "", "metric": results.score}
    chart = accuracy_by_dimension(curves(results.scores), results.series, **options, level=level)
    assert chart["title"]["subtitle"][1] == "not drawn, as not above the majority class: linear SVC"
    assert "linear SVC" not in json.dumps([chart["data"], chart["layer"]])
    alone = curves(results.scores).query("label == 'linear SVC'").assign(train_size=5)
    assert accuracy_by_train_size(alone, results.series, **options, level=level)["data"]["values"], "an empty figure"


def test_metrics_are_averaged_over_targets():
    """Of methods with a value for each, and not errors in different units."""
    one = make_numbers_study()["scores"]
    other = one[one["method"].eq("average")].assign(dataset="pulse", value=lambda rows: rows["value"] - 0.2)
    results = results_of((scores := pd.concat([one, other])), summarise(scores), [], metric="r2", score="r2")
    diabetes, pulse, mean = metric_tables(results)
    assert (len(diabetes.rows), len(pulse.rows), mean.caption) == (2, 1, "Mean over 2 targets, random")
    assert [column.title for column in mean.columns] == ["Method", "R², %"]
    ((_, cell),) = mean.rows
    assert float(cell.sort) == pytest.approx(float(pulse.rows[0][1].sort) + 0.1)


def test_what_a_study_adds_is_on_the_page_and_in_files(study, tmp_path):
    """Kills a part whose table, figure, CSV file or failure is left out."""
    panel = {"data": {"values": [{"x": 1}]}, "mark": "point", "encoding": {"x": {"field": "x", "type": "quantitative"}}}
    drawn = {"concat": [panel | {"title": "left"}, panel | {"title": "right"}]}
    part = ReportPart(
        figures=[PartFigure("Two panels", "A dot in each.", lambda: drawn), PartFigure("None", "", lambda: 1 / 0)],
        tables=[
            Table("Numbers of wins", [Column("Set"), Column("Wins")], [[Cell("a"), Cell("7 of 11")]], note="By hand.")
        ],
        files={"wins.csv": pd.DataFrame({"set": ["a"], "wins": [7]})},
    )
    paths = build_report(tmp_path, **bare(study, no_rows=True), parts=[part])
    html, summary = read(tmp_path)
    assert specs_of(html)["specs"]["own-two-panels"]["concat"] == drawn["concat"]
    assert (tmp_path / "figures" / "own-two-panels.svg").read_text().count(">left<") == 1
    assert "This figure could not be drawn: ZeroDivisionError" in html
    for text in (html, summary):
        assert "Numbers of wins" in text
        assert "7 of 11" in text
        assert "By hand." in text
    assert (tmp_path / "wins.csv") in paths
    assert (tmp_path / "wins.csv").read_text() == "set,wins\na,7\n"


def test_figure_files_can_be_opened(built):
    _, paths = built
    for path in paths:
        if path.suffix == ".png":
            with Image.open(path) as image:
                assert min(image.size) > 100
                assert np.ptp(np.asarray(image.convert("L"))) > 50, "an empty figure"
        if path.suffix == ".svg":
            root = ElementTree.parse(path).getroot()
            assert root.tag.endswith("svg")
            assert "training size 5" in "".join(root.itertext())


def test_same_arguments_give_the_same_bytes(built, report):
    folder, _ = built
    for name in ("index.html", "summary.md", "summary.csv", "reproduction.csv"):
        assert (report / name).read_bytes() == (folder / name).read_bytes()
    assert not (report / "figures").exists()


def test_the_page_asks_for_nothing(built):
    html = (built[0] / "index.html").read_text(encoding="utf-8")
    outside = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    assert "default-src 'none'" in outside
    sources = re.findall(r'(?:src|href)="([^"]*)"', outside)
    assert all(source.startswith(("#", "data:", "https://doi.org/10.24432")) for source in sources)
    assert "@import" not in outside
    assert "url(" not in outside


def test_numbers_of_the_summary_stand_in_page_and_markdown(built, study):
    folder, _ = built
    html, text = read(folder)
    for row in study["summary"].dropna(subset=["mean"]).to_dict("records"):
        shown = f"{100 * row['mean']:.1f} ± {100 * row['std']:.1f}"
        assert shown in html
        assert shown in text
    assert "90.0 ± 2.0" in html
    pd.testing.assert_frame_equal(
        pd.read_csv(folder / "summary.csv")[["method", "mean"]], study["summary"][["method", "mean"]], check_dtype=False
    )
    assert "the solver ended without a solution" in html
    assert "close to the identity" in html
    assert "ab" * 32 in html


def bare(study, no_rows=False):
    """Nothing but scores, or not even these: no fits, no data, no facts of the run."""
    tables = {name: study[name].iloc[:0] if no_rows else study[name] for name in ("scores", "summary")}
    return {"study": report_spec("bare"), "fits": [], "data": [], "run": RunRecord()} | tables


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (None, ("<h1>bare</h1>",)),
        ("method == ''", ("The score table is empty",)),
        ("method == 'sdp'", ("No method has an accuracy", "the solver ended without a solution")),
    ],
)
def test_a_study_with_little_has_a_report(study, tmp_path, rows, words):
    """Nothing but scores, not even these, or failures only."""
    tables = {name: study[name].query(rows) for name in ("scores", "summary")} if rows else {}
    build_report(tmp_path, **bare(study) | tables, figure_files=False)
    html, _ = read(tmp_path)
    assert [text for text in words if text not in html] == []
    assert "None" not in re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)


def test_an_upper_bound_is_no_failure(study):
    for message, is_failure in ((ON_TEST, False), ("no solution", True)):
        failed = study["scores"]["status"].ne("ok")
        scores = study["scores"].assign(message=study["scores"]["message"].mask(failed, message))
        assert failed.any()
        assert bool(failure_table(results_of(scores, study["summary"], [])).rows) == is_failure


def test_other_metrics_and_warnings_stand_beside_what_was_there(report, with_more):
    assert (with_more / "reproduction.csv").read_bytes() == (report / "reproduction.csv").read_bytes()
    (_, before), (html, after) = read(report), read(with_more)
    added = set(after.splitlines()) - set(before.splitlines())
    assert set(before.splitlines()) <= set(after.splitlines())
    assert any("Area under the ROC curve, %" in line for line in added)
    assert any("| 12.3 ±" in line for line in added)
    metrics = html[html.index('id="metrics"') :].split("</details>")[0]
    assert "12.3" in metrics
    assert "<li>one class has no test sample</li>" in metrics, "not only under the pointer"
    assert "–<sup>1</sup>" in metrics
    for content, end in ((html, 'id="results"'), (after, "Inner CV")):
        assert "Digits 8 × 8: 3 samples without a label are left out." in content.split(end)[0], "below the headline"


def test_figures_of_an_earlier_report_are_deleted(study, tmp_path):
    for name in ("figures/earlier.svg", "notes.txt", "weights.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    build_report(tmp_path, **bare(study, no_rows=True))
    assert not list((tmp_path / "figures").iterdir())
    assert (tmp_path / "notes.txt").exists()
    assert not (tmp_path / "weights.csv").exists()


@pytest.mark.parametrize("text", ["</script><script>alert(1)</script>", "<!--", "\u2028\u2029", "&amp;", "😀"])
def test_json_in_a_script_can_not_break_out(text):
    written = script_json({text: [text]})
    assert not set(written) & set("<>&\u2028\u2029")
    assert json.loads(written) == {text: [text]}


def test_only_web_addresses_become_links():
    for address in ("javascript:alert(1)", "data:text/html,x", "file:///etc", "", None, "http://[", "x y"):
        assert link(address) == ""


@pytest.mark.parametrize("sizes", [(2, 5, 9), (2,)])
def test_classifiers_with_components_have_a_curve_that_names_its_setting(sizes, study):
    """But no figure of one dot, as of every study of two classes."""
    svc = study["scores"].query("method == 'svc' and selection == 'inner_cv'")
    curve = pd.concat([svc.assign(selection="dimension", dimension=size, value=size / 10) for size in sizes])
    scores = pd.concat([svc.assign(dimension=5, value=0.5), curve], ignore_index=True).astype({"dimension": "Int64"})
    summary = summarise(scores, reference="svc", titles={"datasets": {"digits": "Digits"}})
    charts = charts_of(scores, summary, reference="svc")
    if len(sizes) == 1:
        assert "dimension" not in charts
    else:
        assert charts["dimension"]["title"]["text"] == "Digits, training size 5"
        assert [(row["x"], row["y"]) for row in charts["dimension"]["data"]["values"]] == [(2, 20), (5, 50), (9, 90)]

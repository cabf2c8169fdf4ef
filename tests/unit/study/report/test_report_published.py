"""Published values in the report: verdicts in words, alerts on top, counts, remarks."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from tests.unit.study.report.conftest import charts_of, make_study, read, report_spec

import mklearn.study.evaluation.reproduction as verdicts
from mklearn.study.evaluation.summary import summarise
from mklearn.study.report import frames
from mklearn.study.report.build import build_report
from mklearn.study.report.frames import results_of
from mklearn.study.report.published import MARKS, published_part, statement
from mklearn.study.report.wording import common_prefix
from mklearn.study.specs.table_specs import Calibration, Claim, ReportRemark, Tolerance

DIGITS = {"dataset": "digits", "train_size": 5, "std": None, "source": "A paper, Table 1", "repeats": 20}
TITLES = {"average": "uniform average", "mkldr": "MKL-DR", "kfd": "single", "svc": "SVC", "sdp": "SDP"}


def with_published(study, published, **more):
    """A study whose summary is made with other published values."""
    summary = summarise(study["scores"], published=published, titles={"methods": TITLES})
    return study | {"summary": summary, "study": study["study"].model_copy(update=more)}


def mean_of(study, method, column="mean", selection="oracle"):
    rows = study["summary"].query("method == @method and neighbour == 'euclidean' and selection == @selection")
    return float(rows[column].item())


@pytest.fixture(scope="module")
def published(study):
    """One value that is met, one four units of noise above ours, one far below, one of a method that failed."""
    ours = {method: mean_of(study, method) for method in ("average", "mkldr", "kfd")}
    ours["mkldr"] += 2 * mean_of(study, "mkldr", "std")
    return [
        DIGITS | {"method": "average", "value": ours["average"], "neighbour": "euclidean", "dimension": 7},
        DIGITS | {"method": "mkldr", "value": ours["mkldr"], "neighbour": "euclidean"},
        DIGITS | {"method": "kfd", "value": 0.1, "neighbour": "euclidean"},
        DIGITS | {"method": "sdp", "value": 0.9},
    ]


@pytest.fixture(scope="module")
def compared(study, published):
    return with_published(study, published)


REMARKS = [
    ReportRemark(methods=["mkldr", "kfd"], text="The weights <b>are</b> a vertex."),
    ReportRemark(methods=["mkldr"], text=" ".join(f"This is <i>sentence</i> {number}." for number in range(5))),
]


@pytest.fixture(scope="module")
def of_another_crop(study, published, tmp_path_factory):
    """The folder of a report whose calibration is missed, with remarks."""
    more = {"calibration": Calibration(method="mkldr", tolerance=3), "remarks": REMARKS}
    folder = tmp_path_factory.mktemp("crop")
    build_report(folder, **with_published(study, published, **more), figure_files=False)
    return folder


def part_of(study, calibration=None):
    results = results_of(study["scores"], study["summary"], [])
    return published_part(results, report_spec("x", calibration=calibration), ["average"])


def test_every_verdict_is_written_in_words_and_has_a_class():
    assert set(MARKS) == set(verdicts.VERDICTS)
    assert all(re.search("[a-z]{4}", text) for text, _ in MARKS.values())
    assert len({text for text, _ in MARKS.values()}) == len(MARKS)


def test_cells_counts_and_statement(study, compared):
    part = part_of(compared)
    cells = {row[0].text: row[1] for row in part.tables[0].rows}
    assert cells["uniform average"].below == "z 0.0 ✓ reproduced"
    assert cells["uniform average"].detail.endswith(
        f"inner CV {100 * mean_of(study, 'average', selection='inner_cv'):.1f}"
    )
    assert "| 7" in cells["uniform average"].detail
    assert cells["MKL-DR"].below == "? differs, not for certain", "no z of five splits as if it were certain"
    assert "4 degrees of freedom" in cells["MKL-DR"].note
    assert cells["single"].below.endswith("▲ ours is higher")
    assert cells["SDP"].below == "no value"
    assert "the solver ended without a solution" in cells["SDP"].note
    overview = {row[0].text: row for row in part.overview.rows}
    assert overview["uniform average"][1].text == "✓ 1 of 1"
    assert (overview["MKL-DR"][1].text, overview["MKL-DR"][1].below) == ("0 of 1", "1 not certain")
    assert (overview["MKL-DR"][-1].text, overview["single"][1].below) == ("–", "1 higher than published")
    gap = 200 * mean_of(study, "mkldr", "std")
    assert [cell.text for cell in overview["MKL-DR"][2:5]] == [f"+{gap:.2f}"] * 3
    assert part.statement == (
        "1 of 3 published cells reproduce: they differ from ours by at most 3 units of split noise. 1 cell differs by "
        "more, and not for certain. In every judged cell: uniform average. 1 cell is without a value of ours."
    )


def test_the_statement_names_the_tolerance_and_methods_that_reproduce_in_every_cell():
    same, lower = verdicts.REPRODUCED, verdicts.LOWER
    frame = pd.DataFrame({"label": ["a", "a", "b", "c, d"], "verdict": [same, lower, same, same]})
    text = statement(frame, Tolerance(noise=2, points=1))
    assert text.startswith(
        "3 of 4 published cells reproduce: they differ from ours by at most 2 units of split noise or"
    )
    assert text.endswith("or 1 points. In every judged cell: b; c, d.")
    assert statement(frame.iloc[:0], Tolerance()) == ""


@pytest.mark.full
def test_another_crop_is_said_above_everything(of_another_crop, published):
    html, text = read(of_another_crop)
    for content, headline in ((html, 'class="headline"'), (text, "\n**")):
        assert "Not comparable." in content
        assert content.index("Not comparable.") < content.index(headline)
        assert "another crop: not comparable" in content
        assert f"published {100 * published[1]['value']:.1f} %" in content
    assert "✓ reproduced" not in text
    table = pd.read_csv(of_another_crop / "reproduction.csv")
    assert list(table.columns) == verdicts.CELL_COLUMNS
    assert set(table["verdict"]) == {verdicts.OTHER_DATA, verdicts.NO_VALUE}


def test_a_calibration_that_is_met_and_one_that_is_not_there_are_said(compared):
    met = part_of(compared, Calibration(method="average", tolerance=3))
    assert met.alerts == []
    assert "is within 3 units of split noise of its published value in 1 cell" in met.calibration
    absent = part_of(compared, Calibration(method="svc", tolerance=3))
    assert "not calibrated, SVC has no published value here" in absent.calibration
    assert absent.alerts == []


def test_claims_have_a_verdict_on_the_page_also_without_published_values(study, tmp_path):
    """Kills: a section that only values or remarks open, and a verdict that the Markdown leaves out."""
    claims = [Claim(source="A paper, 3.5", text="It is <b>fast</b>.", verdict="does not hold", evidence="Ten times.")]
    build_report(tmp_path, **with_published(study, [], claims=claims), figure_files=False)
    html, text = read(tmp_path)
    assert r"| It is \<b\>fast\</b\>. \| A paper, 3.5 | does not hold | Ten times. |" in text
    assert 'href="#published"' in html
    row = html[html.index("It is &lt;b&gt;fast&lt;/b&gt;.") :].split("</tr>")[0]
    assert "verdict off" in row
    assert "does not hold" in row
    assert "Ten times." in row


def test_the_average_stands_in_a_table_of_a_paper_that_has_it_not(study, published):
    part = part_of(with_published(study, published[1:]))
    last = part.tables[0].rows[-1]
    assert last[0].text == "uniform average"
    assert last[1].below == "not published"


@pytest.mark.full
def test_without_published_values_there_is_no_part(report, report_of_numbers):
    for folder, has_part in ((report, True), (report_of_numbers, False)):
        html, text = read(folder)
        assert (folder / "reproduction.csv").exists() == has_part
        assert ('id="published"' in html) == has_part
        assert ("Published" in text) == has_part


def test_names_are_shortened_by_what_they_share():
    assert common_prefix(["gauss-0.25", "gauss-0.5", "gauss-32"]) == "gauss-"
    assert common_prefix(["gauss-1", "linear"]) == ""
    assert common_prefix(["gauss-1"]) == ""


def test_sizes_of_one_protocol_are_no_protocols_of_their_own():
    frame = pd.DataFrame(
        {"dataset": "orl", "dataset_title": "ORL faces (cropped)", "protocol": ["faces-p2", "faces-p3"],
         "train_size": [2, 3], "method": "a", "method_title": "a", "kernel_set": "k", "neighbour": "euclidean"}
    )  # fmt: skip
    titles = [setting.title for setting in results_of(frame.iloc[:0], frame, []).settings]
    assert titles[0] == "ORL faces (cropped), training size 2"
    assert frames.protocol_family("faces-p2", 2) == "faces"
    assert frames.protocol_family("faces-p2", 3) == "faces-p2"
    assert frames.protocol_family("5-fold", None) == "5-fold"


def test_several_training_sizes_have_a_curve():
    study = make_study(repeats=2, sizes=(5, 10))
    for frame in (study["scores"], study["summary"]):
        frame["protocol"] = [f"random-p{size}" for size in frame["train_size"]]
    rows = charts_of(study["scores"], study["summary"])["train-size"]["data"]["values"]
    assert {row["x"] for row in rows} == {5, 10}


def test_remarks_stand_beside_their_methods_and_long_ones_are_folded_on_the_page(of_another_crop):
    html, text = read(of_another_crop)
    shown = html[html.index('<dl class="remarks">') :].split("</dl>")[0]
    assert "<dt>MKL-DR and single</dt><dd>The weights &lt;b&gt;are&lt;/b&gt; a vertex.</dd>" in shown
    assert r"- **MKL-DR and single**: The weights \<b\>are\</b\> a vertex." in text
    first, rest = shown.split('<details class="more"><summary>More</summary>')
    assert [part.count("This is &lt;i&gt;") for part in (first, rest)] == [3, 2]
    assert text.count("This is") == 5

"""Published values in the report: verdicts in words, alerts on top, counts, remarks, claims."""

import pandas as pd
import pytest
from tests.unit.study.report.conftest import bare_study, read, write_report

import mklearn.study.evaluation.reproduction as verdicts
from mklearn.study.evaluation.summary import summarise
from mklearn.study.report.published import published_section, statement
from mklearn.study.report.results import Results
from mklearn.study.specs.table_specs import Calibration, Claim, Remark, Tolerance

DIGITS = {"dataset": "digits", "train_size": 5, "std": None, "source": "A paper, Table 1", "repeats": 20}
TITLES = {"average": "uniform average", "mkldr": "MKL-DR", "kfd": "single", "svc": "SVC", "sdp": "SDP"}


def with_published(study, published, **more):
    calibration = more.get("calibration")
    summary = summarise(study["scores"], published=published, titles={"methods": TITLES}, calibration=calibration)
    return study | {"summary": summary, "study": study["study"].model_copy(update=more)}


def mean_of(study, method, column="mean"):
    rows = study["summary"].query("method == @method and neighbour == 'euclidean' and selection == 'oracle'")
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


def section_of(study, calibration=None):
    """The parts of the section, its tables by caption, and the alerts."""
    results = Results(study["scores"], study["summary"], [])
    section, alerts = published_section(results, bare_study("x", calibration=calibration))
    return section.parts, {table.caption: table for part in section.parts for table in part.tables}, alerts


def test_cells_counts_and_statement(study, compared):
    parts, tables, _ = section_of(compared)
    cells = {row[0].text: row[1] for row in tables["A paper, Table 1 · digits"].rows}
    assert cells["uniform average"].below == "z 0.0 ✓ reproduced"
    assert cells["MKL-DR"].below == "? differs, not for certain", "no z of five splits as if it were certain"
    assert "4 degrees of freedom" in cells["MKL-DR"].note
    assert cells["single"].below.endswith("▲ ours is higher")
    assert cells["SDP"].below == "no value"
    assert "the solver ended without a solution" in cells["SDP"].note
    assert parts[0].text == (
        "1 of 3 published cells reproduce: they differ from ours by at most 3 units of split noise. In every judged "
        "cell: uniform average. Others: ours is higher than published (1); differs, not for certain (1); no value (1)."
    )


def test_the_statement_names_the_tolerance_and_methods_that_reproduce_in_every_cell():
    same, lower = verdicts.REPRODUCED, verdicts.LOWER
    frame = pd.DataFrame({"label": ["a", "a", "b", "c, d"], "verdict": [same, lower, same, same]})
    text = statement(frame, Tolerance(noise=2, points=1))
    assert text.startswith(
        "3 of 4 published cells reproduce: they differ from ours by at most 2 units of split noise or 1 points. In"
    )
    assert text.endswith("In every judged cell: b; c, d. Others: ours is lower than published (1).")
    assert statement(frame.iloc[:0], Tolerance()) == ""


@pytest.mark.full
def test_another_crop_is_said_above_everything_and_remarks_beside_their_methods(study, published, tmp_path):
    remarks = [Remark(method=["mkldr", "kfd"], text="The weights <b>are</b> a vertex.")]
    more = {"calibration": Calibration(method="mkldr", tolerance=3), "remarks": remarks}
    write_report(tmp_path, **with_published(study, published, **more))
    html, text = read(tmp_path)
    for content, headline in ((html, 'class="headline"'), (text, "\n**")):
        assert "Not comparable." in content
        assert content.index("Not comparable.") < content.index(headline)
        assert "another crop: not comparable" in content
        assert f"published {100 * published[1]['value']:.1f} %" in content
    assert "✓ reproduced" not in text
    assert set(pd.read_csv(tmp_path / "summary.csv")["verdict"].dropna()) == {verdicts.OTHER_DATA, verdicts.NO_VALUE}
    assert r"| MKL-DR and single | The weights \<b\>are\</b\> a vertex. |" in text
    assert "The weights &lt;b&gt;are&lt;/b&gt; a vertex." in html


def test_a_calibration_that_is_met_and_one_that_is_not_there_are_said(compared):
    for method, words in (
        ("average", "is within 3 units of split noise of its published value in 1 cell"),
        ("svc", "not calibrated, SVC has no published value here"),
    ):
        parts, _, alerts = section_of(compared, Calibration(method=method, tolerance=3))
        assert words in parts[0].text
        assert alerts == []


def test_claims_have_a_verdict_on_the_page_also_without_published_values(study, tmp_path):
    """Kills: a section that only values or remarks open, and a verdict that the Markdown leaves out."""
    claims = [Claim(source="A paper, 3.5", text="It is <b>fast</b>.", verdict="does not hold", evidence="Ten times.")]
    write_report(tmp_path, **with_published(study, [], claims=claims))
    html, text = read(tmp_path)
    assert "### Claims of the papers" in text
    assert r"| It is \<b\>fast\</b\>. \| A paper, 3.5 | does not hold | Ten times. |" in text
    assert 'href="#published"' in html
    row = html[html.index("It is &lt;b&gt;fast&lt;/b&gt;.") :].split("</tr>")[0]
    assert [words for words in ("verdict off", "does not hold", "Ten times.") if words not in row] == []


def test_without_published_values_there_is_no_section(report, report_of_numbers):
    for folder, has_part in ((report, True), (report_of_numbers, False)):
        html, text = read(folder)
        assert ('id="published"' in html) == has_part
        assert ("Published" in text) == has_part

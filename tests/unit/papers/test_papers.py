"""Pages and reports of the five papers: authors, citations, and the methods, cells and claims of their studies."""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from mklearn.study.evaluation.reproduction import unmatched
from mklearn.study.reading import read_study
from mklearn.study.report.bibliography import known_papers
from mklearn.study.report.tables import escape_markdown


def cited(repository: Path, paper: str) -> tuple[str, list[str]]:
    """Return title and surnames on the page of a paper."""
    page = (repository / "src" / "mklearn" / "papers" / paper / "README.md").read_text(encoding="utf-8")
    match = re.search(r"^([\w, ]+): (.+?) \(", page, re.MULTILINE)
    assert match is not None
    return match[2].casefold(), match[1].split(", ")


@pytest.mark.parametrize("paper", ["fsvm", "lmkl", "mkl_dr", "mkmmc", "two_d_mmc"])
def test_the_page_of_a_paper_the_bibliography_and_the_citation_file_agree(repository: Path, paper: str) -> None:
    title, surnames = cited(repository, paper)
    (entry,) = [entry for entry in known_papers().values() if f"{{{{{title}}}}}" in entry.casefold()]
    names = entry.partition("author = {")[2].partition("}")[0].split(" and ")
    assert [name.split()[-1].translate(str.maketrans("öı", "oi")) for name in names] == surnames
    citations = yaml.safe_load((repository / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    authors = {entry["title"].casefold(): entry["authors"] for entry in citations}[title]
    assert [f"{author['given-names']} {author['family-names']}" for author in authors] == names


# --- committed reports


ROOT = Path(__file__).parents[3]
STUDIES = {path.stem: path for path in sorted((ROOT / "src" / "mklearn" / "papers").glob("*/studies/*.yaml"))}
REPORTED = [name for name in STUDIES if (ROOT / "reports" / name).is_dir()]


def differences(name: str) -> list[str]:
    """List what the report of a study lacks, or has in excess."""
    study, folder = read_study(STUDIES[name]), ROOT / "reports" / name
    made = json.loads((folder / "run.json").read_text(encoding="utf-8"))["config"]
    found = [f"method {method}" for method in sorted(set(study.methods) ^ set(made["methods"]))]
    text = (folder / "summary.md").read_text(encoding="utf-8")
    section = text.partition("### Claims of the papers")[2].partition("\n#")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")][2:]
    claims = {(f"{claim.text} | {claim.source}", claim.verdict, claim.evidence) for claim in study.claims}
    claims = {f"| {' | '.join(map(escape_markdown, cells))} |" for cells in claims}
    found += [f"claim {row}" for row in sorted(set(rows) ^ claims)]
    if study.published:
        cells = pd.read_csv(folder / "summary.csv").astype(object)
        cells = cells.where(cells.notna(), None).dropna(subset="verdict")
        found += [f"cell {entry['method']}" for entry in unmatched(cells, published(study))]
        found += [f"value {row.method}" for row in cells.itertuples() if not is_printed(row, published(study))]
    return found


def published(study: Any) -> list[dict[str, Any]]:
    return [{"metric": "accuracy", **entry} for entry in study.published_values()]


def is_printed(row: Any, entries: list[dict[str, Any]]) -> bool:
    """Tell whether a cell's published value and deviation are those of a study."""
    return any(
        (entry["value"], entry["std"]) == pytest.approx((row.published, row.published_std))
        for entry in entries
        if (entry["method"], entry["dataset"]) == (row.method, row.dataset)
    )


@pytest.mark.full
def test_reports_of_papers_are_found() -> None:
    assert set(REPORTED) >= {"2dmmc", "fsvm", "lfw", "lmkl", "mkldr", "mkmmc", "gauss4"}


@pytest.mark.full
@pytest.mark.parametrize("name", REPORTED)
def test_report_is_of_the_present_study(name: str) -> None:
    assert differences(name) == [], f"reports/{name} is of an earlier study: run it again"

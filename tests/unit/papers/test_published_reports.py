"""The committed report of a paper's study has the methods, published cells and claims that the study has now."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from mklearn.study.evaluation.reproduction import unmatched
from mklearn.study.reading import read_study
from mklearn.study.report.tables import escape_markdown

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[3]
STUDIES = {path.stem: path for path in sorted((ROOT / "src" / "mklearn" / "papers").glob("*/studies/*.yaml"))}
REPORTED = [name for name in STUDIES if (ROOT / "reports" / name).is_dir()]
STALE: dict[str, str] = {}
"""Studies that are to be run again, and why. Remove an entry with the report that closes it."""


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


def test_reports_of_papers_are_found() -> None:
    assert set(REPORTED) >= {"2dmmc", "fsvm", "lfw", "lmkl", "mkldr", "mkmmc", "gauss4"}
    assert set(STALE) <= set(REPORTED)


@pytest.mark.parametrize("name", REPORTED)
def test_report_is_of_the_present_study(name: str) -> None:
    found = differences(name)
    if name in STALE:
        assert found, f"reports/{name} is no longer stale: remove it from STALE"
    else:
        assert not found, f"reports/{name} is of an earlier study: run it again, or say why in STALE"

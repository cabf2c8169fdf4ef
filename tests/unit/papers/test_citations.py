"""Who wrote the five papers: on their pages, in the bibliography and in CITATION.cff."""

import re
from pathlib import Path

import pytest
import yaml

from mklearn.study.report.bibliography import known_papers


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

"""Who wrote the five papers: on their pages, in the bibliography, in CITATION.cff, and in their own texts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from mklearn.study.report.bibliography import known_papers

FULL_NAME = r"[A-Z][\w-]+ ([A-Z][^\W\d]+)"
TEXTS = {
    "fsvm": ("fsvm.txt", r"\b[A-Z]\. ([A-Z]\w+)", "Yat-sen University"),
    "lmkl": ("lmkl.txt", FULL_NAME, "Department"),
    "mkl_dr": ("mkldr.txt", FULL_NAME, "1Institute"),
    "mkmmc": ("mkmmc.txt", FULL_NAME, "State Key Laboratory"),
    "two_d_mmc": ("2dmmc.txt", FULL_NAME, "State Key Laboratory"),
}
"""Of each paper its text, how authors are named there, and what follows the last of them."""


def ascii_name(name: str) -> str:
    return name.translate(str.maketrans("öı", "oi"))


def cited(repository: Path, paper: str) -> tuple[str, list[str]]:
    """Return title and surnames on the page of a paper."""
    page = (repository / "src" / "mklearn" / "papers" / paper / "README.md").read_text(encoding="utf-8")
    match = re.search(r"^([\w, ]+): (.+?) \(", page, re.MULTILINE)
    assert match is not None
    return match[2].casefold(), match[1].split(", ")


@pytest.mark.parametrize("paper", TEXTS)
def test_the_page_of_a_paper_the_bibliography_and_the_citation_file_agree(repository: Path, paper: str) -> None:
    title, surnames = cited(repository, paper)
    known = {entry["title"].casefold(): entry["author"] for entry in known_papers().values()}
    assert [ascii_name(name.split()[-1]) for name in known[title]] == surnames
    citations = yaml.safe_load((repository / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    authors = {entry["title"].casefold(): entry["authors"] for entry in citations}[title]
    assert [f"{author['given-names']} {author['family-names']}" for author in authors] == known[title]


@pytest.mark.full
@pytest.mark.parametrize("paper", TEXTS)
def test_title_and_authors_are_those_on_the_first_lines_of_the_text(
    repository: Path, paper_texts: Path, paper: str
) -> None:
    """Kills: a paper under the authors of a later article with its title, as F-SVM was."""
    title, surnames = cited(repository, paper)
    file, author, end = TEXTS[paper]
    text = " ".join((paper_texts / file).read_text(encoding="utf-8").split())
    assert title in text[:200].casefold()
    head = re.sub(re.escape(title), "", text[: text.index(end)], flags=re.IGNORECASE)
    assert [ascii_name(name) for name in re.findall(author, head)] == surnames

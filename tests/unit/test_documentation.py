"""README and docs: their code runs and prints what they say, their studies are valid, their links lead somewhere."""

from __future__ import annotations

import contextlib
import io
import itertools
import re
from pathlib import Path

import pytest
import yaml

from mklearn.study.config.reading import check_study

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "reports" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "explanation").glob("*.md")),
    *sorted((ROOT / "src" / "mklearn" / "papers").glob("*/README.md")),
]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    return [text for found, text in BLOCK.findall(page.read_text(encoding="utf-8")) if found == language]


@pytest.mark.parametrize("page", ["README.md", "docs/library.md"])
def test_code_prints_what_the_page_says(page: str) -> None:
    found = BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    names: dict[str, object] = {}
    expected = []
    for (language, text), (following, output) in itertools.pairwise([*found, ("end", "")]):
        if language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(text, names)
            if following == "":
                assert printed.getvalue() == output
                expected.append(output)
    assert expected


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_studies_are_valid(page: Path) -> None:
    for text in blocks(page, "yaml"):
        check_study(yaml.safe_load(text), str(page))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    named = re.findall(r"`((?:workflow|docs|reports|envs|tests)/[\w./-]*\w)`", text)
    missing = [link for link in links if not (page.parent / link).exists()]
    missing += [name for name in named if not (ROOT / name).exists() and not name.endswith(".sif")]
    assert not missing

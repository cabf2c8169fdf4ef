"""The public names and the version: what docs/versions.md promises."""

import runpy
from pathlib import Path

import pytest

import mklearn

ROOT = Path(__file__).resolve().parents[2]


def test_public_names_are_those_of_the_list() -> None:
    pytest.importorskip("mklearn.papers")
    found = runpy.run_path(str(ROOT / "docs" / "site" / "api_pages.py"))["full_names"]()
    expected = Path(__file__).with_name("public_names.txt").read_text(encoding="utf-8").splitlines()
    assert found == expected, "docs/versions.md says what may change; `make schema` renews the list"


def test_the_changelog_begins_with_this_version() -> None:
    version = mklearn.__version__.removesuffix(".dev0")
    heading = f"## {version}" + (" (unreleased)" if version != mklearn.__version__ else "")
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    first = next(line for line in lines if line.startswith("## "))
    assert first.startswith(heading)

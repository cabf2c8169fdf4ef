"""The sections of figures and their texts, from ``page/sections.yaml``."""

from __future__ import annotations

import functools
from importlib import resources

import yaml

from mklearn.study.report.wording import by_score


@functools.cache
def figure_sections(score: str = "accuracy") -> dict[str, dict[str, str]]:
    """Return the sections of figures by id, in the order of the page, with texts that speak of a score.

    Each has its name in the navigation (``short``), a title, a note below it, and perhaps one on its tables.
    """
    found = yaml.safe_load(page_file("sections.yaml")).items()
    return {
        name: {"table_note": "", **{key: by_score(text, score) for key, text in texts.items()}} for name, texts in found
    }


def page_file(name: str) -> str:
    """Return the text of a file of the folder ``page``."""
    return resources.files("mklearn.study.report").joinpath("page", name).read_text(encoding="utf-8")

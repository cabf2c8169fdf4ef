"""The papers behind a study as BibTeX, from the references of methods, kernels and descriptors and of data sets."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import yaml

from mklearn.study.report.markup import escape_latex
from mklearn.study.report.records import DataSetRecord
from mklearn.study.specs.table_specs import CatalogueEntry, ReportSpec

_REFERENCE = re.compile(r'(?P<authors>\D+?),? \(?(?P<year>(?:19|20)\d\d)\b\)?(?:, "(?P<title>[^"]+)")?')
"""Authors, year and, in double quotes, title of ``Lin, Liu, Fuh 2008, "Dimensionality reduction", eq. (8)``."""


KINDS = {"journal": "article", "booktitle": "inproceedings", "publisher": "book"}
"""Kinds of entries, by the field that says where a paper was published."""


def bibtex(study: ReportSpec, data: Sequence[DataSetRecord]) -> str:
    """Return an entry for each paper that an entry of the study or a data set names; empty if none does.

    Titles, full names and places are those of ``references.yaml``; of a paper that it lacks, the reference has authors
    and year. The note says what the paper is the source of.
    """
    papers = _papers([*study.methods, *study.kernels, *study.descriptors])
    keys: dict[str, int] = {}
    entries = []
    for (authors, year, title), sources in papers.items():
        names = [name for name in re.split(r", | and ", authors) if name]
        unknown = {"author": [_literal(name) for name in names], "title": _literal(title)}
        paper = known_papers().get(reference_key(authors, year, title), unknown)
        place = next((name for name in KINDS if name in paper), "")
        fields = {
            "author": " and ".join(paper["author"]),
            "title": f"{{{paper['title']}}}" if paper is not unknown else paper["title"],  # braces keep capitals
            place: paper.get(place, ""),
            "year": year,
            "note": _literal(f"Source of: {', '.join(sources)}"),
        }
        entries.append(_entry(KINDS.get(place, "misc"), _key(f"{names[0].split()[-1]}{year}", keys), fields))
    for record in data:
        if record.citation:
            fields = {"title": record.title or record.id, "note": record.citation, "howpublished": record.homepage}
            fields = {name: _literal(value) for name, value in fields.items()}
            entries.append(_entry("misc", _key(f"data-{record.id}", keys), fields))
    return "\n".join(entries)


@functools.cache
def known_papers() -> dict[str, dict[str, Any]]:
    """Return what is known of papers, by :func:`reference_key`."""
    file = resources.files("mklearn.study.report").joinpath("bibliography", "references.yaml")
    return dict(yaml.safe_load(file.read_text(encoding="utf-8")))


def reference_key(authors: str, year: str, title: str) -> str:
    """Return a reference without what it says of sections and equations."""
    return f"{authors} {year}" + (f', "{title}"' if title else "")


def papers_of(reference: str) -> list[tuple[str, str, str]]:
    """Return authors, year and title (or "") of each paper of a registered reference."""
    found = (_REFERENCE.match(part.strip()) for part in reference.split(";"))
    return [(match["authors"].strip(), match["year"], match["title"] or "") for match in found if match]


def _papers(entries: Sequence[CatalogueEntry]) -> dict[tuple[str, str, str], list[str]]:
    """Return what each paper is the source of; a reference without a title is to one with, where there is one."""
    named = [(paper, entry.title) for entry in entries for paper in papers_of(entry.reference)]
    titles = {paper[:2]: paper[2] for paper, _ in reversed(named) if paper[2]}  # of several, the first one
    papers: dict[tuple[str, str, str], dict[str, None]] = {}
    for (authors, year, title), source in named:
        papers.setdefault((authors, year, title or titles.get((authors, year), "")), {})[source] = None
    return {paper: list(sources) for paper, sources in papers.items()}


def _key(stem: str, taken: dict[str, int]) -> str:
    """Return a key of letters, digits and hyphens that no other entry has."""
    key = re.sub(r"[^a-z0-9-]+", "", stem.lower()) or "entry"
    taken[key] = taken.get(key, 0) + 1
    return key if taken[key] == 1 else f"{key}-{taken[key]}"


def _entry(kind: str, key: str, fields: Mapping[str, str]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}", ""])


def _literal(text: str) -> str:
    """Return text on one line that TeX takes literally; BibTeX counts braces, also those with a backslash."""
    return escape_latex(" ".join(re.sub(r"[{}\\]", "", text).split()))

"""The papers behind a study as BibTeX, from the references of methods, kernels and descriptors and of data sets."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mklearn.study.report.latex import escape_latex
from mklearn.study.report.records import DataSetRecord
from mklearn.study.specs.table_specs import ReportSpec

_REFERENCE = re.compile(r'(?P<authors>\D+?),? \(?(?P<year>(?:19|20)\d\d)\b\)?(?:, "(?P<title>[^"]+)")?')
"""Authors, year and, in double quotes, title of ``Lin, Liu, Fuh 2008, "Dimensionality reduction", eq. (8)``."""


def bibtex(study: ReportSpec, data: Sequence[DataSetRecord]) -> str:
    """Return an entry for each paper that an entry of the study or a data set names; empty if none does.

    A registered reference has authors and year, and mostly no title: the note says what the paper is the source of.
    """
    papers: dict[tuple[str, str], list[str]] = {}
    names_of: dict[tuple[str, str], str] = {}
    for entry in (*study.methods, *study.kernels, *study.descriptors):
        for reference in entry.reference.split(";"):
            found = _REFERENCE.match(reference.strip())
            if found:
                paper = (found["authors"].strip(), found["year"])
                titles = papers.setdefault(paper, [])
                titles += [entry.title] if entry.title not in titles else []
                names_of[paper] = names_of.get(paper) or found["title"] or ""
    keys: dict[str, int] = {}
    entries = []
    for (authors, year), titles in papers.items():
        names = [name for name in re.split(r", | and ", authors) if name]
        fields = {
            "author": " and ".join(names), "title": names_of[authors, year], "year": year,
            "note": f"Source of: {', '.join(titles)}",
        }  # fmt: skip
        entries.append(_entry(_key(f"{names[0].split()[-1]}{year}", keys), fields))
    for record in data:
        if record.citation:
            known = {"title": record.title or record.id, "note": record.citation, "howpublished": record.homepage}
            entries.append(_entry(_key(f"data-{record.id}", keys), known))
    return "\n".join(entries)


def _key(stem: str, taken: dict[str, int]) -> str:
    """Return a key of letters, digits and hyphens that no other entry has."""
    key = re.sub(r"[^a-z0-9-]+", "", stem.lower()) or "entry"
    taken[key] = taken.get(key, 0) + 1
    return key if taken[key] == 1 else f"{key}-{taken[key]}"


def _entry(key: str, fields: dict[str, str]) -> str:
    lines = [f"  {name} = {{{_literal(value)}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}", ""])


def _literal(text: str) -> str:
    """Return text on one line that TeX takes literally; BibTeX counts braces, also those with a backslash."""
    return escape_latex(" ".join(re.sub(r"[{}\\]", "", text).split()))

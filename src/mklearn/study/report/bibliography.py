"""BibTeX entries of the papers behind a study: references of its methods, kernels, descriptors and data sets."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from importlib import resources

from mklearn.study.report.records import DataSetRecord
from mklearn.study.report.tables import escape_latex

_REFERENCE = re.compile(r'(?P<authors>\D+?),? \(?(?P<year>(?:19|20)\d\d)\b\)?(?:, "(?P<title>[^"]+)")?')
"""Pattern for authors, year and quoted title in ``Lin, Liu, Fuh 2008, "Dimensionality reduction", eq. (8)``."""


def bibtex(cited: Sequence[tuple[str, str]], data: Sequence[DataSetRecord]) -> str:
    """Return a BibTeX entry for each paper that the study or its data sets cite; empty if they cite none.

    ``cited`` has titles of methods, kernels and descriptors, each with references separated by semicolons. Entries come
    from ``references.bib``. A paper that it lacks becomes a comment with the reference.
    """
    sources: dict[str, dict[str, None]] = {}
    for title, references in cited:
        for reference in references.split(";"):
            key = reference_key(reference)
            paper = known_papers().get(key, f"% {' '.join(reference.split())}") if key else ""
            sources.setdefault(paper, {})[" ".join(title.split())] = None
    sources.pop("", None)
    papers = [f"% Source of: {', '.join(titles)}\n{paper}\n" for paper, titles in sources.items()]
    for record in data:
        if record.citation:
            fields = {"title": record.title or record.id, "note": record.citation, "howpublished": record.homepage}
            # BibTeX counts braces even after a backslash
            plain = {name: " ".join(re.sub(r"[{}\\]", "", text or "").split()) for name, text in fields.items()}
            lines = [f"  {name} = {{{escape_latex(text)}}},\n" for name, text in plain.items() if text]
            key = re.sub(r"[^a-z0-9-]+", "", f"data-{record.id}".lower())
            papers.append(f"@misc{{{key},\n{''.join(lines)}}}\n")
    return "\n".join(papers)


@functools.cache
def known_papers() -> dict[str, str]:
    """Return the entries of ``references.bib`` by key."""
    text = resources.files("mklearn.study.report").joinpath("references.bib").read_text(encoding="utf-8")
    return {match[1]: match[0] for match in re.finditer(r"^@\w+{(\w+),.*?}}$", text, re.DOTALL | re.MULTILINE)}


def reference_key(reference: str) -> str:
    """Return the BibTeX key of a reference: first author and year, with the first word of the title if needed."""
    match = _REFERENCE.match(reference.strip())
    if match is None:
        return ""
    first = re.split(r", | and | et al", match["authors"].strip())[0].split()[-1]
    key = re.sub(r"\W+", "", first.lower()) + match["year"]
    word = re.sub(r"\W+.*", "", (match["title"] or "").lower())
    return f"{key}{word}" if f"{key}{word}" in known_papers() else key

"""BibTeX of the papers behind a study."""

from __future__ import annotations

import re

from tests.unit.study.report.conftest import report_spec

from mklearn.study.config.registry import registered
from mklearn.study.report.bibliography import bibtex
from mklearn.study.report.records import DataSetRecord
from mklearn.study.specs.table_specs import CatalogueEntry


def entry(title: str, reference: str) -> CatalogueEntry:
    return CatalogueEntry(id="x", title=title, reference=reference)


def test_papers_are_entries_with_authors_and_year() -> None:
    methods = [entry("MKL-DR", "Lin, Liu, Fuh 2008"), entry("MKL-DR", "Lin, Liu, Fuh 2008"), entry("None", "")]
    kernels = [entry("Gaussian", "Lin, Liu, Fuh 2008, eq. (8); Gu, Zhou 2009, section 5")]
    descriptors = [entry("Other", "Lin and Ma 2008"), entry("100 % & more_", "Ω{} 2008")]
    study = report_spec("s", methods=methods, kernels=kernels, descriptors=descriptors)
    data = [DataSetRecord("orl", citation="AT&T", homepage="https://x.org"), DataSetRecord("own")]
    assert bibtex(study, data) == (
        "@misc{lin2008,\n  author = {Lin and Liu and Fuh},\n  year = {2008},\n"
        "  note = {Source of: MKL-DR, Gaussian},\n}\n\n"
        "@misc{gu2009,\n  author = {Gu and Zhou},\n  year = {2009},\n  note = {Source of: Gaussian},\n}\n\n"
        "@misc{lin2008-2,\n  author = {Lin and Ma},\n  year = {2008},\n  note = {Source of: Other},\n}\n\n"
        "@misc{2008,\n  author = {Ω},\n  year = {2008},\n  note = {Source of: 100 \\% \\& more\\_},\n}\n\n"
        "@misc{data-orl,\n  title = {orl},\n  note = {AT\\&T},\n  howpublished = {https://x.org},\n}\n"
    )
    assert bibtex(report_spec("s"), []) == ""


def test_a_title_in_quotes_is_the_title_of_the_paper() -> None:
    """Kills: an entry of LMKL's image tables that can't be told from the authors' paper of 2008."""
    methods = [entry("LMKL", 'Gonen, Alpaydin 2008, "Localized learning"; Gonen, Alpaydin 2009, "Machines" (gates)')]
    text = bibtex(report_spec("s", methods=methods, descriptors=[entry("Patches", "Gonen, Alpaydin 2009")]), [])
    assert text == (
        "@misc{gonen2008,\n  author = {Gonen and Alpaydin},\n  title = {Localized learning},\n  year = {2008},\n"
        "  note = {Source of: LMKL},\n}\n\n"
        "@misc{gonen2009,\n  author = {Gonen and Alpaydin},\n  title = {Machines},\n  year = {2009},\n"
        "  note = {Source of: LMKL, Patches},\n}\n"
    )


def test_every_registered_reference_is_read() -> None:
    for what in ("methods", "kernels", "descriptors"):
        for model in registered(what).values():
            for reference in filter(None, model.reference.split(";")):
                text = bibtex(report_spec("s", methods=[entry("T", reference)]), [])
                years = re.findall(r"(?:19|20)\d\d", reference)
                assert (f"year = {{{years[0]}}}" in text) if years else not text, reference

"""BibTeX of the papers behind a study."""

from __future__ import annotations

import re
import unicodedata

from tests.unit.study.report.conftest import report_spec

from mklearn.descriptors.table import DESCRIPTORS
from mklearn.kernels.table import KERNELS
from mklearn.methods import METHODS
from mklearn.study.report.bibliography import bibtex, known_papers, papers_of, reference_key
from mklearn.study.report.records import DataSetRecord
from mklearn.study.specs.table_specs import CatalogueEntry

UNCERTAIN = {"Turk, Pentland 1991"}
"""References whose paper is not certain: the authors wrote two of that year."""


def entry(title: str, reference: str) -> CatalogueEntry:
    return CatalogueEntry(id="x", title=title, reference=reference)


def test_papers_are_entries_with_authors_year_and_title() -> None:
    """Kills: an entry of one paper that can't be told from another one of the same authors and year."""
    methods = [entry("MKL-DR", "Li, Fu 2008"), entry("MKL-DR", "Li, Fu 2008"), entry("None", "")]
    methods += [entry("B", 'Li, Fu 2009, "Machines" (gates)')]
    kernels = [entry("Gaussian", "Li, Fu 2008, eq. (8); Gu, Zhou 2007, section 5"), entry("Patches", "Li, Fu 2009")]
    descriptors = [entry("Maps", 'Li, Fu 2009, "Maps"'), entry("100 % & more_", "Ω{} 2008")]
    study = report_spec("s", methods=methods, kernels=kernels, descriptors=descriptors)
    data = [DataSetRecord("orl", citation="AT&T", homepage="https://x.org"), DataSetRecord("own")]
    assert bibtex(study, data) == (
        "@misc{li2008,\n  author = {Li and Fu},\n  year = {2008},\n"
        "  note = {Source of: MKL-DR, Gaussian},\n}\n\n"
        "@misc{li2009,\n  author = {Li and Fu},\n  title = {Machines},\n  year = {2009},\n"
        "  note = {Source of: B, Patches},\n}\n\n"
        "@misc{gu2007,\n  author = {Gu and Zhou},\n  year = {2007},\n  note = {Source of: Gaussian},\n}\n\n"
        "@misc{li2009-2,\n  author = {Li and Fu},\n  title = {Maps},\n  year = {2009},\n"
        "  note = {Source of: Maps},\n}\n\n"
        "@misc{2008,\n  author = {Ω},\n  year = {2008},\n  note = {Source of: 100 \\% \\& more\\_},\n}\n\n"
        "@misc{data-orl,\n  title = {orl},\n  note = {AT\\&T},\n  howpublished = {https://x.org},\n}\n"
    )
    assert bibtex(report_spec("s"), []) == ""


def test_known_papers_have_full_names_title_and_place() -> None:
    methods = [entry("KDA", "Mika, Raetsch, Weston, Schoelkopf, Mueller 1999; Rasmussen, Williams 2006, eq. (4.16)")]
    assert bibtex(report_spec("s", methods=methods), []) == (
        "@inproceedings{mika1999,\n"
        "  author = {Sebastian Mika and Gunnar Rätsch and Jason Weston and Bernhard Schölkopf and "
        "Klaus-Robert Müller},\n"
        "  title = {{Fisher Discriminant Analysis with Kernels}},\n"
        "  booktitle = {Neural Networks for Signal Processing IX},\n  year = {1999},\n  note = {Source of: KDA},\n}\n\n"
        "@book{rasmussen2006,\n  author = {Carl Edward Rasmussen and Christopher K. I. Williams},\n"
        "  title = {{Gaussian Processes for Machine Learning}},\n  publisher = {MIT Press},\n  year = {2006},\n"
        "  note = {Source of: KDA},\n}\n"
    )


def plain(name: str) -> str:
    """A surname as references write it, in ASCII."""
    spelled = name.translate(str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ı": "i"}))
    return unicodedata.normalize("NFKD", spelled).encode("ascii", "ignore").decode()


def test_references_of_what_is_registered_agree_with_the_known_papers() -> None:
    """Kills: a reference that was edited in one place, a paper that nothing refers to, names in another order."""
    used = set()
    for table in (METHODS, KERNELS, DESCRIPTORS):
        for model in table.values():
            assert len(papers_of(model.reference)) == len(re.findall(r"(?:19|20)\d\d", model.reference))
            used |= set(papers_of(model.reference))
    assert {reference_key(*paper) for paper in used} - set(known_papers()) == UNCERTAIN
    assert set(known_papers()) <= {reference_key(*paper) for paper in used}
    for authors, year, title in used:
        paper = known_papers().get(reference_key(authors, year, title))
        if paper is not None:
            assert title.lower() in ("", paper["title"].lower())
            surnames = authors.removesuffix(" et al.").split(", ")
            assert len(surnames) == len(paper["author"]) or authors.endswith("et al.")
            for surname, name in zip(surnames, paper["author"], strict=False):
                simple = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
                assert surname in plain(name) or surname in simple, name

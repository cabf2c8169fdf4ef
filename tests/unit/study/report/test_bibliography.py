"""BibTeX of the papers behind a study."""

import re
import unicodedata

from mklearn.descriptors.table import DESCRIPTORS
from mklearn.kernels.table import KERNELS
from mklearn.methods import METHODS
from mklearn.study.report.bibliography import bibtex, known_papers, reference_key
from mklearn.study.report.records import DataSetRecord

UNCERTAIN = {"turk1991"}
"""References whose paper is not certain: the authors wrote two of that year."""


def test_papers_are_entries_that_say_what_they_are_the_source_of() -> None:
    cited = [("KDA", "Mika, Raetsch, Weston, Schoelkopf, Mueller 1999; Li, Fu 2008, eq. (8)"), ("Own", "")]
    cited += [("KDA 2", "Mika, Raetsch, Weston, Schoelkopf, Mueller 1999")]
    data = [DataSetRecord("orl", citation="AT&T {faces}", homepage="https://x.org"), DataSetRecord("own")]
    assert bibtex(cited, data) == (
        "% Source of: KDA, KDA 2\n@inproceedings{mika1999,\n"
        "  author = {Sebastian Mika and Gunnar Rätsch and Jason Weston and Bernhard Schölkopf and "
        "Klaus-Robert Müller},\n"
        "  title = {{Fisher Discriminant Analysis with Kernels}},\n"
        "  booktitle = {Neural Networks for Signal Processing IX}, year = {1999}}\n\n"
        "% Source of: KDA\n% Li, Fu 2008, eq. (8)\n\n"
        "@misc{data-orl,\n  title = {orl},\n  note = {AT\\&T faces},\n  howpublished = {https://x.org},\n}\n"
    )
    assert bibtex([], []) == ""


def plain(name: str) -> str:
    """A surname as references write it, in ASCII."""
    spelled = name.translate(str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ı": "i"}))
    return unicodedata.normalize("NFKD", spelled).encode("ascii", "ignore").decode()


def test_references_of_what_is_registered_agree_with_the_known_papers() -> None:
    """Kills: a reference that was edited in one place, a paper that nothing refers to, names in another order."""
    rows = [row for table in (METHODS, KERNELS, DESCRIPTORS) for row in table.values()]
    references = [
        part.strip() for row in rows for part in row.reference.split(";") if re.search(r"\b(19|20)\d\d", part)
    ]
    used = {reference_key(reference): reference for reference in references}
    assert set(used) - set(known_papers()) == UNCERTAIN
    assert set(known_papers()) <= set(used)
    for key in set(used) - UNCERTAIN:
        surnames = re.split(r",? (?:19|20)\d\d", used[key])[0].removesuffix(" et al.").split(", ")
        (authors,) = re.findall(r"author = {(.*?)},", known_papers()[key])
        names = authors.split(" and ")
        assert len(surnames) == len(names) or "et al." in used[key]
        for surname, name in zip(surnames, names, strict=False):
            simple = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
            assert surname in plain(name) or surname in simple, name

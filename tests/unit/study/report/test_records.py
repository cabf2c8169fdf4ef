"""Records of data sets, methods and descriptors of the page, and its bibliography."""

import json
import re
import unicodedata
from dataclasses import replace

import numpy as np
import pytest

from mklearn.descriptors.table import DESCRIPTORS
from mklearn.kernels.table import KERNELS
from mklearn.methods import METHODS
from mklearn.study.data.registry import registry
from mklearn.study.data.samples import SampleSet
from mklearn.study.data.splits import Split, Splits
from mklearn.study.report.bibliography import bibtex, known_papers, reference_key
from mklearn.study.report.records import DataSetRecord, _fit, _warnings, data_set_of

DATA = SampleSet(["s", "t"], ["a", "b"], tables={"x": np.eye(2)}, notes=("a.csv: odd", "b.csv: odder"))


@pytest.mark.parametrize(
    ("registered", "note", "source"),
    [("", "a.csv: odd. b.csv: odder.", ""), ("yale", f"{registry()['yale'].note} a.csv: odd. b.csv: odder.", "http")],
)
def test_a_record_has_notes_of_readers_origin_and_files(registered: str, note: str, source: str) -> None:
    record = {"spec": {"dataset": "d", "registered": registered}, "inputs": {"files": {"Yale_32x32.mat": "ab" * 32}}}
    shown = data_set_of(record, "Data", DATA, [])
    assert (shown.id, shown.title, shown.note.strip()) == ("d", "Data", note.strip())
    assert bool(shown.citation) == bool(registered)
    ((name, upstream, sha256),) = shown.files
    assert (name, upstream[:4], sha256) == ("Yale_32x32.mat", source, "ab" * 32)


def splits(*parts: str) -> list[Splits]:
    """Splits of the samples a to d, each given as TRAIN-TEST."""
    rows = [[np.array(["abcd".index(name) for name in part]) for part in each.split("-")] for each in parts]
    return [Splits(tuple(Split(0, fold, *part) for fold, part in enumerate(rows)), 4)]


@pytest.mark.parametrize(
    ("drawn", "n"),
    [
        (splits("bd-ac", "ac-bd"), "2 of 2"),
        (splits("cd-ab", "b-acd"), "1 of 2"),
        (splits("cd-ab", "ab-c"), ""),  # d is in neither part
        (splits("cd-ab") + splits("a-bc"), "1 of 2"),
        (splits("abcd-abcd"), ""),  # samples to cluster
    ],
)
def test_warnings_are_of_samples_that_are_left_out_and_of_divided_groups(drawn: list[Splits], n: str) -> None:
    notes = ("3 samples without a label are left out", "kernel k: smallest eigenvalue 0")
    data = SampleSet(list("abcd"), list("xyxy"), tables={"x": np.eye(4)}, notes=notes)
    assert list(_warnings(data, drawn)) == [notes[0]]
    grouped = replace(data, groups=np.array(["1", "1", "2", "2"]))
    repeated = replace(data, tables={"x": np.eye(4)[[0, 0, 1, 1]]})
    for divided, what in ((grouped, "of a group that"), (repeated, "that equal others")):
        starts = [text.partition(" splits test some samples ")[::2] for text in _warnings(divided, drawn)][1:]
        assert [(start, rest.startswith(what)) for start, rest in starts] == [(n, True)] * bool(n)


def test_kernels_of_a_fit_are_shown_in_the_order_of_the_study() -> None:
    arrays = {
        "kernel_ids": np.array(["a", "b-2", "gone"]), "weights": np.array([[1, 2, 3], [4, 5, 6]]),
        "history": "[]", "diagnostics": "[]", "chosen": "[]",
        "kernel_info": json.dumps([[{"id": "a", "rank": 1}, {"id": "b_2", "rank": 2}]]),
    }  # fmt: skip
    place = {"dataset": "d", "protocol": "p", "train_size": None, "method": "m"}
    record = _fit(arrays, place, "M", ["b_2", "a"], np.array([]))
    assert record.weights is not None
    assert list(record.weights.to_dict("list").items()) == [("b_2", [2, 5]), ("a", [1, 4]), ("gone", [3, 6])]
    assert record.kernel_info is not None
    assert record.kernel_info.to_dict("list") == {"kernel": ["b_2", "a"], "rank": [2, 1]}


# --- bibliography

UNCERTAIN = {"turk1991"}
"""References whose paper is not certain: the authors wrote two of that year."""


def test_papers_are_entries_that_say_what_they_are_the_source_of() -> None:
    cited = [("KDA", "Mika, Raetsch, Weston, Schoelkopf, Mueller 1999; Li, Fu 2008, eq. (8)"), ("Own", "")]
    cited += [("KDA 2", "Mika, Raetsch, Weston, Schoelkopf, Mueller 1999")]
    data = [DataSetRecord("orl", citation="AT&T {faces}", homepage="https://x.org"), DataSetRecord("own")]
    text = bibtex(cited, data)
    assert text.startswith("% Source of: KDA, KDA 2\n@inproceedings{mika1999,\n  author = {Sebastian Mika and ")
    assert text.endswith(
        "year = {1999}}\n\n% Source of: KDA\n% Li, Fu 2008, eq. (8)\n\n"
        "@misc{data-orl,\n  title = {orl},\n  note = {AT\\&T faces},\n  howpublished = {https://x.org},\n}\n"
    )
    assert bibtex([], []) == ""


SPELT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ı": "i"})


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
            both = unicodedata.normalize("NFKD", f"{name}; {name.translate(SPELT)}")
            assert surname in both.encode("ascii", "ignore").decode(), name

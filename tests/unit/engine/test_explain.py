"""Stamps of every kind of file; what differs between then and now, as sentences; who may be asked about."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mklearn.atomic import write_npz, write_parquet, write_text
from mklearn.engine.explain import KEY, _made_with, _study_of, explain
from mklearn.engine.explain_job import Job, Reasons, Record, ask_snakemake
from mklearn.engine.explain_reasons import code_differences, differences, input_states, sentences, spec_differences
from mklearn.errors import ConfigError, DataError
from mklearn.provenance import canonical, file_digest, input_digests, stamp
from mklearn.stamps import read_stamp, stamp_beside, write_beside

VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text("xy")
SPECS = st.dictionaries(
    st.text("abc", min_size=1),
    st.recursive(
        VALUES,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=3),
        max_leaves=6,
    ),
    max_size=4,
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The present folder, with two inputs, and two source files behind every step."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "mklearn.engine.explain_job.step_code", lambda step, spec: sorted(map(str, tmp_path.glob("*.py")))
    )
    for name in ("a.py", "b.py", "x.npz", "y.npz"):
        Path(name).write_text(f"# {name}\n", encoding="utf-8")
    return tmp_path


def job(**changes: Any) -> Job:
    made = Job(
        rule="describe", message="", inputs={"samples": ["x.npz"], "blocks": ["y.npz"]},
        outputs={"features": "out.npz"}, log=[], spec={"kind": "hog", "parameters": {"cell": 4}}, follows_code=True,
        threads=1, runs=True, reasons=Reasons(), records={},
    )  # fmt: skip
    return replace(made, **changes)


def stamped(made: Job) -> dict[str, Any]:
    inputs = {name: paths[0] for name, paths in made.inputs.items()}
    return stamp(made.spec, input_digests(**inputs), made.code)


def recorded(made: Job) -> Record:
    paths = [path for files in made.inputs.values() for path in files]
    return Record(1.0, 2.0, ["log"], sorted(paths), made.spec)


# --- stamps


def test_each_kind_of_file_holds_its_stamp(tmp_path: Path) -> None:
    held = stamp({"a": [1, "é"]}, {"x": "00"}, [])
    write_npz(tmp_path / "a.npz", x=np.zeros(3), provenance=canonical(held))
    write_parquet(tmp_path / "direct.parquet", pd.DataFrame({"x": [1]}), held)
    write_parquet(tmp_path / "inside.parquet", pd.DataFrame({"x": [1]}), {"n_samples": 1, "provenance": held})
    write_text(tmp_path / "a.json", json.dumps({"provenance": held, "more": 1}))
    script = f'<html><script type="application/json" id="provenance">{json.dumps(held)}</script></html>'
    write_text(tmp_path / "a.html", script)
    for path in tmp_path.iterdir():
        assert read_stamp(path) == held, path


def test_files_that_hold_none_are_named_beside(tmp_path: Path) -> None:
    held = stamp({"a": 1}, {}, [])
    page, figure, other = tmp_path / "index.html", tmp_path / "figures" / "f.svg", tmp_path / "other.csv"
    for path in (page, figure, other):
        write_text(path, path.name)
    write_beside([page, figure], held, tmp_path / "provenance.json")
    for path in (page, figure):
        found = read_stamp(path)
        assert found is not None
        assert found["made_with"] == "index.html"
        assert found["files"]["figures/f.svg"] == file_digest(figure)
        assert {name: found[name] for name in held} == held
    assert read_stamp(other) is None
    assert stamp_beside(tmp_path / "provenance.json") is None
    write_beside([other], held)
    assert stamp_beside(other) == tmp_path / "other.csv.provenance.json"
    assert read_stamp(tmp_path / "other.csv.provenance.json") == read_stamp(other)


def test_files_without_a_stamp_and_broken_ones(tmp_path: Path) -> None:
    np.savez(tmp_path / "foreign.npz", x=np.zeros(2))
    pd.DataFrame({"x": [1]}).to_parquet(tmp_path / "foreign.parquet")
    for name in ("foreign.json", "list.json", "page.html", "table.csv"):
        (tmp_path / name).write_text("[1]" if name == "list.json" else "{}", encoding="utf-8")
    for path in tmp_path.iterdir():
        assert read_stamp(path) is None
    for name in ("broken.npz", "broken.parquet", "broken.json"):
        (tmp_path / name).write_bytes(b"no such thing")
        with pytest.raises(DataError, match=name):
            read_stamp(tmp_path / name)


# --- what differs


@given(SPECS, SPECS)
def test_specifications_differ_where_their_texts_differ(one: Any, other: Any) -> None:
    assert spec_differences(one, one) == []
    assert bool(spec_differences(one, other)) == (canonical(one) != canonical(other))
    assert len(spec_differences(one, other)) == len(spec_differences(other, one))


def test_each_key_that_differs_has_its_words() -> None:
    then = {"method": {"ridge": 0.1, "k": 5, "old": True}, "kernels": [{"id": "a"}, {"id": "b"}], "title": ""}
    now = {"method": {"ridge": 0.2, "k": 5, "new": None}, "kernels": [{"id": "a"}, {"id": "c"}], "title": "T"}
    assert spec_differences(then, now) == [
        "method.ridge: 0.1 -> 0.2",
        "method.old: was true, is there no more",
        "method.new: was not there, is null",
        "kernels[1].id: b -> c",
        'title: "" -> T',
    ]
    assert spec_differences({"a": [1]}, {"a": [1, 2]}) == ["a: [1] -> [1,2]"]
    assert spec_differences({"a": 1}, {"a": 1.0}) == ["a: 1 -> 1.0"]  # another text, and so another key
    assert len(spec_differences({"a": "x" * 500}, {"a": "y" * 500})[0]) < 140


def test_nothing_differs_at_first(folder: Path) -> None:
    made = job()
    assert differences(made, stamped(made), recorded(made)) == []
    assert differences(made, stamped(made), None) == []
    assert {state for *_, state in input_states(made, stamped(made))} == {"as it was"}


def test_changed_code_is_named(folder: Path) -> None:
    made = job()
    held = stamped(made)
    Path("b.py").write_text("# another\n", encoding="utf-8")
    assert code_differences(made, held) == ["b.py"]
    assert differences(made, held, None) == ["its code has changed: b.py"]
    assert differences(job(follows_code=False), held, None) == []
    Path("c.py").write_text("# new\n", encoding="utf-8")
    Path("a.py").unlink()
    assert code_differences(made, held) == ["b.py", "c.py (new)", "a.py (no longer used)"]
    assert code_differences(made, None) == []


def test_inputs_are_compared_by_content(folder: Path) -> None:
    made = job()
    held = stamped(made)
    Path("x.npz").write_bytes(b"other")
    Path("y.npz").unlink()
    states = [(name, path, state) for name, path, _, state in input_states(made, held)]
    assert states == [("samples", "x.npz", "has other content now"), ("blocks", "y.npz", "is not there")]
    assert [state for *_, state in input_states(made, None)] == ["is there", "is not there"]


def test_matrices_are_compared_by_their_numbers(folder: Path) -> None:
    """A manifest has the digest of the numbers; the file around them may be another."""
    write_npz("x.npz", matrix=np.eye(2), sha256="ab12")
    made = job(inputs={"matrices": ["x.npz"]})
    held = stamp(made.spec, {"matrices": {"hog/chi2": "ab12"}}, [])
    assert [state for *_, state in input_states(made, held)] == ["as it was"]
    held = stamp(made.spec, {"matrices": {"hog/chi2": "cd34"}}, [])
    assert [state for *_, state in input_states(made, held)] == ["has other content now"]


@pytest.mark.parametrize(
    ("reasons", "said"),
    [
        (Reasons(missing=["out.npz"]), "out.npz does not exist"),
        (Reasons(interrupted=True), "a job that was to make it has not ended"),
        (Reasons(newer=["x.npz"]), "input samples (x.npz) is newer"),
        (Reasons(remade=["y.npz"]), "input blocks (y.npz) is made again first"),
        (Reasons(environment_differs=True), "the software environment of its rule has changed"),
        (Reasons(other="Forced execution"), "Snakemake says: Forced execution"),
    ],
)
def test_every_reason_of_snakemake_has_a_sentence(folder: Path, reasons: Reasons, said: str) -> None:
    made = job(reasons=reasons)
    (sentence,) = sentences(made, stamped(made), recorded(made))
    assert sentence.startswith(said)


def test_other_inputs_and_many_of_them(folder: Path) -> None:
    made = job()
    record = replace(recorded(made), inputs=["old.npz", "x.npz"])
    found = sentences(job(reasons=Reasons(inputs_differ=True)), stamped(made), record)
    assert found == ["it has another input now: y.npz", "an input is no longer planned: old.npz"]
    many = [f"{number}.npz" for number in range(30)]
    made = job(inputs={"fits": many}, reasons=Reasons(remade=many))
    found = sentences(made, None, None)
    assert len(found) == 9
    assert found[-1] == "22 more of its inputs are made again first"


def test_names_without_the_key_of_their_specification() -> None:
    path = "results/cache/fits/digits-569430b8/random-p4-8b457d6e/mkl-lda-edc56a6f.npz"
    assert KEY.sub("", path) == "results/cache/fits/digits/random-p4/mkl-lda.npz"
    assert KEY.sub("", "results/cache/descriptors/d-00000000/hog-11111111.learned.npz").endswith("/d/hog.learned.npz")


# --- who may be asked


def test_outside_a_checkout_there_is_nothing_to_ask(folder: Path) -> None:
    for ask in (lambda: explain("x.csv"), lambda: ask_snakemake("x.csv")):
        with pytest.raises(ConfigError, match="has no Snakefile"):
            ask()
    with pytest.raises(DataError, match="is a folder"):
        explain(".")


def test_a_record_that_is_cut_off_is_named(folder: Path) -> None:
    Path("table.csv").write_text("x\n", encoding="utf-8")
    for name, ask in {"provenance.json": explain, "run.json": _study_of}.items():
        Path(name).write_text('{"files": {"table.csv"', encoding="utf-8")
        with pytest.raises(DataError, match=name):
            ask("table.csv")
        Path(name).unlink()


def test_a_log_that_begins_with_no_command_is_asked_about_as_it_is(folder: Path) -> None:
    Path("notes.log").write_text("it's somebody's own\n", encoding="utf-8")
    assert _made_with("notes.log") is None
    Path("fit.log").write_text("python -m mklearn.steps.fit --out scores=results/x.parquet\n", encoding="utf-8")
    assert _made_with("fit.log") == "results/x.parquet"


def test_a_checkout_without_its_study(folder: Path, repository: Path) -> None:
    shutil.copy(repository / "Snakefile", folder)
    with pytest.raises(ConfigError, match=r"Snakemake can't plan it: .*config\.yaml"):
        ask_snakemake("x.npz")


def test_a_study_that_is_not_there(folder: Path, repository: Path) -> None:
    shutil.copy(repository / "Snakefile", folder)
    with pytest.raises(ConfigError, match=r"--study: there is no file 'none\.yaml'"):
        ask_snakemake("x.npz", "none.yaml")

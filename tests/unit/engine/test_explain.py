"""Stamps of every kind of file; what differs between then and now, as sentences; who may be asked about."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from snakemake.jobs import Reason

from mklearn.atomic import write_npz, write_parquet, write_text
from mklearn.engine.differences import code_differences, differences, input_states, spec_differences
from mklearn.engine.explain import KEY, DryRun, _made_with, dry_run, explain, reasons, study_of
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
    monkeypatch.setattr("mklearn.engine.explain.step_code", lambda step, spec: code())
    for name in ("a.py", "b.py", "x.npz", "y.npz"):
        Path(name).write_text(f"# {name}\n", encoding="utf-8")
    return tmp_path


def code() -> list[str]:
    return sorted(map(str, Path.cwd().glob("*.py")))


SPEC = {"kind": "hog", "parameters": {"cell": 4}}
INPUTS = {"samples": ["x.npz"], "blocks": ["y.npz"]}


def stamped(inputs: dict[str, Any] = INPUTS) -> dict[str, Any]:
    return stamp(SPEC, input_digests(**inputs), code())


def planned(why: dict[str, Any], inputs: dict[str, list[str]] = INPUTS, record: Any = None) -> tuple[Any, DryRun]:
    """A job as Snakemake plans it, and its plan."""
    job = SimpleNamespace(
        rule=SimpleNamespace(name="describe"), params={"spec": SPEC, "code": "f"}, input=inputs, output=["out.npz"]
    )
    reason: Any = Reason()
    for name, value in why.items():
        getattr(reason, name).update(value) if isinstance(value, set) else setattr(reason, name, value)
    workflow = SimpleNamespace(
        dag=SimpleNamespace(reason=lambda job: reason), persistence=SimpleNamespace(metadata=lambda file: record)
    )
    return job, DryRun("config.yaml", workflow, job)


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


def states(inputs: dict[str, list[str]], held: Any) -> list[str]:
    return [state for *_, state in input_states(inputs, held)]


def test_nothing_differs_at_first(folder: Path) -> None:
    assert differences(stamped(), SPEC, code()) == []
    assert states(INPUTS, stamped()) == ["as it was", "as it was"]


def test_changed_code_is_named(folder: Path) -> None:
    held = stamped()
    Path("b.py").write_text("# another\n", encoding="utf-8")
    assert differences(held, SPEC, code()) == ["its code has changed: b.py"]
    Path("c.py").write_text("# new\n", encoding="utf-8")
    Path("a.py").unlink()
    assert code_differences(held, code()) == ["b.py", "c.py (new)", "a.py (no longer used)"]
    assert code_differences({}, code()) == []
    job, plan = planned({"forced": True})
    job.params["code"] = ""  # a rule whose jobs do not follow its code
    write_npz("out.npz", provenance=canonical(held))
    assert reasons(job, plan) == ["Snakemake says: Forced execution"]


def test_inputs_are_compared_by_content(folder: Path) -> None:
    held = stamped()
    Path("x.npz").write_bytes(b"other")
    Path("y.npz").unlink()
    assert states(INPUTS, held) == ["has other content now", "is not there"]
    assert states(INPUTS, None) == ["is there", "is not there"]
    assert states({"samples": [], "new": ["x.npz"]}, held) == ["is there"]


def test_several_files_of_an_input_are_told_apart(folder: Path) -> None:
    held = stamped({"parts": ["y.npz", "x.npz"]})
    Path("y.npz").write_bytes(b"other")
    assert states({"parts": ["x.npz", "y.npz"]}, held) == ["as it was", "has other content now"]
    assert states({"parts": ["x.npz"]}, held) == ["is there"], "there were two"


def test_matrices_are_compared_by_their_numbers(folder: Path) -> None:
    """A manifest has the digest of the numbers; the file around them may be another."""
    write_npz("x.npz", matrix=np.eye(2), sha256="ab12")
    for digest, state in (("ab12", "as it was"), ("cd34", "has other content now")):
        held = stamp(SPEC, {"matrices": {"hog/chi2": digest}}, [])
        assert states({"matrices": ["x.npz"]}, held) == [state]


@pytest.mark.parametrize(
    ("why", "said"),
    [
        ({"missing_output": {"out.npz"}}, "out.npz does not exist"),
        ({"incomplete_output": {"out.npz"}}, "the job that was to make it did not end well"),
        ({"updated_input": {"x.npz"}}, "input samples (x.npz) is newer"),
        ({"updated_input_run": {"y.npz"}}, "input blocks (y.npz) is made again first"),
        ({"software_stack_changed": True}, "the software environment of its rule has changed"),
        ({"forced": True}, "Snakemake says: Forced execution"),
    ],
)
def test_every_reason_of_snakemake_has_a_sentence(folder: Path, why: dict[str, Any], said: str) -> None:
    (sentence,) = reasons(*planned(why))
    assert sentence.startswith(said)


def test_other_inputs_and_many_of_them(folder: Path) -> None:
    record = SimpleNamespace(rule="describe", input=["old.npz", "x.npz"])
    found = reasons(*planned({"input_changed": True}, record=record))
    assert found == ["it has another input now: y.npz", "an input is no longer planned: old.npz"]
    many = [f"{number}.npz" for number in range(30)]
    found = reasons(*planned({"updated_input_run": set(many)}, inputs={"fits": many}))
    assert len(found) == 9
    assert found[-1] == "22 more of its inputs are made again first"


def test_names_without_the_key_of_their_specification() -> None:
    path = "results/cache/fits/digits-569430b8/random-p4-8b457d6e/mkl-lda-edc56a6f.npz"
    assert KEY.sub("", path) == "results/cache/fits/digits/random-p4/mkl-lda.npz"
    assert KEY.sub("", "results/cache/descriptors/d-00000000/hog-11111111.learned.npz").endswith("/d/hog.learned.npz")


# --- who may be asked


def test_outside_a_checkout_there_is_nothing_to_ask(folder: Path) -> None:
    for ask in (lambda: explain("x.csv"), lambda: dry_run("x.csv")):
        with pytest.raises(ConfigError, match="has no Snakefile"):
            ask()
    with pytest.raises(DataError, match="is a folder"):
        explain(".")


def test_a_record_that_is_cut_off_is_named(folder: Path) -> None:
    Path("table.csv").write_text("x\n", encoding="utf-8")
    for name, ask in {"provenance.json": explain, "run.json": study_of}.items():
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
        dry_run("x.npz")


def test_a_study_that_is_not_there(folder: Path, repository: Path) -> None:
    shutil.copy(repository / "Snakefile", folder)
    with pytest.raises(ConfigError, match=r"--study: there is no file 'none\.yaml'"):
        dry_run("x.npz", "none.yaml")

"""Stamps of every kind of file; what has changed since, as sentences; what can be explained."""

from __future__ import annotations

import json
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
from mklearn.errors import ConfigError, DataError
from mklearn.study.engine.explain import _made_with, code_changes, dry_run, explain, reasons, spec_changes
from mklearn.study.provenance import canonical, file_digest, stamp
from mklearn.study.stamps import read_stamp, stamp_beside, write_beside

pytestmark = pytest.mark.full

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
    """The present folder, with two source files behind every step."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mklearn.study.engine.explain.step_code", lambda step, spec: code())
    for name in ("a.py", "b.py"):
        Path(name).write_text(f"# {name}\n", encoding="utf-8")
    return tmp_path


def code() -> list[str]:
    return sorted(map(str, Path.cwd().glob("*.py")))


SPEC = {"kind": "hog", "parameters": {"cell": 4}}


def said(why: dict[str, Any], code: str = "f") -> list[str]:
    """What is said of a job that Snakemake would run for these reasons."""
    job = SimpleNamespace(
        rule=SimpleNamespace(name="describe"), params={"spec": SPEC, "code": code}, output=["out.npz"]
    )
    reason: Any = Reason()
    for name, value in why.items():
        getattr(reason, name).update(value) if isinstance(value, set) else setattr(reason, name, value)
    return reasons(job, SimpleNamespace(reason=lambda job: reason))


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
    assert spec_changes(one, one) == []
    assert bool(spec_changes(one, other)) == (canonical(one) != canonical(other))
    assert len(spec_changes(one, other)) == len(spec_changes(other, one))


def test_each_key_that_differs_has_its_words() -> None:
    then = {"method": {"ridge": 0.1, "k": 5, "old": True}, "kernels": [{"id": "a"}, {"id": "b"}], "title": ""}
    now = {"method": {"ridge": 0.2, "k": 5, "new": None}, "kernels": [{"id": "a"}, {"id": "c"}], "title": "T"}
    assert spec_changes(then, now) == [
        "method.ridge: 0.1 -> 0.2",
        "method.old: removed (was true)",
        "method.new: added: null",
        "kernels[1].id: b -> c",
        'title: "" -> T',
    ]
    assert spec_changes({"a": [1]}, {"a": [1, 2]}) == ["a: [1] -> [1,2]"]
    assert spec_changes({"a": 1}, {"a": 1.0}) == ["a: 1 -> 1.0"]  # another text, and so another key
    assert len(spec_changes({"a": "x" * 500}, {"a": "y" * 500})[0]) < 140


def test_changed_code_is_named(folder: Path) -> None:
    held = stamp(SPEC, {}, code())
    write_npz("out.npz", provenance=canonical(held))
    assert code_changes(held, code()) == []
    Path("b.py").write_text("# another\n", encoding="utf-8")
    assert said({}) == ["its code has changed: b.py"]
    Path("c.py").write_text("# new\n", encoding="utf-8")
    Path("a.py").unlink()
    assert code_changes(held, code()) == ["b.py", "c.py (new)", "a.py (no longer used)"]
    assert code_changes({}, code()) == []
    assert said({"forced": True}, code="") == ["Snakemake says: Forced execution"], "its rule does not follow its code"


@pytest.mark.parametrize(
    ("why", "sentence"),
    [
        ({"missing_output": {"out.npz"}}, "missing: out.npz"),
        ({"incomplete_output": {"out.npz"}}, "not finished (its job is at work now, or was interrupted): out.npz"),
        ({"updated_input": {"x.npz", "y.npz"}, "updated_input_run": {"y.npz"}}, "newer inputs: x.npz"),
        ({"updated_input_run": set("fedcba0123")},
         "inputs that are made again first: 0, 1, 2, 3, a, b, c, d, and 2 more"),
        ({"input_changed": True}, "its list of inputs has changed"),
        ({"software_stack_changed": True}, "the software environment of its rule has changed"),
        ({"forced": True}, "Snakemake says: Forced execution"),
    ],
)  # fmt: skip
def test_every_reason_of_snakemake_has_a_sentence(folder: Path, why: dict[str, Any], sentence: str) -> None:
    assert said(why)[0] == sentence


# --- what can be explained


def test_outside_a_checkout_the_default_study_is_asked(folder: Path) -> None:
    with pytest.raises(DataError, match=r"x\.csv: there is no such file, and study file .*config\.yaml plans none"):
        explain("x.csv")
    with pytest.raises(DataError, match="is a folder"):
        explain(".")


def test_a_record_that_is_cut_off_is_named(folder: Path) -> None:
    Path("table.csv").write_text("x\n", encoding="utf-8")
    Path("provenance.json").write_text('{"files": {"table.csv"', encoding="utf-8")
    with pytest.raises(DataError, match=r"provenance\.json"):
        explain("table.csv")


def test_a_log_that_begins_with_no_command_is_asked_about_as_it_is(folder: Path) -> None:
    Path("notes.log").write_text("it's somebody's own\n", encoding="utf-8")
    assert _made_with("notes.log") is None
    Path("fit.log").write_text("python -m mklearn.study.steps.fit --out scores=results/x.parquet\n", encoding="utf-8")
    assert _made_with("fit.log") == "results/x.parquet"


def test_a_study_that_there_is_not(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.yaml: there is no such file\. Studies of mklearn: .*mkldr-small"):
        dry_run("x.npz", "none.yaml")
    Path("config.yaml").write_text("study: [", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"config\.yaml: is not valid YAML: .* at line 1"):
        dry_run("x.npz")

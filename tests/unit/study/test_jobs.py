"""Jobs of a study: rules make the files of the plan, and each depends on the code behind it; cheap parsing."""

import ast
import importlib
import itertools
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.planned_jobs import planned_jobs
from tests.unit.study.small_study import ON_DIGITS, STUDY, write_pairs

from mklearn.descriptors.table import DESCRIPTORS
from mklearn.errors import ConfigError
from mklearn.methods import METHODS
from mklearn.study.data.registry import registry
from mklearn.study.jobs import OUTPUTS, Jobs, log_of
from mklearn.study.plan.plan import plan_study
from mklearn.study.provenance import (
    PACKAGE,
    SCRIPTS,
    array_digest,
    canonical,
    code_files,
    commit,
    input_digests,
    key,
    named_modules,
)
from mklearn.study.reading import check_study

DOWNLOADED: dict[str, Any] = {
    "study": "faces", "datasets": ["yale"], "final": {}, "methods": {"average": {"kind": "kernel_fda"}},
}  # fmt: skip
CONTROL = {"multi-view": {"kind": "multi_view", "kernels": "all", **ON_DIGITS}}
CONTROLLED = STUDY | {"null": 2, "methods": STUDY["methods"] | CONTROL}
ALWAYS = {"read", "split", "describe", "distances", "fit", "evaluate", "tables", "page"}


def test_the_graph_of_the_readme(here: Path, repository: Path) -> None:
    jobs = planned_jobs(DOWNLOADED | {"datasets": {"yale": {"resize": {"shape": [40, 36]}}}})
    maker = {path: job.rule for job in jobs for path in job.outputs.values()}
    edges = {f"{maker[path]} --> {job.rule}" for job in jobs for path in job.files if path in maker}
    readme = (repository / "README.md").read_text(encoding="utf-8")
    drawn = readme.partition("flowchart LR\n")[2].partition("```")[0]
    assert {line.strip() for line in drawn.splitlines()} == edges


@pytest.mark.parametrize(
    ("study", "rules"),
    [(DOWNLOADED, ALWAYS | {"download", "model"}), (CONTROLLED, OUTPUTS.keys() - {"download", "model"})],
)
def test_outputs_of_rules(study: dict[str, Any], rules: set[str], here: Path) -> None:
    write_pairs()
    planned, jobs = planned_jobs(study), Jobs(plan_study(check_study(study)))
    assert {job.rule for job in planned} == rules
    made = {path for job in planned if job.rule != "download" for path in job.outputs.values()}
    assert set(jobs.everything()) == made, "a file that a killed job has deleted is made again"
    for rule, outputs in OUTPUTS.items():
        of_rule = [job for job in planned if job.rule == rule]
        assert sorted(map(str, jobs.keys(rule))) == sorted(str(job.wildcards) for job in of_rule), rule
        for job in of_rule:
            assert job.outputs == {name: jobs.path(rule, name, **job.wildcards) for name in outputs}
            assert job.log == jobs.log(rule, **job.wildcards)
            assert {log_of(Path(path)) for path in job.outputs.values()} == {Path(job.log)}
            assert (SCRIPTS / f"{job.script}.py").is_file()


def test_a_study_without_a_model_says_how_to_get_one() -> None:
    with pytest.raises(ConfigError, match="makes no model: add a section `final`"):
        Jobs(plan_study(check_study({"study": "plain", "datasets": ["digits"]}))).job("model")


# --- the code behind a step


def test_package_files_only_re_export() -> None:
    """``__init__`` files are in no fingerprint, so they must not compute anything."""
    for path in {*PACKAGE.rglob("__init__.py")} - {PACKAGE / "__init__.py"}:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            importing = isinstance(node, ast.Import | ast.ImportFrom)
            attaching = isinstance(node, ast.Assign) and "attach(" in ast.unparse(node)
            attaching |= isinstance(node, ast.Assign) and ast.unparse(node).startswith("__all__ = ['")
            checking = isinstance(node, ast.Expr) and ast.unparse(node).startswith("_require(")
            assert docstring or importing or attaching or checking, f"{path}: {ast.unparse(node)}"


def code_of(step: str, spec: dict[str, Any]) -> set[str]:
    return {
        path.relative_to(PACKAGE).as_posix()
        for path in code_files(step, named_modules(spec))
        if path.is_relative_to(PACKAGE)
    }


def methods_in(code: set[str]) -> set[str]:
    modules = {kind: model.implementation.split(":")[0].removeprefix("mklearn.") for kind, model in METHODS.items()}
    return {kind for kind, module in modules.items() if f"{module.replace('.', '/')}.py" in code}


def test_a_fit_depends_on_its_method_and_what_that_is_built_on() -> None:
    code = code_of("fit", {"method": {"implementation": METHODS["mkl_dr"].implementation}})
    assert {"optimize/eigen.py", "kernels/functions.py", "study/evaluation/split.py", "graphs/class_graphs.py"} <= code
    assert not {"study/evaluation/summary.py", "descriptors/pixels.py", "study/report/build.py"} & code
    voting = {"method": {"implementation": "mklearn.papers.mkl_dr.kernel_ensembles:KernelVoting"}}
    assert methods_in(code_of("fit", voting)) == {"kernel_voting", "kernel_samme", "kernel_fda", "kernel_lde"}
    assert methods_in(code_of("fit", {"method": {"implementation": "mklearn.subspace.pca:PCA"}})) == {"pca"}
    c2 = {"implementation": "mklearn.papers.mkl_dr.c2:c2_serre"}
    assert "extras.py" in code & code_of("distances", {}) & code_of("describe", c2)


def used_modules(name: str) -> set[str]:
    """The modules of mklearn whose classes, functions or values a module names, or one of those."""
    seen: set[str] = set()
    todo = [name]
    while todo:
        module = todo.pop()
        if module.startswith("mklearn.") and module not in seen:
            seen.add(module)
            todo += [
                getattr(thing, "__module__", None) or "" for thing in vars(importlib.import_module(module)).values()
            ]
    return seen


NEUTRAL = (
    "errors", "methods", "rows", "kernels/table", "kernels/views", "descriptors/table", "base/parameters",
    "checks", "estimator_input", "extras", "atomic", "study/",
)  # fmt: skip
"""Modules that change no number of a method or descriptor."""


@pytest.mark.parametrize(("sort", "step"), [("methods", "fit"), ("descriptors", "describe")])
def test_all_that_an_implementation_uses_is_behind_it(sort: str, step: str) -> None:
    for kind, model in {"methods": METHODS, "descriptors": DESCRIPTORS}[sort].items():
        if model.implementation:
            code = code_of(step, {"implementation": model.implementation})
            modules = used_modules(model.implementation.split(":")[0])
            files = {name.removeprefix("mklearn.").replace(".", "/") + ".py" for name in modules}
            used = {file for file in files if (PACKAGE / file).is_file() and not file.startswith(NEUTRAL)}
            assert used - {"kernels/costs.py"} <= code, kind


def test_a_descriptor_and_a_reader_are_code_of_no_other() -> None:
    pixels = code_of("describe", {"implementation": "mklearn.descriptors.pixels:pixels"})
    assert {path for path in pixels if path.startswith("descriptors/")} == {
        "descriptors/pixels.py", "descriptors/images.py", "descriptors/point_sets.py",
    }  # fmt: skip
    own = code_of("read", {"reader": "mklearn.study.data.readers.own_tables:feature_tables"})
    assert {"kernels/feature_scaling.py", "base/folds.py"} <= own  # for notes on the data
    assert "base/folds.py" in code_of("split", {})
    assert "base/statistics.py" in code_of("tables", {}) & code_of("page", {}) - code_of("fit", {})
    readers = {known.reader for known in registry().values()}
    for reader in readers | {"mklearn.study.data.readers.own_tables:feature_tables"}:
        path = reader.partition(":")[0].removeprefix("mklearn.").replace(".", "/")
        assert f"{path}.py" in code_of("read", {"reader": reader})
    assert "study/data/readers/views.py" not in code_of(
        "read", {"reader": "mklearn.study.data.readers.registered:usps"}
    )


# --- cheap parsing


def test_parsing_a_study_loads_no_numerical_package(repository: Path) -> None:
    """Every job of a cluster run parses the study again."""
    source = (
        "import json, sys; from types import SimpleNamespace;"
        "from mklearn.study.yaml_file import read_yaml;"
        "from mklearn.study.engine.session import open_study;"
        "from mklearn.study.resources import Requests;"
        "study = read_yaml('config.yaml');"
        "workflow = SimpleNamespace(configfiles=['config.yaml'], current_basedir='workflow/rules');"
        "jobs = open_study(study, workflow);"
        "jobs.params('page')['code'](None); jobs.everything(); Requests(jobs);"
        "print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    )
    done = subprocess.run([sys.executable, "-c", source], cwd=repository, capture_output=True, text=True, check=True)
    heavy = {"numpy", "scipy", "sklearn", "pandas", "pyarrow", "cvxpy", "skimage", "matplotlib", "requests"}
    assert not heavy & set(json.loads(done.stdout))


# --- keys and digests

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON, JSON)
def test_equal_specifications_and_only_they_have_equal_keys(one: Any, other: Any) -> None:
    assert canonical(json.loads(canonical(one))) == canonical(one)
    assert (key("x", one) == key("x", other)) == (canonical(one) == canonical(other))


@given(st.text(max_size=30))
def test_keys_are_names_of_files(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9][a-z0-9.-]*-[0-9a-f]{16}", key(name, {})), "as the rules' wildcards match"


def test_digests_of_files_beside_and_above_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("data/a.csv", "study/b.csv"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(name, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "study")
    assert list(input_digests(tables=["../data/a.csv", "b.csv"])["tables"]) == ["data/a.csv", "study/b.csv"]


def test_array_digests_tell_content_type_and_shape_but_not_storage() -> None:
    array = np.arange(6.0).reshape(2, 3)
    same = [array.copy(), np.asfortranarray(array), np.concatenate([array, array])[:2], array.T.copy().T]
    assert {array_digest(other) for other in same} == {array_digest(array)}
    different = [array.astype(np.float32), array.reshape(3, 2), array + 1e-15, array[:1], array[:0], np.array(0.0),
                 array.view(np.int64)]  # fmt: skip
    digests = [array_digest(other) for other in [array, *different]]
    assert all(a != b for a, b in itertools.combinations(digests, 2))


def test_the_commit_says_whether_files_differ_and_is_empty_outside_a_checkout(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(
            ["git", "-C", str(tmp_path), "-c", "user.name=x", "-c", "user.email=x@x", *arguments],
            check=True, capture_output=True,
        )  # fmt: skip

    assert commit(tmp_path) == ""
    git("init")
    (tmp_path / "a").write_text("1", encoding="utf-8")
    git("add", "a")
    git("commit", "-m", "one")
    clean = commit(tmp_path)
    assert len(clean) == 12
    (tmp_path / "a").write_text("2", encoding="utf-8")
    assert commit(tmp_path) == f"{clean}+"
    (tmp_path / "lib").mkdir()
    assert commit(tmp_path / "lib") == "", "a package installed in the user's repository"

"""Fingerprints contain the code that jobs really load; keys and digests; parsing a study stays cheap."""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import json
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mklearn.study.config.registry import registered
from mklearn.study.data.read import READERS
from mklearn.study.provenance import (
    PACKAGE,
    _home,
    _import_statements,
    array_digest,
    canonical,
    code_fingerprint,
    code_of,
    commit,
    file_digest,
    input_digests,
    key,
    names_below,
    stamp,
    step_code,
    versions,
)
from mklearn.study.steps.runner import STEPS

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


# --- what rules declare


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


BUILT_ON = {
    "kernel_voting": {"kernel_fda", "kernel_lde"},
    "kernel_samme": {"kernel_fda", "kernel_lde"},
    "embedded_linear_svc": {"kernel_fda"},
    "gaussian_svc": {"kernel_svc"},
    "convex_mkl_dr_svc": {"convex_mkl_dr"},
    "standardised_shrinkage_lda": {"shrinkage_lda"},
    "ledoit_wolf_svc": {"ledoit_wolf_lda"},
    "r_svm_plus_mu": {"r_svm_plus"},
    "kernel_pca_classifier": {"fsvc", "kernel_pca"},
}
"""Methods that are built on other methods and fitted again with them."""


def file_of(model: Any) -> str:
    """The file of an implementation of mklearn."""
    return str(PACKAGE.joinpath(*model.implementation.split(":")[0].split(".")[1:]).with_suffix(".py"))


def test_a_method_depends_on_no_other() -> None:
    """Editing one method must not fit the others again."""
    files = {
        kind: file_of(model)
        for kind, model in registered("methods").items()
        if model.implementation.startswith("mklearn.")
    }
    for kind, model in registered("methods").items():
        method = model(kind=kind)  # type: ignore[call-arg]
        sweep = method.sweep().model_dump()
        spec = {"implementation": model.implementation, "sweep": sweep, "parameters": method.parameters()}
        code = step_code("fit", {"method": spec})
        assert kind not in files or files[kind] in code
        others = {other for other, path in files.items() if other != kind and path in code}
        assert others == BUILT_ON.get(kind, set()), kind


def test_code_that_a_sweep_names_is_code_of_the_fit() -> None:
    path = "mklearn.papers.two_d_mmc.path:fit_path"
    sweep = {"implementation": "x:Refit", "parameters": {"sizes": [1], "path": path}}
    of_a_sweep = step_code("fit", {"method": {"implementation": "mklearn.subspace.pca:PCA", "sweep": sweep}})
    assert str(PACKAGE / "papers" / "two_d_mmc" / "path.py") in of_a_sweep
    assert str(PACKAGE / "papers" / "two_d_mmc" / "path.py") not in step_code(
        "fit", {"method": {"sweep": sweep | {"parameters": {}}}}
    )


@pytest.mark.parametrize("kind", registered("kernels"))
def test_a_kernel_is_code_of_the_fits_that_use_it_and_of_no_other(kind: str) -> None:
    """A spec names its kind alone. Every fit has the Gaussian, which a spec without a kind means."""
    code = step_code("fit", {"kernels": [{"id": "k", "kind": kind}]})
    used = {other for other, model in registered("kernels").items() if file_of(model) in code}
    assert used == {"gaussian", kind}


@pytest.mark.parametrize(
    ("metric", "files"),
    [
        ("accuracy", set()),
        ("auc", {"scores", "sample_values"}),
        ("macro_f1", {"labels", "sample_values"}),
        ("r2", {"numbers", "number_values"}),
    ],
)
def test_a_metric_is_code_of_the_fits_that_it_scores(metric: str, files: set[str]) -> None:
    """With what gives its values of samples. Every fit has the accuracy, by which kernels can be weighted."""
    code = step_code("fit", {"evaluation": {"metrics": [metric]}})
    folder = PACKAGE / "study" / "evaluation" / "metrics"
    assert {Path(path).stem for path in code if Path(path).parent == folder} == {"metric", "labels"} | files


def test_templates_are_part_of_the_report() -> None:
    assert {"index.html.j2", "style.css", "figures.js", "tables.js", "page.js"} <= {
        Path(path).name for path in step_code("report")
    }


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_is_code_of_the_data_sets_that_it_reads_and_of_no_other(reader: str) -> None:
    folder = PACKAGE / "study" / "data" / "readers"
    needed = {"content", "image_folder"}  # what checks any file, and the listing of a folder
    code = {Path(path).stem for path in step_code("read", {"reader": reader}) if Path(path).parent == folder}
    assert reader in code
    others = code - needed - {reader}
    own = {"annotated_data", "hdf5", "matlab", "matlab_tables", "table_files", "tabular", "text_tables"}
    built_on = {"feature_tables": own, "precomputed": own, "deng_cai_mat": {"matlab"}, "olivetti_mat": {"matlab"},
                "uci_table": {"matlab"}, "deformed_idx": {"idx"},
                "views": {*own, "feature_tables", "r_files"}}  # fmt: skip
    assert others <= built_on.get(reader, set()), others


def test_code_follows_imports_inside_functions_and_through_packages() -> None:
    assert str(PACKAGE / "optimize" / "relaxations.py") in code_of("mklearn.subspace.mkldr")
    assert code_of("numpy", "mklearn.nothing.like.it", "") == []


def test_code_follows_names_of_lazy_packages() -> None:
    """``from mklearn.subspace import KernelFDA`` leads to the file of the class, and so on from ``mklearn`` itself."""
    packages = [path.parent for path in PACKAGE.rglob("__init__.py") if "attach(" in path.read_text(encoding="utf-8")]
    found = 0
    for folder in packages:
        package = importlib.import_module(".".join(folder.relative_to(PACKAGE.parent).parts))
        for name in package.__all__:
            thing = getattr(package, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                assert _home(package.__name__, name) == thing.__module__
                found += 1
    assert found > 60
    assert _home("mklearn", "nothing") == "mklearn"


def test_code_follows_relative_imports_of_other_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are of the module's own package, which of ``__init__.py`` is the module."""
    root = tmp_path / "relative_package"
    sources = {
        "__init__.py": "", "method.py": "from .parts import x\nfrom . import consts\nfrom ... import too_far\n",
        "consts.py": "", "parts/__init__.py": "from .inner import x\n", "parts/inner.py": "from ..helpers import x\n",
        "helpers.py": "", "unused.py": "",
    }  # fmt: skip
    for name, source in sources.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(source, encoding="utf-8")
    monkeypatch.setattr("mklearn.study.provenance.module_roots", lambda: {"relative_package": root})
    assert code_of("relative_package.method") == sorted(str(root / name) for name in sources.keys() - {"unused.py"})


@pytest.mark.full
def test_all_imports_are_found() -> None:
    """Those of every module of mklearn, and every form of the statement."""
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        assert _names(_import_statements(source)) == _names(ast.walk(ast.parse(source))), path
    source = """
import a, b.c as d; import e
from f import (g,  # a comment (in parentheses)
    h)
from i \\
    import j
if True: import k
try:
\timport l
finally: from .m import n
from o import(p)
"""
    assert _names(_import_statements(source)) == _names(ast.walk(ast.parse(source)))
    assert _names(_import_statements(source)) == {"a", "b.c", "e", "f", "i", "k", "l", "m", "o"}


def _names(nodes: Iterable[ast.AST]) -> set[str]:
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [[node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names] for node in imports]
    return {str(name) for found in names for name in found}


@pytest.mark.parametrize("step", sorted(STEPS))
def test_every_step_names_code_of_this_package(step: str) -> None:
    code = step_code(step)
    assert str(PACKAGE / "study" / "steps" / f"{step}.py") in code
    assert code == sorted(set(code))
    assert all(Path(path).is_file() for path in code)


# --- cheap parsing


def test_parsing_a_study_loads_no_numerical_package(repository: Path) -> None:
    """Every job of a cluster run parses the study again."""
    source = (
        "import json, sys; import mklearn.study.stages.targets as w;"
        "from mklearn.study.config.reading import read_study;"
        "w.Targets(w.plan_study(read_study('config.yaml'))).job('report').spec;"
        "print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    )
    done = subprocess.run([sys.executable, "-c", source], cwd=repository, capture_output=True, text=True, check=True)
    heavy = {"numpy", "scipy", "sklearn", "pandas", "pyarrow", "cvxpy", "skimage", "matplotlib", "requests"}
    assert not heavy & set(json.loads(done.stdout))


# --- keys and digests


@given(JSON, JSON)
def test_equal_specifications_and_only_they_have_equal_keys(one: Any, other: Any) -> None:
    assert canonical(json.loads(canonical(one))) == canonical(one)
    assert (key("x", one) == key("x", other)) == (canonical(one) == canonical(other))


@given(st.dictionaries(st.text(), st.integers(), min_size=2, max_size=5), st.randoms())
def test_keys_do_not_depend_on_the_order_of_entries(spec: dict[str, int], random: Any) -> None:
    entries = list(spec.items())
    random.shuffle(entries)
    assert key("x", dict(entries)) == key("x", spec)


@given(st.text(max_size=30))
def test_keys_are_names_of_files(name: str) -> None:
    made = key(name, {})
    assert made.isascii()
    assert set(made) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-")
    assert not made.startswith((".", "-"))


def test_not_a_number_has_no_key() -> None:
    with pytest.raises(ValueError):
        key("x", {"ridge": float("nan")})


def test_array_digests_tell_content_type_and_shape_but_not_storage() -> None:
    array = np.arange(6.0).reshape(2, 3)
    same = [array.copy(), np.asfortranarray(array), np.concatenate([array, array])[:2], array.T.copy().T]
    assert {array_digest(other) for other in same} == {array_digest(array)}
    different = [array.astype(np.float32), array.reshape(3, 2), array + 1e-15, array[:1], array[:0], np.array(0.0),
                 array.view(np.int64)]  # fmt: skip
    digests = [array_digest(other) for other in [array, *different]]
    assert all(a != b for a, b in itertools.combinations(digests, 2))


def test_fingerprints_follow_content_not_place_order_or_time(tmp_path: Path) -> None:
    names = ("a.py", "b.py")
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / name).write_text(f"# {name}\n", encoding="utf-8")
    here, there = ([tmp_path / folder / name for name in names] for folder in ("here", "there"))
    before = code_fingerprint(here)
    assert code_fingerprint(there) == code_fingerprint(reversed(here)) == before
    there[0].write_text("# a.py \n", encoding="utf-8")
    assert code_fingerprint(there) != before
    shutil.move(here[0], here[0].with_name("c.py"))
    assert code_fingerprint([here[0].with_name("c.py"), here[1]]) != before


def test_digests_of_inputs_are_named_as_the_step_names_them(tmp_path: Path) -> None:
    """One file by its input's name; several by their places below what they have in common."""
    for name in ("a.npz", "x/p/m.npz", "x/q/m.npz"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name, encoding="utf-8")
    a, p, q = (tmp_path / name for name in ("a.npz", "x/p/m.npz", "x/q/m.npz"))
    assert input_digests(samples=a, learned=None, blocks=[], fits=[p, q]) == {
        "samples": file_digest(a), "fits": {"p/m.npz": file_digest(p), "q/m.npz": file_digest(q)},
    }  # fmt: skip
    assert names_below([p]) == {"m.npz": p}
    assert names_below([a, q]) == {"a.npz": a, "x/q/m.npz": q}


def test_stamps_hold_no_time_and_no_path() -> None:
    code = step_code("fit")
    stamped = stamp({"a": 1}, {"x": "digest"}, code)
    assert stamped == stamp({"a": 1}, {"x": "digest"}, code)
    assert str(PACKAGE) not in canonical(stamped)
    assert stamped["modules"]["study/steps/fit.py"] == file_digest(PACKAGE / "study" / "steps" / "fit.py")[:12]


def test_the_commit_says_whether_files_differ_and_is_empty_outside_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    monkeypatch.chdir(tmp_path)
    assert commit() == commit(PACKAGE.parents[1]) != f"{clean}+", "of mklearn, run in the user's repository"


def test_versions_leave_out_what_is_not_installed() -> None:
    found = versions(("numpy", "no-such-package"))
    assert set(found) == {"python", "mklearn", "numpy"}
    assert found["numpy"] == np.__version__

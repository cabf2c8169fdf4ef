"""``python -m mklearn``: help, listings, checks of studies; mistakes give messages, not tracebacks."""

import itertools
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from PIL import Image
from tests.workflow.conftest import SMOKE

from mklearn.__main__ import main
from mklearn.methods import METHODS
from mklearn.study.engine.workflow_files import studies
from mklearn.study.entries import REQUIRED
from mklearn.study.listings import ENTRIES, GROUPS

LONG = "x" * 300


def write(path: Path, study: object) -> str:
    path.write_text(yaml.safe_dump(study, sort_keys=False), encoding="utf-8")
    return str(path)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# --- help, listings, mistakes


def test_help_has_every_public_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    output = capsys.readouterr().out
    public = ["init", "validate", "list", "show", "run", "failed", "predict", "compare", "table", "export"]
    assert re.findall(r"^    ([a-z]+) ", output, flags=re.MULTILINE)[:11] == public
    assert output.count("\n") <= 24


@pytest.mark.parametrize(
    "arguments",
    [
        [], ["fit"], ["validate"], ["list"], ["list", "x"],
        ["list", "methods", "--", "--dry-run"], ["failed", "--run", "--targets"],
    ],
)  # fmt: skip
def test_invalid_command_lines_exit_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: python -m mklearn" in capsys.readouterr().err


@pytest.mark.parametrize("what", sorted({*ENTRIES} - {"methods"}))
def test_listings_have_every_kind_parameter_and_paper(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", what]) == 0
    sections = {part.split(":")[0]: part for part in capsys.readouterr().out.strip().split("\n\n")}
    assert set(sections) == set(ENTRIES[what].rows)
    for kind, row in ENTRIES[what].rows.items():
        assert row.title in sections[kind]
        assert row.reference in sections[kind]
        for name, default in ENTRIES[what].options_of(row).items():
            assert f"    {name} ({'required' if default is REQUIRED else f'default {default!r}'}" in sections[kind]
    for kind, line in {"hog": "cell (default 8): Pixels per side of a cell", "k_fold": "folds (default 5): "}.items():
        assert f"    {line}" in sections.get(kind, f"    {line}")


@pytest.mark.parametrize("columns", [60, 200])
def test_list_of_methods(columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main(["list", "methods"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 70
    assert max(map(len, lines)) <= columns
    *parts, _ = "\n".join(lines).split("\n\n")
    groups = {title: [row.split()[0] for row in rows] for title, *rows in map(str.splitlines, parts)}
    assert tuple(groups) == GROUPS
    assert sorted(itertools.chain(*groups.values())) == sorted(METHODS)
    start, kernels, features, numbers, survival, _ = groups.values()
    assert start[0] == "multi_view"
    assert {"loo_mkl", "lmkl_svc"} <= {*kernels}
    assert {"fisherface", "random_forest"} <= {*features}
    assert numbers[0] == "multi_view_regressor"
    assert "random_forest_regressor" in numbers
    assert (survival[0], "kaplan_meier" in survival) == ("multi_view_survival", True)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["list", "methods", "mkldr"], "there is no method 'mkldr'. Did you mean 'mkl_dr'? Valid: convex_mkl_dr, "),
        (["list", "solvers", "MOSEK"], "list solvers takes no name"),
        (["list", "kernels", "x"], "there is no kernel 'x'. Valid: gaussian, "),
        (["list", "datasets", "digit"], "data set 'digit' is not registered. Did you mean 'digits'?"),
        (["run", "smokes"], "smokes: there is no such file. Did you mean 'smoke'? Studies of mklearn: "),
        (["run", "open.yaml"], "open.yaml: is not valid YAML: "),
        (["validate", "link.yaml"], "results: 'here/results' can't be made: 'here' is a link that leads nowhere;"),
        (["run", "smoke", "--cores", "0"], "--cores 0: expected a whole number from 1, or all."),
        (["run", "smoke", "--cores", "x"], "--cores x: expected a whole number from 1, or all."),
        (["validate", "long.yaml"], f"mklearn: {LONG}: File name too long\n"),
        (["validate", "many.yaml"],
         "must be an int in the range [1, 10000]. Got 1000000000 instead."),
        (["init", "nowhere"], "nowhere: there is no such file, and no such folder."),
    ],
)  # fmt: skip
def test_mistakes_are_sentences(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    digits = "study: s\ndatasets: {digits: }\n"
    Path("open.yaml").write_text("study: [")
    Path("here").symlink_to("gone")
    Path("link.yaml").write_text(f"{digits}results: here/results\n")
    Path("long.yaml").write_text(f"study: s\ndatasets: {{d: {{kind: feature_tables, tables: {{t: {LONG}}}}}}}\n")
    Path("many.yaml").write_text(f"{digits}protocols: {{p: {{kind: k_fold, repeats: 1000000000}}}}\n")
    assert main(arguments) == 1
    output = capsys.readouterr()
    assert output.err.startswith("mklearn: ")
    assert sentence in output.err
    assert not output.out


@pytest.mark.parametrize(
    ("arguments", "passed"),
    [
        (["run", "smoke"], ["--cores", "all"]),
        (["run", "smoke", "--cores", "3", "--verbose", "--", "fits", "--quiet"], ["--cores", "3", "fits", "--quiet"]),
        (["run", "smoke", "--", "--workflow-profile", "slurm"], ["--workflow-profile", "slurm"]),
        (["run", "smoke", "--dry-run", "--verbose", "--", "fits"], ["--cores", "1", "--dry-run", "fits"]),
        (["run", "smoke", "--dry-run"], ["--quiet", "rules", "host", "--cores", "1", "--dry-run"]),
    ],
)  # fmt: skip
def test_arguments(arguments: list[str], passed: list[str], repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import snakemake.cli

    called: list[list[str]] = []
    monkeypatch.setattr(snakemake.cli, "main", called.append)
    assert main(arguments) == 0
    own = ["--workflow-profile", str(repository / "profiles" / "default")] * ("--workflow-profile" not in passed)
    study = repository / "workflow" / "studies" / "smoke.yaml"
    words = ["--snakefile", str(repository / "Snakefile"), *own, "--configfile", str(study), *passed]
    assert called == [words]


@pytest.mark.full
def test_a_closed_pipe_gives_no_traceback() -> None:
    done = subprocess.run(
        f"{sys.executable} -u -m mklearn list datasets | head -n 1", shell=True, capture_output=True, text=True
    )
    assert "Traceback" not in done.stderr


# --- validate


def test_every_file_is_checked_even_after_a_bad_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [
        write(tmp_path / "one.yaml", SMOKE | {"sead": 0}),
        str(tmp_path / "gone.yaml"),
        write(tmp_path / "three.yaml", SMOKE | {"datasets": {"mine": {"kind": "image_folder", "path": "nowhere"}}}),
        write(tmp_path / "valid.yaml", SMOKE),
    ]
    assert main(["validate", *files]) == 1
    output = capsys.readouterr()
    assert "Did you mean 'seed'?" in output.err
    assert f"{files[1]}: there is no such file." in output.err
    assert "datasets.mine.path: there is no folder 'nowhere'" in output.err
    assert f"{files[3]}: study 'smoke' is valid: 1 data set, 2 descriptors, 2 distances, 4 fits." in output.out


def test_splits_that_part_groups_or_equal_samples_are_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = {"kind": "feature_tables", "tables": {"t": "t.csv"}, "group_column": "patient"}
    study = {"study": "s", "datasets": {"mine": table}, "methods": {"kfd": {"kind": "kernel_fda"}}}
    rows = "".join(f"s{k},{'ab'[k // 2 % 2]},p{k // 2},{0.1 * (k // 2)}\n" for k in range(16))
    (tmp_path / "t.csv").write_text(f"id,label,patient,x\n{rows}")

    def notes(kind: str, **more: str) -> list[str]:
        protocols = {"p": {"kind": kind, "folds": 2}}
        path = write(tmp_path / "s.yaml", study | {"protocols": protocols, "datasets": {"mine": table | more}})
        assert main(["validate", path]) == 0
        return [line for line in capsys.readouterr().out.splitlines() if line.startswith("note: ")]

    (copies,) = notes("group_k_fold", duplicates="group")
    assert copies.startswith("note: mine: samples that repeat another one in every view: 8, such as 's1 is s0', ")
    assert notes("group_k_fold") == [copies]
    (_, parted, equal) = notes("k_fold")
    assert parted.startswith("note: datasets.mine, protocols.p: 2 of 2 splits have samples of one group on both")
    assert "group_k_fold keeps them together" in parted
    assert "2 of 2 splits have equal samples on both sides" in equal
    with monkeypatch.context() as small:
        small.setattr("os.sysconf", lambda name: 1)
        (_, large) = notes("group_k_fold")
    assert large.startswith("note: mine: fits of 'kfd' need up to 0 GB of memory, and this machine has 0; methods")
    (tmp_path / "p.csv").write_text("id,role\ns0,train\ns1,train\ns2,test\n")
    descriptors = {"few": {"kind": "table", "table": "t", "columns": ["x", "TP53"]}}
    study |= {"protocols": {"p": {"kind": "given", "path": "p.csv"}}, "datasets": {"mine": table}}
    assert main(["validate", write(tmp_path / "s.yaml", study | {"descriptors": descriptors})]) == 0
    printed = capsys.readouterr().out
    assert "1 of 1 splits have no training sample of a class that they test: 'b'" in printed
    assert "mine: tables lack 1 of the columns (genes of sets) that desc" in printed
    descriptors["few"]["columns"] = ["TP53"]
    assert main(["validate", write(tmp_path / "s.yaml", study | {"descriptors": descriptors})]) == 1
    assert "descriptors 'few': the table has none of these columns" in capsys.readouterr().err


def test_broken_files_are_listed_and_classes_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("cat", "dog"):
        (tmp_path / "photos" / name).mkdir(parents=True)
        for number in range(3):
            Image.fromarray(np.full((8, 8), 40 * number, dtype=np.uint8)).save(f"photos/{name}/{number}.png")
    rows = "".join(f"s{k},{'abc'[k % 2 if k else 2]},{k * 0.1}\n" for k in range(11))
    (tmp_path / "good.csv").write_text(f"id,label,x\n{rows}s11,,5\n")
    for name in ("one.npz", "two.h5ad"):
        (tmp_path / name).write_bytes(b"nonsense")
    study = {key: SMOKE[key] for key in ("study", "methods")} | {"protocols": {"f": {"kind": "k_fold", "folds": 3}}}
    good: dict[str, Any] = {"kind": "feature_tables", "tables": {"t": "good.csv"}}
    broken = {"kind": "feature_tables", "tables": {"good": "good.csv", "one": "one.npz", "two": "two.h5ad"}}
    photos = {"kind": "image_folder", "path": "photos"}
    path = write(tmp_path / "own.yaml", study | {"datasets": {"good": good, "broken": broken, "photos": photos}})
    assert main(["validate", path]) == 1
    output = capsys.readouterr()
    assert "photos: 6 samples of 2 classes: cat 3, dog 3" in output.out
    assert "good: 11 samples of 3 classes: a 5, b 5, c 1" in output.out
    assert "note: good: samples without a target are left out (missing_labels): 1;" in output.out
    assert "the data of" in output.err
    assert "have 2 mistakes" in output.err
    for words in (
        "one.npz: not a readable NPZ",
        "two.h5ad: not a readable .h5ad",
        "3 stratified folds: too few samples in 'class c (1)'; use smaller numbers, or exclude_classes of the data set",
    ):
        assert words in output.err
    for number in (0, 2):
        (tmp_path / "photos" / "dog" / f"{number}.png").write_bytes(b"nonsense")
    kept = good | {"exclude_classes": ["c"]}
    path = write(tmp_path / "own.yaml", study | {"datasets": {"good": kept, "photos": photos}})
    assert main(["validate", path]) == 1
    output = capsys.readouterr()
    assert "good: 10 samples of 2 classes: a 5, b 5" in output.out
    assert "mistakes" not in output.err
    assert all(f"photos/dog/{number}.png: not an image" in output.err for number in (0, 2))


def test_the_shipped_studies_are_valid(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository)
    files = [repository / "config.yaml", *studies().values()]
    assert main(["validate", *map(str, files)]) == 0


def test_names_can_not_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Control characters in labels, ids and keys, such as those that clear the screen, are shown as escapes."""
    rows = "".join(f"s{n},{'ab'[n % 2]}\x1b[2J,0.{n + 1}\n" for n in range(12))
    Path("t.csv").write_text(f"id,label,f\n{rows}")
    Path("s.yaml").write_text("study: s\ndatasets: {d: {kind: feature_tables, tables: {t: t.csv}}}\n")
    Path("bad.yaml").write_text('study: s\n"\\e[2J": 1\n')
    Path("wrong.yaml").write_text(
        'study: s\ndatasets: {d: {kind: feature_tables, tables: {t: t.csv}, group_column: "\\e[2J"}}\n'
    )
    assert [main(["validate", name]) for name in ("s.yaml", "bad.yaml", "wrong.yaml")] == [0, 1, 1]
    output = capsys.readouterr()
    assert "a\\x1b[2J 6" in output.out
    assert "\x1b" not in output.out + output.err
    assert output.err.count("\\x1b[2J") >= 2


def test_read_only_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # for root every folder can be written to
    Path("s.yaml").write_text("study: s\ndatasets: {digits: {kind: registered, name: digits}}\n")
    assert main(["run", "s.yaml"]) == 1
    assert f"{tmp_path}: this folder can't be written to" in capsys.readouterr().err


# --- pipes and devices

COMMANDS = [
    *(["validate", f"{name}.yaml"] for name in ("table", "given", "pipe", "zero")),
    ["show", "pipe.npz"], ["compare", "pipe.yaml", "t.yaml"],
    ["init", "pipe.csv"], ["predict", "pipe.mklearn", "t.csv"],
]  # fmt: skip


@pytest.fixture
def pipes(here: None) -> Iterator[None]:
    for suffix in ("csv", "npz", "yaml", "mklearn"):
        os.mkfifo(f"pipe.{suffix}")
    Path("zero.yaml").symlink_to("/dev/zero")
    Path("t.csv").write_text("id,label,f\n" + "".join(f"s{n},{'ab'[n % 2]},0.{n + 1}\n" for n in range(8)))
    Path("table.yaml").write_text("study: s\ndatasets: {d: {kind: feature_tables, tables: {t: pipe.csv}}}\n")
    Path("given.yaml").write_text(
        "study: s\ndatasets: {d: {kind: feature_tables, tables: {t: t.csv}}}\n"
        "protocols: {p: {kind: given, path: pipe.csv}}\n"
    )

    def too_late(*_: Any) -> None:
        raise AssertionError("a pipe or a device was opened, and read until now")

    signal.signal(signal.SIGALRM, too_late)
    signal.alarm(20)
    yield
    signal.alarm(0)


@pytest.mark.usefixtures("pipes")
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_pipe_or_a_device_is_a_sentence(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 1
    output = capsys.readouterr().err
    assert "is a pipe or a device, not a file" in output
    assert output.startswith("mklearn: ")
    assert "Did you mean" not in output

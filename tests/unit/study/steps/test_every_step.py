"""Every step of the workflow on small data: what its jobs load, say and lack, and that their logs repeat them."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.commands import Commands
from tests.unit import every_step as script
from tests.unit.every_step import PACKAGES

from mklearn.atomic import read_npz, read_parquet
from mklearn.cards import REGISTRY
from mklearn.errors import DataError
from mklearn.study.config.registry import registered
from mklearn.study.data.read import READERS
from mklearn.study.provenance import SILENT, code_fingerprint, code_of, step_code
from mklearn.study.steps.runner import STEPS, call, command
from mklearn.study.steps.scores import MEASURED

pytestmark = pytest.mark.full

PARTS = 12
"""The jobs are looked at in so many tests, so that on a slow machine none waits for long."""
WITHOUT_CODE = {"download", "run_record"}
"""Steps without code in their rules: a file is verified by its checksum; a record is cheap."""


class EveryStep:
    """Runs every_step.py, one job after the other, while tests look at the jobs that have ended."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.environment = environment
        self._ended: list[dict[str, Any]] = []
        with (folder / "errors").open("w") as errors:
            self._process = subprocess.Popen(
                [sys.executable, script.__file__, str(folder)], env=environment, text=True, stdout=subprocess.PIPE,
                stderr=errors,
            )  # fmt: skip
        self._next_line()
        self.jobs = json.loads((folder / "jobs.json").read_text(encoding="utf-8"))

    @property
    def records(self) -> list[dict[str, Any]]:
        """What is known of each job (see every_step.py), when all have ended."""
        return self.first(len(self.jobs))

    def first(self, count: int) -> list[dict[str, Any]]:
        """The records of the first jobs, when they have ended."""
        while len(self._ended) < count:
            path = self.folder / f"record-{self._next_line()}.json"
            self._ended.append(json.loads(path.read_text(encoding="utf-8")))
        return self._ended[:count]

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _next_line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        assert line, (self.folder / "errors").read_text(encoding="utf-8")[-6000:]
        return line


@pytest.fixture(scope="module")
def every_step(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Iterator[EveryStep]:
    """Every step on small data; a download too where there is a mirror."""
    environment = os.environ | {"PYTHONPATH": str(repository / "src"), "OMP_NUM_THREADS": "1"}
    mirror = Path(os.environ.get("MKLEARN_MIRROR") or repository.parent / "shared" / "data")
    environment.pop("MKLEARN_MIRROR", None)
    if (mirror / "MANIFEST.csv").exists():
        environment["MKLEARN_MIRROR"] = str(mirror)
    running = EveryStep(tmp_path_factory.mktemp("every-step"), environment)
    yield running
    running.end()


# --- what jobs load is what their rules declare


@pytest.mark.parametrize("part", range(PARTS))
def test_every_job_declares_all_that_it_loads_and_opens(every_step: EveryStep, part: int) -> None:
    """A file that a job reads without declaring it would leave stale results behind."""
    runs_the_step = set(code_of("mklearn.study.steps.runner", "mklearn.study.steps.log", "mklearn.errors"))
    begin, end = (len(every_step.jobs) * place // PARTS for place in (part, part + 1))
    for record in every_step.first(end)[begin:]:
        if record["step"] in WITHOUT_CODE:
            assert record["code"] is None
            continue
        declared = set(step_code(record["step"], record["spec"]))
        assert record["code"] == code_fingerprint(declared), record["log"]
        silent = {path for name, path in record["loaded"].items() if name in SILENT or path.endswith("__init__.py")}
        silent |= set(map(str, REGISTRY.parent.rglob("registry.json")))  # names that packages export
        undeclared = {*record["loaded"].values(), *record["opened"]} - declared - silent - runs_the_step
        assert not undeclared, f"{record['log']}: reads {undeclared}, which its rule does not declare"


def test_every_step_and_every_implementation_is_run(every_step: EveryStep) -> None:
    """The test above needs every step and implementation."""
    records = every_step.jobs
    needs_mirror = set() if "MKLEARN_MIRROR" in every_step.environment else {"download"}
    assert {record["step"] for record in records} == set(STEPS) - needs_mirror
    fits = [record["spec"] for record in records if record["step"] == "fit"]
    seen = {record["spec"].get("kind") for record in records}
    seen |= {kernel["kind"] for spec in fits for kernel in spec.get("kernels", [])}
    seen |= {"released"} if needs_mirror else set()
    missing = {what: set(registered(what)) - seen for what in ("descriptors", "protocols", "kernels")}
    assert not any(missing.values()), missing
    readers = {record["spec"]["reader"] for record in records if record["step"] == "read"}
    read = {reader for reader in readers if ":" not in reader}  # the others are of papers
    downloaded = {"deformed_idx", "deng_cai_mat", "idx", "image_archive", "olivetti_mat", "uci_table", "usps", "views"}
    assert read == set(READERS) - {"nested_archive"} - (downloaded if needs_mirror else set())
    implementations = {model.implementation for model in registered("methods").values()}
    assert {spec["method"]["implementation"] for spec in fits} == implementations


# --- fits


def test_damaged_and_mixed_up_files_are_named(tmp_path: Path, every_step: EveryStep) -> None:
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"no zip")
    table = {"kind": "table", "implementation": "", "parameters": {"table": "x"}}
    features = {"features": str(tmp_path / "f.npz")}
    with pytest.raises(DataError, match=r"broken\.npz"):
        call("describe", {"samples": str(broken)}, features, table)
    fits = [record for record in every_step.records if record["step"] == "fit"]
    kfd = next(record for record in fits if record["spec"]["method"]["id"] == "kfd")
    one = _here(every_step, kfd["inputs"])
    other = next(
        found for found in (_here(every_step, record["inputs"]) for record in fits)
        if found.get("matrices") and found["labels"] != one["labels"]
    )  # fmt: skip
    outputs = {"scores": str(tmp_path / "s"), "model": str(tmp_path / "m"), "predictions": str(tmp_path / "p")}
    with pytest.raises(DataError, match="holds other samples, or the same in another order"):
        call("fit", one | {"matrices": other["matrices"][:1]}, outputs, kfd["spec"])


def test_a_fit_says_what_it_lacks(tmp_path: Path, every_step: EveryStep) -> None:
    """Without a source; and pictures that are no pictures."""
    record = next(r for r in every_step.records if r["step"] == "fit" and r["spec"]["method"]["id"] == "glram")
    outputs = {"scores": str(tmp_path / "s"), "model": str(tmp_path / "m"), "predictions": str(tmp_path / "p")}
    inputs = _here(every_step, record["inputs"])
    with pytest.raises(DataError, match="sources must be a file for each of these views: images; got 0"):
        call("fit", inputs | {"sources": []}, outputs, record["spec"])
    table = next(r["outputs"]["samples"] for r in every_step.records if r["log"].startswith("logs/read/features"))
    with pytest.raises(DataError, match=r"features.*method 'glram' takes grey images of one size"):
        call("fit", inputs | {"sources": str(every_step.folder / table)}, outputs, record["spec"])


def test_rows_of_a_fit_follow_its_sweep(every_step: EveryStep) -> None:
    """All leading dimensions; the sizes; or one accuracy, of the classifier's own labels."""

    def rows(method: str) -> Any:
        record = next(r for r in every_step.records if r["step"] == "fit" and r["spec"]["method"]["id"] == method)
        frame = read_parquet(every_step.folder / record["outputs"]["scores"])[0]
        assert set(frame["status"]) == {"ok"}, method
        return frame

    for method, expected in (("fisherface", [1, 2, 3]), ("glram", [2, 3]), ("two-d-mmc", [2, 3])):
        frame = rows(method)
        for _, one in frame.groupby("neighbour"):
            assert one[one["selection"] == "dimension"]["dimension"].tolist() == expected
            chosen = one[one["selection"] == "inner_cv"]
            assert len(chosen) == 1
            assert chosen["dimension"].item() in expected
            at_that = one[(one["selection"] == "dimension") & (one["dimension"] == chosen["dimension"].item())]
            assert chosen["value"].item() == at_that["value"].item()
        assert set(frame["neighbour"]) == {"cosine", "euclidean"}
    for method in ("ledoit-wolf", "shrinkage", "svc"):
        frame = rows(method)
        assert frame[["neighbour", "selection"]].to_numpy().tolist() == [["", "inner_cv"]]
        assert frame["dimension"].isna().all()
        assert 0.1 < frame["value"].item() <= 1


def _here(every_step: EveryStep, files: dict[str, Any]) -> dict[str, Any]:
    def place(path: str) -> str:
        return str(every_step.folder / path)

    return {k: place(v) if isinstance(v, str) else list(map(place, v)) for k, v in files.items() if k != "code"}


# --- logs and replays


def test_every_log_begins_with_its_command_and_ends_well(every_step: EveryStep) -> None:
    for record in every_step.records:
        lines = (every_step.folder / record["log"]).read_text(encoding="utf-8").splitlines()
        assert lines[0] == command(record["step"], record["inputs"], record["outputs"], record["spec"], 1)
        assert lines[-1].endswith("s] done")
        assert all(line.startswith("[") for line in lines[1:]), record["log"]


REPLAYED = [(step, "") for step in STEPS if step not in ("download", "run_record", "fit")]
REPLAYED += [("fit", method) for method in ("mkl-lda-sdp", "fisherface", "svc", "two-d-lda")]
"""Steps; of fits one on kernels, on features (an embedding, a classifier) and on images."""


@pytest.fixture(scope="module")
def commands() -> Commands:
    """Command lines with another PYTHONHASHSEED than that of the first run."""
    return Commands(*PACKAGES, PYTHONHASHSEED="7")


@pytest.mark.parametrize(("step", "method"), REPLAYED)
def test_replaying_a_log_makes_the_same_bytes(
    step: str, method: str, every_step: EveryStep, commands: Commands, tmp_path: Path
) -> None:
    """In another process and working folder than those of the first run."""
    chosen = [record for record in every_step.records if record["step"] == step]
    record = chosen[-1] if step != "fit" else next(r for r in chosen if r["spec"]["method"]["id"] == method)
    shutil.copytree(every_step.folder / "results", tmp_path / "results", copy_function=os.link)
    for name in ("first.csv", "second.parquet", "labels.csv", "d.npz", "splits.csv", "pairs.csv", "pictures"):
        (tmp_path / name).symlink_to(every_step.folder / name)
    for path in record["outputs"].values():
        (tmp_path / path).unlink()
    words = shlex.split((every_step.folder / record["log"]).read_text(encoding="utf-8").splitlines()[0])
    assert words[:3] == ["python", "-m", "mklearn"]
    code, said = commands.run("mklearn", *words[3:], folder=tmp_path, environment=every_step.environment)
    assert code == 0, said
    for path in record["outputs"].values():
        _assert_same(tmp_path / path, every_step.folder / path)


def _assert_same(one: Path, other: Path) -> None:
    if one.suffix == ".npz" and {"landmarks", "moments", "solutions"} & set(one.parts):
        _assert_same_arrays(read_npz(one), read_npz(other))
        return
    if one.suffix != ".parquet" or not {"fits", "embeddings"} & set(one.parts):
        assert one.read_bytes() == other.read_bytes(), one
        return
    (frame, metadata), (frame_2, metadata_2) = read_parquet(one), read_parquet(other)
    measured = [name for name in (*MEASURED, "seconds") if name in frame]
    assert metadata == metadata_2
    assert frame.drop(columns=measured).to_csv() == frame_2.drop(columns=measured).to_csv()


def _assert_same_arrays(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    """Compare all but times, which the scores of methods with landmarks are made from."""
    assert one.keys() == other.keys()
    for name, array in one.items():
        if name.endswith("/record"):
            first, second = json.loads(str(array)), json.loads(str(other[name]))
            assert first.keys() == second.keys()
            assert all(second[key] == value for key, value in first.items() if "seconds" not in key)
        elif name.rpartition("/")[2] != "seconds":
            np.testing.assert_array_equal(array, other[name], err_msg=name)

"""Steps, run by name: files as a list or one, a user's mistakes as sentences, logs whose first line replays the job."""

from __future__ import annotations

import inspect
import json
import logging
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.commands import Commands
from tests.unit.conftest import EveryStep
from tests.unit.every_step import PACKAGES

from mklearn.atomic import read_npz, read_parquet
from mklearn.contract.model import Strict
from mklearn.errors import ConfigError, DataError
from mklearn.steps import log
from mklearn.steps.runner import STEPS, call, command, load_step
from mklearn.steps.scores import MEASURED

DIGITS = {"dataset": "digits", "reader": "digits", "options": {}, "per_class": 3}


@pytest.fixture(autouse=True)
def quiet_afterwards():
    """``log.start`` gives the package's loggers a handler of their own; take it away again."""
    yield
    for name in ("mklearn", "py.warnings"):
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = True
    logging.captureWarnings(False)


@pytest.mark.parametrize("name", sorted(STEPS))
def test_every_step_is_a_documented_function_of_files_and_a_specification(name: str) -> None:
    step = load_step(name)
    assert inspect.getdoc(step)
    parameters = inspect.signature(step).parameters
    assert parameters["spec"].kind is inspect.Parameter.KEYWORD_ONLY
    assert set(parameters) - {"spec"} <= set(inspect.get_annotations(step))


def test_an_unknown_step_names_those_that_there_are() -> None:
    with pytest.raises(ConfigError, match=r"no step 'fitt'\. Steps: download, read, .*fit"):
        load_step("fitt")


def test_one_file_may_stand_for_a_list_and_empty_lists_for_nothing(tmp_path: Path) -> None:
    outputs = {"samples": str(tmp_path / "s.npz"), "labels": [str(tmp_path / "l.parquet")]}
    call("read", {"files": []}, outputs, DIGITS)
    assert len(read_npz(tmp_path / "s.npz")["y"]) == 30
    assert list(read_parquet(tmp_path / "l.parquet")[0].columns) == ["id", "y", "label"]


@pytest.mark.parametrize(
    ("inputs", "outputs", "sentence"),
    [
        ({}, {"samples": "s"}, "step read: missing labels. It takes samples, labels, files, code."),
        ({"file": "x"}, {"samples": "s", "labels": "l"}, "step read: not known: file."),
        ({"b": "x", "a": "y"}, {}, "missing labels, samples; not known: a, b."),
        ({"spec": "x"}, {"samples": "s", "labels": "l"}, "not known: spec"),
        ({}, {"samples": ["s", "t"], "labels": "l"}, "step read: samples is one file; 2 were given."),
    ],
)
def test_files_that_a_step_lacks_or_does_not_know(inputs: Any, outputs: Any, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        call("read", inputs, outputs, DIGITS)
    assert sentence in str(caught.value)


def test_a_specification_is_not_changed(tmp_path: Path) -> None:
    spec = json.loads(json.dumps(DIGITS))
    call("read", {}, {"samples": str(tmp_path / "s.npz"), "labels": str(tmp_path / "l.parquet")}, spec)
    assert spec == DIGITS


def test_damaged_and_mixed_up_files_are_named(tmp_path: Path, every_step: EveryStep) -> None:
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"no zip")
    table = {"kind": "table", "implementation": "", "parameters": {"table": "x"}}
    features = {"features": str(tmp_path / "f.npz")}
    with pytest.raises(DataError, match=r"broken\.npz"):
        call("describe", {"samples": str(broken)}, features, table)
    fits = [record for record in every_step.records if record["step"] == "fit"]
    one, other = (_here(every_step, next(r["inputs"] for r in fits if r["spec"]["method"]["id"] == name))
                  for name in ("kfd", "average"))  # fmt: skip
    spec = next(record["spec"] for record in fits if record["spec"]["method"]["id"] == "kfd")
    outputs = {"scores": str(tmp_path / "s"), "model": str(tmp_path / "m"), "predictions": str(tmp_path / "p")}
    with pytest.raises(DataError, match="not the matrix that the manifest names"):
        call("fit", one | {"matrices": other["matrices"][:1]}, outputs, spec)


def test_a_fit_says_what_it_lacks(tmp_path: Path, every_step: EveryStep) -> None:
    """Without a source; and pictures that are no pictures."""
    record = next(r for r in every_step.records if r["step"] == "fit" and r["spec"]["method"]["id"] == "glram")
    outputs = {"scores": str(tmp_path / "s"), "model": str(tmp_path / "m"), "predictions": str(tmp_path / "p")}
    inputs = _here(every_step, record["inputs"])
    with pytest.raises(DataError, match="input 'images' needs a file of images among sources"):
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


def test_the_command_is_one_line_of_shell_and_leaves_out_the_code() -> None:
    line = command("fit", {"matrices": ["a b", "c"], "code": ["x.py"], "file": []}, {"model": "m'n"}, {"é": 'q"'}, 2)
    assert "\n" not in line
    words = shlex.split(line)
    assert words[:5] == ["python", "-m", "mklearn", "step", "fit"]
    assert json.loads(words[words.index("--spec") + 1]) == {"é": 'q"'}
    assert words[7:] == ["--in", "matrices=a b", "--in", "matrices=c", "--out", "model=m'n", "--threads", "2"]


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


# --- progress and warnings


def test_progress_says_how_far_it_is_and_passes_everything_on(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="mklearn"):
        assert list(log.progress(range(3), 3, "batch", every=0)) == [0, 1, 2]
    said = [entry.getMessage() for entry in caplog.records]
    assert said[0].startswith("batch 1 of 3, about 0 s left")
    assert said[-1] == "batch 3 of 3"


def test_warnings_go_to_the_log(tmp_path: Path) -> None:
    import warnings

    path = tmp_path / "log"
    with path.open("w") as stream, warnings.catch_warnings():
        warnings.simplefilter("always")
        log.start(stream)
        warnings.warn("kernel 'x' is close to the identity", stacklevel=1)
        log.logger.info("said")
    text = path.read_text()
    assert "close to the identity" in text
    assert "s] said" in text


class Strength(Strict):
    """The specification of the step below."""

    ridge: float


def typed_step(target: Path, *, spec: Strength) -> None:
    """A step whose specification is a model."""
    target.write_text(repr(spec.ridge))


def test_a_specification_is_validated_into_the_model_of_the_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mklearn.steps.runner.load_step", lambda name: typed_step)
    target = tmp_path / "target"
    call("typed", {}, {"target": str(target)}, {"ridge": 1})
    assert target.read_text() == "1.0"
    with pytest.raises(ConfigError, match=r"step typed: invalid specification: ridge: .*; bandwidth: Extra inputs"):
        call("typed", {}, {"target": str(target)}, {"ridge": "x", "bandwidth": 1})


JOB = """
import os, signal, sys
from types import SimpleNamespace
from mklearn.contract.specs import DescriptorSpec
from mklearn.steps import runner

def describe(samples, features, *, spec: DescriptorSpec):
    print("so far", flush=True)
    {what}

if {replaced}:
    runner.load_step = lambda name: describe
spec = {{"kind": "table", "implementation": "", "parameters": {{"table": "x"}}}}
files = {{"input": {{"samples": "gone.npz"}}, "output": {{"features": "f.npz"}}}}
runner.run("describe", SimpleNamespace(**files, threads=1, log=["log"], params=SimpleNamespace(spec=spec)))
"""


@pytest.mark.parametrize(
    ("what", "reason", "on_terminal"),
    [
        ("", "gone.npz: no such file", True),
        ("raise RuntimeError('a bug\\nof two lines')", "RuntimeError: a bug of two lines", False),
        ("raise MemoryError('12 GiB')", "memory ran out: 12 GiB", True),
        pytest.param(
            "os.kill(os.getpid(), signal.SIGKILL)", "its process was killed by signal 9 (SIGKILL)", True,
            marks=pytest.mark.skipif(sys.platform != "linux", reason="there is no child process on this system"),
        ),
    ],
    ids=["a user's mistake", "a bug", "memory", "killed"],
)  # fmt: skip
def test_the_last_line_of_a_failed_jobs_log_is_its_reason(
    what: str, reason: str, on_terminal: bool, tmp_path: Path
) -> None:
    source = JOB.format(what=what or "pass", replaced=bool(what))
    done = subprocess.run([sys.executable, "-c", source], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert (f"mklearn, step describe: {reason}" in done.stderr) == on_terminal
    assert "Traceback" not in done.stderr
    lines = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("python -m mklearn step describe")
    assert f"s] error: {reason}" in lines[-1]
    assert ("so far" in lines) == bool(what)
    assert any("Traceback" in line for line in lines) == (not on_terminal), "a bug's alone"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device on this system")
def test_a_log_on_a_full_disk_is_a_sentence_on_the_terminal(tmp_path: Path) -> None:
    source = f"""if True:
        from types import SimpleNamespace
        from mklearn.steps import runner
        output = {{"samples": "s.npz", "labels": "l.parquet"}}
        job = SimpleNamespace(input={{}}, output=output, threads=1, log=["/dev/full"],
                              params=SimpleNamespace(spec={DIGITS!r}))
        runner.run("read", job)
    """
    done = subprocess.run([sys.executable, "-c", source], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "mklearn, step read: /dev/full: can't be written: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr

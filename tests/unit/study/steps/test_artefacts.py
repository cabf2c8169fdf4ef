"""Artefacts that lie: truncated, emptied, altered or swapped files are noticed, set aside, and made again."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.unit.study.steps.small_study import KINDS, SmallStudy, content_of, working_in

from mklearn.errors import DamagedArtefact, DataError
from mklearn.study.artefacts import (
    CACHE,
    STAGES,
    cached_name,
    check_download,
    read_arrays,
    read_record,
    read_table,
    write_arrays,
    write_record,
    write_table,
)
from mklearn.study.engine.integrity import verify_file
from mklearn.study.stages.order import ARTEFACTS
from mklearn.study.steps.runner import call, set_aside

pytestmark = pytest.mark.full


@pytest.fixture(autouse=True, scope="module")
def fast_disk() -> Iterator[None]:
    """Thousands of small files are written; whether they reach the disk is of no interest here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


def flipped(content: bytes, place: int, bit: int = 0) -> bytes:
    return content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]


# --- reading: noticed, or nothing has changed


def assert_flips_are_noticed(study: SmallStudy, kind: str, places: Callable[[int], list[int]]) -> None:
    """Flip one bit at each place of an artefact; some bytes of NPZ say nothing, such as the time in an entry."""
    path = study.folder / study.of_kind(kind)[0]
    whole, content = path.read_bytes(), content_of(path)
    noticed = 0
    try:
        for number, place in enumerate(places(len(whole))):
            path.write_bytes(flipped(whole, place, number % 8))
            try:
                found = content_of(path)
            except DamagedArtefact as error:
                noticed += str(error).startswith(f"{path}: ")
            else:
                assert found == content, f"byte {place}, bit {number % 8}"
                assert path.suffix != ".parquet", f"byte {place}, bit {number % 8}: not noticed"
    finally:
        path.write_bytes(whole)
    assert noticed


@pytest.mark.parametrize("kind", KINDS)
def test_a_flipped_bit_is_noticed_or_changes_nothing(finished: SmallStudy, kind: str) -> None:
    def places(length: int) -> list[int]:
        return [0, length - 1, *random.Random(kind).sample(range(length), 40)]

    assert_flips_are_noticed(finished, kind, places)


# --- steps: set aside, made again, and the same tables


def truncated(path: Path, other: Path) -> None:
    replace(path, path.read_bytes()[: path.stat().st_size // 2])


def emptied(path: Path, other: Path) -> None:
    replace(path, b"")


def altered(path: Path, other: Path) -> None:
    """Flip bits in 200 bytes in the middle: more than an entry of a zip file, in which some bytes say nothing."""
    content, start = path.read_bytes(), path.stat().st_size // 2
    middle = bytes(byte ^ 1 for byte in content[start : start + 200])
    replace(path, content[:start] + middle + content[start + 200 :])


def swapped(path: Path, other: Path) -> None:
    replace(path, other.read_bytes())


def replace(path: Path, content: bytes) -> None:
    """Write another file: the old one is also the finished study's."""
    path.unlink()
    path.write_bytes(content)


def first_to_notice(study: SmallStudy, name: str) -> tuple[dict[str, Any], str]:
    """Return the first of the jobs that read a file to refuse it, and its sentence."""
    for reader in study.readers(name):
        try:
            study.run(reader)
        except DataError as error:
            return reader, str(error)
    raise AssertionError(f"no step refuses {name}")


OF_EACH_FORMAT = ("samples", "labels")
"""NPZ and Parquet. One function for all kinds reads a format; that it is the right file, each kind has to say."""
DAMAGES = [
    (kind, damage)
    for kind in KINDS
    for damage in (truncated, emptied, altered, swapped)
    if damage is swapped or kind in OF_EACH_FORMAT
]


@pytest.mark.parametrize(("kind", "damage"), DAMAGES)
def test_a_step_names_a_bad_file_and_sets_it_aside(
    finished: SmallStudy, tmp_path: Path, kind: str, damage: Callable[[Path, Path], None]
) -> None:
    study = finished.copy(tmp_path / "copy")
    name, other = finished.of_kind(kind)[:2]
    path = study.folder / name
    content = content_of(path)
    damage(path, study.folder / other)
    reader, sentence = first_to_notice(study, name)
    assert sentence.startswith(f"{name}: ")
    assert sentence.endswith(f"It is now {path.name}.damaged; the next run makes it again.")
    assert not path.exists()
    study.run(study.maker(name))
    assert content_of(path) == content
    if reader["step"] != "report":
        study.run(reader)


def test_tables_of_another_run_of_the_same_study_are_noticed(finished: SmallStudy, tmp_path: Path) -> None:
    study = finished.copy(tmp_path / "copy")
    scores, summary = study.of_kind("scores")[0], study.of_kind("summary")[0]
    before = (study.folder / scores).read_bytes()
    frame, description = read_table(study.folder / scores)
    write_table(study.folder / scores, frame.assign(fit_seconds=1.0), description)
    report = study.jobs[-1]
    assert report["step"] == "report"
    with pytest.raises(DataError, match=rf"{summary}: not made from the present scores\. It is now"):
        study.run(report)
    (study.folder / scores).write_bytes(before)
    predictions = study.folder / study.of_kind("predictions")[0]
    table, description = read_table(predictions)
    write_table(predictions, table, description | {"inputs": {}})
    with pytest.raises(DataError, match="not the predictions of the fits in"):
        study.run(study.maker(summary))


@pytest.mark.parametrize(
    ("name", "other"),
    [("scores", "predictions"), ("predictions", "scores"), ("summary", "scores"), ("scores", "summary")],
)
def test_another_table_of_the_same_study_is_noticed(
    finished: SmallStudy, tmp_path: Path, name: str, other: str
) -> None:
    """It has the same study in its specification, and a checksum of its own."""
    study = finished.copy(tmp_path / "copy")
    table = study.of_kind(name)[0]
    swapped(study.folder / table, study.folder / study.of_kind(other)[0])
    with pytest.raises(DamagedArtefact, match="of the study: it has no column"), working_in(study.folder):
        verify_file(Path(table))
    reader, sentence = first_to_notice(study, table)
    assert reader["step"] in ("summary", "report")
    assert sentence.startswith(f"{table}: not the {name} of the study: it has no column '")
    assert not (study.folder / table).exists()


def test_a_downloaded_file_that_has_changed_is_noticed(tmp_path: Path, mirror: Path) -> None:
    from tests.unit.every_step import data_jobs

    from mklearn.study.config.reading import check_study
    from mklearn.study.plan.plan import plan_study
    from mklearn.study.stages.targets import Targets

    jobs = list(data_jobs(Targets(plan_study(check_study({"study": "iris", "datasets": {"iris": None}})))))
    study = SmallStudy(tmp_path, jobs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MKLEARN_MIRROR", str(mirror))
        for job in jobs:
            study.run(job)
        target, read = jobs[0]["outputs"]["target"], jobs[-1]
        labels = tmp_path / read["outputs"]["labels"]
        content = labels.read_bytes()
        record = tmp_path / f"{target}.provenance.json"
        for path, damage in ((tmp_path / target, altered), (tmp_path / target, emptied), (record, truncated)):
            damage(path, Path())
            with pytest.raises(DataError, match=rf"{target}: .*It is now .*\.damaged"):
                study.run(read)
            for job in jobs:
                study.run(job)
            assert labels.read_bytes() == content


# --- values

IMPOSSIBLE = [("ok", 9.6e307), ("ok", np.inf), ("ok", -0.1), ("ok", 1.001), ("ok", np.nan), ("inaccurate", np.nan),
              ("not_applicable", 2.0)]  # fmt: skip


@pytest.mark.parametrize(("status", "value"), IMPOSSIBLE)
def test_an_impossible_score_is_refused(finished: SmallStudy, tmp_path: Path, status: str, value: float) -> None:
    """It is no damage: the file has been written so, and stays."""
    study = finished.copy(tmp_path / "copy")
    name = study.of_kind("fit_scores")[0]
    frame, description = read_table(study.folder / name)
    frame.loc[frame.index[-1], ["status", "value"]] = [status, value]
    write_table(study.folder / name, frame, description)
    with pytest.raises(
        DataError, match=rf"{name}: average has the accuracy {re.escape(str(value))} .*\(status {status}\); valid: "
    ):
        study.run(study.maker(study.of_kind("scores")[0]))
    assert (study.folder / name).exists()


@pytest.mark.parametrize(
    ("metric", "status", "value"),
    [("log_loss", "ok", 3.0), ("accuracy", "ok", 1 + 1e-12), ("", "failed", np.nan), ("auc", "time_limit", np.nan)],
)
def test_a_possible_score_is_taken(
    finished: SmallStudy, tmp_path: Path, metric: str, status: str, value: float
) -> None:
    study = finished.copy(tmp_path / "copy")
    name, table = study.of_kind("fit_scores")[0], study.of_kind("scores")[0]
    frame, description = read_table(study.folder / name)
    frame.loc[frame.index[-1], ["metric", "status", "value"]] = [metric, status, value]
    write_table(study.folder / name, frame, description)
    study.run(study.maker(table))
    made = read_table(study.folder / table)[0]
    pd.testing.assert_series_equal(made["value"].iloc[: len(frame)], frame["value"])


# --- names


def test_names_are_the_part_of_a_path_below_the_cache(tmp_path: Path) -> None:
    assert cached_name("results/cache/data/a.npz") == "data/a.npz"
    assert cached_name("/x/cache/results/cache/fits/d/p/m.npz") == "fits/d/p/m.npz"
    assert cached_name("results/study/scores.parquet") == ""
    assert cached_name("results/study/cache") == ""
    assert cached_name("/data/cache/results/study/scores.parquet") == ""
    assert {pattern.split("/")[1] for pattern in ARTEFACTS.values() if pattern.startswith(f"{CACHE}/")} == set(STAGES)
    with working_in(tmp_path):
        assert cached_name("x.npz") == ""


def test_a_moved_cache_is_read_and_a_renamed_file_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "results" / "cache" / "data"
    frame = pd.DataFrame({"x": [1, 2]})
    write_arrays(folder / "a.npz", {"spec": {}}, x=np.arange(3))
    write_table(folder / "a.parquet", frame, {"spec": {}})
    write_record(folder / "a.json", {"x": 1.5})
    (tmp_path / "results").rename(tmp_path / "moved")
    folder = tmp_path / "moved" / "cache" / "data"
    np.testing.assert_array_equal(read_arrays(folder / "a.npz", ("x",))["x"], np.arange(3))
    pd.testing.assert_frame_equal(read_table(folder / "a.parquet")[0], frame)
    assert read_record(folder / "a.json") == {"x": 1.5, "artefact": "data/a.json"}
    for suffix, read in ((".npz", read_arrays), (".parquet", read_table), (".json", read_record)):
        (folder / f"a{suffix}").rename(folder / f"b{suffix}")
        with pytest.raises(DamagedArtefact, match=rf"b{suffix}: not the file .*: it is the file of data/a{suffix}"):
            read(folder / f"b{suffix}")  # type: ignore[operator]


def test_files_without_name_or_checksum_are_not_of_the_workflow(tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "data"
    folder.mkdir(parents=True)
    np.savez(folder / "a.npz", x=np.arange(3))
    with pytest.raises(DamagedArtefact, match="of an older version of mklearn, or not of the workflow"):
        read_arrays(folder / "a.npz")
    with pytest.raises(DamagedArtefact, match="has no array named provenance"):
        read_arrays(folder / "a.npz", ("x",))
    pd.DataFrame({"x": [1]}).to_parquet(folder / "a.parquet")
    with pytest.raises(DamagedArtefact, match="has no checksum of mklearn"):
        read_table(folder / "a.parquet")
    for text in ("{}", "[1]", "", '{"x": NaN, "sha256": ""}', "[" * 100_000, "\xff"):
        (folder / "a.json").write_text(text, encoding="latin-1")
        with pytest.raises(DamagedArtefact, match=r"a\.json: (not|its content)"):
            read_record(folder / "a.json")
    with pytest.raises(DataError, match="no such file"):
        read_record(folder / "b.json")
    check_download(folder / "a.json", "0")  # no record beside it


def test_a_file_of_the_user_stays_where_it_is(tmp_path: Path) -> None:
    own = tmp_path / "mine.npz"
    own.write_bytes(b"no zip")
    spec = {"kind": "table", "implementation": "", "parameters": {"table": "x"}}
    with pytest.raises(DataError, match=r"mine\.npz: not a readable NPZ .* was left as it is\."):
        call("describe", {"samples": str(own)}, {"features": str(tmp_path / "f.npz")}, spec)
    assert own.read_bytes() == b"no zip"
    assert "can't be renamed (No such file or directory): delete it" in set_aside(tmp_path / "cache" / "data" / "x.npz")

"""``mklearn verify``: every kind of damaged file is named, set aside, and made again by its job."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from tests.unit.study.steps.conftest import without_content
from tests.unit.study.steps.small_study import KINDS, STUDY, SmallStudy, kind_of, tables_of, working_in
from tests.unit.study.steps.test_artefacts import altered, emptied, flipped, replace, truncated

from mklearn.__main__ import main
from mklearn.errors import DamagedArtefact
from mklearn.study.engine.integrity import artefacts, verify, verify_file
from mklearn.study.stamps import load_beside, write_beside

pytestmark = pytest.mark.full

PAGE = "results/small/report/index.html"
BESIDE_PAGE = ("provenance.json", "summary.csv", "figures")


@pytest.fixture(scope="module")
def reported(finished: SmallStudy, tmp_path_factory: pytest.TempPathFactory) -> SmallStudy:
    """The small study with its page, its study file, and something downloaded."""
    study = finished.copy(tmp_path_factory.mktemp("reported") / "copy")
    (study.folder / "config.yaml").write_text(yaml.safe_dump(STUDY, sort_keys=False), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        without_content(patch)
        study.run(study.jobs[-1])
    download = study.folder / "results/downloads/source/file.csv"
    download.parent.mkdir(parents=True)
    download.write_bytes(random.Random(0).randbytes(1000))
    write_beside([download], {"spec": {}, "inputs": {}, "code": ""})
    return study


def files_to_damage(study: SmallStudy) -> Iterator[tuple[Path, Path]]:
    """Yield, for each kind of file, one to damage, and another one."""
    for kind in KINDS:
        one, other = (study.folder / path for path in study.of_kind(kind)[:2])
        yield one, other
    page = study.folder / PAGE
    download = study.folder / "results/downloads/source/file.csv"
    yield download, page
    yield page, study.folder / "config.yaml"


def test_damage_to_every_kind_is_named_and_made_again(
    reported: SmallStudy, tmp_path: Path, plain_figures: None,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    study = reported.copy(tmp_path / "copy")
    expected = tables_of(study)
    damaged = list(files_to_damage(study))
    with working_in(study.folder):
        assert main(["verify"]) == 0
        assert "files verified: none is damaged." in capsys.readouterr().out
        for path, other in damaged:
            times = path.stat()
            altered(path, other)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # as a disk does it, which no run could see
        assert main(["verify"]) == 1
        lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(damaged) + 1
    for path, _ in damaged:
        name = path.relative_to(study.folder)
        assert any(line.startswith(f"{name}: ") and line.endswith("the next run makes it again.") for line in lines)
        assert path.with_name(f"{path.name}.damaged").is_file()
        assert not path.exists()
    assert {kind_of(str(path.relative_to(study.folder))) for path, _ in damaged} == {*KINDS, "download", "report"}
    for job in study.jobs:
        if any(not (study.folder / path).exists() for path in job["outputs"].values()):
            study.run(job)
    assert tables_of(study) == expected
    assert (study.folder / PAGE).is_file()
    with working_in(study.folder):
        text, n = verify(["config.yaml"])
    assert (n, text.count("\n")) == (0, 0)


@pytest.mark.parametrize("name", BESIDE_PAGE)
@pytest.mark.parametrize("damage", [truncated, emptied, altered, lambda path, _: path.unlink()])
def test_damage_beside_a_page_costs_the_page(
    reported: SmallStudy, tmp_path: Path, name: str, damage: Callable[[Path, Path], None]
) -> None:
    study = reported.copy(tmp_path / "copy")
    path = study.folder / PAGE
    file = path.with_name(name) if name != "figures" else sorted(path.with_name(name).iterdir())[0]
    damage(file, Path())
    with working_in(study.folder):
        text, n = verify(["config.yaml"])
    assert n == 1
    assert text.startswith(f"{PAGE}: ")
    assert file.name in text
    assert not path.exists()


@pytest.mark.parametrize("places", [20])
@pytest.mark.parametrize("name", [PAGE, f"{PAGE}!", "results/downloads/source/file.csv",
                                  "results/downloads/source/file.csv!"])  # fmt: skip
def test_flipped_bits_of_pages_downloads_and_their_records(
    reported: SmallStudy, tmp_path: Path, name: str, places: int
) -> None:
    """``!``: in the record beside the file, where white space and the name of its checksum may change."""
    study = reported.copy(tmp_path / "copy")
    path = file = study.folder / name.removesuffix("!")
    if name.endswith("!"):
        record = "provenance.json" if path.suffix == ".html" else f"{path.name}.provenance.json"
        file = path.with_name(record)
    whole = file.read_bytes()
    verify_file(path)
    checksums = load_beside(file)["files"] if name.endswith("!") else None
    chance = random.Random(name)
    noticed = 0
    for place in [0, len(whole) - 1, *chance.sample(range(len(whole)), min(places, len(whole)))]:
        replace(file, flipped(whole, place, chance.randrange(8)))
        try:
            verify_file(path)
        except DamagedArtefact:
            noticed += 1
        else:
            assert checksums is not None, f"byte {place}"
            assert load_beside(file)["files"] == checksums, f"byte {place}"
    assert noticed >= (0.7 if name.endswith("!") else 1.0) * min(places, len(whole))
    replace(file, whole)
    verify_file(path)


def test_every_artefact_of_a_study_is_verified(reported: SmallStudy) -> None:
    """All that jobs declare, and nothing else."""
    declared = {path for job in reported.jobs for path in job["outputs"].values()}
    declared |= {path for job in reported.other_tables for path in job["outputs"].values()}
    found = {str(path.relative_to(reported.folder)) for path in artefacts(reported.folder / "results")}
    assert found == {*declared, "results/downloads/source/file.csv"}


def test_a_study_that_has_not_run_has_nothing_to_verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with working_in(tmp_path):
        Path("config.yaml").write_text(yaml.safe_dump(STUDY), encoding="utf-8")
        assert main(["verify"]) == 0
    assert capsys.readouterr().out == "0 files verified: none is damaged.\n"

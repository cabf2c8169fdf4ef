"""Damaged files of the cache: a run names them, and the next one makes them again with the same tables."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.study.steps.small_study import kind_of
from tests.workflow.conftest import Checkout, tables

from mklearn.study.engine.integrity import artefacts
from mklearn.study.stages.order import ARTEFACTS

SCORES = "results/smoke/scores.parquet"
SUMMARY = "results/smoke/summary.parquet"


def files(checkout: Checkout, pattern: str) -> list[Path]:
    return sorted(checkout.folder.glob(f"results/cache/{pattern}"))


@pytest.mark.exhaustive
def test_the_run_after_damage_completes_with_equal_tables(
    finished: Checkout, copy_of: Callable[[Checkout], Checkout]
) -> None:
    """The scores of a fit are cut short, and the splits, which a fit that runs again reads, are damaged too."""
    checkout = copy_of(finished)
    expected = tables(finished)
    scores = files(checkout, "fits/*/*/average-*[0-9a-f].parquet")[0]
    splits = files(checkout, "splits/*/*.parquet")[0]
    for path, damaged in ((scores, scores.read_bytes()[:-100]), (splits, b"PAR1")):
        before = path.stat()
        path.write_bytes(damaged)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # as a disk does it: no job would run again for it
    files(checkout, "fits/*/*/mkl-lda-*[0-9a-f].parquet")[0].unlink()
    (checkout.folder / SCORES).unlink()  # else no job would miss that fit

    first = checkout.ended("snakemake", "--cores", "2", SCORES, SUMMARY)
    assert first.returncode, first.stderr[-3000:]
    assert f"{splits.relative_to(checkout.folder)}: not a readable Parquet file" in first.stderr
    assert splits.with_name(f"{splits.name}.damaged").is_file()
    assert not splits.exists()
    for _ in range(3):  # each run may find another file
        done = checkout.ended("snakemake", "--cores", "2", SCORES, SUMMARY)
        if not done.returncode:
            break
    assert not done.returncode, done.stderr[-3000:]
    assert tables(checkout) == expected


# --- every kind of file, every kind of damage

STUDY = {
    "study": "smoke",
    "datasets": {"digits": {"per_class": 6, "resize": {"shape": [40, 36]}}, "iris": None},
    "descriptors": {
        "pixels": {"kind": "pixels", "datasets": ["digits"]},
        "words": {"kind": "dense_sift", "n_words": 6, "datasets": ["digits"]},
        "flower": {"kind": "table", "table": "features", "datasets": ["iris"]},
    },
    "methods": {"average": {"kind": "kernel_fda"}},
    "protocols": {"folds": {"kind": "k_fold", "folds": 2}},
    "final": {"method": "average", "dataset": "digits"},
}
UNSEEN = {"report", "final_model"}
"""What no job reads: a run can't notice it, and `verify` does."""
MOST_RUNS = 12


@pytest.fixture(scope="module")
def downloaded(tmp_path_factory: pytest.TempPathFactory, repository: Path, mirror: Path) -> Checkout:
    """A checkout in which that study has run."""
    made = Checkout(tmp_path_factory.mktemp("downloaded") / "checkout", repository)
    made.write(STUDY | {"mirror": str(mirror)})
    made.said("snakemake", "--cores", "2")
    return made


def one_of_each_kind(checkout: Checkout) -> dict[str, tuple[Path, Path]]:
    """A file of each kind that the study has, and another one of its kind or suffix."""
    kinds: dict[str, list[Path]] = {}
    found = list(artefacts(checkout.folder / "results"))
    for path in found:
        kinds.setdefault(kind_of(path.relative_to(checkout.folder).as_posix()), []).append(path)
    of_suffix = {path.suffix: path for path in found}
    pairs = {}
    for kind, (path, *others) in kinds.items():
        others += [of_suffix[path.suffix], checkout.folder / "Snakefile"]
        pairs[kind] = path, next(other for other in others if other != path)
    return pairs


def flipped(path: Path, other: Path) -> None:
    """Flip one byte among the values, or in the middle: some bytes of the entries of an NPZ file say nothing."""
    content = path.read_bytes()
    place = content.index(b"\x93NUMPY") + 128 if path.suffix == ".npz" else len(content) // 2
    path.write_bytes(content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :])


def truncated(path: Path, other: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path: Path, other: Path) -> None:
    path.write_bytes(b"")


def swapped(path: Path, other: Path) -> None:
    path.write_bytes(other.read_bytes())


@pytest.mark.exhaustive
@pytest.mark.parametrize("damage", [flipped, truncated, emptied, swapped])
def test_verified_damage_to_every_kind_is_made_again_by_one_run(
    downloaded: Checkout, copy_of: Callable[[Checkout], Checkout], damage: Callable[[Path, Path], None]
) -> None:
    """Times of modification are as before: so a disk loses bits."""
    checkout = copy_of(downloaded)
    files = one_of_each_kind(checkout)
    assert {*ARTEFACTS} - {*files} == {
        "features_part", "pairwise_block", "projections",  # not in this study
        "landmarks", "moments",  # in that of test_landmarks.py
        "final_card", "final_predictions", "importances",  # text without a checksum
    }  # fmt: skip
    swaps = [(path, other, path.stat()) for path, other in files.values()]
    contents = {other: other.read_bytes() for _, other, _ in swaps}
    for path, other, times in swaps:
        path.with_name("other").write_bytes(contents[other])
        damage(path, path.with_name("other"))
        path.with_name("other").unlink()
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    said = checkout.said("mklearn", "verify", code=1)
    for path, _ in files.values():
        assert f"{path.relative_to(checkout.folder)}: " in said
        assert path.with_name(f"{path.name}.damaged").is_file()
    assert f" {len(files)} are damaged." in said
    checkout.said("snakemake", "--cores", "2")
    assert tables(checkout) == tables(downloaded)
    assert "none is damaged" in checkout.said("mklearn", "verify")
    assert checkout.planned() == {}


@pytest.mark.exhaustive
@pytest.mark.parametrize("damage", [flipped, truncated, emptied, swapped])
def test_damage_to_every_kind_is_made_again_by_runs(
    downloaded: Checkout, copy_of: Callable[[Checkout], Checkout], damage: Callable[[Path, Path], None]
) -> None:
    """All at once, and newer than what was made from them: each run names some, and the last one completes."""
    checkout = copy_of(downloaded)
    files = {kind: pair for kind, pair in one_of_each_kind(checkout).items() if kind not in UNSEEN}
    contents = [(path, other.read_bytes()) for path, other in files.values()]
    for path, content in contents:
        path.with_name("other").write_bytes(content)
        damage(path, path.with_name("other"))
        path.with_name("other").unlink()
    for _ in range(MOST_RUNS):
        done = checkout.ended("snakemake", "--cores", "2")
        assert "Traceback" not in done.stderr
        if not done.returncode:
            break
        assert "the next run makes it again" in done.stderr or "is set aside" in done.stderr
    assert not done.returncode, done.stderr[-3000:]
    assert tables(checkout) == tables(downloaded)
    assert "none is damaged" in checkout.said("mklearn", "verify")

"""Damaged files of the cache: a run names them, and the next one makes them again with the same tables."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.workflow.conftest import Checkout, tables


def files(checkout: Checkout, pattern: str) -> list[Path]:
    return sorted(checkout.folder.glob(f"results/cache/{pattern}"))


@pytest.mark.slow
def test_the_run_after_damage_completes_with_equal_tables(
    finished: Checkout, copy_of: Callable[[Checkout], Checkout]
) -> None:
    """The scores of a fit are cut short, and the splits, which a fit that runs again reads, are damaged too."""
    checkout = copy_of(finished)
    expected = tables(finished)
    scores = files(checkout, "fits/*/*/average-*[0-9a-f].parquet")[0]
    scores.write_bytes(scores.read_bytes()[:-100])
    lost = files(checkout, "fits/*/*/mkl-lda-*[0-9a-f].parquet")[0]
    lost.unlink()
    splits = files(checkout, "splits/*/*.parquet")[0]
    splits.write_bytes(b"PAR1")
    shutil.copystat(lost.with_suffix(".npz"), splits)
    shutil.copystat(lost.with_suffix(".npz"), scores)

    first = checkout.snakemake("--cores", "2", check=False)
    assert first.returncode
    assert f"{splits.relative_to(checkout.folder)}: not a readable Parquet file" in first.stderr
    assert splits.with_name(f"{splits.name}.damaged").is_file()
    assert not splits.exists()
    for _ in range(3):  # each run may find another file
        done = checkout.snakemake("--cores", "2", check=False)
        if not done.returncode:
            break
    assert not done.returncode, done.stderr[-3000:]
    assert tables(checkout) == expected

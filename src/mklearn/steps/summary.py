"""Step: the summary table of a study: per method the mean, spread, interval and difference to the reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mklearn.atomic import read_parquet, write_parquet
from mklearn.evaluation.summary import summarise
from mklearn.provenance import stamp


def summary(scores: Path, table: Path, *, spec: dict[str, Any], code: list[Path] | None = None) -> None:
    """Summarise the score table; ``spec`` has the reference method, published values and titles."""
    frame, _ = read_parquet(scores)
    result = summarise(frame, reference=spec["reference"], published=spec["published"], titles=spec["titles"])
    write_parquet(table, result, stamp(spec, {}, code or []))

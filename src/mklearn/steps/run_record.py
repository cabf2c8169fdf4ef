"""Step: the record of a run: versions, machine, command, seed, the whole configuration."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mklearn.atomic import read_parquet, write_text
from mklearn.provenance import commit, machine, versions


def run_record(scores: Path, record: Path, *, spec: dict[str, Any]) -> None:
    """Write what is needed to make the score table again."""
    _, metadata = read_parquet(scores)
    content = {
        "study": spec["study"],
        "source": spec["source"],
        "seed": spec["seed"],
        "command": os.environ.get("MKLEARN_COMMAND", ""),
        "commit": commit(),
        "utc": datetime.now(tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "versions": versions(),
        "machine": machine(),
        "config": spec["config"],
        "scores": metadata,
    }
    write_text(record, json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n")

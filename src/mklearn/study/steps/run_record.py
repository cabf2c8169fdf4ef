"""Step: the record of a run: versions, machine, command, commit, seed, the whole configuration."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from mklearn.study.artefacts import write_record
from mklearn.study.config.reading import check_study
from mklearn.study.plan.plan import plan_study
from mklearn.study.provenance import commit, input_digests, machine, stamp
from mklearn.study.specs.table_specs import RunSpec
from mklearn.study.stages.order import STAGES
from mklearn.study.stages.stage import StudyFiles
from mklearn.study.steps.stage_costs import stage_costs


def run_record(scores: Path, record: Path, *, spec: RunSpec) -> None:
    """Write what is needed to make the score table again, and what each stage of the run cost."""
    content = stamp("run_record", spec.as_dict(), input_digests(scores=scores)) | {
        "study": spec.study,
        "source": spec.source,
        "seed": spec.seed,
        "command": os.environ.get("MKLEARN_COMMAND", ""),
        "commit": commit(),
        "started": os.environ.get("MKLEARN_STARTED", ""),
        "utc": datetime.now(tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "machine": machine(),
        "config": spec.config,
        "stages": stage_costs(StudyFiles(plan_study(check_study(spec.config)), STAGES)),
    }
    write_record(record, content)

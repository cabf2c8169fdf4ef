"""Stage: record versions, machine and command of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mklearn.study.stages.stage import Artefact, Job, Stage

if TYPE_CHECKING:
    from mklearn.study.specs.table_specs import RunSpec


def _spec(job: Job) -> RunSpec:
    from mklearn.study.plan.tables import run_spec  # here: jobs read this record too, and plan nothing

    return run_spec(job.plan, job.study.source)


STAGE = Stage(
    name="run_record",
    message="Recording versions, machine and command",
    jobs=lambda plan: [()],
    spec=_spec,
    inputs={"scores": "scores"},
    outputs={"record": Artefact("run_record", "{study}/run.json")},
    priority=0,
    follows_code=False,
)

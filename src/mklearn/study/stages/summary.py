"""Stage: summarise the scores of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mklearn.study.stages.stage import Artefact, Job, Stage

if TYPE_CHECKING:
    from mklearn.study.specs.table_specs import SummarySpec


def _spec(job: Job) -> SummarySpec:
    from mklearn.study.plan.tables import summary_spec  # here: jobs read this record too, and plan nothing

    return summary_spec(job.plan)


STAGE = Stage(
    name="summary",
    message="Summarising the scores",
    jobs=lambda plan: [()],
    spec=_spec,
    inputs={"scores": "scores", "predictions": "predictions"},
    outputs={"table": Artefact("summary", "{study}/summary.parquet")},
    priority=0,
)

"""Stage: collect the score rows and predictions of all fits of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mklearn.study.stages.stage import Artefact, Job, Stage

if TYPE_CHECKING:
    from mklearn.study.specs.table_specs import ScoresSpec


def _spec(job: Job) -> ScoresSpec:
    from mklearn.study.specs.table_specs import ScoresSpec  # here: jobs read this record too

    return ScoresSpec(
        study=job.plan.study.study, order=["/".join(key) for key in job.plan.fits], kernels=job.plan.kernels
    )


STAGE = Stage(
    name="scores",
    message="Collecting the score table",
    jobs=lambda plan: [()],
    spec=_spec,
    inputs={
        "fits": lambda job: job.study.all_of("fit_scores"),
        "predicted": lambda job: job.study.all_of("fit_predictions"),
    },
    outputs={
        "table": Artefact("scores", "{study}/scores.parquet"),
        "predictions": Artefact("predictions", "{study}/predictions.parquet"),
    },
    priority=0,
)

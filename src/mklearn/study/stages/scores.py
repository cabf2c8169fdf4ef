"""Stage: collect the score rows and predictions of all fits of a study."""

from __future__ import annotations

from mklearn.study.specs.table_specs import ScoresSpec
from mklearn.study.stages.stage import Artefact, Stage

STAGE = Stage(
    name="scores",
    message="Collecting the score table",
    jobs=lambda plan: [()],
    spec=lambda job: ScoresSpec(study=job.plan.study.study),
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

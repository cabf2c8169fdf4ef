"""All stages, in the order of the work: a new one is a file beside this one, and its name here."""

from __future__ import annotations

from mklearn.study.stages import (
    describe,
    download,
    final_model,
    fit,
    landmarks,
    learn,
    moments,
    pairwise,
    project,
    read,
    report,
    resize,
    run_record,
    scores,
    split,
    summary,
)
from mklearn.study.stages.stage import Stage

_ORDERED = (
    download.STAGE, read.STAGE, resize.STAGE, split.STAGE, learn.STAGE, describe.PART, describe.STAGE, pairwise.STAGE,
    project.STAGE, landmarks.STAGE, moments.STAGE, fit.STAGE, scores.STAGE,
    summary.STAGE, run_record.STAGE, final_model.STAGE, report.STAGE,
)  # fmt: skip
STAGES: dict[str, Stage] = {stage.name: stage for stage in _ORDERED}
"""By name."""
ARTEFACTS: dict[str, str] = {name: pattern for stage in _ORDERED for name, pattern in stage.outputs.values()}
"""Pattern of each artefact below the folder of results; ``{study}`` is the study's name."""

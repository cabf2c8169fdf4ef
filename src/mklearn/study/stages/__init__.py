"""The stages of the workflow: one file each, which `STAGES` lists in the order of the work.

A record says what the jobs of a stage read and write, what they ask a cluster for, and which function of
`mklearn.steps` does the work. Records import neither NumPy nor scikit-learn: every job of a run reads them.
"""

from mklearn.study.stages import (
    describe,
    download,
    final_model,
    fit,
    kernel_set,
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
    download.STAGE, read.STAGE, resize.STAGE, split.STAGE, learn.STAGE, describe.PART, describe.STAGE, pairwise.BLOCK,
    pairwise.STAGE, kernel_set.STAGE, project.STAGE, landmarks.STAGE, moments.STAGE, fit.STAGE, scores.STAGE,
    summary.STAGE, run_record.STAGE, report.STAGE, final_model.STAGE,
)  # fmt: skip
STAGES: dict[str, Stage] = {stage.name: stage for stage in _ORDERED}
"""By name."""
ARTEFACTS: dict[str, str] = {name: pattern for stage in _ORDERED for name, pattern in stage.outputs.values()}
"""Pattern of each artefact below the folder of results; ``{study}`` is the study's name."""

"""Stage: project the samples of pairs on their principal components."""

from __future__ import annotations

from mklearn.study.plan import resources
from mklearn.study.stages.stage import Artefact, Job, Stage

STAGE = Stage(
    name="project",
    title="Project on components",
    message="Projecting {wildcards.descriptor} of {wildcards.dataset}, {wildcards.protocol}",
    jobs=lambda plan: plan.projections,
    spec=lambda job: job.plan.projections[job.key],
    inputs={"features": "features", "labels": Job.labels, "splits": "splits"},
    outputs={"projections": Artefact("projections", "cache/projections/{dataset}/{protocol}/{descriptor}.npz")},
    memory=lambda job, files: resources.features_mb(files.size_mb),
)

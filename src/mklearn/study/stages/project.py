"""Stage: project the samples of pairs on their principal components."""

from __future__ import annotations

from typing import Any

from mklearn.study.plan import resources
from mklearn.study.stages.stage import Artefact, Job, Stage


def _seconds(job: Job, files: Any) -> float:
    n_splits, n_components = resources.number_of_splits(job.protocol), job.plan.projections[job.key].components
    # 1 ns for a feature of a sample and component (measured: 0.2 ns)
    return float(n_splits * (files.size_mb * 2**20 / 4 * n_components * 1e-9))


STAGE = Stage(
    name="project",
    title="Project on components",
    message="Projecting {wildcards.descriptor} of {wildcards.dataset}, {wildcards.protocol}",
    jobs=lambda plan: plan.projections,
    spec=lambda job: job.plan.projections[job.key],
    inputs={"features": "features", "labels": Job.labels, "splits": "splits"},
    outputs={"projections": Artefact("projections", "cache/projections/{dataset}/{protocol}/{descriptor}.npz")},
    memory=lambda job, files: resources.sample_fit_mb(files.size_mb),
    seconds=_seconds,
)

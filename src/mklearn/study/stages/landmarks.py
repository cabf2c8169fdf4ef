"""Stage: choose the landmarks of every split of a protocol."""

from __future__ import annotations

from mklearn.study.plan import resources
from mklearn.study.stages.stage import Artefact, Job, Stage, blocks

STAGE = Stage(
    name="landmarks",
    title="Choose landmarks",
    message="Choosing {wildcards.landmark_set} of {wildcards.dataset}, {wildcards.protocol}",
    jobs=lambda plan: plan.landmark_sets,
    spec=lambda job: job.plan.landmark_sets[job.key],
    inputs={
        "labels": Job.labels,
        "splits": "splits",
        "features": lambda job: job.features_of_blocks(
            job.plan.landmark_sets[job.key].descriptors, blocks(job.dataset)
        ),
    },
    outputs={"landmarks": Artefact("landmarks", "cache/landmarks/{dataset}/{protocol}/{landmark_set}.npz")},
    memory=lambda job, files: resources.sample_fit_mb(min(files.size_mb, 1000)),
    seconds=lambda job, files: 0.02 * files.size_mb + 60,
)

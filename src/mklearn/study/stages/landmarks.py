"""Stage: choose the landmarks of every split of a protocol."""

from __future__ import annotations

from mklearn.study.plan import resources
from mklearn.study.stages.stage import Artefact, Job, Stage, blocks


def _held_mb(job: Job, size_mb: float) -> float:
    """Return the size of the features of all samples that the step draws, of every split."""
    from mklearn.study.specs.landmark_specs import SAMPLE  # here: jobs read this record too

    n, splits = job.dataset.n_samples, resources.number_of_splits(job.protocol)
    drawn = max(SAMPLE, job.plan.landmark_sets[job.key].landmarks.most) * splits
    return size_mb * min(1.0, drawn / n) if n else size_mb


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
    memory=lambda job, files: resources.features_mb(min(files.size_mb, 1000)) + 2 * _held_mb(job, files.size_mb),
)

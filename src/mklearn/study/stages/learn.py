"""Stage: learn what a descriptor needs from images, before it describes them."""

from __future__ import annotations

from mklearn.study.stages.resize import images_memory
from mklearn.study.stages.stage import Artefact, Job, Stage

STAGE = Stage(
    name="learn",
    title="Learn words, patches, axes",
    message="Learning what {wildcards.descriptor} needs from {wildcards.dataset}",
    jobs=lambda plan: [key for key, planned in plan.descriptors.items() if planned.spec.learns],
    spec=lambda job: job.plan.descriptors[job.key].spec,
    inputs={"samples": Job.samples},
    outputs={"learned": Artefact("learned", "cache/descriptors/{dataset}/{descriptor}.learned.npz")},
    memory=images_memory,
)

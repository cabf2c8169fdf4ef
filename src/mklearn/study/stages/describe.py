"""Stages: describe every sample by a descriptor, in one job or in parts that a last one puts together."""

from __future__ import annotations

from mklearn.contract.specs import DescriptorSpec
from mklearn.study.stages.resize import images_memory
from mklearn.study.stages.stage import Artefact, Job, Stage, parts


def _spec(job: Job) -> DescriptorSpec:
    """Return the specification of a descriptor, or of one part of its images."""
    spec = job.plan.descriptors[job.key].spec
    return spec.model_copy(update={"part": job["part"]}) if "part" in job.wildcards else spec


def _learned(job: Job) -> list[str]:
    """Return what the descriptor has learned from the images; nothing for most."""
    return [job.path("learned")] if _spec(job).learns else []


def _parts(job: Job) -> list[str]:
    return [job.path("features_part", part=part) for part in parts(job.plan.descriptors[job.key].n_parts)]


STAGE = Stage(
    name="describe",
    title="Describe the samples",
    message="Descriptor {wildcards.descriptor} of {wildcards.dataset}",
    jobs=lambda plan: plan.descriptors,
    spec=_spec,
    inputs={
        "samples": lambda job: [] if _parts(job) else [job.samples()],
        "learned": _learned,
        "blocks": _parts,
    },
    outputs={"features": Artefact("features", "cache/descriptors/{dataset}/{descriptor}.npz")},
    memory=images_memory,
)
PART = Stage(
    name="describe_part",
    part_of="describe",
    message="Descriptor {wildcards.descriptor} of {wildcards.dataset}, part {wildcards.part}",
    jobs=lambda plan: [(*key, part) for key, planned in plan.descriptors.items() for part in parts(planned.n_parts)],
    spec=_spec,
    inputs={"samples": Job.samples, "learned": _learned},
    outputs={"features": Artefact("features_part", "cache/descriptors/{dataset}/{descriptor}/{part}.npz")},
    memory=images_memory,
    step="describe",
)

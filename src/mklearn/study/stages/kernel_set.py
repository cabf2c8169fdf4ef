"""Stage: name the pairwise matrices of a kernel set, with their digests."""

from __future__ import annotations

from mklearn.study.stages.stage import Artefact, Job, Stage


def matrices(job: Job, kernel_set: str) -> list[str]:
    """Return the pairwise matrices of a kernel set of the job's data set."""
    names = [name.split("/") for name in job.plan.kernel_sets[job["dataset"], kernel_set].pairwise]
    return [job.path("pairwise", descriptor=source, measure=measure) for source, measure in names]


STAGE = Stage(
    name="kernel_set",
    title="Collect kernel sets",
    message="Kernel set {wildcards.kernel_set} of {wildcards.dataset}",
    jobs=lambda plan: plan.kernel_sets,
    spec=lambda job: job.plan.kernel_sets[job.key],
    inputs={"matrices": lambda job: matrices(job, job["kernel_set"])},
    outputs={"manifest": Artefact("kernel_set", "cache/kernels/{dataset}/{kernel_set}.json")},
    follows_code=False,
)

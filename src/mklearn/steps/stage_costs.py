"""What each stage of a run cost: jobs, seconds and files, from the benchmark files that Snakemake writes of jobs.

Artefacts carry no times but those that the scores of methods are made from, so that equal inputs give equal bytes.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mklearn.study.expansion.plan import Plan
from mklearn.study.targets import parts

Key = tuple[str, ...]
"""Wildcards of a job, in the order of its paths."""
_OUTPUTS = {
    "read": ("samples", "labels"), "resize": ("resized",), "learn": ("learned",), "describe": ("features",),
    "describe_part": ("features_part",), "pairwise": ("pairwise",), "pairwise_block": ("pairwise_block",),
    "kernel_set": ("kernel_set",), "split": ("splits",), "project": ("projections",), "landmarks": ("landmarks",),
    "moments": ("moments",), "moments_block": ("moments_block",), "solve": ("solution",), "embed": ("embeddings",),
    "fit": ("fit_scores", "fit_model", "fit_predictions"),
}  # fmt: skip
"""What a job of each rule before the tables writes; the first file names the job."""
_STAGE_OF_RULE = {rule: rule.removesuffix("_part").removesuffix("_block") for rule in _OUTPUTS}
STAGES = tuple(dict.fromkeys(_STAGE_OF_RULE.values()))


def stage_costs(plan: Plan) -> list[dict[str, Any]]:
    """Return the jobs, seconds and bytes of each stage that the scores of a study come from.

    A job's time is that of its process, without what it has waited in the queue of a cluster.

    Returns
    -------
    list of dict
        For each stage with jobs, in the order of the workflow: ``stage``; ``jobs``; ``known``, how many of them have a
        benchmark file; ``seconds``, the sum of their wall-clock times, ``longest``, the largest one, and
        ``longest_job``, its output without its ending - these three None where no job is known; ``bytes`` of the
        outputs that exist.
    """
    times: dict[str, dict[str, float | None]] = {stage: {} for stage in STAGES}
    n_bytes = dict.fromkeys(STAGES, 0)
    for rule, keys in _jobs(plan).items():
        names = re.findall(r"\{(\w+)\}", plan.layout.log(rule))
        for key in keys:
            wildcards, stage = dict(zip(names, key, strict=True)), _STAGE_OF_RULE[rule]
            files = [Path(plan.layout.path(name, **wildcards)) for name in _OUTPUTS[rule]]
            times[stage][str(files[0].with_suffix(""))] = _seconds(Path(plan.layout.benchmark(rule, **wildcards)))
            n_bytes[stage] += sum(file.stat().st_size for file in files if file.is_file())
    return [_row(stage, times[stage], n_bytes[stage]) for stage in STAGES if times[stage]]


def _jobs(plan: Plan) -> Mapping[str, Iterable[Key]]:
    """Return the jobs of each rule that the scores of a study come from."""
    on_landmarks = {key: fit for key, fit in plan.fits.items() if fit.landmark_set}
    used = {(key[0], name) for key, spec in plan.kernel_sets.items() for name in spec.pairwise}
    matrices = {key: matrix.n_blocks for key, matrix in plan.pairwise.items() if (key[0], matrix.name) in used}
    whole = {key[:2] for key in matrices}
    whole |= {(key[0], name) for key in plan.fits.keys() - on_landmarks for name in plan.fits[key].spec.descriptors}
    n_blocks = {name: dataset.n_blocks for name, dataset in plan.datasets.items()}
    return {
        "read": {(dataset.original,) for dataset in plan.datasets.values()},
        "resize": [(name,) for name, dataset in plan.datasets.items() if dataset.resize],
        "learn": [key for key, descriptor in plan.descriptors.items() if descriptor.spec.learns],
        "describe": [key for key, descriptor in plan.descriptors.items() if key in whole or descriptor.n_parts == 1],
        "describe_part": _on_parts({key: descriptor.n_parts for key, descriptor in plan.descriptors.items()}),
        "pairwise": matrices,
        "pairwise_block": _on_parts(matrices),
        "kernel_set": plan.kernel_sets,
        "split": {key[:2] for key in plan.fits},
        "project": plan.projections,
        "landmarks": plan.landmark_sets,
        "moments": plan.landmark_sets,
        "moments_block": _on_parts({key: n_blocks[key[0]] for key in plan.landmark_sets}, "1of1"),
        "solve": on_landmarks,
        "embed": _on_parts({key: n_blocks[key[0]] for key in on_landmarks}, "1of1"),
        "fit": plan.fits,
    }


def _on_parts(numbers: Mapping[Any, int], *alone: str) -> list[Key]:
    """Return the jobs on the parts of each job; ``alone`` are the parts of a job that is not split."""
    return [(*key, part) for key, n in numbers.items() for part in parts(n) or alone]


def _seconds(benchmark: Path) -> float | None:
    """Return the wall-clock time of a job; None where it is not known."""
    try:
        with benchmark.open(encoding="utf-8") as stream:
            return float(next(csv.DictReader(stream, delimiter="\t"))["s"])
    except (OSError, ValueError, KeyError, StopIteration):
        return None


def _row(stage: str, jobs: Mapping[str, float | None], n_bytes: int) -> dict[str, Any]:
    times = {job: seconds for job, seconds in sorted(jobs.items()) if seconds is not None}
    longest = max(times, key=lambda job: times[job], default=None)
    return {
        "stage": stage,
        "jobs": len(jobs),
        "known": len(times),
        "seconds": round(sum(times.values()), 2) if times else None,
        "longest": None if longest is None else round(times[longest], 2),
        "longest_job": longest,
        "bytes": n_bytes,
    }

"""Which artefact lies where: every path below the folders of results and of logs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ARTEFACTS = {
    "download": "downloads/{source}/{file}",
    "samples": "cache/data/{dataset}.npz",
    "labels": "cache/data/{dataset}.labels.parquet",
    "resized": "cache/resized/{dataset}.npz",
    "splits": "cache/splits/{dataset}/{protocol}.parquet",
    "learned": "cache/descriptors/{dataset}/{descriptor}.learned.npz",
    "features": "cache/descriptors/{dataset}/{descriptor}.npz",
    "features_part": "cache/descriptors/{dataset}/{descriptor}/{part}.npz",
    "pairwise": "cache/pairwise/{dataset}/{descriptor}/{measure}.npz",
    "pairwise_block": "cache/pairwise/{dataset}/{descriptor}/{measure}/{part}.npz",
    "projections": "cache/projections/{dataset}/{protocol}/{descriptor}.npz",
    "kernel_set": "cache/kernels/{dataset}/{kernel_set}.json",
    "landmarks": "cache/landmarks/{dataset}/{protocol}/{landmark_set}.npz",
    "moments": "cache/moments/{dataset}/{protocol}/{landmark_set}.npz",
    "moments_block": "cache/moments/{dataset}/{protocol}/{landmark_set}/{part}.npz",
    "solution": "cache/solutions/{dataset}/{protocol}/{method}.npz",
    "embeddings": "cache/embeddings/{dataset}/{protocol}/{method}/{part}.parquet",
    "fit_scores": "cache/fits/{dataset}/{protocol}/{method}.parquet",
    "fit_model": "cache/fits/{dataset}/{protocol}/{method}.npz",
    "fit_predictions": "cache/fits/{dataset}/{protocol}/{method}.predictions.parquet",
    "tables": "{study}",
    "scores": "{study}/scores.parquet",
    "predictions": "{study}/predictions.parquet",
    "summary": "{study}/summary.parquet",
    "run_record": "{study}/run.json",
    "report": "{study}/report/index.html",
    "final_model": "{study}/model.mklearn",
    "final_card": "{study}/model.md",
    "final_predictions": "{study}/predicted.csv",
}
"""Patterns below the folder of results, in Snakemake's notation; ``{study}`` is the study's name."""
RULES = {
    "download": "download/{source}/{file}.log",
    "read": "read/{dataset}.log",
    "resize": "resize/{dataset}.log",
    "split": "split/{dataset}/{protocol}.log",
    "learn": "learn/{dataset}/{descriptor}.log",
    "describe": "describe/{dataset}/{descriptor}.log",
    "describe_part": "describe/{dataset}/{descriptor}/{part}.log",
    "pairwise": "pairwise/{dataset}/{descriptor}.{measure}.log",
    "pairwise_block": "pairwise/{dataset}/{descriptor}.{measure}/{part}.log",
    "project": "project/{dataset}/{protocol}/{descriptor}.log",
    "kernel_set": "kernel_set/{dataset}/{kernel_set}.log",
    "landmarks": "landmarks/{dataset}/{protocol}/{landmark_set}.log",
    "moments": "moments/{dataset}/{protocol}/{landmark_set}.log",
    "moments_block": "moments/{dataset}/{protocol}/{landmark_set}/{part}.log",
    "solve": "solve/{dataset}/{protocol}/{method}.log",
    "embed": "embed/{dataset}/{protocol}/{method}/{part}.log",
    "fit": "fit/{dataset}/{protocol}/{method}.log",
    "fit_embeddings": "fit/{dataset}/{protocol}/{method}.log",
    "scores": "{study}/scores.log",
    "summary": "{study}/summary.log",
    "run_record": "{study}/run_record.log",
    "report": "{study}/report.log",
    "final_model": "{study}/final_model.log",
    "lost": "{study}/lost.log",
}
"""Logs below ``logs``, by rule; ``lost`` is that of the tables after a run in which jobs failed."""


@dataclass(frozen=True)
class Layout:
    """The paths of one study, by its folder of results and its name.

    Wildcards that are not given stay in a path, as the output of a rule needs them.
    """

    results: str
    study: str

    def path(self, artefact: str, **wildcards: str) -> str:
        """Return the path of one of `ARTEFACTS`."""
        return _filled(self._artefacts[artefact], wildcards)

    def log(self, rule: str, **wildcards: str) -> str:
        """Return the log of a job of one of `RULES`."""
        return _filled(self._logs[rule], wildcards)

    def benchmark(self, rule: str, **wildcards: str) -> str:
        """Return where Snakemake writes the time and memory of a job: beside its log."""
        return self.log(rule, **wildcards).removesuffix(".log") + ".tsv"

    @cached_property
    def _artefacts(self) -> dict[str, str]:
        return self._below(self.results, ARTEFACTS)

    @cached_property
    def _logs(self) -> dict[str, str]:
        return self._below("logs", RULES)

    def _below(self, folder: str, patterns: Mapping[str, str]) -> dict[str, str]:
        return {name: str(Path(folder) / _filled(text, {"study": self.study})) for name, text in patterns.items()}


def _filled(pattern: str, wildcards: Mapping[str, str]) -> str:
    for name, value in wildcards.items():
        pattern = pattern.replace(f"{{{name}}}", value)
    return pattern

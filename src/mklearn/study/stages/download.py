"""Stage: download a file of a registered data set and verify it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mklearn.contract.specs import DOWNLOADS, DownloadSpec
from mklearn.study.stages.stage import Artefact, Stage

if TYPE_CHECKING:
    from mklearn.study.plan.plan import Plan


def _downloads(plan: Plan) -> dict[tuple[str, ...], DownloadSpec]:
    """Return the specification of each file by its folder and name."""
    found = {path: spec for dataset in plan.datasets.values() for path, spec in dataset.downloads.items()}
    return {tuple(path.split("/")[-2:]): spec for path, spec in found.items()}


STAGE = Stage(
    name="download",
    message="Downloading {wildcards.file} ({wildcards.source})",
    jobs=_downloads,
    spec=lambda job: _downloads(job.plan)[job.key],
    inputs={},
    outputs={"target": Artefact("download", DOWNLOADS)},
    follows_code=False,
)

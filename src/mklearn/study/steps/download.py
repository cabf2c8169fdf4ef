"""Step: fetch one file of a registered data set, verified before it is moved into place."""

from __future__ import annotations

from pathlib import Path

from mklearn.contract.specs import DownloadSpec
from mklearn.study.data.download import fetch
from mklearn.study.data.read import content_check
from mklearn.study.steps.log import logger


def download(target: Path, *, spec: DownloadSpec) -> None:
    """Fetch ``spec.file`` to ``target``; MKLEARN_MIRROR is tried first.

    The file stays as published.
    """
    found = fetch(spec.file, target, check_content=content_check(spec))
    size = target.stat().st_size
    logger.info("%s: %s, %d bytes, verified by %s", spec.file.name, found.origin, size, found.verified)

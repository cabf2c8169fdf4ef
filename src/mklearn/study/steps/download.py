"""Step: fetch one file of a registered data set, verified before it is moved into place."""

from __future__ import annotations

from pathlib import Path

from mklearn.contract.specs import DownloadSpec
from mklearn.study.data.download import fetch
from mklearn.study.data.read import content_check
from mklearn.study.provenance import stamp
from mklearn.study.stamps import write_beside
from mklearn.study.steps.log import logger


def download(target: Path, *, spec: DownloadSpec, code: list[Path] | None = None) -> None:
    """Fetch ``spec.file`` to ``target``; MKLEARN_MIRROR is tried first.

    The file stays as published; its stamp, with the checksum, is written beside it.
    """
    found = fetch(spec.file, target, check_content=content_check(spec))
    size = target.stat().st_size
    logger.info("%s: %s, %d bytes, verified by %s", spec.file.name, found.origin, size, found.verified)
    write_beside([target], stamp(spec.as_dict(), {}, code or []))

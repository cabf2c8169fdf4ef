"""Fetch one file of a registered data set, verified before it is moved into place."""

from typing import Any

from mklearn.study.data.download import fetch
from mklearn.study.data.read import content_check
from mklearn.study.log import logger
from mklearn.study.script import Output, run_script
from mklearn.study.specs.data_specs import DownloadSpec, FileSpec


def download(target: Output, *, file: FileSpec, reader: str, options: dict[str, Any] | None = None) -> None:
    """Fetch a file as it is published; MKLEARN_MIRROR is tried first.

    Parameters
    ----------
    target : Path
    file : FileSpec
        Name, addresses and checksums.
    reader, options
        How the content is read, where only that can be checked.
    """
    spec = DownloadSpec(file=file, reader=reader, options=options or {})
    fetched = fetch(file, target, check_content=content_check(spec))
    size = target.stat().st_size
    logger.info("%s: %s, %d bytes, verified by %s", file.name, fetched.origin, size, fetched.verified)


if __name__ == "__main__":
    run_script(download, globals().get("snakemake"))

"""Download one file of a registered data set, and verify it before it is moved into place."""

from mklearn.study.data.download import fetch
from mklearn.study.log import logger
from mklearn.study.script import Output, run_script
from mklearn.study.specs.data_specs import FileSpec


def download(target: Output, *, spec: FileSpec) -> None:
    """Download a file in its published form; MKLEARN_MIRROR is tried first."""
    source = fetch(spec, target)
    logger.info("%s: %d bytes from %s", spec.name, target.stat().st_size, source)


if __name__ == "__main__":
    run_script(download, globals().get("snakemake"))

"""Resize the images of a data set to one size."""

import dataclasses
from pathlib import Path

from mklearn.errors import DataError
from mklearn.study.data.resizing import resize_images
from mklearn.study.data.samples import SampleSet
from mklearn.study.script import Output, Record, run_script


def resize(
    samples: Path, resized: Output, *, shape: list[int] | None = None, pixels: int | None = None,
    interpolation: str = "area", rounding: str = "nearest", record: Record,
) -> None:  # fmt: skip
    """Resize every image; see :func:`mklearn.study.data.resizing.resize_images`."""
    data = SampleSet.load(samples)
    if data.images is None:
        raise DataError(f"{samples}: has no images to resize; omit `resize` for this data set.")
    images = resize_images(data.images, shape=shape, pixels=pixels, interpolation=interpolation, rounding=rounding)
    dataclasses.replace(data, images=images).save(resized, record)


if __name__ == "__main__":
    run_script(resize, globals().get("snakemake"))

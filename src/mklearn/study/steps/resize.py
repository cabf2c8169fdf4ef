"""Step: bring the images of a sample set to one size."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from mklearn.contract.specs import ResizeSpec
from mklearn.errors import DataError
from mklearn.study.data.resizing import resize_images
from mklearn.study.data.samples import SampleSet
from mklearn.study.provenance import input_digests, stamp


def resize(samples: Path, resized: Path, *, spec: ResizeSpec) -> None:
    """Resize every image; ``spec`` has the arguments of :func:`mklearn.study.data.resizing.resize_images`."""
    data = SampleSet.load(samples)
    if data.images is None:
        raise DataError(f"{samples}: has no images to resize; omit `resize` for this data set.")
    images = resize_images(data.images, **spec.model_dump())
    record = stamp("resize", spec.as_dict(), input_digests(samples=samples))
    dataclasses.replace(data, images=images).save(resized, record)

"""Photographs for the tests of descriptors."""

import io
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mklearn.study.data.resizing import resize_images


def photographs(mirror: Path, number: int, pixels: int) -> list[np.ndarray]:
    """The first pictures of Caltech-101 in grey, uint8; the archive is read only so far."""
    found: list[np.ndarray] = []
    with (
        zipfile.ZipFile(mirror / "caltech101" / "caltech-101.zip") as outer,
        outer.open("caltech-101/101_ObjectCategories.tar.gz") as packed,
        tarfile.open(fileobj=packed, mode="r|gz") as archive,
    ):
        for member in archive:
            data = archive.extractfile(member) if member.name.endswith(".jpg") else None
            if data is not None:
                with Image.open(io.BytesIO(data.read())) as picture:
                    found.append(np.asarray(picture.convert("L")))
            if len(found) == number:
                break
    assert len(found) == number
    return list(resize_images(found, pixels=pixels))


@pytest.fixture(scope="session")
def photos(mirror: Path) -> list[np.ndarray]:
    found = photographs(mirror, 4, pixels=20_000)
    for image in found:
        image.flags.writeable = False
    return found


def alike(photo: np.ndarray) -> list[np.ndarray]:
    """The same image as floats, with other contrasts and brightnesses, in RGB and with an opaque alpha channel."""
    floats = photo / 255
    colour = np.stack([floats, floats, floats, np.ones_like(floats)], axis=2)
    return [floats, 0.3 * floats, floats + 5, 40 * floats - 7, colour[..., :3], colour]

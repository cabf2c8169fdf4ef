"""Caltech-101 in its published packaging, a tar inside a zip: read in part, and damaged in many ways."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mklearn.errors import ConfigError, DataError
from mklearn.study.data.read import read_dataset
from mklearn.study.data.readers import image_folder, nested_archive
from mklearn.study.data.registry import dataset_spec
from mklearn.study.data.resizing import resize_images
from mklearn.study.data.samples import SampleSet

INNER, FOLDER = "101_ObjectCategories.tar.gz", "101_ObjectCategories"
FIRST = ["BACKGROUND_Google", "Faces"]  # the mirror's tar archive begins with them: the rest is not read
FULL = "caltech101/caltech-101.zip"


def pack(path: Path, files: Mapping[str, bytes], inner: str = f"caltech-101/{INNER}", **more: bytes) -> Path:
    """Write a zip like upstream's: a tar.gz and other files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return pack_zip(path, {inner: buffer.getvalue(), "caltech-101/Annotations.tar": b"x", **more})


def pack_zip(path: Path, members: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def inner_of(path: Path) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return archive.read(f"caltech-101/{INNER}")


@pytest.fixture(scope="module")
def image_files(mirror: Path) -> dict[str, bytes]:
    """Read 12 real files of each of two classes, by name in the tar archive."""
    found: dict[str, bytes] = {}
    with (
        zipfile.ZipFile(mirror / FULL) as archive,
        archive.open(f"caltech-101/{INNER}") as stream,
        tarfile.open(fileobj=stream, mode="r|gz") as tar,
    ):
        for member in tar:
            kind, name = member.name.split("/")[1:]
            if kind not in FIRST:
                break
            if name <= "image_0012.jpg":
                content = tar.extractfile(member)
                found[member.name] = content.read()
    assert len(found) == 24
    return found


@pytest.fixture
def small(image_files: dict[str, bytes], tmp_path: Path) -> Path:
    strays = {
        f"{FOLDER}/BACKGROUND_Google/tmp": b"no picture",
        f"{FOLDER}/Faces/._image_0001.jpg": b"resource fork",
        f"{FOLDER}/Faces/.DS_Store": b"folder settings",
        f"__MACOSX/{FOLDER}/image_0001.jpg": b"resource fork",
        f"{FOLDER}/README.jpg": b"beside the classes",
    }
    backwards = dict(reversed(image_files.items()))
    macos = {f"__MACOSX/caltech-101/._{INNER}": b"resource fork"}
    return pack(tmp_path / "caltech-101.zip", {**backwards, **strays}, **macos)


def read(path: Path, **options: Any) -> SampleSet:
    return nested_archive.read({"x": path}, inner=INNER, folder=FOLDER, **options)


def test_equals_the_unpacked_folder(small: Path, image_files: dict[str, bytes], tmp_path: Path) -> None:
    for name, data in image_files.items():
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    for options, axes in (({}, 2), ({"colour": "rgb"}, 3)):  # of grey and of colour files
        ours = read(small, **options)
        theirs = image_folder.read({"root": tmp_path / FOLDER}, **options)
        for field in ("ids", "y", "classes"):
            np.testing.assert_array_equal(getattr(ours, field), getattr(theirs, field))
        assert ours.images is not None
        assert theirs.images is not None
        for left, right in zip(ours.images, theirs.images, strict=True):
            np.testing.assert_array_equal(left, right)
            assert (left.dtype, left.ndim) == (np.uint8, axes)
    assert ours.ids[[0, 11, 12]].tolist() == [
        "BACKGROUND_Google/image_0001.jpg", "BACKGROUND_Google/image_0012.jpg", "Faces/image_0001.jpg",
    ]  # fmt: skip
    assert {Image.open(io.BytesIO(data)).mode for data in image_files.values()} == {"L", "RGB"}


def test_folders_of_classes_at_the_top_of_an_archive(
    small: Path, image_files: dict[str, bytes], tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "top.zip", "w") as archive:
        for name, data in image_files.items():
            archive.writestr(name.removeprefix(f"{FOLDER}/"), data)
        archive.writestr("README.jpg", b"beside the classes")
        archive.writestr("Faces/deeper/image_0001.jpg", b"no class of its own")
    ours, theirs = nested_archive.read({"x": tmp_path / "top.zip"}), read(small)
    np.testing.assert_array_equal(ours.ids, theirs.ids)
    np.testing.assert_array_equal(ours.classes[ours.y], theirs.classes[theirs.y])
    assert "2 files or folders that are no images of a class" in ours.notes[0]


def test_strays_are_noted_and_hidden_files_ignored(small: Path) -> None:
    [note] = read(small).notes
    assert note.startswith("2 files or folders that are no images of a class were left out")
    assert "BACKGROUND_Google/tmp" in note
    assert "README.jpg" in note


def test_only_the_chosen_images_are_decoded(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = []

    def decode(data: bytes, name: str, colour: str) -> np.ndarray:
        decoded.append(name.rpartition(f"{FOLDER}/")[2])
        return np.zeros((2, 2), np.uint8)

    everything = read(small)
    monkeypatch.setattr(nested_archive, "decode_image", decode)
    chosen = read(small, choose=lambda y, classes: np.array([1, 16, 18]))
    assert sorted(decoded) == chosen.ids.tolist() == everything.ids[[1, 16, 18]].tolist()
    assert len(everything) == 24


def test_choosing_while_reading_equals_choosing_afterwards(small: Path) -> None:
    spec = dataset_spec({"name": "caltech101", "per_class": 5, "draw": 3, "resize": {"pixels": 3000}})
    spec["expected"] = {"n_samples": 24, "n_classes": 2, "smallest_class": 12}  # of all samples
    samples = read_dataset(spec, {"caltech-101.zip": small})
    assert samples.class_counts.tolist() == [5, 5]
    every = read(small)
    every = replace(every, images=resize_images(every.images, pixels=3000))  # type: ignore[arg-type]
    again = every.subset([every.ids.tolist().index(name) for name in samples.ids])
    assert again.ids.tolist() == samples.ids.tolist() == sorted(samples.ids)
    for left, right in zip(again.images, samples.images, strict=True):  # type: ignore[arg-type]
        np.testing.assert_array_equal(left, right)
    spec["expected"] = {"n_samples": 9144, "n_classes": 102, "smallest_class": 31}
    with pytest.raises(
        DataError, match=r"caltech-101\.zip: not the .* n_samples: expected 9144, got 24; n_classes: .*31, got 12"
    ):
        read_dataset(spec, {"caltech-101.zip": small})
    del spec["expected"]
    for wrong, message in (
        ({"per_class": 13}, "caltech101: per_class: 13 samples can't"),
        ({"classes": ["Face", "x"]}, "'Faces'"),
    ):
        with pytest.raises(ConfigError, match=message):
            read_dataset({**spec, **wrong}, {"caltech-101.zip": small})


# --- damage


def refused(path: Path, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))
    assert "delete the file and run again to download it anew" in str(caught.value)


def test_corrupt_image(image_files: dict[str, bytes], tmp_path: Path) -> None:
    name = f"{FOLDER}/Faces/image_0003.jpg"
    half = pack(tmp_path / "half.zip", {**image_files, name: image_files[name][:5000]})
    refused(half, r"Faces/image_0003\.jpg: a corrupt or truncated image")
    text = pack(tmp_path / "text.zip", {**image_files, name: b"<html>"})
    refused(text, r"Faces/image_0003\.jpg: not an image")
    assert len(read(text, choose=lambda y, classes: np.array([0, 1, 20]))) == 3  # images not chosen are not decoded


def test_damaged_archives(small: Path, tmp_path: Path) -> None:
    inner = bytearray(inner_of(small))
    inner[-8] ^= 0xFF  # the checksum, after the last image
    path = pack_zip(tmp_path / "x.zip", {f"caltech-101/{INNER}": bytes(inner)})
    refused(path, rf"{INNER}: not a readable zip or tar archive .*CRC")
    path.write_bytes(small.read_bytes()[:100_000])
    refused(path, "not a readable zip or tar archive")


def test_other_archives(image_files: dict[str, bytes], tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    refused(pack(path, image_files, inner="256.tar"), rf"contains no file {INNER} \(found 256\.tar")
    twice = pack(path, image_files, **{f"copy/{INNER}": b"x"})
    refused(twice, rf"several files {INNER} \(caltech-101/{INNER}, copy/{INNER}\)")
    empty = pack(path, {"101/Faces/image_0001.jpg": b"x"})
    refused(empty, rf"has no images {FOLDER}/class/name\.jpg \(found '101/Faces")
    refused(pack(path, {**image_files, "../evil": b"x"}), "outside the archive's folder")

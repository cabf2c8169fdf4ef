"""Archives, and the images of Caltech-101 in them: read in part, and damaged or hostile in many ways."""

from __future__ import annotations

import gzip
import io
import random
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mklearn.errors import ConfigError, DataError
from mklearn.study.data import archives
from mklearn.study.data.archives import member_names, read_members
from mklearn.study.data.read import read_dataset
from mklearn.study.data.readers import image_archives, image_folder
from mklearn.study.data.registry import dataset_spec, entry
from mklearn.study.data.resizing import resize_images
from mklearn.study.data.samples import SampleSet

FILES = {"a/1.txt": b"one", "a/2.txt": b"two" * 1000, "b.txt": b""}
Make = Callable[[Path, Mapping[str, bytes]], Path]


def make_zip(path: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def make_tar(path: Path, files: Mapping[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


MAKERS: list[Make] = [
    make_zip,
    make_tar,
    lambda path, files: make_tar(path, files, "w"),
    lambda path, files: make_tar(path, files, "w:bz2"),
    lambda path, files: make_tar(path, files, "w:xz"),
]


def refused(archive: Path, message: str, inner: str | None = None) -> None:
    with pytest.raises(DataError, match=message):
        list(read_members(archive, lambda name: True, inner))


@pytest.mark.parametrize("make", MAKERS)
def test_good_archives(tmp_path: Path, make: Make) -> None:
    archive = make(tmp_path / "x", FILES)
    assert dict(read_members(archive, lambda name: True)) == FILES
    assert member_names(archive) == list(FILES)
    if make is not make_zip:
        outer = make_zip(tmp_path / "outer.zip", {"x/inner.tar": archive.read_bytes(), "x/other": b"1"})
        assert dict(read_members(outer, lambda name: name == "b.txt", "inner.tar")) == {"b.txt": b""}
        refused(outer, r"outer\.zip: contains no file missing\.tar \(found x/inner\.tar, x/other\)", "missing.tar")
        refused(outer, r"outer\.zip: not a readable zip or tar", "other")


def test_a_tar_that_ends_with_a_zip_is_a_tar(tmp_path: Path) -> None:
    inner = make_zip(tmp_path / "inner.zip", FILES).read_bytes()
    archive = make_tar(tmp_path / "x.tar", {"inner.zip": inner}, "w")
    assert dict(read_members(archive, lambda name: True)) == {"inner.zip": inner}


@pytest.mark.parametrize("make", MAKERS[:2])
def test_names_outside_the_folder_are_refused(tmp_path: Path, make: Make) -> None:
    refused(make(tmp_path / "x", {"good": b"1", "a/../../evil": b"2"}), "x: .*evil'.* outside the")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_outside_and_devices_are_refused(tmp_path: Path, kind: bytes) -> None:
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        member = tarfile.TarInfo("thing")
        member.type, member.linkname = kind, "/etc"
        archive.addfile(member)
    refused(tmp_path / "x.tar", r"x\.tar: .*'thing' is a")


@pytest.mark.parametrize("make", MAKERS)
def test_sizes_and_checksums(tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain tar archives have no checksum; in others it is the last bytes, after the end of the tar archive."""
    noise = random.Random(0).randbytes(200_000)
    archive = make(tmp_path / "x", {"noise": noise, "more": noise})
    with monkeypatch.context() as patch:
        patch.setattr(archives, "MOST_BYTES", 300_000)
        refused(archive, "x: unpacks to more than 300,000 bytes")
    whole = archive.read_bytes()
    if make is not MAKERS[2]:
        damaged = bytearray(whole)
        damaged[500 if make is make_zip else -6] ^= 0x55
        archive.write_bytes(damaged)
        refused(archive, "x: not a readable")
    archive.write_bytes(whole[: int(len(whole) * 0.4)])
    refused(archive, "x: not a readable zip or tar archive")


@pytest.mark.parametrize("data", [b"", b"<html>no such file</html>", gzip.compress(b"x", mtime=0)])
def test_files_that_are_no_archive(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x").write_bytes(data)
    refused(tmp_path / "x", "not a readable zip or tar")


# --- images: a tar archive inside a zip archive, as Caltech-101 is published

INNER, FOLDER = "101_ObjectCategories.tar.gz", "101_ObjectCategories"


def pack(path: Path, files: Mapping[str, bytes], inner: str = f"caltech-101/{INNER}", **more: bytes) -> Path:
    """Write a zip like upstream's: a tar.gz and other files."""
    content = make_tar(path.with_suffix(".tar"), files).read_bytes()
    return make_zip(path, {inner: content, "caltech-101/Annotations.tar": b"x", **more})


@pytest.fixture(scope="module")
def image_files() -> dict[str, bytes]:
    """Twelve JPEG files of each of two classes, in grey and in colour, by name in the tar archive."""
    rng, files = np.random.default_rng(0), {}
    for kind, shape in (("BACKGROUND_Google", (60, 50, 3)), ("Faces", (50, 60))):
        for number in range(1, 13):
            Image.fromarray(rng.integers(0, 256, shape, dtype=np.uint8)).save(content := io.BytesIO(), "JPEG")
            files[f"{FOLDER}/{kind}/image_{number:04}.jpg"] = content.getvalue()
    return files


@pytest.fixture
def small(image_files: dict[str, bytes], tmp_path: Path) -> Path:
    strays = {
        f"{FOLDER}/BACKGROUND_Google/tmp": b"no image",
        f"{FOLDER}/Faces/._image_0001.jpg": b"resource fork",
        f"{FOLDER}/Faces/.DS_Store": b"folder settings",
        f"__MACOSX/{FOLDER}/image_0001.jpg": b"resource fork",
        f"{FOLDER}/README.jpg": b"beside the classes",
    }
    macos = {f"__MACOSX/caltech-101/._{INNER}": b"resource fork"}
    return pack(tmp_path / "caltech-101.zip", {**dict(reversed(image_files.items())), **strays}, **macos)


def read(path: Path, **options: Any) -> SampleSet:
    return image_archives.read({"x": path}, **entry("caltech101").options, **options)


def assert_same(ours: SampleSet, theirs: SampleSet) -> None:
    for field in ("ids", "y", "classes"):
        np.testing.assert_array_equal(getattr(ours, field), getattr(theirs, field))
    for left, right in zip(ours.images, theirs.images, strict=True):  # type: ignore[arg-type]
        np.testing.assert_array_equal(left, right, strict=True)


def test_equals_the_unpacked_folder_but_strays(small: Path, image_files: dict[str, bytes], tmp_path: Path) -> None:
    for name, data in image_files.items():
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    for colour in ("grey", "rgb"):  # of grey and of colour files
        assert_same(read(small, colour=colour), image_folder.read({"root": tmp_path / FOLDER}, colour=colour))
    [note] = read(small).notes
    assert note.startswith("2 files or folders that are no images of a class were left out")
    assert "BACKGROUND_Google/tmp" in note
    assert "README.jpg" in note
    top = {name.removeprefix(f"{FOLDER}/"): data for name, data in image_files.items()}
    assert_same(image_archives.read({"x": make_zip(tmp_path / "top.zip", top)}), read(small))


def test_only_the_chosen_images_are_decoded(small: Path) -> None:
    spec = dataset_spec({"name": "caltech101", "per_class": 5, "draw": 3, "resize": {"pixels": 3000}})
    spec["expected"] = {"n_samples": 24, "n_classes": 2, "smallest_class": 12}  # of all samples
    samples = read_dataset(spec, {"caltech-101.zip": small})
    assert samples.class_counts.tolist() == [5, 5]
    every = read(small)
    every = replace(every, images=resize_images(every.images, pixels=3000))  # type: ignore[arg-type]
    assert_same(samples, every.subset([every.ids.tolist().index(name) for name in samples.ids]))
    spec["expected"] = {"n_samples": 9144, "n_classes": 102, "smallest_class": 31}
    with pytest.raises(
        DataError, match=r"caltech-101\.zip: not the .* n_samples: expected 9144, got 24; n_classes: .*31, got 12"
    ):
        read_dataset(spec, {"caltech-101.zip": small})
    del spec["expected"]
    with pytest.raises(ConfigError, match="caltech101: per_class: 13 samples can't"):
        read_dataset({**spec, "per_class": 13}, {"caltech-101.zip": small})


def test_damaged_and_other_archives(image_files: dict[str, bytes], small: Path, tmp_path: Path) -> None:
    path, name = tmp_path / "x.zip", f"{FOLDER}/Faces/image_0003.jpg"

    def unreadable(message: str) -> None:
        with pytest.raises(DataError, match=message) as caught:
            read(path)
        assert str(caught.value).startswith(str(path))
        assert "delete the file and run again to download it anew" in str(caught.value)

    pack(path, {**image_files, name: image_files[name][:500]})
    unreadable(r"Faces/image_0003\.jpg: a corrupt or truncated image")
    assert len(read(path, choose=lambda y, classes: np.array([0, 1, 20]))) == 3  # images not chosen are not decoded
    path.write_bytes(small.read_bytes()[:20_000])
    unreadable("not a readable zip or tar archive")
    pack(path, image_files, inner="256.tar")
    unreadable(rf"contains no file {INNER} \(found 256\.tar")
    pack(path, image_files, **{f"copy/{INNER}": b"x"})
    unreadable(rf"several files {INNER} \(found caltech-101/{INNER}, copy/{INNER}\)")
    pack(path, {"101/Faces/image_0001.jpg": b"x"})
    unreadable(rf"has no images named {FOLDER}/.*; found '101/Faces")

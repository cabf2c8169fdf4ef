"""Images: class folders of the user, archives of registered sets, and resizing, with Pillow as a reference."""

import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pandas as pd
import pytest
from PIL import Image

from mklearn.errors import ConfigError, DataError
from mklearn.study.data import resizing
from mklearn.study.data.description import described
from mklearn.study.data.read import read_dataset
from mklearn.study.data.readers import images
from mklearn.study.data.readers.images import IMAGE_SUFFIXES, archive, class_folders, decode_image
from mklearn.study.data.registry import entry
from mklearn.study.data.resizing import resize_images
from mklearn.study.data.samples import SampleSet
from mklearn.study.datasets import dataset_spec
from mklearn.study.specs.data_specs import FOLDER_KEY

RNG = np.random.default_rng(0)
HUGE = struct.pack(">8sI4sIIBBBBB", b"\x89PNG\r\n\x1a\n", 13, b"IHDR", 10**5, 10**5, 8, 0, 0, 0, 0)
HUGE += struct.pack(">I", zlib.crc32(HUGE[12:])) + struct.pack(">I4sI", 0, b"IEND", zlib.crc32(b"IEND"))
"""A PNG that claims ten thousand million pixels."""
EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n%%EOF\n"
"""A format that Pillow passes to Ghostscript."""
SPELT = ["./s2/9.png", "s2\\10.png", "s10/9", "s10/10.png", "tree"]


def save(path: Path, pixels: np.ndarray, **options: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **options)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for label in ("s10", "s2"):
        for k in (10, 9):
            save(tmp_path / "images" / label / f"{k}.png", RNG.integers(0, 256, (6, 5), dtype=np.uint8))
    return tmp_path / "images"


def test_class_folders(root: Path) -> None:
    (root / ".git").mkdir()
    (root / "s2/.DS_Store").write_text("x")
    samples = class_folders({FOLDER_KEY: root})
    assert samples.ids.tolist() == ["s2/9.png", "s2/10.png", "s10/9.png", "s10/10.png"]
    assert samples.classes.tolist() == ["s2", "s10"]
    assert samples.image_shape == (6, 5)
    assert samples.notes == ()
    np.testing.assert_array_equal(samples.images[1], np.array(Image.open(root / "s2" / "10.png")))
    (root / "s2/more").mkdir()
    (root / "README.txt").write_text("x")
    [note] = class_folders({FOLDER_KEY: root}).notes
    assert note == "2 files or folders that are no images of a class were left out: 'README.txt', 's2/more'"
    spec = dataset_spec({"kind": "image_folder", "path": str(root), "resize": {"shape": [3, 4], "pixels": None}})
    assert read_dataset(spec).image_shape == (3, 4)


def read_with_table(root: Path, ids: list[str], labels: str = "s2", **options: Any) -> SampleSet:
    save(root / "s10" / "tree.png", np.zeros((6, 5), np.uint8))
    frame = pd.DataFrame({"id": ids, "unit": range(len(ids)), "label": [labels] + [""] * (len(ids) - 1)})
    frame.iloc[::-1].to_csv(root / "network.csv", index=False)
    entry = {"kind": "image_folder", "path": str(root), "resize": None, "tables": {"network": f"{root}/network.csv"}}
    return read_dataset(dataset_spec(entry | options))


def test_tables_of_images_are_joined_by_path_or_name(root: Path) -> None:
    samples = read_with_table(root, SPELT)
    alone = class_folders({FOLDER_KEY: root, "network": root / "network.csv"})
    for name in ("ids", "labels", "images", "notes"):
        np.testing.assert_array_equal(getattr(samples, name), getattr(alone, name))
    assert samples.tables["network"].ravel().tolist() == [0, 1, 2, 3, 4]
    (root / "s10/tree.png").rename(root / "s10/ba\u0308ume.png")  # as macOS writes it
    for name in ("s10/b\u00e4ume.png", "s10/ba\u0308ume"):
        joined = read_with_table(root, [*SPELT[:4], name, "tree"])
        assert (joined.ids[4], joined.tables["network"][4]) == ("s10/b\u00e4ume.png", 4)
    (root / "s10/ba\u0308ume.png").unlink()
    dropped = read_with_table(root, [*SPELT[:3], "bush", "tree"], missing_views="drop")
    np.testing.assert_array_equal(dropped.images, alone.images[[0, 1, 2, 4]])
    assert dropped.notes[0] == "1 of 6 samples have a row but no image and are left out: 'bush'"
    incomplete = read_with_table(root, ["bush", *SPELT[:3]], missing_views="mean")  # the label is of no image
    assert np.isnan(incomplete.tables["network"].ravel()).tolist() == [False] * 3 + [True] * 2


@pytest.mark.parametrize(
    ("ids", "options", "message"),
    [
        ([*SPELT[:4], "bush"], {}, r"images: lacks 'bush'; .*network.csv: lacks 's10/tree.png'. 2 of 6 .* or image"),
        (["9", "10"], {}, r"none of its ids '10', '9' is an image of .*/images; .* such as 's2/9.png'"),
        ([*SPELT, "s10/tree.png"], {}, r"images of rows must be unique; more than once: 's10/tree.png'"),
        (SPELT, {"labels": "s10"}, r"labels disagree .* 's2/9.png' is 's10' here and 's2' there"),
        (SPELT, {"tables": {}, "impute": "mean"}, r"impute: needs `tables`"),
    ],
)
def test_tables_of_images_that_are_refused(root: Path, ids: list[str], options: dict[str, Any], message: str) -> None:
    with pytest.raises((DataError, ValueError), match=message):
        read_with_table(root, ids, **options)


def test_all_formats_and_colour_modes(tmp_path: Path) -> None:
    grey = np.full((8, 8), 100, np.uint8)
    for suffix in IMAGE_SUFFIXES:
        save(tmp_path / "a" / f"x{suffix.upper()}", grey)
    colour = np.zeros((8, 8, 3), np.uint8)
    colour[..., 0] = 255
    save(tmp_path / "b" / "red.png", colour)
    samples = class_folders({FOLDER_KEY: tmp_path})
    assert len(samples) == len(IMAGE_SUFFIXES) + 1
    for image in samples.images[:-1]:
        assert np.abs(image.astype(int) - 100).max() <= 2  # lossy formats
    assert (samples.images[-1] == 76).all()  # 0.299 * 255
    rgb = class_folders({FOLDER_KEY: tmp_path}, colour="rgb")
    assert rgb.image_shape == (8, 8, 3)
    np.testing.assert_array_equal(rgb.images[-1], colour)
    for data, values in ((samples, [76]), (rgb, [255, 0, 0])):  # what a descriptor of another package gets
        data.save(tmp_path / "samples.npz")
        mine = f"{__name__}:first_pixels"
        features, _ = described(tmp_path / "samples.npz", None, mine, mine, {}, None, "1of1")
        np.testing.assert_array_equal(features[-1], values)


def first_pixels(images: np.ndarray) -> np.ndarray:
    return images[:, 0, 0].reshape(len(images), -1)


def test_deep_images_and_rotation(tmp_path: Path) -> None:
    deep = np.array([[0, 1000], [40000, 65535]], dtype=np.uint16)
    for label in "ab":
        save(tmp_path / label / "x.png", deep)
    np.testing.assert_array_equal(class_folders({FOLDER_KEY: tmp_path}).images[0], deep)
    with pytest.raises(DataError, match="can't be read as rgb; convert it to 8 bits or leave it out"):
        class_folders({FOLDER_KEY: tmp_path}, colour="rgb")
    for suffix in ("tif", "png"):
        data = cv2.imencode(f".{suffix}", np.stack([deep] * 3, axis=2))[1].tobytes()
        with pytest.raises(DataError, match="16-bit colour can't be read: convert the image to 8 bits per channel"):
            decode_image(data, suffix)
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned by 90 degrees
    save(tmp_path / "b" / "y.jpg", np.zeros((4, 8), np.uint8), exif=exif)
    with pytest.raises(DataError, match=r"different depth .*x\.png.*y\.jpg"):
        class_folders({FOLDER_KEY: tmp_path})
    for label in "ab":
        save(tmp_path / label / "x.png", np.zeros((8, 4), np.uint8))
    assert class_folders({FOLDER_KEY: tmp_path}).image_shape == (8, 4)


def test_folders_that_are_refused(root: Path, tmp_path: Path) -> None:
    (root / "empty").mkdir()
    with pytest.raises(DataError, match="no images in class folder 'empty'"):
        class_folders({FOLDER_KEY: root})
    (root / "empty").rmdir()
    data = (root / "s10" / "9.png").read_bytes()
    for damaged, word in (
        (data[: len(data) // 2], "corrupt or truncated"),
        (b"hello", "not an image"),
        (EPS, "not an image of a format"),
        (HUGE, "corrupt or truncated image .*exceeds limit of"),
    ):
        (root / "s10" / "9.png").write_bytes(damaged)
        (root / "s2" / "9.png").write_bytes(damaged)
        with pytest.raises(DataError, match=rf"s2/9\.png: .*{word}.*; .*s10/9\.png: .*{word}"):
            class_folders({FOLDER_KEY: root})
    with pytest.raises(DataError, match=r"expected two or more sub-folders.* it has '9\.png', '10\.png'"):
        class_folders({FOLDER_KEY: root / "s2"})
    with pytest.raises(DataError, match="no such folder"):
        class_folders({FOLDER_KEY: tmp_path / "nowhere"})


# --- a tar archive inside a zip archive, as Caltech-101 is published

INNER, FOLDER = "101_ObjectCategories.tar.gz", "101_ObjectCategories"


def make_zip(path: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in files.items():
            packed.writestr(name, data)
    return path


def pack(path: Path, files: Mapping[str, bytes], inner: str = f"caltech-101/{INNER}", **more: bytes) -> Path:
    with tarfile.open(fileobj=(content := io.BytesIO()), mode="w:gz") as packed:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            packed.addfile(member, io.BytesIO(data))
    return make_zip(path, {inner: content.getvalue(), "caltech-101/Annotations.tar": b"x", **more})


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
        f"__MACOSX/{FOLDER}/image_0001.jpg": b"resource fork",
        f"{FOLDER}/README.jpg": b"beside the classes",
    }
    macos = {f"__MACOSX/caltech-101/._{INNER}": b"resource fork"}
    return pack(tmp_path / "caltech-101.zip", {**dict(reversed(image_files.items())), **strays}, **macos)


def read(path: Path, **options: Any) -> SampleSet:
    return archive({"x": path}, **entry("caltech101").options, **options)


def assert_same(ours: SampleSet, theirs: SampleSet) -> None:
    for field in ("ids", "labels"):
        np.testing.assert_array_equal(getattr(ours, field), getattr(theirs, field))
    for left, right in zip(ours.images, theirs.images, strict=True):  # type: ignore[arg-type]
        np.testing.assert_array_equal(left, right, strict=True)


def test_an_archive_equals_the_unpacked_folder(small: Path, image_files: dict[str, bytes], tmp_path: Path) -> None:
    for name, data in image_files.items():
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    for colour in ("grey", "rgb"):  # of grey and of colour files
        assert_same(read(small, colour=colour), class_folders({FOLDER_KEY: tmp_path / FOLDER}, colour=colour))
    top = {name.removeprefix(f"{FOLDER}/"): data for name, data in image_files.items()}
    assert_same(archive({"x": make_zip(tmp_path / "top.zip", top)}), read(small))


def test_a_part_of_an_archive(small: Path) -> None:
    spec = dataset_spec({"name": "caltech101", "per_class": 5, "draw": 3, "resize": {"pixels": 3000}})
    spec["expected"] = {"n_samples": 24, "n_classes": 2, "smallest_class": 12}  # of all samples
    samples = read_dataset(spec, {"caltech-101.zip": small})
    assert np.bincount(samples.y).tolist() == [5, 5]
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


def test_damage(image_files: dict[str, bytes], small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, name = tmp_path / "x.zip", f"{FOLDER}/Faces/image_0003.jpg"

    def refused(message: str) -> None:
        with pytest.raises(DataError, match=message) as caught:
            read(path)
        assert str(caught.value).startswith(str(path))

    pack(path, {**image_files, name: image_files[name][:500]})
    refused(r"Faces/image_0003\.jpg: a corrupt or truncated image")
    for damaged in (b"", b"<html>no such file</html>", small.read_bytes()[:20_000]):
        path.write_bytes(damaged)
        refused("not a readable archive.*; delete the file and run again to download it again")
    damaged_bytes = bytearray(small.read_bytes())
    damaged_bytes[len(damaged_bytes) // 2] ^= 0x55
    path.write_bytes(damaged_bytes)
    refused("not a readable archive")
    pack(path, image_files, inner="256.tar")
    refused(rf"expected one file {INNER}, got '256\.tar")
    pack(path, {"101/Faces/image_0001.jpg": b"x"})
    refused(rf"{INNER} has no images named {FOLDER}/")
    monkeypatch.setattr(images, "MOST_BYTES", 3000)
    pack(path, image_files)
    refused("unpacks to more than 3,000 bytes")


# --- resizing


@pytest.mark.parametrize("new", [(32, 32), (120, 92), (200, 150), (1, 1)])
def test_bicubic_agrees_with_pillow(new: tuple[int, int]) -> None:
    image = np.random.default_rng(1).random((1, 112, 92)).astype(np.float32)
    resized = resize_images(image, new, interpolation="bicubic")
    reference = np.array(Image.fromarray(image[0]).resize(new[::-1], Image.Resampling.BICUBIC))
    np.testing.assert_allclose(resized[0], reference, atol=2e-6)


def test_area_with_fractional_factor_equals_exact_integration() -> None:
    # 12 -> 18 rows and 9 -> 6 columns: split every pixel into 3 x 2 parts and average whole blocks of 2 x 3 parts
    image = np.random.default_rng(2).random((1, 12, 9))
    parts = image.repeat(3, axis=1).repeat(2, axis=2)
    blocks = parts.reshape(1, 18, 2, 6, 3).mean(axis=(2, 4))
    np.testing.assert_allclose(resize_images(image, (18, 6), interpolation="area"), blocks, atol=1e-12)


def test_rounding_policy() -> None:
    image = np.array([[[0, 1], [1, 0]], [[254, 255], [255, 255]], [[1, 2], [1, 2]]], dtype=np.uint8)
    rounded = resize_images(image, (1, 1))
    assert rounded.dtype == np.uint8
    assert rounded.ravel().tolist() == [0, 255, 2]  # 0.5 -> 0 and 1.5 -> 2 (half to even), 254.75 -> 255
    exact = resize_images(image, (1, 1), rounding="none")
    np.testing.assert_array_equal(np.ravel(exact), [0.5, 254.75, 1.5])
    edge = np.zeros((1, 4, 8), np.uint8)
    edge[:, :, 4:] = 255
    resized = np.asarray(resize_images(edge, (4, 32), interpolation="bicubic"))
    assert (np.diff(resized[0, 0, 10:22].astype(int)) >= 0).all()  # overshoot is cut off, it does not wrap around
    floating = resize_images(image.astype(np.float32) / 255, (1, 1))
    assert np.asarray(floating).dtype == np.float32


def test_pixels_keeps_the_aspect_and_the_input() -> None:
    images = [np.zeros((300, 200), np.uint8), np.zeros((150, 400, 3), np.uint8), np.zeros((1, 3), np.uint8)]
    before = [image.copy() for image in images]
    resized = resize_images(images, pixels=60000)
    assert isinstance(resized, list)
    assert [image.shape for image in resized] == [(300, 200), (150, 400, 3), (141, 424)]
    assert resize_images(images, pixels=600)[1].shape == (15, 40, 3)
    assert isinstance(resize_images(images[:1] * 2, pixels=100), np.ndarray)
    for image, old in zip(images, before, strict=True):
        np.testing.assert_array_equal(image, old)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
@pytest.mark.parametrize("rounding", ["nearest", "none"])
def test_an_array_gives_to_the_bit_what_its_images_and_channels_give(dtype: type, rounding: str, monkeypatch) -> None:
    monkeypatch.setattr(resizing, "BATCH", 4)
    images = (255 * np.random.default_rng(0).random((10, 28, 33, 2))).astype(dtype)
    for size in ({"shape": (20, 41)}, {"pixels": 500}, {"shape": (28, 33)}):
        together = resize_images(images, **size, interpolation="bicubic", rounding=rounding)
        single = [resize_images([image], **size, interpolation="bicubic", rounding=rounding)[0] for image in images]
        assert together.dtype == single[0].dtype
        np.testing.assert_array_equal(together, single)
        grey = resize_images(images[..., 1], **size, interpolation="bicubic", rounding=rounding)
        np.testing.assert_array_equal(together[..., 1], grey, strict=True)

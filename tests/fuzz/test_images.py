"""Images, archives and MATLAB files as bytes: arrays of the sizes that were asked for, or a sentence."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st
from PIL import Image
from scipy.io import savemat
from tests.fuzz.mutations import damaged
from tests.fuzz.trials import a_sentence, run_trials

from mklearn.study.data.readers import deng_cai_mat, nested_archive, uci_table
from mklearn.study.data.readers.content import decode_image

PIXELS = (np.arange(20 * 24).reshape(20, 24) % 251).astype(np.uint8)
FORMATS = ("PNG", "JPEG", "BMP", "TIFF", "PPM", "GIF", "WEBP")


def encoded(pixels: np.ndarray, kind: str, **options: object) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, kind, **options)
    return stream.getvalue()


def images() -> list[bytes]:
    colour = np.stack([PIXELS, PIXELS.T[:20, :20].repeat(2, 1)[:, :24], 255 - PIXELS], axis=-1)
    found = [encoded(pixels, kind) for kind in FORMATS for pixels in (PIXELS, colour)]
    found += [encoded(PIXELS.astype(np.uint16) * 200, kind) for kind in ("PNG", "TIFF")]
    found += [encoded(PIXELS, "TIFF", compression=way) for way in ("tiff_lzw", "tiff_deflate", "packbits")]
    found += [encoded(colour, "JPEG", progressive=True), encoded(PIXELS, "EPS"), encoded(colour, "JPEG2000")]
    return found


def test_images() -> None:
    decoded = 0

    def trial(drawn: tuple[bytes, str]) -> None:
        nonlocal decoded
        content, colour = drawn
        with a_sentence():
            pixels = decode_image(content, "cat/1.png", colour)
            decoded += 1
            assert pixels.ndim == (2 if colour == "grey" else 3)
            assert pixels.size > 0
            assert pixels.dtype.kind in "uif"
            with Image.open(io.BytesIO(content)) as image:
                assert image.format != "EPS"
                assert sorted(pixels.shape[:2]) == sorted(image.size)

    run_trials(150, st.tuples(damaged(images()), st.sampled_from(["grey", "rgb"])), trial)
    assert decoded > 15


def archives() -> list[bytes]:
    """A zip, tar archives with each compression, and a tar archive in a zip archive; three images of two classes."""
    files = {f"top/{name}.png": encoded(PIXELS, "PNG") for name in ("cat/1", "cat/2", "dog/1")}
    found = []
    for mode in ("w", "w:gz", "w:bz2", "w:xz"):
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode=mode) as archive:
            for name, content in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        found.append(stream.getvalue())
    for members in (files, {"inner.tar.gz": found[1]}):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        found.append(stream.getvalue())
    return found


def test_archives(tmp_path: Path) -> None:
    path = tmp_path / "images"

    def trial(drawn: tuple[bytes, str | None]) -> None:
        content, inner = drawn
        path.write_bytes(content)
        with a_sentence():
            samples = nested_archive.read({"images": path}, folder="top", inner=inner)
            assert len(samples) >= 2
        assert [file.name for file in tmp_path.iterdir()] == ["images"]

    run_trials(80, st.tuples(damaged(archives()), st.sampled_from([None, None, "inner.tar.gz"])), trial)


@pytest.mark.parametrize("compressed", [False, True])
def test_matlab_files(tmp_path: Path, compressed: bool) -> None:
    path = tmp_path / "one.mat"
    parts = np.empty((1, 2), dtype=object)
    parts[0, :] = [np.arange(1.0, 9)[:, None], np.arange(3, 20)[:, None]]
    uci = {"X": PIXELS[:6].astype(float), "Y": np.arange(24.0)[:, None] % 3, "kfold": parts}
    faces = {"fea": PIXELS, "gnd": np.arange(20)[:, None] % 4}
    seeds = []
    for variables in (uci, faces):
        savemat(path, variables, do_compression=compressed)
        seeds.append(path.read_bytes())

    def trial(content: bytes) -> None:
        path.write_bytes(content)
        with a_sentence():
            assert uci_table.read({"one": path}).tables["features"].dtype == np.float64
        with a_sentence():
            assert len(uci_table.released_splits(path)) > 0
        with a_sentence():
            samples = deng_cai_mat.read({"one": path}, shape=(4, 6))
            assert samples.image_shape == (4, 6)

    run_trials(15, damaged(seeds), trial)

"""Archives: valid ones are read completely, and damaged ones and links are refused in one sentence."""

from __future__ import annotations

import gzip
import io
import random
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from mklearn.errors import DataError
from mklearn.study.data import archives
from mklearn.study.data.archives import member_names, read_members

FILES = {"a/1.txt": b"one", "a/2.txt": b"two" * 1000, "b.txt": b""}
Make = Callable[[Path, dict[str, bytes]], Path]


def make_zip(path: Path, files: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def make_tar(path: Path, files: dict[str, bytes], mode: str = "w:gz") -> Path:
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
    assert dict(read_members(archive, lambda name: name.startswith("a/"))).keys() == {"a/1.txt", "a/2.txt"}
    if make is not make_zip:
        outer = make_zip(tmp_path / "outer.zip", {"x/inner.tar": archive.read_bytes(), "x/other": b"1"})
        assert dict(read_members(outer, lambda name: name == "b.txt", "inner.tar")) == {"b.txt": b""}
        assert member_names(outer, "inner.tar") == list(FILES)
        refused(outer, r"outer\.zip: contains no file missing\.tar \(found x/inner\.tar, x/other\)", "missing.tar")
        refused(outer, r"outer\.zip: other: not a readable zip or tar", "other")


def test_a_tar_that_ends_with_a_zip_is_a_tar(tmp_path: Path) -> None:
    inner = make_zip(tmp_path / "inner.zip", FILES).read_bytes()
    archive = make_tar(tmp_path / "x.tar", {"inner.zip": inner}, "w")
    assert dict(read_members(archive, lambda name: True)) == {"inner.zip": inner}


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/etc/evil"])
@pytest.mark.parametrize("make", MAKERS[:2])
def test_names_outside_the_folder_are_refused(tmp_path: Path, make: Make, name: str) -> None:
    refused(make(tmp_path / "x", {"good": b"1", name: b"2"}), "x: member .* lies outside the archive's folder")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_are_refused(tmp_path: Path, kind: bytes) -> None:
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        member = tarfile.TarInfo("link")
        member.type, member.linkname = kind, "/etc"
        archive.addfile(member)
    refused(tmp_path / "x.tar", r"x\.tar: member 'link' is a link or a special file")


@pytest.mark.parametrize("make", MAKERS)
def test_archives_that_unpack_to_more_than_the_limit(
    tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MOST_BYTES", 1_000_000)
    refused(make(tmp_path / "x", {"zeros": bytes(900_000), "more": bytes(900_000)}), "x: unpacks to more than")


@pytest.mark.parametrize("make", MAKERS)
def test_truncated_archives(tmp_path: Path, make: Make) -> None:
    noise = random.Random(0).randbytes(200_000)
    archive = make(tmp_path / "x", {"noise": noise, "more": noise})
    archive.write_bytes(archive.read_bytes()[: int(archive.stat().st_size * 0.4)])
    refused(archive, "x: not a readable zip or tar archive")


@pytest.mark.parametrize("make", [*MAKERS[:2], *MAKERS[3:]])
def test_checksums_are_verified(tmp_path: Path, make: Make) -> None:
    """Plain tar archives have none; in others they are the last bytes, after the end of the tar archive."""
    archive = make(tmp_path / "x", {"noise": random.Random(0).randbytes(2000)})
    data = bytearray(archive.read_bytes())
    data[500 if make is make_zip else -6] ^= 0x55
    archive.write_bytes(data)
    refused(archive, "x: not a readable")


@pytest.mark.parametrize("data", [b"", b"<html>no such file</html>", gzip.compress(b"x", mtime=0)])
def test_files_that_are_no_archive(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x").write_bytes(data)
    refused(tmp_path / "x", "not a readable zip or tar")

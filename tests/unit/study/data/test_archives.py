"""Archives: valid ones are read completely, malicious and damaged ones are refused."""

from __future__ import annotations

import bz2
import gzip
import io
import random
import stat
import tarfile
import tracemalloc
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
            archive.writestr(zipfile.ZipInfo(name), data, compression)
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


def everything(name: str) -> bool:
    return True


def only_good(name: str) -> bool:
    return name == "good"


def refused(archive: Path, message: str, wanted: Callable[[str], bool] = everything, inner: str | None = None) -> None:
    with pytest.raises(DataError, match=message):
        list(read_members(archive, wanted, inner))


@pytest.mark.parametrize("make", MAKERS)
def test_good_archives(tmp_path: Path, make: Make) -> None:
    archive = make(tmp_path / "x", FILES)
    assert dict(read_members(archive, everything)) == FILES
    assert member_names(archive) == list(FILES)
    assert dict(read_members(archive, lambda name: name.startswith("a/"))).keys() == {"a/1.txt", "a/2.txt"}


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_tar_inside_a_zip(tmp_path: Path, mode: str, compression: int) -> None:
    inner = make_tar(tmp_path / "inner", FILES, mode).read_bytes()
    outer = make_zip(tmp_path / "outer.zip", {"x/inner.tar": inner, "x/other": b"1"}, compression)
    assert dict(read_members(outer, everything, "inner.tar")) == FILES
    assert dict(read_members(outer, lambda name: name == "b.txt", "inner.tar")) == {"b.txt": b""}
    assert member_names(outer, "inner.tar") == list(FILES)
    missing = r"outer\.zip: contains no file missing\.tar \(found x/inner\.tar, x/other\)"
    refused(outer, missing, inner="missing.tar")
    refused(outer, r"outer\.zip: other: not a readable zip or tar", inner="other")


def test_tar_inside_a_zip_is_streamed(tmp_path: Path) -> None:
    noise = random.Random(0).randbytes(4_000_000)
    inner = make_tar(tmp_path / "inner", {str(k): noise for k in range(6)}, "w").read_bytes()
    outer = make_zip(tmp_path / "outer.zip", {"inner.tar": inner}, zipfile.ZIP_STORED)
    del inner
    tracemalloc.start()
    assert sum(len(data) for _, data in read_members(outer, lambda name: name in "14", "inner.tar")) == 2 * len(noise)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * len(noise)  # of 24 MB: one file, twice while it is copied


@pytest.mark.parametrize("make", [MAKERS[1], *MAKERS[3:]])  # a plain tar archive has no checksum of its files
def test_checksum_at_the_end_is_verified(tmp_path: Path, make: Make) -> None:
    """A tar archive ends before the compressed file does, whose last bytes are its checksum."""
    archive = make(tmp_path / "x", FILES)
    data = bytearray(archive.read_bytes())
    for place in range(len(data) - 8, len(data) - 3):
        changed = data.copy()
        changed[place] ^= 0x55
        archive.write_bytes(changed)
        refused(archive, "x: not a readable")


def test_a_tar_that_ends_with_a_zip_is_a_tar(tmp_path: Path) -> None:
    inner = make_zip(tmp_path / "inner.zip", FILES).read_bytes()
    archive = make_tar(tmp_path / "x.tar", {"inner.zip": inner}, "w")
    assert dict(read_members(archive, everything)) == {"inner.zip": inner}


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/etc/evil", "C:/evil", "..\\evil", "\\evil", ".."])
def test_names_outside(tmp_path: Path, name: str) -> None:
    files = {"good": b"1", name: b"2"}
    tar = make_tar(tmp_path / "x.tar.gz", files)
    nested = make_zip(tmp_path / "outer.zip", {"inner.tar.gz": tar.read_bytes()})
    for wanted in (everything, only_good):
        refused(make_zip(tmp_path / "x.zip", files), "outside the archive's folder", wanted)
        refused(tar, "outside the archive's folder", wanted)
        refused(nested, "outside the archive's folder", wanted, "inner.tar.gz")


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.GNUTYPE_SPARSE]
)
def test_links_and_devices_in_tar(tmp_path: Path, kind: bytes) -> None:
    with tarfile.open(tmp_path / "x.tar", "w") as out:
        member = tarfile.TarInfo("link")
        member.type, member.linkname = kind, "/etc"
        out.addfile(member)
        inside = tarfile.TarInfo("link/passwd")
        inside.size = 1
        out.addfile(inside, io.BytesIO(b"x"))
    refused(tmp_path / "x.tar", "link or a special file")


def test_symlink_in_zip(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        member = zipfile.ZipInfo("link")
        member.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(member, "/etc")
    refused(tmp_path / "x.zip", "link or a special file")


# --- decompression bombs


@pytest.mark.full
@pytest.mark.parametrize("make", MAKERS)
def test_bombs(tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = make(tmp_path / "x", {"zeros": bytes(20_000_000), "good": b"1"})
    if archive.stat().st_size < 1_000_000:
        refused(archive, "decompression bomb")
    monkeypatch.setattr(archives, "_MAX_BYTES", 1_000_000)
    monkeypatch.setattr(archives, "_MAX_RATIO", 1e9)
    refused(archive, "decompression bomb")
    if make is not make_zip:  # members of a tar archive that are not wanted are unpacked too
        refused(archive, "decompression bomb", only_good)


@pytest.mark.full
def test_bombs_inside_a_zip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_MAX_BYTES", 1_000_000)
    tar = make_tar(tmp_path / "inner.tar.gz", {"zeros": bytes(20_000_000), "good": b"1"}).read_bytes()
    for inner in (tar, bytes(20_000_000), gzip.compress(b"") * 1_000_000):
        outer = make_zip(tmp_path / "outer.zip", {"inner.tar.gz": inner})
        for wanted in (everything, lambda name: False):
            refused(outer, r"outer\.zip: .*decompression bomb", wanted, "inner.tar.gz")


@pytest.mark.full
def test_bomb_in_a_header(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "x.tar.gz", "w:gz", format=tarfile.PAX_FORMAT, compresslevel=1) as archive:
        member = tarfile.TarInfo("good")
        member.pax_headers = {"comment": "0" * 30_000_000}
        archive.addfile(member)
    refused(tmp_path / "x.tar.gz", "decompression bomb")


@pytest.mark.parametrize("make", MAKERS[:2])
def test_too_many_members(tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_MAX_MEMBERS", 10)
    refused(make(tmp_path / "x", {str(k): b"" for k in range(20)}), "than the 10 members allowed")


# --- damage


@pytest.mark.parametrize("make", MAKERS)
def test_truncated_archives(tmp_path: Path, make: Make) -> None:
    noise = random.Random(0).randbytes(200_000)
    archive = make(tmp_path / "x", {"noise": noise, "more": noise})
    data = archive.read_bytes()
    archive.write_bytes(data[: int(len(data) * 0.4)])
    refused(archive, r"x: ")


def test_flipped_bytes_in_a_zip(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "x.zip", {"a": b"abc" * 1000}, zipfile.ZIP_STORED)
    data = bytearray(archive.read_bytes())
    data[500] ^= 0xFF
    archive.write_bytes(data)
    refused(archive, r"x\.zip: .*CRC")


@pytest.mark.parametrize(
    "data",
    [b"", b"hello", b"<html>no such file</html>", gzip.compress(b"x"), bz2.compress(b"y")],
    ids=["empty", "text", "html", "gzip", "bzip2"],  # gzip data has the time in it, which would change the test's name
)
def test_files_that_are_no_archive(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x").write_bytes(data)
    refused(tmp_path / "x", "not a readable zip or tar")


def test_repeated_names(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("a", "1")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a", "2")
    refused(tmp_path / "x.zip", "twice")


def test_a_member_before_the_beginning(tmp_path: Path) -> None:
    """Its offset is negative, where zipfile seeks: not an error of the disk."""
    path = make_zip(tmp_path / "a.zip", {"good/1": b"one", "good/2": b"two"})
    content = path.read_bytes()
    path.write_bytes(content[:4] + content[24:])
    refused(path, "not a readable zip or tar archive")

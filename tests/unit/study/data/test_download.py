"""Downloads from a server on this machine that fails in the ways that real servers fail."""

from __future__ import annotations

import gzip
import hashlib
import logging
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from mklearn.contract.specs import FileSpec
from mklearn.errors import DataError, DownloadError
from mklearn.study.data import download
from mklearn.study.data.download import ContentCheck, FetchedFile, fetch

DATA = random.Random(0).randbytes(300_000)
PACKED = gzip.compress(DATA, mtime=0)
SHA = hashlib.sha256(DATA).hexdigest()


class Server(ThreadingHTTPServer):
    """Records the requests; `trouble` is the number of requests that fail."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[tuple[str, str | None]] = []
        self.trouble = 1
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that close the connection: part of the tests."""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        kind = self.path.split("/")[1]
        wanted = self.headers.get("Range")
        self.server.requests.append((self.path, wanted))
        data = DATA
        if kind == "missing":
            self.send_error(404)
            return
        if kind == "page":
            data = b"<!DOCTYPE html><html>please log in</html>"
        if kind == "other":
            data = DATA[::-1]
        if kind == "gzip":
            data = PACKED
        if kind in STRANGE:
            STRANGE[kind](self)
            return
        trouble = self.server.trouble > 0
        self.server.trouble -= 1
        if kind == "busy" and trouble:
            self.send_error(503)
            return
        begin = 0
        if wanted and kind != "dropnorange":
            begin = int(wanted.removeprefix("bytes=").rstrip("-"))
            if begin >= len(data):
                self.send_error(416)
                return
        body = data[begin:]
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(body)))
        if kind == "gzip":
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        if kind in ("drop", "dropnorange", "stall") and trouble:
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            if kind == "stall":
                self.server.over.wait()
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.wfile.write(body)


def _answer(handler: Handler, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()


def _endless(handler: Handler) -> None:
    _answer(handler)
    while True:  # until the client closes the connection
        handler.wfile.write(DATA)


def _drip(handler: Handler) -> None:
    _answer(handler, Content_Length=str(len(DATA)))
    for byte in DATA:
        handler.wfile.write(bytes([byte]))
        time.sleep(0.05)


def _coded(handler: Handler) -> None:
    _answer(handler, Content_Encoding="gzip", Content_Length="5")
    handler.wfile.write(b"hello")


STRANGE = {
    "endless": _endless,
    "drip": _drip,
    "badlength": lambda handler: _answer(handler, Content_Length="3, 4"),
    "badredirect": lambda handler: _answer(handler, 302, Location="http://[::1/x"),
    "badcode": _coded,
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("MKLEARN_MIRROR", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name, quick in (("_ATTEMPTS", 3), ("_FIRST_PAUSE", 0.01), ("_TIMEOUT", (60, 60))):
        monkeypatch.setattr(download, name, quick)
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield running
        running.over.set()
        running.shutdown()


def entry(server: Server, *kinds: str, **changes: object) -> FileSpec:
    fields = {"urls": [f"{server.url}/{kind}/x.bin" for kind in kinds], "sha256": [SHA], "bytes": len(DATA)}
    return FileSpec.model_validate({"name": "x.bin", **fields, **changes})


def get(file: FileSpec, target: Path) -> FetchedFile:
    fetched = fetch(file, target)
    assert target.read_bytes() == DATA
    assert sorted(path.name for path in target.parent.iterdir()) == [target.name]
    return fetched


def refused(file: FileSpec, target: Path, *parts: str, check_content: ContentCheck | None = None) -> None:
    with pytest.raises(DownloadError) as caught:
        fetch(file, target, check_content=check_content)
    for part in parts:
        assert part in str(caught.value)
    assert "secret" not in str(caught.value)


def test_good_and_then_present(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "new" / "folder" / "x.bin"
    assert get(entry(server, "good"), target) == ("upstream", "sha256")
    assert get(entry(server, "good"), target) == ("present", "sha256")
    assert len(server.requests) == 1


@pytest.mark.full
@pytest.mark.parametrize("kind", ["drop", "stall"])
def test_broken_transfer_is_resumed(server: Server, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if kind == "stall":
        monkeypatch.setattr(download, "_TIMEOUT", (60, 2))
    get(entry(server, kind), tmp_path / "x.bin")
    [(_, first), (_, second)] = server.requests
    assert first is None
    assert int(second.removeprefix("bytes=").rstrip("-")) > 0


@pytest.mark.parametrize("kind", ["dropnorange", "busy"])  # without ranges, a transfer starts again
def test_trouble_is_retried(server: Server, tmp_path: Path, kind: str) -> None:
    server.trouble = 2
    get(entry(server, kind), tmp_path / "x.bin")
    assert len(server.requests) == 3


def test_part_of_an_earlier_run_is_resumed(server: Server, tmp_path: Path) -> None:
    (tmp_path / "x.bin.part").write_bytes(DATA[:100_000])
    get(entry(server, "good"), tmp_path / "x.bin")
    assert server.requests == [("/good/x.bin", "bytes=100000-")]


@pytest.mark.parametrize("part", [b"wrong beginning" * 1000, DATA + b"too long", DATA])
def test_part_that_does_not_fit(server: Server, tmp_path: Path, part: bytes) -> None:
    (tmp_path / "x.bin.part").write_bytes(part)
    get(entry(server, "good"), tmp_path / "x.bin")
    assert len(server.requests) == (1 if part == DATA else 2)


def test_wrong_checksum(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "x.bin"
    found = hashlib.sha256(DATA[::-1]).hexdigest()
    expected = f"expected sha256 {SHA}, got {found} (300000 bytes)"
    refused(entry(server, "other"), target, expected, f"put the file at {target}")
    assert list(tmp_path.iterdir()) == []
    assert len(server.requests) == 1  # no retry: it would give the same file
    refused(entry(server, "page"), target, "it is a web page, not the file")
    refused(entry(server, "good", sha256=[], md5=["0" * 32]), target, "expected md5")
    refused(entry(server, "good", sha256=[]), target, "expected sha256 unknown")  # accepts nothing
    md5 = hashlib.md5(DATA).hexdigest()
    assert get(entry(server, "good", sha256=[], md5=[md5]), target).verified == "md5"


@pytest.mark.parametrize("first", ["missing", "other", "page"])
def test_second_url_works(server: Server, tmp_path: Path, first: str) -> None:
    get(entry(server, first, "good"), tmp_path / "x.bin")
    assert [path for path, _ in server.requests] == [f"/{first}/x.bin", "/good/x.bin"]


def test_wrong_present_file_is_replaced_only_by_a_correct_one(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "x.bin"
    target.write_bytes(b"something else")
    refused(entry(server, "missing"), target, "the present file: wrong checksum")
    assert target.read_bytes() == b"something else"
    get(entry(server, "good"), target)


def test_mirror_comes_first(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "mirror"
    (folder / "set one").mkdir(parents=True)
    (folder / "set one" / "x.bin").write_bytes(DATA)
    file = entry(server, "good", mirror="set one/x.bin")
    for number, mirror in enumerate((str(folder), folder.as_uri(), f"{server.url}/good")):
        monkeypatch.setenv("MKLEARN_MIRROR", mirror)
        assert get(file, tmp_path / str(number) / "x.bin").origin == "mirror"
    assert server.requests == [("/good/set%20one/x.bin", None)]
    monkeypatch.setenv("MKLEARN_MIRROR", str(tmp_path / "nowhere"))
    assert get(file, tmp_path / "3" / "x.bin").origin == "upstream"
    monkeypatch.setenv("MKLEARN_MIRROR", str(folder))
    (folder / "set one" / "x.bin").write_bytes(b"spoilt")
    assert get(file, tmp_path / "4" / "x.bin").origin == "upstream"


def test_all_fail_offline(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MKLEARN_MIRROR", str(tmp_path / "m"))
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nowhere = f"http://user:secret@127.0.0.1:{unused.getsockname()[1]}/x.bin?token=secret"
    refused(
        entry(server, mirror="set/x.bin", urls=[f"{server.url}/missing/x.bin", nowhere]),
        tmp_path / "x.bin",
        "x.bin: download failed from every source",
        "mirror:set/x.bin: no such file",
        "answered 404",
        "no connection (3 attempts)",
        f"put the file at {tmp_path / 'x.bin'} (sha256 {SHA}, about 300000 bytes)",
        "set MKLEARN_MIRROR to a folder or URL that has set/x.bin below it",
    )
    assert list(tmp_path.iterdir()) == []


def test_unlisted_checksum_needs_the_right_content(server: Server, tmp_path: Path) -> None:
    def check(path: Path) -> None:
        if path.read_bytes()[::-1] != DATA:
            raise DataError("other images")

    target = tmp_path / "x.bin"
    refused(entry(server, "other"), target, "wrong checksum", check_content=check)  # not allowed for this file
    allowed = entry(server, "other", content_check=True)
    refused(allowed, target, "wrong checksum")
    assert fetch(allowed, target, check_content=check).verified == "content"
    page = entry(server, "page", content_check=True)
    refused(page, tmp_path / "y.bin", "its content is wrong too: other images", check_content=check)
    assert [path.name for path in tmp_path.iterdir()] == ["x.bin"]


def test_disk_errors_are_clear(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    refused(entry(server, "good"), tmp_path / "file" / "x.bin", "can't be written: ", "check the folder")
    if Path("/dev/full").exists():
        (tmp_path / "x.bin.part").symlink_to("/dev/full")
        refused(entry(server, "good"), tmp_path / "x.bin", "no space left on the disk")
        assert not (tmp_path / "x.bin.part").is_symlink()


def test_log_lines_without_a_terminal(server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "mklearn.study.data.download"):
        get(entry(server, "drop"), tmp_path / "x.bin")
    text = caplog.text
    assert f"x.bin: downloading from {server.url}/drop/x.bin" in text
    assert "the connection broke off; attempt 2" in text
    assert "(100 %)" in text


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("endless", "more than 13,000,000 bytes, which is far more than the file has"),
        ("drip", "slower than 1000 bytes per second"),
        ("badlength", "InvalidHeader"),
        ("badredirect", ""),
        ("badcode", "the answer can't be read (DecodeError)"),
    ],
)
def test_a_source_that_fails_in_any_way_gives_way_to_the_next(
    server: Server, tmp_path: Path, kind: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "_WINDOW", 0.3)
    assert get(entry(server, kind, "good"), tmp_path / "x.bin").origin == "upstream"
    (tmp_path / "x.bin").unlink()
    refused(entry(server, kind), tmp_path / "x.bin", f"/{kind}/x.bin: {reason}")
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < len(DATA)


@pytest.mark.parametrize(
    "mirror", ["http://[::1", "http://user:secret@[x", "https://" + "a" * 70 + ".example", "http://\udcff"]
)
def test_a_malformed_mirror_gives_way_to_upstream(
    server: Server, tmp_path: Path, mirror: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    monkeypatch.setenv("MKLEARN_MIRROR", mirror)
    assert get(entry(server, "good", mirror="faces/x.bin"), tmp_path / "x.bin").origin == "upstream"
    (tmp_path / "x.bin").unlink()
    refused(entry(server, "missing", mirror="faces/x.bin"), tmp_path / "x.bin", "mirror:faces/x.bin: ", "404")
    assert caplog.text.encode("utf-8")


def test_content_that_the_server_compresses_is_unpacked(server: Server, tmp_path: Path) -> None:
    get(entry(server, "gzip"), tmp_path / "x.bin")
    (tmp_path / "x.bin").rename(tmp_path / "x.bin.part")
    (tmp_path / "x.bin.part").write_bytes(DATA[:1000])  # a range of the packed bytes continues nothing
    get(entry(server, "gzip"), tmp_path / "x.bin")


def test_a_file_that_is_compressed_itself_is_kept_so(server: Server, tmp_path: Path) -> None:
    fetch(entry(server, "gzip", name="x.mat.gz", sha256=[hashlib.sha256(PACKED).hexdigest()]), tmp_path / "x.mat.gz")
    assert (tmp_path / "x.mat.gz").read_bytes() == PACKED


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_killed_download_leaves_only_the_part(server: Server, tmp_path: Path) -> None:
    code = (
        "import sys; from mklearn.study.data.download import fetch; from mklearn.contract.specs import FileSpec\n"
        "fetch(FileSpec(name='x.bin', urls=[sys.argv[1]], sha256=[sys.argv[2]]), sys.argv[3])"
    )
    source = str(Path(__file__).parents[4] / "src")
    target = tmp_path / "x.bin"
    command = [sys.executable, "-c", code, f"{server.url}/stall/x.bin", SHA, str(target)]
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": source}) as process:
        part = tmp_path / "x.bin.part"
        while not (part.exists() and part.stat().st_size) and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert not target.exists()
    assert 0 < part.stat().st_size < len(DATA)
    get(entry(server, "good"), target)
    assert server.requests[-1][1] is not None  # the request for the rest

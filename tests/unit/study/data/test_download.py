"""Downloads from a server on this machine that fails in the ways that real servers fail."""

import hashlib
import logging
import random
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from mklearn.errors import DownloadError
from mklearn.study.data import download
from mklearn.study.data.download import fetch
from mklearn.study.specs.data_specs import FileSpec

DATA = random.Random(0).randbytes(300_000)
SHA = hashlib.sha256(DATA).hexdigest()
BODIES = {"page": b"<!DOCTYPE html><html>please log in</html>", "other": DATA[::-1]}
STATUS = {"missing": 404, "busy": 503}


class Handler(BaseHTTPRequestHandler):
    requests: ClassVar[list[str]] = []

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        kind = self.path.split("/")[1]
        self.requests.append(self.path)
        body = BODIES.get(kind, DATA)
        self.send_response(STATUS.get(kind, 200) if kind != "busy" or len(self.requests) < 3 else 200)
        length = {"badlength": "3, 4", "drop": str(2 * len(body))}.get(kind, str(len(body)))
        self.send_header("Content-Length", length)
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name in ("MKLEARN_MIRROR", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    Handler.requests.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()


def entry(server: str, *kinds: str, **changes: object) -> FileSpec:
    fields = {"urls": [f"{server}/{kind}/x.bin" for kind in kinds], "sha256": [SHA], "bytes": len(DATA)}
    return FileSpec.model_validate({"name": "x.bin", **fields, **changes})


def get(file: FileSpec, target: Path) -> str:
    source = fetch(file, target)
    assert target.read_bytes() == DATA
    assert sorted(path.name for path in target.parent.iterdir()) == [target.name]
    return source


def refused(file: FileSpec, target: Path, *parts: str) -> None:
    with pytest.raises(DownloadError) as caught:
        fetch(file, target)
    for part in parts:
        assert part in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_file_is_downloaded(server: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    target = tmp_path / "new" / "folder" / "x.bin"
    with caplog.at_level(logging.INFO, "mklearn.study.data.download"):
        assert get(entry(server, "good"), target) == f"{server}/good/x.bin"
    assert f"downloading from {server}/good/x.bin" in caplog.text
    assert "(100 %)" in caplog.text
    get(entry(server, "busy"), tmp_path / "other" / "x.bin")  # a server in trouble is asked again
    assert Handler.requests == ["/good/x.bin", "/busy/x.bin", "/busy/x.bin"]


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("missing", "the server answered 404"),
        ("other", f"expected sha256 {SHA}, got {hashlib.sha256(DATA[::-1]).hexdigest()} (300000 bytes)"),
        ("page", "it is a web page, not the file"),
        ("drop", "no complete answer (ProtocolError)"),
        ("badlength", "no complete answer (InvalidHeader)"),
    ],
)
def test_a_source_that_fails_gives_way_to_the_next(server: str, tmp_path: Path, kind: str, reason: str) -> None:
    refused(entry(server, kind), tmp_path / "x.bin", f"/{kind}/x.bin: ", reason, f"put the file at {tmp_path}/x.bin")
    assert list(tmp_path.iterdir()) == []
    assert get(entry(server, kind, "good"), tmp_path / "x.bin") == f"{server}/good/x.bin"


def test_surplus_bytes_are_not_written(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "_MOST_BYTES", 100_000)
    refused(entry(server, "good", bytes=None), tmp_path / "x.bin", "more than 100,000 bytes")


def test_mirror_comes_first(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "mirror"
    (folder / "set one").mkdir(parents=True)
    (folder / "set one" / "x.bin").write_bytes(DATA)
    file = entry(server, "good", mirror="set one/x.bin")
    for number, mirror in enumerate((str(folder), folder.as_uri(), f"{server}/good")):
        monkeypatch.setenv("MKLEARN_MIRROR", mirror)
        assert get(file, tmp_path / str(number) / "x.bin") == "mirror:set one/x.bin"
    assert Handler.requests == ["/good/set%20one/x.bin"]
    (folder / "set one" / "x.bin").write_bytes(b"spoilt")
    for number, mirror in enumerate((str(tmp_path / "nowhere"), str(folder), "http://[::1", "http://\udcff"), 3):
        monkeypatch.setenv("MKLEARN_MIRROR", mirror)
        assert get(file, tmp_path / str(number) / "x.bin") == f"{server}/good/x.bin"


def test_all_fail_offline(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "_RETRIES", 0)
    monkeypatch.setenv("MKLEARN_MIRROR", str(tmp_path / "m"))
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nowhere = f"http://user:secret@127.0.0.1:{unused.getsockname()[1]}/x.bin?token=secret"
    refused(
        entry(server, mirror="set/x.bin", urls=[f"{server}/missing/x.bin", nowhere]),
        tmp_path / "x.bin",
        "x.bin: download failed from every source",
        "mirror:set/x.bin: no such file",
        "answered 404",
        "no complete answer (ConnectionError)",
        f"put the file at {tmp_path / 'x.bin'} (sha256 {SHA})",
        "set MKLEARN_MIRROR to a folder or URL that has set/x.bin below it",
    )


def test_a_file_whose_checksum_upstream_is_unknown_is_checked_when_it_is_read(server: str, tmp_path: Path) -> None:
    refused(entry(server, "other"), tmp_path / "x.bin", "wrong checksum")
    assert fetch(entry(server, "other", content_check=True), tmp_path / "x.bin") == f"{server}/other/x.bin"
    refused(entry(server, "page", content_check=True), tmp_path / "y.bin", "it is a web page, not the file")

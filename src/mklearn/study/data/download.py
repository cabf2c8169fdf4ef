"""Downloads of registered data sets: from a mirror or from upstream, verified before they are moved into place.

Sources are tried in order, with retries that resume. A source that fails in any way, sends far more than the file
has, or hardly anything, gives way to the next one. Where upstream's checksum is unknown, the content is checked. One
error names the file and every source tried. A file arrives as ``<name>.part`` in its folder, is
verified, and only then renamed: a file under its final name is complete and correct.

pooch takes one checksum and one address, starts again after each failure, and passes bytes on by full chunks, so that a
server that drips holds it up. Around its downloader all of the above would still be needed.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlsplit, urlunsplit

from mklearn.atomic import DISK_FULL, NOT_WRITABLE, disk_errors, sync_and_rename
from mklearn.contract.specs import FileSpec
from mklearn.errors import DataError, DownloadError
from mklearn.study.data.registry import MIRROR_VARIABLE, local_folder

_logger = logging.getLogger(__name__)
_CHUNK = 1 << 16
_SLOWEST, _WINDOW = 1000, 60.0  # bytes per second, over so many seconds
_MOST_BYTES = 8 << 30  # of a file whose size is not known
_ATTEMPTS = 4
_FIRST_PAUSE = 2.0  # seconds before the second attempt; doubled for each further one
_TIMEOUT = (15.0, 60.0)  # seconds to wait for a connection, and for the next bytes
# Statuses worth another attempt: time-outs, too many requests, a server in trouble.
_RETRY_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})

ContentCheck = Callable[[Path], object]
"""Raises DataError if the file's decoded content is not the expected one."""


class FetchedFile(NamedTuple):
    """Origin of a verified file ("present", "mirror" or "upstream"), and its proof ("sha256", "md5" or "content")."""

    origin: str
    verified: str


@dataclass(frozen=True)
class _Source:
    """A place that may have the file; `transfer` updates ``.part`` and returns whether it resumed an earlier part."""

    origin: str
    address: str
    transfer: Callable[[], bool]


class _SourceFailed(Exception):
    """A source has no such file, or a wrong one."""


def fetch(file: FileSpec, target: str | os.PathLike[str], *, check_content: ContentCheck | None = None) -> FetchedFile:
    """Provide a verified copy of a file at `target`.

    Sources in order: the file already at `target`, the mirror (environment variable MKLEARN_MIRROR: a folder, file://
    or http(s):// URL with the file at ``file.mirror`` below it), the URLs of the file's entry. A source whose file has
    no accepted checksum counts as failed, and the next one is tried. Progress is a log line (INFO) per tenth of the
    file.

    Parameters
    ----------
    file : FileSpec
        The file's entry in the registry.
    target : path
        Final path; its folder is created.
    check_content : callable, optional
        Check of a file with an unlisted checksum. Only used for entries with ``content_check``, whose upstream
        checksum is unknown.

    Raises
    ------
    DownloadError
        Every source failed. The message lists each failure, and which file to put where.
    """
    target = Path(target)
    mirror = os.environ.get(MIRROR_VARIABLE) or None
    part = target.with_name(target.name + ".part")
    failures: list[str] = []
    with disk_errors(target, DownloadError):
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_file():
            try:
                return FetchedFile("present", _proof(file, target, check_content))
            except _SourceFailed as error:
                failures.append(f"the present file: {error}")
                _logger.warning("%s: %s; a correct copy replaces it if one is found", target, error)
        for source in _sources(file, mirror, part):
            try:
                verified = _verified_transfer(source, file, part, check_content)
            except _SourceFailed as error:
                failures.append(f"{source.address}: {error}")
                _logger.warning("%s from %s: %s", file.name, source.address, error)
                if part.is_file() and part.stat().st_size == 0:
                    part.unlink()
            except OSError as error:
                if error.errno in DISK_FULL:
                    part.unlink(missing_ok=True)
                if error.errno in DISK_FULL | NOT_WRITABLE:
                    raise
                failures.append(f"{source.address}: {error.strerror or error}")
                _logger.warning("%s from %s: %s", file.name, source.address, error)
            else:
                sync_and_rename(part, target)
                return FetchedFile(source.origin, verified)
    raise DownloadError(_failure_message(file, target, mirror, failures))


def _sources(file: FileSpec, mirror: str | None, part: Path) -> Iterator[_Source]:
    # upstream's packaging may be larger than the mirror's copy, whose size is known
    most = 10 * file.bytes + 10_000_000 if file.bytes else _MOST_BYTES
    if mirror is not None and file.mirror is not None:
        folder = local_folder(mirror)
        if folder is not None:
            transfer = partial(_copy, folder / file.mirror, part, most)
        else:
            url = mirror.rstrip("/") + "/" + quote(file.mirror)
            transfer = partial(_download, url, part, most)
        yield _Source("mirror", f"mirror:{file.mirror}", transfer)
    for url in file.urls:
        yield _Source("upstream", _public_url(url), partial(_download, url, part, most))


def _verified_transfer(
    source: _Source, file: FileSpec, part: Path, check_content: ContentCheck | None, may_repeat: bool = True
) -> str:
    """Transfer the file to `part`, and return what proves it correct."""
    resumed = source.transfer()
    try:
        return _proof(file, part, check_content)
    except _SourceFailed:
        part.unlink(missing_ok=True)
        if not (resumed and may_repeat):
            raise
    # The part of an earlier transfer may belong to another version of the file.
    _logger.info("%s: the resumed file is wrong; downloading it again from the beginning", file.name)
    return _verified_transfer(source, file, part, check_content, may_repeat=False)


def _proof(file: FileSpec, path: Path, check_content: ContentCheck | None) -> str:
    """Return what proves a file correct: an accepted checksum, or the expected content."""
    sha256, md5 = _checksum(path, "sha256"), _checksum(path, "md5")
    if sha256 in file.sha256:
        return "sha256"
    if md5 in file.md5:
        return "md5"
    wrong = _wrong_checksum(file, path, sha256, md5)
    if not file.content_check or check_content is None:
        raise _SourceFailed(wrong)
    try:
        check_content(path)
    except DataError as error:
        raise _SourceFailed(f"{wrong}; its content is wrong too: {error}") from error
    _logger.info("%s: checksum %s is not listed, but the decoded content is correct", file.name, sha256)
    return "content"


def _checksum(path: Path, algorithm: str) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, algorithm).hexdigest()


def _wrong_checksum(file: FileSpec, path: Path, sha256: str, md5: str) -> str:
    if file.sha256 or not file.md5:
        expected, found = "sha256 " + (" or ".join(file.sha256) or "unknown"), sha256
    else:
        expected, found = "md5 " + " or ".join(file.md5), md5
    with path.open("rb") as stream:
        beginning = stream.read(256).lstrip().lower()
    hint = "; it is a web page, not the file" if beginning.startswith((b"<!doctype", b"<html")) else ""
    return f"wrong checksum: expected {expected}, got {found} ({path.stat().st_size} bytes){hint}"


def _copy(source: Path, part: Path, most: int) -> bool:
    if not source.is_file():
        raise _SourceFailed("no such file")
    if not os.access(source, os.R_OK):
        raise _SourceFailed("can't be read; check its permissions")
    if source.stat().st_size > most:
        raise _SourceFailed(f"more than {most:,} bytes, which is far more than the file has")
    shutil.copyfile(source, part)
    return False


def _download(url: str, part: Path, most: int) -> bool:
    """Download at most so many bytes to `part`, with retries; return whether bytes of an earlier transfer were kept."""
    import requests  # here: importing it takes as long as most steps
    from urllib3 import exceptions as transport

    name, reason = part.stem, ""
    _logger.info("%s: downloading from %s", name, _public_url(url))
    for attempt in range(_ATTEMPTS):
        if attempt:
            pause = _FIRST_PAUSE * 2 ** (attempt - 1)
            _logger.info("%s: %s; attempt %d in %.1f s", name, reason, attempt + 1, pause)
            time.sleep(pause)
        try:
            return _request(url, part, most)
        except requests.HTTPError as error:
            status = error.response.status_code
            if status == requests.codes.requested_range_not_satisfiable:
                return True  # the part is complete, or longer than the file: its checksum decides
            reason = f"the server answered {status} {error.response.reason}"
            if status not in _RETRY_STATUS:
                raise _SourceFailed(reason) from error
        # The messages of requests are not shown: their URLs may hold credentials.
        except requests.exceptions.SSLError:  # also a ConnectionError
            reason = "no secure connection (SSL error)"
        except (requests.ConnectionError, requests.Timeout) as error:
            late = isinstance(error, requests.Timeout) or "Read timed out" in str(error)
            reason = "no answer in time" if late else "no connection"
        except transport.ReadTimeoutError:
            reason = "no answer in time"
        except (requests.exceptions.ChunkedEncodingError, transport.ProtocolError):
            reason = "the connection broke off"
        except requests.RequestException as error:  # which is an OSError
            raise _SourceFailed(type(error).__name__) from error
        except (OSError, _SourceFailed):
            raise
        except Exception as error:  # of a malformed header or address, whatever the libraries raise
            raise _SourceFailed(f"the answer can't be read ({type(error).__name__})") from error
    raise _SourceFailed(f"{reason} ({_ATTEMPTS} attempts)")


def _request(url: str, part: Path, most: int) -> bool:
    """Make one request for what `part` lacks; return whether the server continued it."""
    import requests

    kept = part.stat().st_size if part.is_file() else 0
    # Ranges and lengths must count bytes of the file, not of a compressed transfer.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={kept}-"} if kept else {})
    with (
        requests.get(url, stream=True, timeout=_TIMEOUT, headers=headers) as response,
        part.open("ab") as stream,
    ):
        response.raise_for_status()
        # Some servers compress all the same, and some say so of a file that is compressed itself.
        coded = "Content-Encoding" in response.headers and part.suffixes[-2:-1] not in ([".gz"], [".tgz"])
        if kept and (coded or response.status_code == requests.codes.ok):
            stream.truncate(0)
            kept = 0
            if response.status_code != requests.codes.ok:
                raise requests.exceptions.ChunkedEncodingError("a part of a compressed transfer")
        length = response.headers.get("Content-Length", "")
        progress = _Progress(part.stem, int(length) if length.isdecimal() and len(length) < 16 else 0)
        while chunk := response.raw.read1(_CHUNK, decode_content=coded):
            stream.write(chunk)
            progress.update(len(chunk))
            if kept + progress.done > most:
                stream.truncate(0)
                raise _SourceFailed(f"more than {most:,} bytes, which is far more than the file has")
    return kept > 0


class _Progress:
    """A log line per tenth of a file, or per 10 MB if its size is unknown; an end to transfers that hardly move."""

    def __init__(self, name: str, total: int) -> None:
        self.done = 0
        self._name, self._total = name, total
        self._lines = 0
        self._since, self._then = time.monotonic(), 0

    def update(self, count: int) -> None:
        """Count the bytes of a chunk.

        Raises
        ------
        _SourceFailed
            Slower than `_SLOWEST` over `_WINDOW` seconds.
        """
        self.done += count
        lines = int(self.done / (self._total / 10 or 1e7))
        if lines > self._lines:
            self._lines = lines
            percent = f" ({100 * self.done / self._total:.0f} %)" if self._total else ""
            _logger.info("%s: %.1f MB%s", self._name, self.done / 1e6, percent)
        seconds = time.monotonic() - self._since
        if seconds > _WINDOW:
            if self.done - self._then < _SLOWEST * seconds:
                raise _SourceFailed(f"slower than {_SLOWEST} bytes per second")
            self._since, self._then = time.monotonic(), self.done


def _public_url(url: str) -> str:
    """Remove user name, password and query, which may hold a token, from a URL that is logged or published."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "a malformed address"
    public = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    return public.encode("utf-8", "backslashreplace").decode("utf-8")  # a variable may hold bytes that are no text


def _failure_message(file: FileSpec, target: Path, mirror: str | None, failures: list[str]) -> str:
    checksum = [f"sha256 {value}" for value in file.sha256] + [f"md5 {value}" for value in file.md5]
    size = f", about {file.bytes} bytes" if file.bytes else ""
    lines = [f"{file.name}: download failed from every source."]
    lines += [f"  tried {failure}" for failure in failures] or ["  no source is known"]
    if mirror is not None:
        lines.append(f"  the mirror is {_public_url(mirror)}")
    lines.append("What to do, offline or if the site is gone:")
    lines.append(f"  put the file at {target} ({' or '.join(checksum) or 'checksum unknown'}{size})")
    if file.urls:
        lines.append(f"  it is published at {' or '.join(map(_public_url, file.urls))}")
    if file.mirror is not None:
        lines.append(f"  or set {MIRROR_VARIABLE} to a folder or URL that has {file.mirror} below it")
    return "\n".join(lines)

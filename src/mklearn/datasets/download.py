"""Files of registered data sets: from where they lie already, from a mirror, or from upstream.

A file arrives under ``<name>.part`` in its folder, is compared with the accepted checksums, and only then moved into
place: what has the right name is right. A broken transfer is resumed where the server can do that, else begun again.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit, urlunsplit

from mklearn.datasets.read import content_check
from mklearn.datasets.registry import MIRROR_VARIABLE, Entry, FileEntry, local_folder
from mklearn.errors import DataError, DownloadError

if TYPE_CHECKING:
    import requests

_logger = logging.getLogger(__name__)
_CHUNK = 1 << 16
# Worth another try: time-outs, too many requests, and what a server in trouble says.
_RETRY_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})


@dataclass(frozen=True)
class Policy:
    """How patiently a file is downloaded.

    Parameters
    ----------
    attempts : int
        Tries per URL.
    backoff : float
        Seconds before the second try; doubled every time, at most a minute.
    connect_timeout : float
        Seconds to wait for a connection.
    stall_timeout : float
        Seconds without a byte after which a transfer counts as broken.
    """

    attempts: int = 4
    backoff: float = 2.0
    connect_timeout: float = 15.0
    stall_timeout: float = 60.0


class _SourceFailed(Exception):
    """One place did not have the file, or the right one."""


def fetch(
    file: FileEntry,
    target: str | os.PathLike[str],
    *,
    mirror: str | None = None,
    progress: bool = True,
    policy: Policy = Policy(),
    check_content: Callable[[Path], None] | None = None,
) -> dict[str, Any]:
    """Have a verified copy of a file at `target`.

    Tried in this order: what lies at `target` already; the mirror; the file's own URLs. A checksum that is not accepted
    counts as failure of that place, and the next one is tried.

    Parameters
    ----------
    file : FileEntry
        From the registry.
    target : path
        Where the file is to lie; folders are made.
    mirror : str, optional
        Folder, file:// or http(s):// URL that has the file at ``file.mirror`` below it. By default the environment
        variable MKLEARN_MIRROR.
    progress : bool
        Show a bar on stderr if that is a terminal; else every ten per cent and the end become log lines (INFO).
    policy : Policy
    check_content : callable, optional
        Given the path of a file with an unlisted checksum; raises DataError if its content is wrong. Only used where
        the registry says that upstream's checksum is not known (``content_check``).

    Returns
    -------
    dict
        ``name``, ``sha256``, ``bytes``; ``origin``: "present", "mirror" or "upstream"; ``address``: the URL without
        credentials, or "mirror:" and the path below it; ``verified``: "sha256", "md5" or "content".

    Raises
    ------
    DownloadError
        No place had the right file. The message lists what happened at each, and which file to put where.
    """
    target = Path(target)
    mirror = mirror or os.environ.get(MIRROR_VARIABLE) or None
    failures: list[str] = []
    part = target.with_name(target.name + ".part")
    with _disk_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_file():
            try:
                return _accepted(file, target, "present", target.name, check_content)
            except _SourceFailed as error:
                failures.append(f"the file there now: {error}")
                _logger.warning("%s: %s; it will be replaced if another copy can be had", target, error)
        for origin, address, transfer in _places(file, mirror, part, progress, policy):
            try:
                found = _transfer_and_check(file, part, origin, address, transfer, check_content)
            except _SourceFailed as error:
                failures.append(f"{address}: {error}")
                _logger.warning("%s from %s: %s", file.name, address, error)
                continue
            _sync(part)
            os.replace(part, target)
            return found
    raise DownloadError(_failure_message(file, target, mirror, failures))


def fetch_dataset(
    entry: Entry,
    folder: str | os.PathLike[str],
    *,
    mirror: str | None = None,
    progress: bool = True,
    policy: Policy = Policy(),
) -> tuple[dict[str, Path], list[dict[str, Any]]]:
    """Have all files of a data set in `folder`.

    Parameters
    ----------
    entry : Entry
        From the registry. Its packagings are tried in the order of ``entry.sources(mirror)``.
    folder : path
        One folder per data set.
    mirror, progress, policy
        As for :func:`fetch`.

    Returns
    -------
    files : dict of str to Path
        By name, as :func:`mklearn.datasets.read.read_dataset` takes them.
    provenance : list of dict
        One per file, see :func:`fetch`.

    Raises
    ------
    DownloadError
        No packaging could be had whole.
    """
    sources = entry.sources(mirror)
    # what lies there already settles it: a mirror that comes or goes must not make us download again
    sources.sort(key=lambda source: not all((Path(folder) / file.name).is_file() for file in source.files))
    failures = []
    for source in sources:
        files = {file.name: Path(folder) / file.name for file in source.files}
        try:
            provenance = [
                fetch(
                    file,
                    files[file.name],
                    mirror=mirror,
                    progress=progress,
                    policy=policy,
                    check_content=content_check(source),
                )
                for file in source.files
            ]
        except DownloadError as error:
            failures.append(str(error))
            continue
        return files, provenance
    raise DownloadError(f"data set {entry.id}: " + "\nor else ".join(failures))


_Transfer = Callable[[], bool]
"""Brings ``.part`` up to date; returns whether bytes of an earlier transfer were kept."""


def _places(
    file: FileEntry, mirror: str | None, part: Path, progress: bool, policy: Policy
) -> Iterator[tuple[str, str, _Transfer]]:
    """(origin, address for people, transfer) of each place in the order in which to try."""
    if mirror is not None and file.mirror is not None:
        folder = local_folder(mirror)
        if folder is not None:
            source = folder / file.mirror
            yield "mirror", f"mirror:{file.mirror}", partial(_copy, source, part)
        else:
            url = mirror.rstrip("/") + "/" + quote(file.mirror)
            yield "mirror", f"mirror:{file.mirror}", partial(_download, url, part, file, progress, policy)
    for url in file.urls:
        yield "upstream", public_url(url), partial(_download, url, part, file, progress, policy)


def _transfer_and_check(
    file: FileEntry,
    part: Path,
    origin: str,
    address: str,
    transfer: _Transfer,
    check_content: Callable[[Path], None] | None,
) -> dict[str, Any]:
    resumed = transfer()
    try:
        return _accepted(file, part, origin, address, check_content)
    except _SourceFailed:
        part.unlink(missing_ok=True)
        if not resumed:
            raise
    # The part that was kept may have been the beginning of another file: once more, from the start.
    _logger.info("%s: the resumed file is wrong; downloading it again from the beginning", file.name)
    transfer()
    try:
        return _accepted(file, part, origin, address, check_content)
    except _SourceFailed:
        part.unlink(missing_ok=True)
        raise


def _accepted(
    file: FileEntry, path: Path, origin: str, address: str, check_content: Callable[[Path], None] | None
) -> dict[str, Any]:
    """The provenance of a file, if one of its checksums is an accepted one or its content the expected one."""
    sha256, md5 = _checksums(path)
    size = path.stat().st_size
    if sha256 in file.sha256:
        verified = "sha256"
    elif md5 in file.md5:
        verified = "md5"
    elif file.content_check and check_content is not None:
        try:
            check_content(path)
        except DataError as error:
            raise _SourceFailed(
                _wrong(file, path, sha256, md5, size) + f"; nor is its content right: {error}"
            ) from error
        verified = "content"
        _logger.info("%s: checksum %s is not listed, but the decoded content is right", file.name, sha256)
    else:
        raise _SourceFailed(_wrong(file, path, sha256, md5, size))
    return {
        "name": file.name,
        "sha256": sha256,
        "bytes": size,
        "origin": origin,
        "address": address,
        "verified": verified,
    }


def _wrong(file: FileEntry, path: Path, sha256: str, md5: str, size: int) -> str:
    if file.sha256 or not file.md5:
        expected, got = "sha256 " + (" or ".join(file.sha256) or "unknown"), sha256
    else:
        expected, got = "md5 " + " or ".join(file.md5), md5
    with path.open("rb") as stream:
        beginning = stream.read(256).lstrip().lower()
    page = beginning.startswith((b"<!doctype", b"<html"))
    hint = "; it is a web page, not the file" if page else ""
    return f"wrong checksum: expected {expected}, got {got} ({size} bytes){hint}"


def _checksums(path: Path) -> tuple[str, str]:
    """(sha256, md5) as hexadecimal."""
    sha256, md5 = hashlib.sha256(), hashlib.md5(usedforsecurity=False)
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            sha256.update(chunk)
            md5.update(chunk)
    return sha256.hexdigest(), md5.hexdigest()


def _copy(source: Path, part: Path) -> bool:
    if not source.is_file():
        raise _SourceFailed("not there")
    try:
        stream = source.open("rb")
    except OSError as error:
        raise _SourceFailed(f"can't be read: {error.strerror or error}") from error
    with stream, part.open("wb") as out:
        while chunk := stream.read(1 << 20):
            out.write(chunk)
    return False


def _download(url: str, part: Path, file: FileEntry, progress: bool, policy: Policy) -> bool:
    """Bring the whole file to `part`, trying again and resuming; whether it was put together from several transfers."""
    import requests

    with requests.Session() as session:
        for attempt in range(1, policy.attempts + 1):
            try:
                return _download_once(session, url, part, file, progress, policy)
            except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as error:
                reason, wait = _plain_reason(error), 0.0
            except _TryAgain as error:
                reason, wait = str(error), error.wait
            except requests.RequestException as error:
                raise _SourceFailed(_plain_reason(error)) from error
            if attempt < policy.attempts:
                pause = min(max(wait, policy.backoff * 2 ** (attempt - 1)), 60.0)
                _logger.info("%s: %s; try %d in %.1f s", file.name, reason, attempt + 1, pause)
                time.sleep(pause)
    raise _SourceFailed(f"{reason} ({policy.attempts} tries)")


class _TryAgain(Exception):
    def __init__(self, reason: str, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.wait = wait


def _download_once(
    session: requests.Session, url: str, part: Path, file: FileEntry, progress: bool, policy: Policy
) -> bool:
    """One request; returns whether it went on where `part` ended."""
    have = part.stat().st_size if part.is_file() else 0
    # compressed on the way, ranges and lengths would count other bytes than those of the file
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    timeout = (policy.connect_timeout, policy.stall_timeout)
    with session.get(url, headers=headers, stream=True, timeout=timeout) as response:
        status = response.status_code
        if status == 416:
            # nothing after what we have: complete already, or longer than the file is
            total = response.headers.get("Content-Range", "").rpartition("/")[2]
            if total == str(have):
                return True
            part.unlink()
            raise _TryAgain("the server's file is shorter than what was kept; starting again")
        if status in _RETRY_STATUS:
            wait = response.headers.get("Retry-After", "")
            raise _TryAgain(f"the server answered {status}", float(wait) if wait.isdecimal() else 0.0)
        if status not in (200, 206):
            raise _SourceFailed(f"the server answered {status} {response.reason}")
        resume = status == 206 and response.headers.get("Content-Range", "").startswith(f"bytes {have}-")
        if status == 206 and not resume:
            part.unlink(missing_ok=True)
            raise _TryAgain("the server gave another part than asked for; starting again")
        begin = have if resume else 0
        length = response.headers.get("Content-Length", "")
        total_bytes = begin + int(length) if length.isdecimal() else None
        with part.open("ab" if resume else "wb") as out, _meter(file.name, begin, total_bytes, progress) as advance:
            for chunk in response.iter_content(_CHUNK):
                out.write(chunk)
                advance(len(chunk))
        got = part.stat().st_size
        if total_bytes is not None and got < total_bytes:
            raise _TryAgain(f"the connection ended after {got} of {total_bytes} bytes")
        return resume


@contextmanager
def _meter(name: str, begin: int, total: int | None, progress: bool) -> Iterator[Callable[[int], object]]:
    """Progress: a bar on a terminal, log lines elsewhere."""
    if not progress:
        yield lambda count: None
    elif sys.stderr.isatty():
        from tqdm import tqdm

        with tqdm(desc=name, initial=begin, total=total, unit="B", unit_scale=True, file=sys.stderr) as bar:
            yield bar.update
    else:
        yield _LogMeter(name, begin, total)


class _LogMeter:
    """A line at the beginning and whenever another ten per cent (or, without a known size, 10 MB) have come."""

    def __init__(self, name: str, begin: int, total: int | None) -> None:
        self.name, self.done, self.total = name, begin, total
        self.step = max(total / 10 if total else 1e7, 1.0)
        self.next = begin + self.step
        size = f"{total / 1e6:.1f} MB" if total else "unknown size"
        _logger.info("%s: downloading, %s%s", name, size, f", going on at {begin / 1e6:.1f} MB" if begin else "")

    def __call__(self, count: int) -> None:
        self.done += count
        if self.done >= self.next:
            self.next = self.done + self.step
            part = f" ({100 * self.done / self.total:.0f} %)" if self.total else ""
            _logger.info("%s: %.1f MB%s", self.name, self.done / 1e6, part)


def public_url(url: str) -> str:
    """A URL as it may be logged and published: without user name, password and query, which may hold a token."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _plain_reason(error: Exception) -> str:
    """What happened, without the URL that requests puts into its messages (it may hold credentials)."""
    import requests

    if isinstance(error, requests.exceptions.ConnectTimeout):
        return "no connection in time"
    if isinstance(error, requests.Timeout) or "Read timed out" in str(error):
        return "no data came in time"
    if isinstance(error, requests.exceptions.SSLError):
        return "no secure connection (SSL error)"
    if isinstance(error, requests.exceptions.ChunkedEncodingError) or "IncompleteRead" in str(error):
        return "the connection broke off"
    if isinstance(error, requests.ConnectionError):
        return "no connection"
    return type(error).__name__


def _failure_message(file: FileEntry, target: Path, mirror: str | None, failures: list[str]) -> str:
    checksum = [f"sha256 {value}" for value in file.sha256] + [f"md5 {value}" for value in file.md5]
    size = f", about {file.bytes} bytes" if file.bytes else ""
    lines = [f"{file.name} could not be had."]
    lines += [f"  tried {failure}" for failure in failures] or ["  no place to get it from is known"]
    if mirror is not None:
        lines.append(f"  the mirror in use is {public_url(mirror)}")
    lines.append("What to do, offline or if the site is gone:")
    lines.append(f"  put the file at {target} ({' or '.join(checksum) or 'checksum unknown'}{size})")
    if file.urls:
        lines.append(f"  it is published at {' or '.join(map(public_url, file.urls))}")
    if file.mirror is not None:
        lines.append(f"  or set {MIRROR_VARIABLE} to a folder or URL that has {file.mirror} below it")
    return "\n".join(lines)


def _sync(path: Path) -> None:
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())


@contextmanager
def _disk_errors(target: Path) -> Iterator[None]:
    """Errors of the local disk, in a sentence. Network errors never get here."""
    try:
        yield
    except (OSError, DataError) as error:
        if isinstance(error, DataError):
            raise
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            # what has come so far would go on filling the disk
            with suppress(OSError):
                target.with_name(target.name + ".part").unlink(missing_ok=True)
            raise DownloadError(
                f"{target}: no space left on the disk (or quota used up); make room, run again"
            ) from error
        raise DownloadError(
            f"{target}: can't be written: {error.strerror or error}; check the folder and its permissions"
        ) from error

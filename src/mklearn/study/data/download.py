"""Downloads of registered data sets from a mirror or from upstream, verified before they are moved into place."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

from mklearn.atomic import atomic_path
from mklearn.errors import DownloadError
from mklearn.study.data.registry import MIRROR_VARIABLE, local_folder
from mklearn.study.specs.data_specs import FileSpec

_logger = logging.getLogger(__name__)
_MOST_BYTES = 8 << 30  # limit for a file of unknown size
_RETRIES = 3  # after a failed connection or a server error, with pauses of 0, 2 and 4 seconds
_TIMEOUT = (15.0, 60.0)  # seconds to wait for a connection and for the next bytes


class _SourceFailed(Exception):
    """Failure of one source: it lacks the file, or has a wrong one."""


def fetch(file: FileSpec, target: str | os.PathLike[str]) -> str:
    """Provide a verified copy of a file at `target`; return the address of the first source that has it.

    Sources, in order: the mirror in the environment variable MKLEARN_MIRROR (a folder, or a file:// or http(s):// URL,
    with the file at ``file.mirror`` below it); the URLs of the registry. If none has the file, raise DownloadError,
    which lists each failure.
    """
    mirror, failures = os.environ.get(MIRROR_VARIABLE) or None, list[str]()
    # ``bytes`` is the size of the mirror's copy; upstream's packaging may be larger
    most = 10 * file.bytes + 10_000_000 if file.bytes else _MOST_BYTES
    for address, source in _sources(file, mirror):
        try:
            with atomic_path(target) as temporary:
                if isinstance(source, str):
                    _download(source, temporary, most)
                elif not (source.is_file() and os.access(source, os.R_OK)):
                    raise _SourceFailed("no such file that can be read")
                else:
                    shutil.copyfile(source, temporary)
                _check(file, temporary, may_be_unlisted=file.content_check and not address.startswith("mirror:"))
            return address
        except _SourceFailed as error:
            failures.append(f"{address}: {error}")
            _logger.warning("%s from %s: %s", file.name, address, error)
    checksum = " or ".join([f"sha256 {value}" for value in file.sha256] + [f"md5 {value}" for value in file.md5])
    tried = [f"  tried {failure}" for failure in failures] or ["  no source is known"]
    below = f", or set {MIRROR_VARIABLE} to a folder or URL that has {file.mirror} below it" if file.mirror else ""
    raise DownloadError(
        "\n".join([f"{file.name}: download failed from every source.", *tried])
        + f"\nOffline, or if the site is gone, put the file at {target} ({checksum}){below}"
    )


def _sources(file: FileSpec, mirror: str | None) -> Iterator[tuple[str, str | Path]]:
    """Yield, for each copy of the file, its address for messages and its URL or path."""
    if mirror is not None and file.mirror is not None:
        folder = local_folder(mirror)
        url = f"{mirror.rstrip('/')}/{quote(file.mirror)}"
        yield f"mirror:{file.mirror}", url if folder is None else folder / file.mirror
    yield from ((_public_url(url), url) for url in file.urls)


def _check(file: FileSpec, path: Path, *, may_be_unlisted: bool) -> None:
    """Raise _SourceFailed for a wrong checksum. `may_be_unlisted` accepts any: the reader checks the content later."""
    sums = {}
    for algorithm in ("sha256", "md5"):
        with path.open("rb") as stream:
            sums[algorithm] = hashlib.file_digest(stream, algorithm).hexdigest()
        if sums[algorithm] in getattr(file, algorithm):
            return
    with path.open("rb") as stream:
        is_page = stream.read(256).lstrip().lower().startswith((b"<!doctype", b"<html"))
    if is_page:
        raise _SourceFailed("it is a web page, not the file")
    if not may_be_unlisted:
        algorithm = "sha256" if file.sha256 or not file.md5 else "md5"
        expected = " or ".join(getattr(file, algorithm)) or "unknown"
        raise _SourceFailed(
            f"wrong checksum: expected {algorithm} {expected}, got {sums[algorithm]} ({path.stat().st_size} bytes)"
        )


def _download(url: str, part: Path, most: int) -> None:
    import requests  # imported here, because it takes as long as most steps
    from urllib3 import Retry
    from urllib3.exceptions import HTTPError

    _logger.info("downloading from %s", _public_url(url))
    retry = Retry(_RETRIES, backoff_factor=1, status_forcelist=(429, 500, 502, 503, 504), raise_on_status=False)
    try:
        with requests.Session() as session, part.open("wb") as stream:
            for scheme in ("http://", "https://"):
                session.mount(scheme, requests.adapters.HTTPAdapter(max_retries=retry))
            response = session.get(url, stream=True, timeout=_TIMEOUT, headers={"Accept-Encoding": "identity"})
            if not response.ok:
                raise _SourceFailed(f"the server answered {response.status_code} {response.reason}")
            total, done = int(response.headers.get("Content-Length", 0)), 0
            step = total / 10 or 1e7
            for chunk in response.raw.stream(1 << 16, decode_content=False):
                stream.write(chunk)
                before, done = done, done + len(chunk)
                if done // step > before // step:
                    _logger.info("%.1f MB%s", done / 1e6, f" ({100 * done / total:.0f} %)" if total else "")
                if done > most:
                    raise _SourceFailed(f"more than {most:,} bytes, which is far more than the file has")
    # The messages of requests are not shown: their URLs may hold credentials.
    except (requests.RequestException, HTTPError, ValueError) as error:
        raise _SourceFailed(f"no complete answer ({type(error).__name__})") from error


def _public_url(url: str) -> str:
    """Remove user name, password and query (it may hold a token) from a URL, for logs and reports."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "a malformed address"
    public = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    return public.encode("utf-8", "backslashreplace").decode("utf-8")  # an environment variable may hold invalid UTF-8

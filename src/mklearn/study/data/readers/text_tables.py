"""Files of text tables, plain or compressed, whose names end in ``.csv``, ``.tsv``, ``.csv.gz`` and so on."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from mklearn.atomic import existing_file
from mklearn.errors import DataError
from mklearn.study.data.readers.content import MOST_BYTES

SEPARATORS = {".csv": ",", ".tsv": "\t"}
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
TEXT_TABLES = tuple(f"{suffix}{packed}" for suffix in SEPARATORS for packed in ("", *COMPRESSED))
_OPENERS: dict[str, Callable[[Any], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_CHUNK = 1 << 20
_SAMPLED_BYTES = 8 << 20
_LONGEST_LINE = 64 << 20
_DAMAGED = (EOFError, zlib.error, lzma.LZMAError, ValueError, OSError)


def table_suffix(path: Path) -> str:
    """Return the suffix that tells how a table is read: ``.csv`` of ``cells.csv.gz`` too."""
    return Path(path.stem).suffix if _is_compressed(path) else path.suffix


def table_stem(path: Path) -> str:
    """Return the name of a table's file without its suffixes: ``cells`` of ``cells.csv.gz``."""
    return Path(path.stem).stem if _is_compressed(path) else path.stem


def slug(text: str) -> str:
    """Return a text, such as the name of a table's file, as the name of a study or view."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-._")[:60].strip("-._") or "data"


def text_content(path: Path) -> bytes:
    """Return the text of a table; decompressed, at most `MOST_BYTES` are read.

    Raises
    ------
    DataError
        No such file, a damaged one, or one that decompresses to more: it is refused before it takes that memory.
    """
    path = existing_file(path)
    if not _is_compressed(path):
        return path.read_bytes()
    size = 0
    with path.open("rb") as raw, _opened(path, raw) as stream:
        while chunk := stream.read(_CHUNK):
            size += len(chunk)
            if size > MOST_BYTES:
                raise DataError(
                    f"{path}: decompresses to more than {MOST_BYTES / 1e9:.1f} GB of text, which is refused; keep "
                    "fewer columns or rows, or save it as Parquet"
                )
    with path.open("rb") as raw, _opened(path, raw) as stream:
        return stream.read(size)


def sampled_text(path: Path) -> tuple[bytes, float]:
    """Return the beginning of a text table, and an estimate of its size in bytes, decompressed: for asking for memory.

    Raises
    ------
    DataError
        No such file, or a damaged one.
    """
    path = existing_file(path)
    with path.open("rb") as raw, _opened(path, raw) as stream:
        text = stream.read(_SAMPLED_BYTES)
        return text, path.stat().st_size * len(text) / max(raw.tell(), 1)


def first_line(path: Path) -> str:
    """Return the first line of a text table."""
    with existing_file(path).open("rb") as raw, _opened(path, raw) as stream:
        return stream.readline(_LONGEST_LINE).decode("utf-8", errors="replace")


def _is_compressed(path: Path) -> bool:
    return path.suffix in COMPRESSED and Path(path.stem).suffix in SEPARATORS


@contextmanager
def _opened(path: Path, raw: IO[bytes]) -> Iterator[IO[bytes]]:
    """Decompress a file that is open; errors of damaged ones are a DataError."""
    if not _is_compressed(path):
        yield raw
        return
    try:
        with _decompressed(raw, path.suffix) as stream:
            yield stream
    except _DAMAGED as error:
        if isinstance(error, DataError) or (isinstance(error, OSError) and error.errno is not None):
            raise  # the latter is of the disk
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{path}: not a readable {path.suffix} file ({reason}); it is truncated or damaged") from error


def _decompressed(raw: IO[bytes], suffix: str) -> Any:
    if suffix == ".zst":
        import pyarrow as pa  # here: few tables are compressed with it

        return io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd"))
    return _OPENERS[suffix](raw)

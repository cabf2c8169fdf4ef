"""Errors and warnings for users. Each message says what is wrong, where, and what to do."""

from __future__ import annotations

import difflib
import os
import sys
import unicodedata
import warnings
from collections.abc import Iterable
from pathlib import Path

__all__ = [
    "UserError",
    "ConfigError",
    "DataError",
    "ConstantKernel",
    "DownloadError",
    "NotApplicable",
    "MissingExtra",
    "SolverUnavailable",
    "SolverFailed",
]


class UserError(ValueError):
    """A mistake in input, configuration or set-up. The command line prints it without a traceback."""


class ConfigError(UserError):
    """An invalid study file or parameter. For a study file, the message lists every mistake."""


class DataError(UserError):
    """A file or array that can't be used: missing, corrupt, of the wrong shape, not finite, or with other ids."""


class ConstantKernel(DataError):
    """A kernel in whose feature space all training samples coincide, so that it carries no information."""


class DownloadError(UserError):
    """A download that failed from every source, or that has the wrong checksum."""


class NotApplicable(UserError):
    """A method that can't run on these data, such as data of a single class. Becomes a row of the score table."""


class MissingExtra(ImportError, UserError):
    """A missing package of one of mklearn's extras. The message says how to install it."""


class SolverUnavailable(UserError):
    """A named solver that can't run here. The message says what is missing and which solver to use instead."""


class SolverFailed(UserError):
    """A solver that ended without a usable solution. Becomes a row of the score table."""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the user's line: the innermost call outside this package and scikit-learn's wrappers."""
    frame, level = sys._getframe(), 1
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in ("mklearn", "sklearn"):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def printable(text: object) -> str:
    """Return a text for a terminal, with control characters escaped, since they could alter the display."""
    return "".join(
        letter if letter in "\n\t" or unicodedata.category(letter) not in ("Cc", "Cs")
        else letter.encode("unicode_escape", "surrogatepass").decode("ascii")
        for letter in str(text)
    )  # fmt: skip


def absence(path: str | os.PathLike[str]) -> str:
    """Return the reason why a path is not a file; pipes, sockets and devices do not count as files."""
    place = Path(path)
    if place.is_dir():
        return "is a folder, not a file"
    return "is a pipe or a device, not a file" if place.exists() else "there is no such file"


def nearest(word: object, valid: Iterable[object]) -> str:
    """Return `` Did you mean 'x'?`` with the valid word closest to `word` or each of its items; else an empty text."""
    known = [str(each) for each in valid]
    words = word if isinstance(word, list) else [word]
    found = [repr(near) for each in words for near in difflib.get_close_matches(str(each), known, n=1)]
    return f" Did you mean {', '.join(found)}?" if found else ""

"""Errors that a user can cause and mend: each says what was wrong, where, and what to do."""

from __future__ import annotations


class UserError(ValueError):
    """A mistake in input, configuration or set-up. The command line prints it without a traceback."""


class ConfigError(UserError):
    """A study file that is not legal; lists every mistake at once."""


class DataError(UserError):
    """A file or array that can't be used: missing, corrupt, of the wrong shape, not finite, ids that do not match."""


class DownloadError(UserError):
    """A file that could be had from no source, or arrived with the wrong checksum."""


class NotApplicable(UserError):
    """A method that can't run on these data (one class only, too few samples). Becomes a row of the score table."""


class SolverUnavailable(UserError):
    """A solver asked for by name that can't run here; says what is missing and what would be used instead."""


class SolverFailed(UserError):
    """A solver that ended without a usable solution. Becomes a row of the score table."""

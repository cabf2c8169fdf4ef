"""Data sets: registry of public ones, readers (also for own data), downloads, resizing, selection and splits."""

from mklearn.extras import require as _require

_require("pandas", "pydantic", "yaml")

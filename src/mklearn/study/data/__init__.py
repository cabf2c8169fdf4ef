"""Data sets: public registry, downloads, readers (also for own data), resizing, selection and splits."""

from mklearn.extras import require as _require

_require("pandas", "pydantic", "yaml")

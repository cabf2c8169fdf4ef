"""The workflow's steps: one pure function per rule, explicit paths and a specification in, files out."""

from mklearn.extras import require as _require

_require("pandas", "pyarrow", "pydantic")

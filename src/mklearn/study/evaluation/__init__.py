"""Evaluation: splits of one fit, inner cross-validation, intervals, the summary table."""

from mklearn.extras import require as _require

_require("pandas", "pydantic")

"""Evaluation: nearest-neighbour sweeps over dimensions, inner cross-validation, intervals, the summary table."""

from mklearn.extras import require as _require

_require("pandas", "pydantic")

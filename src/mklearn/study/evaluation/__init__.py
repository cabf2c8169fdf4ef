"""Evaluation of methods: fits on splits, inner cross-validation, confidence intervals and the summary table."""

from mklearn.extras import require as _require

_require("pandas", "pydantic")

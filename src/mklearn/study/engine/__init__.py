"""Interface to Snakemake: start and end of a run, progress display, and failures."""

from mklearn.extras import require as _require

_require("pandas", "pyarrow", "pydantic")

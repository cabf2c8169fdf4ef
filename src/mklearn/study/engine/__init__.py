"""Between Snakemake and the steps: the start and the end of a run, its display, and failures."""

from mklearn.extras import require as _require

_require("pandas", "pyarrow", "pydantic")

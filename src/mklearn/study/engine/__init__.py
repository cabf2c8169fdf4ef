"""Between Snakemake and the steps: the start and the end of a run, its display, lost fits and failures."""

from mklearn.extras import require as _require

_require("pandas", "pyarrow", "pydantic")

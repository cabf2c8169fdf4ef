"""Studies: strict models of a study file, its expansion into the specifications of jobs, and what the rules ask.

Importing these modules is cheap (pydantic and yaml only): every job of a cluster run parses the study again.
"""

from mklearn.extras import require as _require

_require("pydantic", "yaml")

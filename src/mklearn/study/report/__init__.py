"""Report of a study: one self-contained page, Markdown and CSV tables, and every figure as SVG."""

from mklearn.extras import require as _require

_require("pandas", "yaml", "jinja2", "vl_convert")

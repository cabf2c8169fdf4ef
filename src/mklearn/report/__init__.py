"""The report of a study: one self-contained page, Markdown and CSV tables, and every figure as SVG and PNG."""

import lazy_loader as _lazy

from mklearn.extras import require as _require

_require("pandas", "yaml", "jinja2", "vl_convert", "PIL")
__getattr__, __dir__, __all__ = _lazy.attach(
    __name__, submod_attrs={"build": ["build_report"], "records": ["FitRecord"]}
)

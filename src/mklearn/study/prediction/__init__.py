"""Predictions of a study's model for new images and tables: input as in the study, and tables of predictions."""

import lazy_loader as _lazy

from mklearn.extras import require as _require

_require("pandas", "pydantic", "skops", "yaml", extra="predict")

__getattr__, __dir__, __all__ = _lazy.attach(__name__, submod_attrs={"predictions": ["predict"]})

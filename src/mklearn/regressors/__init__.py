"""Regressors: kernel ridge on one or several views, and baselines on features."""

import lazy_loader as _lazy

from mklearn.methods import METHODS as _METHODS
from mklearn.rows import exported as _exported

__getattr__, __dir__, __all__ = _lazy.attach(__name__, submod_attrs=_exported(_METHODS, __name__))

"""Estimators that embed samples in a subspace of the input features or of a kernel feature space."""

import lazy_loader as _lazy

from mklearn.methods import METHODS as _METHODS
from mklearn.rows import exported as _exported

__getattr__, __dir__, __all__ = _lazy.attach(__name__, submod_attrs=_exported(_METHODS, __name__))

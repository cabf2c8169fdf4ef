"""Gu, Zhou: Two dimensional maximum margin criterion (ICASSP 2009): images are embedded as matrices, Y = U'XV."""

import lazy_loader as _lazy

from mklearn.methods import METHODS as _METHODS
from mklearn.rows import exported as _exported

__getattr__, __dir__, __all__ = _lazy.attach(__name__, submod_attrs=_exported(_METHODS, __name__))

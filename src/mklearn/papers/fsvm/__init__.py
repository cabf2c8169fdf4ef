"""Wu, Zuo, Zhu, Lin: F-SVM (arXiv 1504.05035, 2015), and the radius-margin machines that it is compared with."""

import lazy_loader as _lazy

from mklearn.methods import METHODS as _METHODS
from mklearn.rows import exported as _exported

__getattr__, __dir__, __all__ = _lazy.attach(__name__, submod_attrs=_exported(_METHODS, __name__))

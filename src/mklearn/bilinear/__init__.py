"""Estimators that embed images (matrices) by a projection of their rows and one of their columns: Y = U'XV."""

import lazy_loader as _lazy

from mklearn.cards import exported as _exported

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__, submod_attrs={**_exported(__name__), "path": ["fit_iterations", "fit_path"]}
)

"""Estimators that embed images (matrices) by a projection of their rows and one of their columns: Y = U'XV."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    submod_attrs={
        "glram": ["GLRAM"],
        "path": ["fit_iterations", "fit_path"],
        "two_d_lda": ["TwoDLDA"],
        "two_d_mmc": ["TwoDMMC"],
    },
)

"""Support vector machines, and regularised least squares, on features and on kernels."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    submod_attrs={
        "linear": ["linear_svc"],
        "kernel_ridge": ["KernelRidgeClassifier"],
        "embedded_linear_svc": ["EmbeddedLinearSVC"],
    },
)

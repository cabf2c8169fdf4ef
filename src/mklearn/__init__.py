"""mklearn: learning from many kernels, as a scikit-learn library and as a Snakemake workflow."""

import lazy_loader as _lazy

__version__ = "1.0.0.dev0"
__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    submod_attrs={
        "classifiers": ["MultiViewClassifier"],
        "kernels": ["Views"],
        "regressors": ["KernelRidge", "MultiViewRegressor"],
        "survival": ["MultiViewSurvival"],
    },
)

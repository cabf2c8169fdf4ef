"""Estimators that predict labels: ensembles, kernel ridge, discriminant and linear support vector classifiers."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    submod_attrs={
        "kernel_voting": ["KernelVoting"],
        "kernel_samme": ["KernelSAMME"],
        "kernel_ridge": ["KernelRidgeClassifier"],
        "embedded_linear_svc": ["EmbeddedLinearSVC"],
        "ledoit_wolf_lda": ["LedoitWolfLDA"],
        "linear_svc": ["linear_svc"],
        "shrinkage_lda": ["ShrinkageLDA"],
    },
)

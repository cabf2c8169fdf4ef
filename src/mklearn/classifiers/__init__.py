"""Estimators that predict labels: ensembles, kernel ridge, discriminants, support vectors, logistic regression."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    submod_attrs={
        "kernel_voting": ["KernelVoting"],
        "kernel_samme": ["KernelSAMME"],
        "kernel_ridge": ["KernelRidgeClassifier"],
        "kernel_svc": ["KernelSVC"],
        "lmkl_svc": ["LMKLSVC"],
        "mkl_svc": ["MKLSVC"],
        "convex_mkl_dr_svc": ["ConvexMKLDRSVC"],
        "easy_mkl": ["EasyMKL"],
        "embedded_linear_svc": ["EmbeddedLinearSVC"],
        "ledoit_wolf_lda": ["LedoitWolfLDA"],
        "linear_svc": ["linear_svc"],
        "logistic_regression": ["logistic_regression"],
        "majority": ["MajorityClassifier"],
        "nearest_neighbours": ["NearestNeighbours"],
        "shrinkage_lda": ["ShrinkageLDA"],
        "standardised_shrinkage_lda": ["standardised_shrinkage_lda"],
        "fsvc": ["FSVC"],
        "rmm_svc": ["RMMSVC"],
        "r_svm_plus": ["RSVMPlus"],
        "r_svm_plus_mu": ["RSVMPlusMu"],
        "ledoit_wolf_svc": ["LedoitWolfSVC"],
        "kernel_fsvc": ["KernelFSVC"],
        "kernel_rmm_svc": ["KernelRMMSVC"],
        "kernel_r_svm_plus": ["KernelRSVMPlus"],
        "kernel_r_svm_plus_mu": ["KernelRSVMPlusMu"],
    },
)

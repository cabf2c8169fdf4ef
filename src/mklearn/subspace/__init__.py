"""Estimators that embed samples in a subspace, of the features or of the feature space of kernels."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    submod_attrs={
        "kfd": ["KernelFDA"],
        "lde": ["LDE"],
        "kernel_lde": ["KernelLDE"],
        "mkldr": ["MKLDR"],
        "convex_mkldr": ["ConvexMKLDR"],
        "loo_mkl": ["LeaveOneOutMKL"],
        "guarded_mkl": ["GuardedMKL"],
        "pca": ["PCA"],
        "kernel_pca": ["KernelPCA"],
        "mmc": ["MMC"],
        "kernel_mmc": ["KernelMMC"],
        "mkmmc": ["MKMMC"],
        "fisherface": ["Fisherface"],
        "null_space_lda": ["NullSpaceLDA"],
    },
)

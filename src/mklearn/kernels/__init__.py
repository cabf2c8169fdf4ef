"""Distances, kernels fitted on training samples only, and stacks of kernels."""

import lazy_loader as _lazy

from mklearn.kernels.table import KERNELS as _KERNELS
from mklearn.rows import exported as _exported

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    submod_attrs={
        **_exported(_KERNELS, __name__),
        "base": ["Kernel"],
        "column_groups": ["UnknownColumnsWarning", "group_kernels"],
        "distances": ["MEASURES", "chi2_distance", "inner_product", "squared_euclidean"],
        "feature_scaling": ["FeatureScaler"],
        "gaussian": ["GaussianKernel", "gaussian_kernel", "resolve_bandwidth"],
        "identity_like": ["IdentityLikeKernelWarning", "off_diagonal_mass"],
        "normalise": ["KernelCentring", "centre_kernel", "centred_trace", "scale_to_centred_trace", "unit_diagonal"],
        "pairwise_view": ["Pairwise"],
        "point_set_distance": ["point_set_distances"],
        "psd": ["PSDRepair", "psd_repair"],
        "specs": ["StackTransform", "compute_stack", "kernel_class"],
        "stack": ["KernelStack"],
        "views": ["Views"],
    },
)

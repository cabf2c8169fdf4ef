"""Distances, kernels fitted on training samples only, and stacks of kernels."""

import lazy_loader as _lazy

from mklearn.kernels.table import KERNELS as _KERNELS
from mklearn.rows import exported as _exported

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    submod_attrs={
        "base": ["Kernel"],
        "distances": ["MEASURES", "chi2_distance", "inner_product", "squared_euclidean"],
        "feature_scaling": ["FeatureScaler"],
        "functions": _exported(_KERNELS, __name__)["functions"],
        "matrices": [
            "IdentityLikeKernelWarning", "KernelCentring", "PSDRepair", "centre_kernel", "centred_trace",
            "off_diagonal_mass", "psd_repair", "scale_to_centred_trace", "unit_diagonal",
        ],
        "point_set_distance": ["point_set_distances"],
        "specs": ["kernel_class"],
        "stack": ["KernelStack"],
        "transform": ["StackTransform"],
        "views": ["Pairwise", "Views"],
    },
)  # fmt: skip

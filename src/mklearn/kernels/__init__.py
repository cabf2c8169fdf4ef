"""Distances, kernel functions and everything that turns one into a kernel matrix fitted on training samples only."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    submod_attrs={
        "bandwidth": ["bandwidth_grid", "mean_distance", "mean_squared_distance", "resolve_bandwidth"],
        "centre": ["KernelCentring", "centre_kernel"],
        "distances": ["MEASURES", "chi2_distance", "inner_product", "squared_euclidean"],
        "functions": ["gaussian_kernel", "linear_kernel", "polynomial_kernel"],
        "identity_like": ["IdentityLikeKernelWarning", "off_diagonal_mass"],
        "normalise": ["centred_trace", "scale_to_centred_trace", "unit_diagonal"],
        "psd": ["PSDRepair", "psd_repair"],
        "specs": ["StackTransform", "build_stack", "compute_stack"],
        "stack": ["KernelStack"],
        "transform": ["KernelTransform"],
    },
)

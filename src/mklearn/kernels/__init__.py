"""Distances, kernel functions and everything that turns one into a kernel matrix fitted on training samples only."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    submod_attrs={
        "bandwidth": ["bandwidth_grid", "mean_distance", "mean_squared_distance", "resolve_bandwidth"],
        "centre": ["KernelCentring", "centre_kernel"],
        "chi2": ["chi2_distance_rows"],
        "distances": ["MEASURES", "chi2_distance", "inner_product", "squared_euclidean"],
        "functions": ["gaussian_kernel", "linear_kernel", "polynomial_kernel"],
        "identity_like": ["IdentityLikeKernelWarning", "off_diagonal_mass"],
        "normalise": ["centred_trace", "scale_to_centred_trace", "unit_diagonal"],
        "point_set_distance": ["point_set_distance_rows", "point_set_distances"],
        "psd": ["PSDRepair", "psd_repair"],
        "row_blocks": ["merge_row_blocks", "rows_of_block"],
        "specs": ["StackTransform", "build_stack", "compute_stack"],
        "stack": ["KernelStack"],
        "transform": ["KernelTransform"],
    },
)

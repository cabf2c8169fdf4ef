"""An example of a package whose methods, kernels, descriptors, protocols and metrics a study can name."""

"""What methods, kernels and descriptors declare to the workflow, and the frozen specifications of its jobs."""

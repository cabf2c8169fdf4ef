"""What estimators share: checks of samples, labels and parameters, the kernel input, and the span of the samples."""

"""What estimators share: checks of samples, labels and parameters, kernel input, folds, the span of the samples."""

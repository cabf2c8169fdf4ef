"""Code that estimators share: validation, kernel input, landmark features, folds, statistics."""

"""Code shared by estimators: validation, kernel input, landmark features, folds, statistics."""

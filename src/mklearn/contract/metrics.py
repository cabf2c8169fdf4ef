"""Names of mklearn's own metrics, to check a study without loading the code that computes them."""

METRICS = ("accuracy", "balanced_accuracy", "auc", "support_vector_share")

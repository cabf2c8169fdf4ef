"""Evaluation: nearest-neighbour sweeps over dimensions, inner cross-validation, intervals, the summary table."""

import lazy_loader as _lazy

from mklearn.extras import require as _require

_require("pandas", "pydantic")
__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    submod_attrs={
        "reproduction": ["Reproduction", "compare_published"],
        "selection": ["Selection", "choose", "select_by_inner_cv", "select_by_race"],
        "predictions": ["Predictions"],
        "statistics": [
            "Difference",
            "Interval",
            "accuracy_interval",
            "corrected_resampled_interval",
            "holm",
            "mean",
            "paired_accuracy_difference",
            "paired_difference",
            "standard_deviation",
        ],
        "summary": ["SUMMARY_COLUMNS", "summarise"],
    },
)

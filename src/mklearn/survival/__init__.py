"""Survival times: estimators, metrics, Kaplan-Meier estimates and pseudo-observations."""

import lazy_loader as _lazy

from mklearn.methods import METHODS as _METHODS
from mklearn.rows import exported as _exported

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    submod_attrs=_exported(_METHODS, __name__)
    | {
        "kaplan_meier": ["KaplanMeier", "pseudo_restricted_means", "pseudo_survival"],
        "metrics": ["brier_scores", "harrell_c", "integrated_brier", "uno_c"],
        "times": ["signed_times", "times_and_events"],
    },
)

"""Pipelines of scikit-learn: their last step, and survival functions, which they do not pass on from it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, which may be a pipeline itself; return any other estimator unchanged."""
    return last_step(estimator[-1]) if hasattr(estimator, "steps") else estimator


def predicts_survival(estimator: Any) -> bool:
    """Return whether an estimator, or the last step of a pipeline, has survival functions."""
    return callable(getattr(last_step(estimator), "predict_survival_function", None))


def survival_functions(estimator: Any, X: Any, times: ArrayLike) -> NDArray[np.float64]:
    """Compute the probability of surviving each time, (m, n_times), by an estimator or the last step of a pipeline."""
    if hasattr(estimator, "steps"):
        return survival_functions(estimator[-1], estimator[:-1].transform(X), times)
    return np.asarray(estimator.predict_survival_function(X, times), dtype=np.float64)

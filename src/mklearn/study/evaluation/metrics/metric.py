"""Metrics by their names: how each is computed, its range, and whether it can choose parameters."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any

from mklearn.errors import ConfigError, nearest
from mklearn.rows import Row, load, row_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Metric(Row):
    """A metric: a function that scores a fitted method on test samples by one number.

    Its parameters are attributes of :class:`mklearn.study.evaluation.outputs.MethodOutput`. A method that does not give
    one gets a row with the status ``not_applicable``; so it does where the function raises NotApplicable.
    """

    kind: str = ""
    """Its name in studies and tables."""
    larger_is_better: bool = True
    bounds: tuple[float, float] = (0.0, 1.0)
    """Smallest and largest possible value."""
    mean_of_samples: bool = False
    """True for a mean over test samples of zeros and ones, such as the accuracy, which a single sample has too. Its
    interval needs `by_sample` too."""
    targets: Sequence[str] = ("classes",)
    """The kinds of target that it takes: "classes", "numbers"."""
    by_sample: str = ""
    """``module:function`` that gives each test sample a value, with the metric as their mean and its variance as that
    of the mean; with such parameters too. Intervals of the metric are computed from them: without it
    from the values of the splits alone, which is wider (see :mod:`mklearn.base.statistics`)."""

    @property
    def can_choose(self) -> bool:
        """True where inner cross-validation can choose by it: at most 1, larger is better."""
        return self.larger_is_better and self.bounds[1] == 1.0

    @property
    def in_percent(self) -> bool:
        """True for a metric whose best value is 1: it is shown in percent."""
        return self.bounds[1] == 1.0

    @property
    def name(self) -> str:
        """Its title inside a sentence: ``mean absolute error``, ``R²``."""
        return self.title[0].lower() + self.title[1:] if self.title[1:2].islower() else self.title

    @property
    def needs(self) -> tuple[str, ...]:
        """The attributes that it takes of a method: the parameters of its function."""
        return _function(self.implementation)[1]

    def score(self, output: Any) -> float:
        """Compute the metric from a :class:`mklearn.study.evaluation.outputs.MethodOutput`.

        Raises
        ------
        NotApplicable
            The method does not give what the metric needs.
        """
        return float(_called(self.implementation, output))

    def sample_values(self, output: Any) -> NDArray[np.float64]:
        """Compute the values of test samples (m,) whose mean is the metric, of a metric that names ``by_sample``."""
        values: NDArray[np.float64] = _called(self.by_sample, output)
        return values


def _called(name: str, output: Any) -> Any:
    function, parameters = _function(name)
    return function(*(getattr(output, parameter) for parameter in parameters))


@functools.cache
def _function(name: str) -> tuple[Callable[..., Any], tuple[str, ...]]:
    function = load(name)
    return function, tuple(inspect.signature(function).parameters)


def metric_named(name: str) -> Metric:
    """Return a metric of the table, or of a package outside, ``"module:function"``.

    Raises
    ------
    ConfigError
        There is no such metric, or its module can't be imported.
    """
    if name not in METRICS and ":" not in name:
        valid = ", ".join(METRICS)
        raise ConfigError(f"there is no metric {name!r}.{nearest(name, METRICS)} Valid: {valid}; or module:function.")
    return replace(row_of(name, METRICS, _inferred), kind=name)


def _inferred(function: Any) -> Metric:
    if not callable(function):
        raise ConfigError(f"{function!r} is no function.")
    return Metric()


def described(metric: Metric) -> str:
    """Describe a metric in three lines."""
    low, high = metric.bounds
    ends = (
        f"from {low:g}" + (f" to {high:g}" if math.isfinite(high) else "") if math.isfinite(low) else f"up to {high:g}"
    )
    better = "larger" if metric.larger_is_better else "smaller"
    of = " and ".join(metric.targets)
    about = " ".join((inspect.getdoc(load(metric.implementation)) or "").split("\n\n")[0].split())
    return f"{metric.kind}: {metric.title}\n  {about}\n  for {of}; {ends}; {better} is better"


def metric_mistakes(metrics: Sequence[str], choose_by: str, inner_folds: int | str) -> list[tuple[str, str]]:
    """Return field and sentence of each mistake in a study's choice of metrics."""
    unknown = {}
    for name in metrics:
        try:
            metric_named(name)
        except ConfigError as error:
            unknown[name] = str(error)
    twice = [name for name in dict.fromkeys(metrics) if metrics.count(name) > 1]
    mistakes = [("metrics", reason) for reason in unknown.values()]
    mistakes += [("metrics", f"metric {name!r} is named twice.") for name in twice]
    if choose_by not in metrics and not unknown:
        mistakes.append(("choose_by", f"{choose_by!r} is not among metrics; valid: {', '.join(metrics)}."))
    if mistakes:
        return mistakes
    metric = metric_named(choose_by)
    if not metric.can_choose:
        return [("choose_by", f"{choose_by!r} can't choose parameters: its values must be at most 1, larger better.")]
    if inner_folds == "leave_one_out" and not metric.mean_of_samples:
        return [("choose_by", f"{choose_by!r} has no value for a single sample: set inner_folds to a number of folds.")]
    return []


def _row(name: str, title: str, has_values: bool = True, **fields: Any) -> Metric:
    package = "mklearn.study.evaluation.metrics"
    by_sample = f"{package}.sample_values:{name}" if has_values else ""
    return Metric(f"{package}.functions:{name}", title, by_sample=by_sample, **fields)


METRICS: dict[str, Metric] = {
    "accuracy": _row("accuracy", "Accuracy", False, mean_of_samples=True),
    "balanced_accuracy": _row("balanced_accuracy", "Balanced accuracy"),
    "minority_recall": _row("minority_recall", "Recall of the smallest class"),
    "macro_f1": _row("macro_f1", "Macro F1"),
    "r2": _row("r2", "R²", bounds=(-inf, 1.0), targets=("numbers",)),
    "rmse": _row("rmse", "RMSE", larger_is_better=False, bounds=(0.0, inf), targets=("numbers",)),
    "mae": _row("mae", "Mean absolute error", larger_is_better=False, bounds=(0.0, inf), targets=("numbers",)),
    "pearson": _row("pearson", "Pearson's correlation", bounds=(-1.0, 1.0), targets=("numbers",)),
    "spearman": _row("spearman", "Spearman's correlation", bounds=(-1.0, 1.0), targets=("numbers",)),
    "log_loss": _row("log_loss", "Log loss", larger_is_better=False, bounds=(0.0, inf)),
    "auc": _row("auc", "Area under the ROC curve"),
    "equal_error_rate": _row("equal_error_rate", "Equal error rate", False, larger_is_better=False),
    "support_vector_share": _row("support_vector_share", "Share of support vectors", False, larger_is_better=False,
                                 targets=("classes", "numbers")),
}  # fmt: skip

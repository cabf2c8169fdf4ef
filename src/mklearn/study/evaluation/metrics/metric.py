"""Table of metrics: how each is computed, its range, and whether it can choose parameters."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any

from mklearn.errors import ConfigError, SolverFailed, nearest
from mklearn.rows import Row, load, row_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


ROUNDING = 1e-9
"""Tolerance by which rounding may move a value out of the range of its metric."""


@dataclass(frozen=True)
class Metric(Row):
    """A metric: a function that scores a fitted method on test samples by one number.

    The function's parameters are attributes of :class:`mklearn.study.evaluation.outputs.MethodOutput`. If a method
    lacks one of them, or the function raises NotApplicable, the score row has the status ``not_applicable``.
    """

    kind: str = ""
    """Name of the metric in studies and tables."""
    larger_is_better: bool = True
    bounds: tuple[float, float] = (0.0, 1.0)
    """Smallest and largest possible value of the metric."""
    mean_of_samples: bool = False
    """True for a mean of zeros and ones over test samples, such as the accuracy, which is defined for a single sample.
    Its interval needs `by_sample` too."""
    over_classes: bool = False
    """True for a mean over classes, such as the balanced accuracy: its interval depends on the size of each."""
    targets: Sequence[str] = ("classes",)
    """Kinds of target that the metric supports: "classes", "numbers", "survival"."""
    by_sample: str = ""
    """``module:function`` that returns one value per test sample, whose mean is the metric and the variance of whose
    mean is the metric's variance. Without it, confidence intervals are computed from one value per split, and wider
    (see :mod:`mklearn.base.statistics`)."""

    can_choose: bool = True
    """False if the metric does not measure predictions: inner cross-validation can't choose by it."""
    needs_scores: bool = False
    """True if the metric needs decision values or probabilities, which embeddings lack."""

    @property
    def sign(self) -> float:
        """Factor that makes larger values better: -1 for an error, else 1."""
        return 1.0 if self.larger_is_better else -1.0

    @property
    def in_percent(self) -> bool:
        """True if the metric is shown in percent: its upper bound is 1."""
        return self.bounds[1] == 1.0

    @property
    def name(self) -> str:
        """Title of the metric inside a sentence: ``mean absolute error``, ``R²``, ``Harrell's C``."""
        is_name = not self.title[1:2].islower() or "'s" in self.title
        return self.title if is_name else self.title[0].lower() + self.title[1:]

    @property
    def needs(self) -> tuple[str, ...]:
        """Attributes of the method's output that the metric needs: the parameters of its function."""
        return _function(self.implementation)[1]

    def score(self, output: Any) -> float:
        """Compute the metric from a :class:`mklearn.study.evaluation.outputs.MethodOutput`.

        Raises
        ------
        NotApplicable
            The method lacks an output that the metric needs, or the metric is undefined.
        SolverFailed
            The value is not finite, or outside the range of the metric.
        """
        value, (low, high) = float(_called(self.implementation, output)), self.bounds
        if not (math.isfinite(value) and low - ROUNDING <= value <= high + ROUNDING):
            raise SolverFailed(f"{self.kind} is {value}; expected a finite value from {low:g} to {high:g}")
        return value

    def sample_values(self, output: Any) -> NDArray[np.float64]:
        """Compute one value per test sample, (m,), whose mean is the metric; requires ``by_sample``."""
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
    """Return a metric of the table, or one of another package as ``"module:function"``.

    Raises
    ------
    ConfigError
        The metric does not exist, or its module can't be imported.
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
    """Return a description of a metric in three lines."""
    low, high = metric.bounds
    ends = (
        f"from {low:g}" + (f" to {high:g}" if math.isfinite(high) else "") if math.isfinite(low) else f"up to {high:g}"
    )
    better = "larger" if metric.larger_is_better else "smaller"
    of = " and ".join(metric.targets)
    about = " ".join((inspect.getdoc(load(metric.implementation)) or "").split("\n\n")[0].split())
    return f"{metric.kind}: {metric.title}\n  {about}\n  for {of}; {ends}; {better} is better"


def metric_mistakes(metrics: Sequence[str], choose_by: str, inner_folds: int | str) -> list[tuple[str, str]]:
    """Return the field and the message of each mistake in a study's choice of metrics."""
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
        able = ", ".join(name for name in metrics if metric_named(name).can_choose)
        valid = f"valid: {able}" if able else "add a metric that does, such as accuracy or r2, and name it"
        return [("choose_by", f"{choose_by!r} can't choose parameters, as it does not measure predictions; {valid}.")]
    if inner_folds == "leave_one_out" and not metric.mean_of_samples:
        text = "has no value for a single sample: set inner_folds to a number of folds, or list and name accuracy."
        return [("choose_by", f"{choose_by!r} {text}")]
    return []


def _row(name: str, title: str, has_values: bool = True, **fields: Any) -> Metric:
    package = "mklearn.study.evaluation.metrics"
    by_sample = f"{package}.sample_values:{name}" if has_values else ""
    return Metric(f"{package}.functions:{name}", title, by_sample=by_sample, **fields)


def _survival_row(name: str, title: str, **fields: Any) -> Metric:
    implementation = f"mklearn.survival.metrics:{name}"
    return Metric(implementation, title, by_sample=f"{implementation}_values", targets=("survival",), **fields)


METRICS: dict[str, Metric] = {
    "accuracy": _row("accuracy", "Accuracy", False, mean_of_samples=True),
    "balanced_accuracy": _row("balanced_accuracy", "Balanced accuracy", over_classes=True),
    "minority_recall": _row("minority_recall", "Recall of the smallest class", over_classes=True),
    "macro_f1": _row("macro_f1", "Macro F1", over_classes=True),
    "nmi": _row("nmi", "Normalised mutual information", False),
    "r2": _row("r2", "R²", bounds=(-inf, 1.0), targets=("numbers",)),
    "rmse": _row("rmse", "RMSE", larger_is_better=False, bounds=(0.0, inf), targets=("numbers",)),
    "mae": _row("mae", "Mean absolute error", larger_is_better=False, bounds=(0.0, inf), targets=("numbers",)),
    "pearson": _row("pearson", "Pearson's correlation", bounds=(-1.0, 1.0), targets=("numbers",)),
    "spearman": _row("spearman", "Spearman's correlation", bounds=(-1.0, 1.0), targets=("numbers",)),
    "log_loss": _row("log_loss", "Log loss", larger_is_better=False, bounds=(0.0, inf), needs_scores=True),
    "auc": _row("auc", "Area under the ROC curve", needs_scores=True, over_classes=True),
    "equal_error_rate": _row("equal_error_rate", "Equal error rate", False, larger_is_better=False, needs_scores=True),
    "support_vector_share": _row("support_vector_share", "Share of support vectors", False, larger_is_better=False,
                                 targets=("classes", "numbers"), can_choose=False),
    "kernel_share": _row("kernel_share", "Share of kernels", False, larger_is_better=False,
                         targets=("classes", "numbers"), can_choose=False),
    "harrell_c": _survival_row("harrell_c", "Harrell's C"),
    "uno_c": _survival_row("uno_c", "Uno's C"),
    "integrated_brier": _survival_row("integrated_brier", "Integrated Brier score", larger_is_better=False,
                                      bounds=(0.0, inf), needs_scores=True),
}  # fmt: skip

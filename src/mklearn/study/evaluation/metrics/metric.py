"""Metrics by their names: what each needs, how it is computed, and whether it can choose parameters."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any

from mklearn.errors import ConfigError, nearest
from mklearn.loading import load
from mklearn.rows import Row, row_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Metric(Row):
    """A metric: a function that says by one number how good a fitted method is on test samples.

    A method that does not give one of `needs` gets a row with the status ``not_applicable``; so it does where the
    function raises NotApplicable.

    Attributes
    ----------
    needs : sequence of str
        The parameters of the function: what it needs of :class:`mklearn.study.evaluation.outputs.MethodOutput`.
    kind : str
        Its name in studies and tables.
    larger_is_better : bool
    bounds : (float, float)
        Smallest and largest possible value.
    mean_of_samples : bool
        Whether it is the mean over test samples of zeros and ones, as the accuracy is: it then has a value for a single
        sample. Its interval needs `by_sample` too.
    targets : sequence of {"classes", "numbers"}
        The kinds of target that it takes.
    by_sample : str
        ``module:function`` that gives each test sample a value, with the metric as their mean and its variance as that
        of the mean; its parameters are as of the metric. Intervals of the metric are computed from them: without it
        from the values of the splits alone, which is wider (see :mod:`mklearn.base.statistics`).
    """

    needs: Sequence[str] = ()
    kind: str = ""
    larger_is_better: bool = True
    bounds: tuple[float, float] = (0.0, 1.0)
    mean_of_samples: bool = False
    targets: Sequence[str] = ("classes",)
    by_sample: str = ""

    @property
    def can_choose(self) -> bool:
        """Whether inner cross-validation can choose by it: at most 1, larger is better."""
        return self.larger_is_better and self.bounds[1] == 1.0

    @property
    def in_percent(self) -> bool:
        """Whether it is shown in percent: its best value is 1."""
        return self.bounds[1] == 1.0

    @property
    def name(self) -> str:
        """Its title inside a sentence: ``mean absolute error``, ``R²``."""
        return self.title[0].lower() + self.title[1:] if self.title[1:2].islower() else self.title

    def score(self, output: Any) -> float:
        """Compute the metric from a :class:`mklearn.study.evaluation.outputs.MethodOutput`.

        Raises
        ------
        NotApplicable
            The method does not give what the metric needs.
        """
        return float(load(self.implementation)(*(getattr(output, name) for name in self.needs)))

    def sample_values(self, output: Any) -> NDArray[np.float64]:
        """Compute the values of test samples (m,) whose mean is the metric, of a metric that names ``by_sample``."""
        function = load(self.by_sample)
        values: NDArray[np.float64] = function(
            *(getattr(output, name) for name in inspect.signature(function).parameters)
        )
        return values


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
    row = row_of(name, METRICS, _inferred)
    needs = row.needs or tuple(inspect.signature(load(name)).parameters)
    return replace(row, kind=name, needs=needs)


def _inferred(function: Any) -> Metric:
    if not callable(function):
        raise ConfigError(f"{function!r} is no function.")
    return Metric()


def described(metric: Metric) -> str:
    """Return what a metric is, in lines for people."""
    low, high = metric.bounds
    ends = (
        f"from {low:g}" + (f" to {high:g}" if math.isfinite(high) else "") if math.isfinite(low) else f"up to {high:g}"
    )
    better = "larger" if metric.larger_is_better else "smaller"
    of = " and ".join(metric.targets)
    about = " ".join((inspect.getdoc(load(metric.implementation)) or "").split("\n\n")[0].split())
    return f"{metric.kind}: {metric.title}\n  {about}\n  for {of}; {ends}; {better} is better"


def metric_mistakes(metrics: Sequence[str], choose_by: str, inner_folds: int | str) -> list[tuple[str, str]]:
    """Return what is wrong with a study's choice of metrics: (field, sentence) for each mistake."""
    unknown = {}
    for name in metrics:
        try:
            metric_named(name)
        except ConfigError as error:
            unknown[name] = str(error)
    mistakes = [("metrics", reason) for reason in unknown.values()]
    mistakes += [
        ("metrics", f"metric {name!r} is named twice.") for name in dict.fromkeys(metrics) if metrics.count(name) > 1
    ]
    if choose_by not in metrics and not unknown:
        mistakes.append(("choose_by", f"{choose_by!r} is not among metrics; valid: {', '.join(metrics)}."))
    if mistakes:
        return mistakes
    metric = metric_named(choose_by)
    if not metric.can_choose:
        mistakes.append(
            ("choose_by", f"{choose_by!r} can't choose parameters: its values must be at most 1, larger better.")
        )
    elif inner_folds == "leave_one_out" and not metric.mean_of_samples:
        mistakes.append(
            ("choose_by", f"{choose_by!r} has no value for a single sample: set inner_folds to a number of folds.")
        )
    return mistakes


_HERE = "mklearn.study.evaluation.metrics."
_LABELS, _NUMBERS = ("y", "labels"), ("numbers",)
_SCORES = ("y", "class_scores", "classes")
METRICS: dict[str, Metric] = {
    "accuracy": Metric(f"{_HERE}labels:accuracy", "Accuracy", needs=_LABELS, mean_of_samples=True),
    "balanced_accuracy": Metric(f"{_HERE}labels:balanced_accuracy", "Balanced accuracy", needs=_LABELS,
                                by_sample=f"{_HERE}sample_values:balanced_accuracy_values"),
    "minority_recall": Metric(f"{_HERE}labels:minority_recall", "Recall of the smallest class",
                              needs=("y_train", *_LABELS), by_sample=f"{_HERE}sample_values:minority_recall_values"),
    "macro_f1": Metric(f"{_HERE}labels:macro_f1", "Macro F1", needs=_LABELS,
                       by_sample=f"{_HERE}sample_values:macro_f1_values"),
    "r2": Metric(f"{_HERE}numbers:r2", "R²", needs=("y_train", *_LABELS), bounds=(-inf, 1.0), targets=_NUMBERS,
                 by_sample=f"{_HERE}number_values:r2_values"),
    "rmse": Metric(f"{_HERE}numbers:rmse", "RMSE", needs=_LABELS, larger_is_better=False, bounds=(0.0, inf),
                   targets=_NUMBERS, by_sample=f"{_HERE}number_values:rmse_values"),
    "mae": Metric(f"{_HERE}numbers:mae", "Mean absolute error", needs=_LABELS, larger_is_better=False,
                  bounds=(0.0, inf), targets=_NUMBERS, by_sample=f"{_HERE}number_values:mae_values"),
    "pearson": Metric(f"{_HERE}numbers:pearson", "Pearson's correlation", needs=_LABELS, bounds=(-1.0, 1.0),
                      targets=_NUMBERS, by_sample=f"{_HERE}number_values:pearson_values"),
    "spearman": Metric(f"{_HERE}numbers:spearman", "Spearman's correlation", needs=_LABELS, bounds=(-1.0, 1.0),
                       targets=_NUMBERS, by_sample=f"{_HERE}number_values:spearman_values"),
    "log_loss": Metric(f"{_HERE}scores:log_loss", "Log loss", needs=("y", "probabilities", "classes"),
                       larger_is_better=False, bounds=(0.0, inf), by_sample=f"{_HERE}sample_values:log_loss_values"),
    "auc": Metric(f"{_HERE}scores:auc", "Area under the ROC curve", needs=_SCORES,
                  by_sample=f"{_HERE}sample_values:auc_values"),
    "equal_error_rate": Metric(f"{_HERE}scores:equal_error_rate", "Equal error rate", needs=_SCORES,
                               larger_is_better=False),
    "support_vector_share": Metric(f"{_HERE}support_vectors:support_vector_share", "Share of support vectors",
                                   needs=("n_support_vectors", "n_train"), larger_is_better=False,
                                   targets=("classes", "numbers")),
}  # fmt: skip

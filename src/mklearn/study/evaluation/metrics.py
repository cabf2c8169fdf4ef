"""Metrics of a fitted method: what each needs, how it is computed, and whether it can choose parameters.

Installed packages add metrics by entry points of the group ``mklearn.metrics`` (name to :class:`Metric`). The functions
import numpy and scikit-learn when they are called: a study is checked without them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mklearn.contract.specs import TARGET, TargetKind
from mklearn.errors import ConfigError, NotApplicable
from mklearn.extensions import entry_points


@dataclass(frozen=True)
class Metric:
    """A number that says how good a fitted method is on test samples.

    Attributes
    ----------
    name, title : str
        In study files and score tables; in figures.
    needs : tuple of str
        Attributes of :class:`mklearn.study.evaluation.sweeps.MethodOutput`, the arguments of ``function``. A method
        that does not have one of them gets a row with the status ``not_applicable``.
    function : callable
        Of the values that ``needs`` names; returns a float. May raise `NotApplicable`.
    larger_is_better : bool
    bounds : (float, float)
        Smallest and largest possible value.
    mean_of_samples : bool
        Whether it is the mean over test samples of zeros and ones, as the accuracy is.
    targets : tuple of {"classes", "numbers"}
        The kinds of target that it takes.
    by_leading_components : callable or None
        ``(Z_train, y_train, Z_test, y_test, rule)`` to the values with the first 1, 2, ... columns, where there is a
        faster way than one call of ``function`` for each.
    """

    name: str
    title: str
    needs: tuple[str, ...]
    function: Callable[..., float]
    larger_is_better: bool = True
    bounds: tuple[float, float] = (0.0, 1.0)
    mean_of_samples: bool = False
    targets: tuple[TargetKind, ...] = ("classes",)
    by_leading_components: Callable[..., Any] | None = None

    @property
    def can_choose(self) -> bool:
        """Whether inner cross-validation can choose by it: from 0 to 1, larger is better."""
        return self.larger_is_better and self.bounds == (0.0, 1.0)

    def score(self, output: Any) -> float:
        """Compute the metric from a :class:`mklearn.study.evaluation.sweeps.MethodOutput`.

        Raises
        ------
        NotApplicable
            The method does not give what the metric needs.
        """
        return float(self.function(*(getattr(output, name) for name in self.needs)))


def metric_named(name: str) -> Metric:
    """Return a metric of mklearn or of an installed package.

    Raises
    ------
    ConfigError
        No metric has the name, or an entry point leads to something else.
    """
    if name in METRICS:
        return METRICS[name]
    for point in entry_points()["metrics"]:
        if point.name != name:
            continue
        found = point.load()
        if not isinstance(found, Metric) or found.name != name:
            raise ConfigError(f"entry point {point.value!r} of group 'mklearn.metrics' is not a Metric named {name!r}.")
        return found
    raise ConfigError(f"there is no metric {name!r}; valid: {', '.join(metric_names())}.")


def metric_names() -> list[str]:
    """Return the names of all metrics, those of installed packages last."""
    outside = sorted(point.name for point in entry_points()["metrics"])
    return list(dict.fromkeys([*METRICS, *outside]))


def metric_mistakes(metrics: Sequence[str], choose_by: str, inner_folds: int | str) -> list[tuple[str, str]]:
    """Return what is wrong with a study's choice of metrics: (field, sentence) for each mistake."""
    unknown = [name for name in metrics if name not in METRICS and name not in metric_names()]
    mistakes = [("metrics", f"there is no metric {name!r}; valid: {', '.join(metric_names())}.") for name in unknown]
    mistakes += [
        ("metrics", f"metric {name!r} is named twice.") for name in dict.fromkeys(metrics) if metrics.count(name) > 1
    ]
    if choose_by not in metrics:
        mistakes.append(("choose_by", f"{choose_by!r} is not among metrics; valid: {', '.join(metrics)}."))
    if mistakes:
        return mistakes
    for metric in map(metric_named, metrics):
        if TARGET not in metric.targets:
            sentence = f"metric {metric.name!r} takes {' or '.join(metric.targets)}, and data sets have {TARGET}."
            mistakes.append(("metrics", sentence))
    metric = metric_named(choose_by)
    if not metric.can_choose:
        mistakes.append(
            ("choose_by", f"{choose_by!r} can't choose parameters: its values must lie between 0 and 1, larger better.")
        )
    elif inner_folds == "leave_one_out" and not metric.mean_of_samples:
        mistakes.append(
            ("choose_by", f"{choose_by!r} has no value for a single sample: set inner_folds to a number of folds.")
        )
    return mistakes


# --- the built-in metrics


def _accuracy(y: Any, labels: Any) -> float:
    import numpy as np

    return float(np.mean(labels == y))


def _accuracy_by_leading_components(*arguments: Any) -> Any:
    from mklearn.study.evaluation.rules import accuracy_by_dimension

    return accuracy_by_dimension(*arguments)


def _balanced_accuracy(y: Any, labels: Any) -> float:
    """Return the mean over the classes of the share of their samples that is predicted correctly."""
    import numpy as np

    return float(np.mean([np.mean(labels[y == code] == code) for code in np.unique(y)]))


def _minority_recall(y_train: Any, y: Any, labels: Any) -> float:
    """Return the recall of the class with the fewest training samples; of several such classes the mean."""
    import numpy as np

    classes, counts = np.unique(y_train, return_counts=True)
    fewest = classes[counts == counts.min()]
    missing = np.setdiff1d(fewest, y)
    if missing.size:
        raise NotApplicable(f"the recall of the smallest class needs test samples of it; class {missing[0]!s} has none")
    return float(np.mean([np.mean(labels[y == code] == code) for code in fewest]))


def _macro_f1(y: Any, labels: Any) -> float:
    """Return the mean F1 score over the classes that test samples have or are predicted to have."""
    from sklearn.metrics import f1_score

    return float(f1_score(y, labels, average="macro"))


def _log_loss(y: Any, probabilities: Any, classes: Any) -> float:
    """Return the mean of minus the logarithm of the probability of each test sample's class."""
    import numpy as np
    from sklearn.metrics import log_loss

    unknown = np.setdiff1d(y, classes)
    if unknown.size:
        raise NotApplicable(f"the log loss needs a probability of every class; {unknown[0]!s} has no training sample")
    if probabilities.shape != (len(y), len(classes)):
        raise NotApplicable(f"probabilities have shape {probabilities.shape}: expected one column for each class")
    order = np.argsort(classes)  # scikit-learn takes the columns in the order of the sorted classes
    return float(log_loss(y, probabilities[:, order], labels=np.asarray(classes)[order]))


def _auc(y: Any, scores: Any, classes: Any) -> float:
    """Return the area under the ROC curve; of more than two classes the mean over each against the others."""
    import numpy as np
    from sklearn.metrics import roc_auc_score

    present = np.isin(classes, y)
    if not present.all():
        raise NotApplicable(f"the area under the ROC curve needs test samples of every class; {classes[~present][0]!s}"
                            " has none")  # fmt: skip
    if scores.ndim == 2 and scores.shape[1] == 2:
        scores = scores[:, 1]
    if len(classes) == 2 and scores.ndim == 1:
        return float(roc_auc_score(y == classes[1], scores))
    if scores.shape != (len(y), len(classes)):
        raise NotApplicable(f"decision values have shape {scores.shape}: expected one column for each class")
    return float(np.mean([roc_auc_score(y == code, scores[:, place]) for place, code in enumerate(classes)]))


def _equal_error_rate(y: Any, scores: Any, classes: Any) -> float:
    """Return the error on the ROC curve where as many of either class are wrong; lines join its points."""
    import numpy as np
    from sklearn.metrics import roc_curve

    if len(classes) != 2:
        raise NotApplicable(f"the equal error rate is one of two classes; there are {len(classes)}")
    if len(np.unique(y)) < 2:
        raise NotApplicable("the equal error rate needs test samples of both classes")
    values = scores[:, 1] if scores.ndim == 2 else scores
    accepted, detected, _ = roc_curve(y == classes[1], values, drop_intermediate=False)
    excess = accepted + detected - 1.0  # false acceptances minus false rejections: increases from -1 to 1
    place = int(np.argmax(excess >= 0))
    low, high = excess[place - 1], excess[place]
    share = -low / (high - low)
    return float(accepted[place - 1] + share * (accepted[place] - accepted[place - 1]))


def _support_vector_share(estimator: Any, n_train: int) -> float:
    """Return the share of the training samples that are support vectors."""
    import numpy as np

    support = getattr(estimator, "support_", None)
    if support is not None:
        return len(support) / n_train
    counts = getattr(estimator, "n_support_", None)
    if counts is not None:
        return float(np.sum(counts)) / n_train
    dual = np.atleast_2d(getattr(estimator, "dual_coef_", np.empty((0, 0))))
    if dual.shape[1] != n_train:
        raise NotApplicable("the method has no support vectors (support_, n_support_ or dual_coef_)")
    return float(np.mean((dual != 0).any(axis=0)))


ACCURACY = Metric(
    "accuracy",
    "Accuracy",
    ("y", "labels"),
    _accuracy,
    mean_of_samples=True,
    by_leading_components=_accuracy_by_leading_components,
)
METRICS = {
    metric.name: metric
    for metric in (
        ACCURACY,
        Metric("balanced_accuracy", "Balanced accuracy", ("y", "labels"), _balanced_accuracy),
        Metric("minority_recall", "Recall of the smallest class", ("y_train", "y", "labels"), _minority_recall),
        Metric("macro_f1", "Macro F1", ("y", "labels"), _macro_f1),
        Metric(
            "log_loss",
            "Log loss",
            ("y", "probabilities", "classes"),
            _log_loss,
            larger_is_better=False,
            bounds=(0.0, math.inf),
        ),
        Metric("auc", "Area under the ROC curve", ("y", "class_scores", "classes"), _auc),
        Metric(
            "equal_error_rate",
            "Equal error rate",
            ("y", "class_scores", "classes"),
            _equal_error_rate,
            larger_is_better=False,
        ),
        Metric(
            "support_vector_share",
            "Share of support vectors",
            ("estimator", "n_train"),
            _support_vector_share,
            larger_is_better=False,
            targets=("classes", "numbers"),
        ),
    )
}
"""Metrics that mklearn has, by name."""

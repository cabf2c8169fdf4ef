"""Metrics that have no value in a study, for its methods or in its splits: known before it runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import SimpleNamespace

import numpy as np

from mklearn.contract.loading import load
from mklearn.errors import NotApplicable
from mklearn.study.data.samples import some
from mklearn.study.data.splits import Split, Splits
from mklearn.study.evaluation.metrics.metric import GIVEN_BY, Metric, metric_named
from mklearn.study.plan.fits import PlannedFit


def metrics_without_methods(fits: Iterable[PlannedFit]) -> Iterator[str]:
    """Yield a sentence for each metric that some methods give no value of, for want of decision values.

    Methods on pairs of samples are left out: a pair has a score by any of them.
    """
    single = [fit for fit in fits if fit.spec.pairs is None]
    for name in dict.fromkeys(name for fit in single for name in fit.spec.evaluation.metrics):
        wanted = [GIVEN_BY[need] for need in metric_named(name).needs if need in GIVEN_BY]
        measured = [fit for fit in single if name in fit.spec.evaluation.metrics]
        without = [fit.label for fit in measured if not all(_has_one(fit, methods) for methods in wanted)]
        if without:
            which = some(list(dict.fromkeys(without)), 3)
            what = "probabilities of the classes" if wanted == [GIVEN_BY["probabilities"]] else "decision values"
            yield (
                f"evaluation.metrics: {name} needs {what}: no value for {which}"
                + ("; no method of the study has one" if len(without) == len(measured) else "")
            )


def metrics_without_values(metrics: Iterable[str], drawn: Splits, y: np.ndarray, names: np.ndarray) -> Iterator[str]:
    """Yield a sentence for each metric that has no value in some splits, whatever the method.

    Parameters
    ----------
    metrics : iterable of str
    drawn : Splits
    y : (n,) array
        Class codes, or numbers to predict.
    names : (n,) array
        Names of the classes, or the numbers.
    """
    for name in metrics:
        metric = metric_named(name)
        reasons = [reason for split in drawn if (reason := _reason(metric, split, y, names))]
        if reasons:
            yield f"evaluation.metrics: {name} has no value in {len(reasons)} of {len(drawn)} splits: {reasons[0]}"


def _reason(metric: Metric, split: Split, y: np.ndarray, names: np.ndarray) -> str:
    """Return why a metric has no value in a split; an empty text where it has one or that is not known."""
    order = np.unique(y[split.train], return_index=True)[1]
    classes, test = names[split.train][order], names[split.test]
    even = np.full((len(test), len(classes)), 1.0 / max(1, len(classes)))
    output = {"y_train": names[split.train], "y": test, "labels": test, "classes": classes}
    output |= {"class_scores": even, "probabilities": even}
    if not set(metric.needs) <= set(output):
        return ""
    try:
        metric.score(SimpleNamespace(**output))
    except NotApplicable as reason:
        return str(reason)
    return ""


def _has_one(fit: PlannedFit, methods: Iterable[str]) -> bool:
    implementation = load(fit.spec.method.implementation)
    estimator = implementation if isinstance(implementation, type) else implementation()
    return any(hasattr(estimator, method) for method in methods)

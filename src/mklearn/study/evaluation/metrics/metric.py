"""Metrics by their names: what each needs, how it is computed, and whether it can choose parameters.

They are read from ``registry.json``, and those of installed packages from entry points of the group
``mklearn.metrics``: a study is checked without importing mklearn's own.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from mklearn.cards import MetricCard, own_entries
from mklearn.contract.extensions import entry_points
from mklearn.contract.loading import load
from mklearn.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Metric(MetricCard):
    """A metric by its entry: what its card tells, its function ``module:name``, and the names of its parameters."""

    implementation: str
    needs: Sequence[str]

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


def metric_entry(function: Any) -> dict[str, Any]:
    """Return the entry of a metric.

    Raises
    ------
    ConfigError
        It has no card.
    """
    card = getattr(function, "card_", None)
    if not isinstance(card, MetricCard):
        raise ConfigError(f"metric {function!r} has no mklearn.cards.MetricCard.")
    return asdict(card) | {
        "about": card.about or inspect.getdoc(function),
        "bounds": [end if math.isfinite(end) else None for end in card.bounds],
        "implementation": f"{function.__module__}:{function.__name__}",
        "needs": list(inspect.signature(function).parameters),
    }


def metric_of(entry: Mapping[str, Any]) -> Metric:
    """Return the metric of an entry."""
    low, high = entry["bounds"]
    bounds = (-math.inf if low is None else low, math.inf if high is None else high)
    return Metric(**{**entry, "bounds": bounds})


def metric_named(name: str) -> Metric:
    """Return a metric of mklearn or of an installed package.

    Raises
    ------
    ConfigError
        No metric has the name, or an entry point leads to something else.
    """
    if name in own_entries("metrics"):
        return metric_of(own_entries("metrics")[name])
    for point in entry_points()["metrics"]:
        if point.name == name:
            entry = metric_entry(point.load())
            if entry["kind"] != name:
                raise ConfigError(f"entry point {name!r} of group 'mklearn.metrics' is of metric {entry['kind']!r}.")
            return metric_of(entry)
    raise ConfigError(f"there is no metric {name!r}; valid: {', '.join(metric_names())}.")


def metric_names() -> list[str]:
    """Return the names of all metrics, those of installed packages last."""
    outside = sorted(point.name for point in entry_points()["metrics"])
    return list(dict.fromkeys([*own_entries("metrics"), *outside]))


def described(metric: Metric) -> str:
    """Return what a metric is, in lines for people."""
    low, high = metric.bounds
    ends = (
        f"from {low:g}" + (f" to {high:g}" if math.isfinite(high) else "") if math.isfinite(low) else f"up to {high:g}"
    )
    better = "larger" if metric.larger_is_better else "smaller"
    of = " and ".join(metric.targets)
    about = " ".join(metric.about.split("\n\n")[0].split())
    return f"{metric.kind}: {metric.title}\n  {about}\n  for {of}; {ends}; {better} is better"


def metric_mistakes(metrics: Sequence[str], choose_by: str, inner_folds: int | str) -> list[tuple[str, str]]:
    """Return what is wrong with a study's choice of metrics: (field, sentence) for each mistake."""
    unknown = [name for name in metrics if name not in metric_names()]
    mistakes = [("metrics", f"there is no metric {name!r}; valid: {', '.join(metric_names())}.") for name in unknown]
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

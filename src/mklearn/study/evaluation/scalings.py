"""Automatic scalings of a method's features: the training samples of a split choose one for each view.

The choice depends on a view and the training samples only, so methods that read the same view have the same scaling on
a split, whatever their parameters and other kernels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.base.scaling_choice import choose_scaling
from mklearn.base.side_by_side import SideBySide
from mklearn.contract.fit_spec import FeatureScaling, InputSpec
from mklearn.kernels.source import Source
from mklearn.kernels.views import Views
from mklearn.study.evaluation.candidates import Indices, MethodOnViews

AUTO = "auto"
_KEY = "feature_scaling"


def with_chosen_scalings(
    problem: MethodOnViews, train: Indices, groups: NDArray[np.str_] | None = None
) -> MethodOnViews:
    """Replace each automatic scaling by the one of :func:`mklearn.base.scaling_choice.choose_scaling`.

    Parameters
    ----------
    problem : MethodOnViews
    train : indices into the samples
        What is chosen by.
    groups : (n_train,) array of str, optional
        Their groups, which are left out whole.

    Raises
    ------
    ConstantKernel, NotApplicable, SolverFailed
        See :func:`mklearn.base.scaling_choice.choose_scaling`.
    """
    name, first = next(iter(problem.method.inputs.items()))
    parts = [part for kernel in problem.kernels for part in kernel.get("factors", [kernel])]
    if AUTO not in [first.feature_scaling, *(part.get(_KEY) for part in parts)]:
        return problem
    choice = _Choice(problem.of(train), problem.y[train], groups)
    method, kernels = problem.method, [choice.of_kernel(kernel) for kernel in problem.kernels]
    chosen = {
        made["id"]: made[_KEY]
        for given, made in zip(problem.kernels, kernels, strict=True)
        if given.get(_KEY) == AUTO
    }  # fmt: skip
    if first.feature_scaling == AUTO:
        chosen[name] = choice.side_by_side(first)
        scaled = first.model_copy(update={_KEY: chosen[name]})
        method = method.model_copy(update={"inputs": method.inputs | {name: scaled}})
    return replace(problem, method=method, kernels=kernels, scalings=chosen)


@dataclass
class _Choice:
    """The scalings that training samples choose; of what several kernels read, once."""

    views: Views
    y: NDArray[Any]
    groups: NDArray[np.str_] | None
    _found: dict[Any, FeatureScaling] = field(default_factory=dict)

    def of_kernel(self, kernel: Mapping[str, Any]) -> dict[str, Any]:
        """Return a kernel's spec with its scaling, or with those of its factors."""
        made = dict(kernel)
        if kernel.get(_KEY) == AUTO:
            made[_KEY] = self._of_source(kernel)
        if "factors" in kernel:
            made["factors"] = [self.of_kernel(factor) for factor in kernel["factors"]]
        return made

    def _of_source(self, part: Mapping[str, Any]) -> FeatureScaling:
        source = Source({key: value for key, value in part.items() if key not in (_KEY, "clip")}, part["view"])
        if source.key not in self._found:
            source.fit(self.views)
            self._found[source.key] = self._of_features(source.train_, source.observed_)
        return self._found[source.key]

    def side_by_side(self, entry: InputSpec) -> FeatureScaling:
        """Return the scaling of features that are put side by side, all together."""
        features = SideBySide(entry.descriptors, impute=entry.impute).fit_transform(self.views)
        return self._of_features(features, np.ones(len(features), dtype=bool))

    def _of_features(self, features: Any, samples: NDArray[np.bool_]) -> FeatureScaling:
        groups = None if self.groups is None else self.groups[samples]
        return choose_scaling(features, self.y[samples], groups=groups)

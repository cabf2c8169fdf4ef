"""A method of a study on the samples of a data set, and its candidates as estimators on views."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from mklearn.base.pipelines import last_step
from mklearn.base.scaling_choice import choose_scaling
from mklearn.base.side_by_side import SideBySide
from mklearn.errors import NotApplicable
from mklearn.kernels.source import Source
from mklearn.kernels.views import Views
from mklearn.rows import load
from mklearn.study.specs.fit_spec import FeatureScaling, MethodSpec, kernel_parts, specs_by_name

Indices = NDArray[np.intp]
DICTIONARY = "dictionary"
"""Value of ``kernels`` for a method that builds its own dictionary of kernels for each view."""


@dataclass(frozen=True)
class Candidate:
    """One point of the grid: parameters, and the position of the only kernel in use (None: all kernels)."""

    parameters: dict[str, Any]
    kernel: int | None = None


def candidates(method: MethodSpec, n_kernels: int) -> list[Candidate]:
    """Return every combination of the grid, for each single kernel if the method selects one."""
    kernels: Sequence[int | None] = range(n_kernels) if method.kernel_choice == "best_single" else [None]
    return [
        Candidate(method.parameters | dict(zip(method.grid, values, strict=True)), kernel)
        for kernel in kernels
        for values in itertools.product(*method.grid.values())
    ]


@dataclass(frozen=True)
class MethodOnViews:
    """A method on all samples of a data set."""

    views: Views | None
    """Views of all samples, named as in the method's kernels and inputs; None if samples are read in blocks."""
    y: NDArray[Any]
    """Class codes or numbers, (n,)."""
    method: MethodSpec
    kernels: Sequence[Mapping[str, Any]] = ()
    """Kernel specs with "id", as `mklearn.kernels.transform.StackTransform` takes them. `with_chosen_scalings` replaces
    the ``feature_scaling`` "auto"."""
    groups: NDArray[np.str_] | None = None
    """Group of each sample, (n,), for inner folds and for methods that leave out whole groups of training samples."""
    scalings: Mapping[str, FeatureScaling] = field(default_factory=dict)
    """Scalings chosen on the training samples, by kernel, or by input for a method on features."""
    unlabelled: Indices | None = None
    """Samples without a label, which methods are fitted to in addition to the training samples if they can use them."""
    samples_of: Callable[..., Any] | None = None
    """Class to use in place of :class:`mklearn.study.evaluation.split.SplitSamples`."""

    def fit_parameters(self, train: Indices, test: Indices) -> dict[str, Any]:
        """Return the additional arguments of `fit`: the `held_out_groups`, if the method supports them."""
        groups = None if self.method.landmarks else held_out_groups(train, test, self.groups)
        takes_groups = groups is not None and has_fit_parameter(load(self.method.implementation), "groups")
        return {"groups": groups} if takes_groups else {}

    @cached_property
    def takes_unlabelled(self) -> bool:
        """Whether the method can be fitted to samples without a label."""
        estimator = load(self.method.implementation)(**self.method.parameters)
        return not get_tags(estimator).target_tags.required or getattr(estimator, "semi_supervised", False)

    def of(self, samples: Indices) -> Views:
        """Return the views of some samples."""
        assert self.views is not None
        views: Views = self.views[samples]
        return views

    def unfitted(self, candidate: Candidate, **parameters: Any) -> Any:
        """Return the unfitted estimator of a candidate, which takes views; ``parameters`` override the candidate's own.

        A method on features becomes a pipeline that scales and concatenates the features of its views. Inputs after the
        first become parameters of the estimator: the name of a view, or a mapping with the name and the imputation.
        """
        (_, first), *others = self.method.inputs.items()
        arguments = dict(candidate.parameters)
        for name, entry in others:
            (view,) = entry.descriptors
            arguments[name] = view if entry.impute == "none" else {"view": view, "impute": entry.impute}
        if first.kind == "kernels":
            chosen = self.kernels if candidate.kernel is None else [self.kernels[candidate.kernel]]
            arguments["kernels"] = specs_by_name(chosen) if self.kernels else DICTIONARY
        estimator = load(self.method.implementation)(**arguments | parameters)
        if first.kind != "features":
            return estimator
        from sklearn.pipeline import make_pipeline  # imported here: fits on kernels don't need it

        return make_pipeline(
            SideBySide(first.descriptors, cast("FeatureScaling", first.feature_scaling), first.impute), estimator
        )


def held_out_groups(train: Indices, test: Indices, groups: NDArray[np.str_] | None) -> NDArray[np.str_] | None:
    """Return the groups of the training samples if the split holds out whole groups, and leaves several, else None."""
    return None if groups is None or np.isin(groups[test], groups[train]).any() else _several(groups[train])


def _several(groups: NDArray[np.str_]) -> NDArray[np.str_] | None:
    """Return groups, or None if all are one: then single samples are left out, as no sample is left without it."""
    return groups if (groups != groups[0]).any() else None


def method_of(estimator: Any) -> Any:
    """Return the last step of a pipeline that concatenates features; return any other estimator unchanged."""
    on_features = hasattr(estimator, "steps") and isinstance(estimator[0], SideBySide)
    return estimator[-1] if on_features else estimator


# --- chosen parameters


def choices(problem: MethodOnViews, candidate: Candidate, fitted: Any) -> list[dict[str, Any]]:
    """Return a row for each parameter that the evaluation, or the fitted estimator itself, chose among several values.

    Keys are ``parameter``, ``value`` and ``end``: "smallest" or "largest" at an end of a grid of numbers, else "". A
    number of components was chosen if it is a parameter of the candidate only.
    """
    rows = []
    for name, value, grid in _values(problem, candidate, fitted):
        if not len(grid) or any(each != value for each in grid):
            numbers = sorted(grid) if all(type(each) in (int, float) for each in grid) else []
            end = "smallest" if numbers[:1] == [value] else "largest" if numbers[-1:] == [value] else ""
            rows.append({"parameter": name, "value": value, "end": end})
    return rows


def _values(problem: MethodOnViews, candidate: Candidate, fitted: Any) -> Iterator[tuple[str, Any, Sequence[Any]]]:
    """Yield name, value and grid (empty if there is none) of each parameter that may have been chosen."""
    for name, grid in problem.method.grid.items():
        value = candidate.parameters[name]
        parts = value if isinstance(value, Mapping) else {}  # such as landmarks: {n: 300}
        yield from ((f"{key} of {name}", part, [each.get(key) for each in grid]) for key, part in parts.items())
        yield from [] if parts else [(name, value, grid)]
    if "n_components" in candidate.parameters.keys() - {*problem.method.parameters, *problem.method.grid}:
        refit = problem.method.refit
        yield "n_components", candidate.parameters["n_components"], [0, *refit.sizes] if refit else ()  # 1 is no end
    if candidate.kernel is not None:
        yield "kernel", problem.kernels[candidate.kernel]["id"], ()
    yield from ((f"feature_scaling of {name}", scaling, ()) for name, scaling in problem.scalings.items())
    last = last_step(fitted)
    alphas, parts = np.unique(getattr(last, "alphas", ())), getattr(last, "part_weights_", {})
    names = ["alpha"] if hasattr(last, "alpha_") else [f"alpha of {part}" for part in parts]
    for name, alpha in zip(names, np.ravel(getattr(last, "alpha_", getattr(last, "alphas_", ()))), strict=False):
        if len(alphas) and np.isfinite(alpha):  # a part of weight 0 has none; `alpha_` may have rounding errors
            without_hash = re.sub("-[0-9a-f]{16}(/.*)?$", "", name)
            # a multi-view method has nothing to tune, so that the ends of its grids are no news
            yield without_hash, float(alphas[np.abs(alphas - alpha).argmin()]), () if parts else alphas.tolist()
    if getattr(last, "decision", "") == "auto":
        yield "decision", last.decision_, ()


# --- automatic scalings of features
# The choice depends on the view and the training samples only. Methods that read the same view therefore have the same
# scaling on a split, whatever their parameters and other kernels.

AUTO = "auto"
_KEY = "feature_scaling"


def with_chosen_scalings(problem: MethodOnViews, train: Indices, test: Indices) -> MethodOnViews:
    """Replace each automatic scaling by the scaling chosen on the training samples.

    Errors are raised as in :func:`mklearn.base.scaling_choice.choose_scaling`.
    """
    name, first = next(iter(problem.method.inputs.items()))
    if AUTO not in [first.feature_scaling, *(part.get(_KEY) for part in kernel_parts(problem.kernels))]:
        return problem
    if np.array_equal(train, test):
        raise NotApplicable("feature_scaling: auto is chosen by labels, and samples to cluster have none; name one")
    views, y, groups = problem.of(train), problem.y[train], held_out_groups(train, test, problem.groups)
    by_source: dict[Any, FeatureScaling] = {}  # several kernels may read one source

    def chosen(features: Any, samples: Any = slice(None)) -> FeatureScaling:
        return choose_scaling(features, y[samples], groups=None if groups is None else _several(groups[samples]))

    def scaled(kernel: Mapping[str, Any]) -> dict[str, Any]:
        made = dict(kernel)
        if kernel.get(_KEY) == AUTO:
            source = Source({key: value for key, value in kernel.items() if key not in (_KEY, "clip")}, kernel["view"])
            if source.key not in by_source:
                source.fit(views)
                by_source[source.key] = chosen(source.train_, source.observed_)
            made[_KEY] = by_source[source.key]
        if "factors" in kernel:
            made["factors"] = [scaled(factor) for factor in kernel["factors"]]
        return made

    method, kernels = problem.method, list(map(scaled, problem.kernels))
    pairs = zip(problem.kernels, kernels, strict=True)
    scalings = {kernel["id"]: made[_KEY] for kernel, made in pairs if kernel.get(_KEY) == AUTO}
    if first.feature_scaling == AUTO:
        scalings[name] = chosen(SideBySide(first.descriptors, impute=first.impute).fit_transform(views))
        inputs = method.inputs | {name: first.model_copy(update={_KEY: scalings[name]})}
        method = method.model_copy(update={"inputs": inputs})
    return replace(problem, method=method, kernels=kernels, scalings=scalings)

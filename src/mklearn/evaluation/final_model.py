"""The final model of a study: parameters chosen by the method's own inner cross-validation on all samples, then a fit.

The choice is made by the code of the evaluation. The estimator is one of the library, on named views: kernels of
features with their scaling, bandwidth and centring, or features side by side. So its predictions are the library's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline

from mklearn.base.landmark_moments import landmark_features
from mklearn.base.side_by_side import SideBySide
from mklearn.contract.fit_spec import AUTO_SCALINGS, NUMBER_OF_LANDMARKS, FeatureScaling, FitSpec, Impute
from mklearn.contract.loading import load
from mklearn.datasets.splits import Split
from mklearn.evaluation.inputs import Input, Inputs, KernelInput, SampleInput, kernels_on_views, with_scaling
from mklearn.evaluation.landmarks import Folds, SplitMoments, choose
from mklearn.evaluation.split import Candidate, candidates, choose_on_training_samples
from mklearn.evaluation.sweeps import Refit, sweep_of

RULE = "euclidean"
"""Nearest-neighbour rule of the library's embeddings."""


@dataclass(frozen=True)
class FinalParameters:
    """What was chosen on all samples.

    Attributes
    ----------
    parameters : dict
        Of the estimator, without ``kernels``; with ``landmarks`` if it has any.
    kernels : dict of str to dict
        Specs of its kernels by name, as the library takes them; empty for a method on features or images.
    feature_scaling : str or None
        The scaling that was chosen for kernels' or methods' features with ``auto``.
    impute : str
        How missing values are filled in.
    """

    parameters: dict[str, Any]
    kernels: dict[str, dict[str, Any]] = field(default_factory=dict)
    feature_scaling: FeatureScaling | None = None
    impute: Impute = "none"


def final_parameters(
    spec: FitSpec, features: Mapping[str, NDArray[Any]], images: NDArray[Any] | None, y: NDArray[np.int64],
    views: Mapping[str, str], groups: NDArray[np.str_] | None = None, *, completes: bool = False,
) -> FinalParameters:  # fmt: skip
    """Choose the parameters of a method by its inner cross-validation on all samples.

    Parameters
    ----------
    spec : FitSpec
        With kernels on features only.
    features : dict of str to (n, d) array
        By the key of the descriptor.
    images : (n, rows, columns) array or None
    y : (n,) class codes
    views : dict of str to str
        Name of the view by the key of the descriptor.
    groups : (n,) array of str, optional
        The inner cross-validation holds out whole groups.
    completes : bool
        Whether kernels complete samples that lack a view, see `mklearn.kernels.completion`.

    Raises
    ------
    NotApplicable, SolverFailed
        No parameters can be chosen.
    """
    if spec.landmarks is not None:
        return _parameters_on_landmarks(spec, features, y, views, groups, completes)
    inputs = Inputs(_inputs(spec, features, images))
    every = np.arange(len(y))
    shared = choose_on_training_samples(
        inputs, spec.method, y, every, evaluation=spec.evaluation, seed=spec.seed, groups=groups
    )
    method = spec.method if shared is None else shared.method
    sweep = sweep_of(method)
    (rule,) = [rule for rule in sweep.rules(spec.evaluation.neighbours) if rule in ("", RULE)]
    number, position = (0, -1) if shared is None else shared.by_rule[rule]
    candidate = candidates(method, inputs.n_kernels)[number]
    parameters = candidate.estimator_parameters
    if isinstance(sweep, Refit):
        X = next(iter(_sample_arrays(spec, features, images)), np.empty((len(y), 0)))
        parameters = parameters | {"n_components": sweep.possible_sizes(X, y)[-1 if position is None else position]}
    elif sweep.has_components and position not in (None, -1):
        parameters = parameters | {"n_components": position + 1}
    kernels = _library_kernels(spec.kernels, candidate, views)
    if completes:
        kernels = {name: kernel | {"missing_views": "mean"} for name, kernel in kernels.items()}
    imputed: list[Impute] = [kernel.get("impute", "none") for kernel in spec.kernels]
    imputed += [entry.impute for entry in spec.method.inputs.values()]
    impute: Impute = next((strategy for strategy in imputed if strategy != "none"), "none")
    return FinalParameters(parameters, kernels, candidate.feature_scaling, impute)


def final_estimator(spec: FitSpec, chosen: FinalParameters, views: Mapping[str, str]) -> Any:
    """Return the unfitted estimator of the library: of views, or of images for a method on images.

    ``views`` are names by the key of the descriptor.
    """
    implementation = load(spec.method.implementation)
    if chosen.kernels:
        return implementation(**chosen.parameters, kernels=chosen.kernels)
    (entry,) = spec.method.inputs.values()
    if entry.kind == "images":
        return implementation(**chosen.parameters)
    scaling = entry.feature_scaling if entry.feature_scaling != "auto" else chosen.feature_scaling
    names = [views[key] for key in entry.descriptors]
    return make_pipeline(SideBySide(names, scaling or "none", entry.impute), implementation(**chosen.parameters))


def _parameters_on_landmarks(
    spec: FitSpec, features: Mapping[str, NDArray[Any]], y: NDArray[np.int64], views: Mapping[str, str],
    groups: NDArray[np.str_] | None, completes: bool,
) -> FinalParameters:  # fmt: skip
    """Choose by the moments of folds, of features that landmarks among all samples give."""
    method, settings = spec.method, spec.landmarks
    assert settings is not None
    assert isinstance(spec.evaluation.inner_folds, int)
    landmarks = settings.parameter(spec.seed)
    grid, number = candidates(method, len(spec.kernels)), 0
    if len(grid) > 1:
        own = {key: features[key] for key in spec.descriptors}
        kernels = kernels_on_views(spec.kernels, {key: key for key in own})
        every = Split(0, 0, np.arange(len(y)), np.arange(0))
        folds = Folds.of(y, every, spec.evaluation.inner_folds, spec.seed, groups)
        made = landmark_features(kernels, landmarks).fit(own, y)
        moments = SplitMoments.of_rows(made, own, every.train, y, folds)
        by_rule = choose(made, moments, method, spec.evaluation)
        number = by_rule[RULE if RULE in by_rule else ""]
    candidate = grid[number]
    parameters = dict(candidate.estimator_parameters)
    landmarks["n"] = parameters.pop(NUMBER_OF_LANDMARKS, settings.most)
    chosen = _library_kernels(spec.kernels, candidate, views)
    if completes and settings.how != "leverage":  # whose scores need every view of every sample
        chosen = {name: kernel | {"missing_views": "mean"} for name, kernel in chosen.items()}
    return FinalParameters(parameters | {"landmarks": landmarks}, chosen)


def _inputs(spec: FitSpec, features: Mapping[str, NDArray[Any]], images: NDArray[Any] | None) -> dict[str, Input]:
    found: dict[str, Input] = {}
    for name, entry in spec.method.inputs.items():
        if entry.kind == "kernels":
            own = {key: features[key] for key in spec.kernel_features}
            found[name] = KernelInput({}, spec.kernels, own, spectra=False)
        else:
            (samples,) = _sample_arrays(spec, features, images)
            found[name] = SampleInput(samples, entry.training_only, entry.feature_scaling, entry.impute)
    return found


def _sample_arrays(
    spec: FitSpec, features: Mapping[str, NDArray[Any]], images: NDArray[Any] | None
) -> list[NDArray[Any]]:
    """Return the features side by side, or the images, that a method takes; none of a method on kernels."""
    found = []
    for entry in spec.method.inputs.values():
        if entry.kind == "features":
            tables = [features[key] for key in entry.descriptors]
            found.append(tables[0] if len(tables) == 1 else np.concatenate(tables, axis=1))
        elif entry.kind == "images":
            assert images is not None
            found.append(images.astype(np.float64))
    return found


def _library_kernels(
    kernels: Sequence[Mapping[str, Any]], candidate: Candidate, views: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """Return the specs of the chosen kernels by name, with views in place of descriptors."""
    chosen = kernels if candidate.kernel is None else [kernels[candidate.kernel]]
    scaling = candidate.feature_scaling or AUTO_SCALINGS[0]
    return kernels_on_views([with_scaling(kernel, scaling) for kernel in chosen], views)

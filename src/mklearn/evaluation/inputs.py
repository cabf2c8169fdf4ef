"""Named inputs of methods: kernels (fitted on training samples), tables of features, or images."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from mklearn.contract.fit_spec import AUTO_SCALINGS, FeatureScaling, Impute
from mklearn.kernels.feature_scaling import FeatureScaler
from mklearn.kernels.imputation import impute_features
from mklearn.kernels.specs import build_stack
from mklearn.kernels.stack import KernelStack

Indices = NDArray[np.intp]
Samples = Mapping[str, NDArray[Any]]
"""Arrays by the name of the input, samples first; the first is ``X`` of the estimator."""


@dataclass(frozen=True)
class NamedArrays:
    """Training and test samples of one split; inputs for training only are missing from ``test``."""

    train: Samples
    test: Samples

    @property
    def X(self) -> NDArray[Any]:
        """Training samples of the first input."""
        return next(iter(self.train.values()))

    @property
    def train_without_labels(self) -> Samples:
        """Training samples of the inputs that test samples have too."""
        return {name: self.train[name] for name in self.test}


def call(function: Any, samples: Samples, *positional: Any, **keywords: Any) -> Any:
    """Call an estimator's method with the first input as ``X`` and the others as keyword arguments."""
    first, *others = samples
    return function(samples[first], *positional, **{name: samples[name] for name in others}, **keywords)


@dataclass(frozen=True)
class PreparedKernels:
    """Kernel stacks of one split, fitted on its training samples."""

    train: KernelStack
    test: KernelStack
    info: list[dict[str, Any]]
    seconds: float
    """Processor time; see `mklearn.evaluation.sweeps.Outcome`."""

    def arrays(self, kernel: int | None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return (n, n, M) and (m, n, M) arrays; of a single kernel if one is named."""
        chosen = slice(None) if kernel is None else slice(kernel, kernel + 1)
        return self.train.as_last_axis()[:, :, chosen], self.test.as_last_axis()[:, :, chosen]


@dataclass(frozen=True)
class KernelInput:
    """Kernels, as specifications on cached pairwise matrices or on features that are scaled first.

    Parameters
    ----------
    pairwise : mapping of name to (n, n) array
        Distances or Gram matrices among all samples.
    kernels : sequence of dict
        See :func:`mklearn.kernels.specs.build_stack`.
    features : mapping of name to (n, d) array
        Features of all samples.
    spectra : bool
        Whether eigenvalues are computed, to be shown, of kernels that need no repair.
    """

    pairwise: Mapping[str, NDArray[np.float64]]
    kernels: Sequence[Mapping[str, Any]]
    features: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    spectra: bool = True

    def prepare(self, train: Indices, test: Indices, scaling: FeatureScaling | None = None) -> PreparedKernels:
        """Fit the kernels on the training samples and apply them to both; ``scaling`` is that of automatic kernels."""
        started = time.process_time()
        kernels = [with_scaling(kernel, scaling or AUTO_SCALINGS[0]) for kernel in self.kernels]
        stack, test_stack, info = build_stack(self.pairwise, kernels, train, test, self.features, spectra=self.spectra)
        return PreparedKernels(stack, test_stack, info, time.process_time() - started)


def with_scaling(kernel: Mapping[str, Any], scaling: str) -> dict[str, Any]:
    """Replace the automatic scaling of a kernel's features, or of its factors'."""
    changed = dict(kernel)
    if kernel.get("feature_scaling") == "auto":
        changed["feature_scaling"] = scaling
    if "factors" in kernel:
        changed["factors"] = [with_scaling(factor, scaling) for factor in kernel["factors"]]
    return changed


def kernels_on_views(kernels: Sequence[Mapping[str, Any]], views: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return kernels on features as the library takes them: by name, with the views of their descriptors."""
    found = {}
    for kernel in kernels:
        spec = {name: value for name, value in kernel.items() if name not in ("id", "features", "implementation")}
        found[str(kernel["id"])] = {"view": views[kernel["features"]], **spec}
    return found


@dataclass(frozen=True)
class SampleInput:
    """Features (n, d), which may be completed and scaled by the training samples, or images (n, rows, columns)."""

    samples: NDArray[Any]
    training_only: bool = False
    feature_scaling: FeatureScaling | Literal["auto"] = "none"
    impute: Impute = "none"

    def prepare(
        self, train: Indices, test: Indices, scaling: FeatureScaling | None = None
    ) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return the training samples and the test samples; ``scaling`` is that of automatically scaled features."""
        known, asked = self.samples[train], None if self.training_only else self.samples[test]
        if self.impute != "none":
            known, completed = impute_features(known, self.samples[test], self.impute)
            asked = None if self.training_only else completed
        chosen = (scaling or AUTO_SCALINGS[0]) if self.feature_scaling == "auto" else self.feature_scaling
        if chosen == "none":
            return known, asked
        scaler = FeatureScaler(chosen).fit(known)
        return scaler.transform(known), None if asked is None or not len(asked) else scaler.transform(asked)


class Input(Protocol):
    """A named input: kernels, or samples."""

    def prepare(
        self, train: Indices, test: Indices, scaling: FeatureScaling | None = None
    ) -> PreparedKernels | tuple[NDArray[Any], NDArray[Any] | None]:
        """Fit on the training samples whatever depends on them, and apply it to both."""


@dataclass(frozen=True)
class Prepared:
    """The inputs of one split; ``info`` and ``seconds`` describe the fit of its kernels."""

    parts: Mapping[str, PreparedKernels | tuple[NDArray[Any], NDArray[Any] | None]]
    info: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0

    def arrays(self, kernel: int | None) -> NamedArrays:
        """Return the arrays that an estimator takes; with a single kernel if one is named."""
        train, test = {}, {}
        for name, part in self.parts.items():
            train[name], held = part.arrays(kernel) if isinstance(part, PreparedKernels) else part
            if held is not None:
                test[name] = held
        return NamedArrays(train, test)


class Inputs:
    """All samples in the named forms that a method takes.

    Parameters
    ----------
    inputs : mapping of name to Input
        The first is ``X``; at most one holds kernels.
    """

    def __init__(self, inputs: Mapping[str, Input]) -> None:
        self._inputs = dict(inputs)

    @property
    def kernels(self) -> KernelInput | None:
        """The input of kind kernels; None if there is none."""
        return next((entry for entry in self._inputs.values() if isinstance(entry, KernelInput)), None)

    @property
    def n_kernels(self) -> int:
        return 0 if self.kernels is None else len(self.kernels.kernels)

    @property
    def only_kernels(self) -> bool:
        """Whether kernels are the only input."""
        return all(isinstance(entry, KernelInput) for entry in self._inputs.values())

    @property
    def parameters(self) -> dict[str, Any]:
        """Constructor parameters by which an estimator learns the form of its inputs."""
        return {} if self.kernels is None else {"kernels": "precomputed"}

    def with_kernel(self, number: int) -> Inputs:
        """Return the same inputs with a single one of the kernels."""
        return self._with(lambda entry: replace(entry, kernels=[entry.kernels[number]]))

    def without_spectra(self) -> Inputs:
        """Return the same inputs without eigenvalues that are only shown."""
        return self._with(lambda entry: replace(entry, spectra=False))

    def _with(self, change: Callable[[KernelInput], KernelInput]) -> Inputs:
        """Return the same inputs with changed kernels."""
        return Inputs({
            name: change(entry) if isinstance(entry, KernelInput) else entry for name, entry in self._inputs.items()
        })  # fmt: skip

    def prepare(self, train: Indices, test: Indices, scaling: FeatureScaling | None = None) -> Prepared:
        """Fit on the training samples whatever depends on them, and apply it to both.

        ``scaling`` is that of kernels and features with ``feature_scaling: auto``; by default its first candidate.
        """
        parts = {name: entry.prepare(train, test, scaling) for name, entry in self._inputs.items()}
        kernels = next((part for part in parts.values() if isinstance(part, PreparedKernels)), None)
        return Prepared(parts) if kernels is None else Prepared(parts, kernels.info, kernels.seconds)

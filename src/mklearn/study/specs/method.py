"""Bases of the models of methods: which inputs they take, how their components are swept.

The model of a method is made from its entry in the registry, see :mod:`mklearn.study.config.generated_models`. Its own
fields are the estimator's parameters; those of these bases are the same for all methods of a kind.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import Field, field_validator, model_validator

from mklearn.cards import CONCATENATED, FEATURES, IMAGES, KERNELS, Input, Refit
from mklearn.contract.fit_spec import (
    Components,
    FeatureScaling,
    Implementation,
    InnerFolds,
    KernelChoice,
    Landmarks,
)
from mklearn.contract.model import Count, NamePattern, NonNegative, Positive, Registered, Slug, Strict

Value = TypeVar("Value")


class Candidates:
    """Marks a field of which a list stands for candidate values."""


Tuned = Annotated[Value | Annotated[list[Value], Field(min_length=1)], Candidates()]
"""``Tuned[float]``: a value, or a list of candidates from which inner cross-validation chooses."""
KernelsOrDictionary = (
    Literal["dictionary", "all", "each", "all_but_each"] | Annotated[list[NamePattern], Field(min_length=1)]
)
KernelWeights = Annotated[dict[Slug, NonNegative], Field(min_length=1)]
"""Weights by kernel; kernels that are not named get 0."""


def tuned_lists(model: Strict) -> dict[str, list[Any]]:
    """Return the candidate values of each tuned field that has a list: numbers ascending, others as they are given."""
    fields = type(model).model_fields.items()
    tuned = [name for name, field in fields if any(isinstance(entry, Candidates) for entry in field.metadata)]
    return {name: _ascending(getattr(model, name)) for name in tuned if isinstance(getattr(model, name), list)}


def _ascending(values: Sequence[Any]) -> list[Any]:
    return sorted(values) if all(isinstance(value, (int, float)) for value in values) else list(values)


class MethodPart(Strict):
    """An estimator that is a parameter of a method: its class, and the parameters that a study may set."""

    implementation: ClassVar[str]

    def candidates(self) -> list[dict[str, Any]]:
        """Return the estimator as a mapping, for each combination of its tuned parameters."""
        lists = tuned_lists(self)
        given = {"implementation": self.implementation} | self.model_dump(exclude={"kind", *lists})
        return [given | dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]


class Method(Registered):
    """What every method has. A list in place of a tuned value is a grid that inner cross-validation chooses from."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset(
        {"label", "inner_folds", "time_limit", "components", "sizes", "iterations_at", "protocols"}
    )
    inputs: ClassVar[Mapping[str, Input]]
    """Inputs by name, see :class:`mklearn.cards.MethodCard`."""
    weights_are_learned: ClassVar[bool] = False
    """Whether the estimator learns kernel weights, unless its parameter ``kernel_weights`` says otherwise."""
    in_model_files: ClassVar[bool] = True
    """Whether a model file can hold the fitted estimator."""
    order_decides: ClassVar[bool] = False
    """See :class:`mklearn.cards.MethodCard`."""

    label: str | None = None
    """Name in tables and figures; by default the method's key."""
    inner_folds: InnerFolds | None = None
    """Of its own inner cross-validation; by default the study's."""
    time_limit: Positive | Literal["none"] | None = None
    """Minutes that each of its fits may take, or "none"; by default the study's limit."""
    protocols: Annotated[list[Slug], Field(min_length=1)] | None = None
    """Only on these protocols of the study; by default on all of them."""

    @classmethod
    def descriptor_fields(cls) -> dict[str, str]:
        """Return, for each input of kind features, the field that names its descriptor or descriptors."""
        return {name: entry.field or name for name, entry in cls.inputs.items() if entry.kind == "features"}

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that the estimator is called with, without those that the grid chooses."""
        parts = self._part_candidates()
        others = {"datasets", "kind", *self.descriptor_fields().values(), *parts, *tuned_lists(self)}
        single = {name: candidates[0] for name, candidates in parts.items() if len(candidates) == 1}
        return self.model_dump(exclude=others | self.bookkeeping) | single

    def grid(self) -> dict[str, list[Any]]:
        """Return the candidate values of each tuned parameter that has several."""
        several = {name: candidates for name, candidates in self._part_candidates().items() if len(candidates) > 1}
        return tuned_lists(self) | several

    def _part_candidates(self) -> dict[str, list[dict[str, Any]]]:
        values = ((name, getattr(self, name)) for name in type(self).model_fields)
        return {name: value.candidates() for name, value in values if isinstance(value, MethodPart)}

    def kernel_choice(self) -> KernelChoice | None:
        """Return how evaluation chooses among the kernels; None: the method takes all of them."""
        return None

    def keeps_order(self) -> bool:
        """Return whether kernels and descriptors stay in the study's order: it decides, and is a part of the value."""
        return self.order_decides or self.kernel_choice() in ("best_single", "oracle_single")

    def sweep(self) -> Implementation:
        """Return how components are swept: a class of :mod:`mklearn.study.evaluation.sweeps` and its parameters."""
        return Implementation(implementation="mklearn.study.evaluation.sweeps:LeadingDimensions")

    def learns_weights(self) -> bool:
        """Return whether it learns kernel weights: a report then says whether they paid."""
        return self.weights_are_learned and getattr(self, "kernel_weights", "learned") == "learned"

    def component_choice(self) -> Components | None:
        """Return how the number of components is chosen; None: as the study says, or else :meth:`usual_choice`."""
        return None

    def usual_choice(self) -> Components:
        """Return how the number of components is chosen if neither the method nor the study says."""
        return "one_standard_error"

    def iterations(self) -> Implementation | None:
        """Return the function that fits the method after each iteration; None: those accuracies are not recorded."""
        return None


class Projection(Method):
    """Methods with a number of components to choose."""

    components: Components | None = None
    """How many components are taken: ``all`` there are, the most within ``one_standard_error`` of the best score in the
    inner cross-validation, or the ``best``. By default as the study says. If it says nothing: all; but one standard
    error with a given ``n_components`` or ``sizes``, and for methods that learn anew for each size."""

    def component_choice(self) -> Components | None:
        """Return the method's own choice."""
        return self.components


class Embedding(Projection):
    """Methods whose leading components are their embedding in fewer dimensions."""

    n_components: Count | None = None
    """Dimensions of the embedding; by default all that the method has."""

    def usual_choice(self) -> Components:
        """Return all components, unless the study asks for a number of them to be swept."""
        return "all" if self.n_components is None else "one_standard_error"


class Classifier(Method):
    """Methods that predict labels or numbers themselves and have no components to sweep."""

    def sweep(self) -> Implementation:
        """Return the sweep over a single prediction."""
        return Implementation(implementation="mklearn.study.evaluation.sweeps:Predictions")


class RefittedClassifier(Classifier):
    """Classifiers on components: a list of ``n_components`` is swept, with the common work of all fits done once."""

    refit: ClassVar[Refit]

    def swept_sizes(self) -> list[int]:
        """Return the numbers of components to sweep; none for a single one, or a list with "all" in it."""
        listed = getattr(self, "n_components", None)
        return [] if not isinstance(listed, list) or "all" in listed else sorted(set(listed))

    def parameters(self) -> dict[str, Any]:
        """Return the estimator's parameters, without components that are swept."""
        return self._without_swept(super().parameters())

    def grid(self) -> dict[str, list[Any]]:
        """Return the candidate values, without components that are swept."""
        return self._without_swept(super().grid())

    def _without_swept(self, parameters: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in parameters.items() if name != "n_components" or not self.swept_sizes()}

    def sweep(self) -> Implementation:
        """Return the sweep over numbers of components."""
        if not self.swept_sizes():
            return super().sweep()
        parameters = {"sizes": self.swept_sizes(), "path": self.refit.path}
        return Implementation(implementation="mklearn.study.evaluation.sweeps:RefitPredictions", parameters=parameters)

    def component_choice(self) -> Components | None:
        """Return the best: fewer components are another classifier, not a part of the same one."""
        return "best"


class KernelMethod(Method):
    """Methods on kernels."""

    bookkeeping: ClassVar[frozenset[str]] = Method.bookkeeping | {"kernels"}
    inputs: ClassVar[Mapping[str, Input]] = KERNELS

    kernels: Literal["all", "each", "all_but_each"] | Annotated[list[NamePattern], Field(min_length=1)] = "all"
    """The kernels it takes: all; these (``gauss-*`` stands for several); ``each``: it is run once for every kernel; or
    ``all_but_each``: once without every kernel, which shows what each adds to the others. Product kernels are
    combinations already: only a list may name them."""


class DictionaryMethod(KernelMethod):
    """Methods with a dictionary of kernels of their own."""

    kernels: KernelsOrDictionary = "dictionary"  # type: ignore[assignment]  # more than the base allows
    """The kernels it takes: by default a ``dictionary`` of them for every descriptor of the data set, whatever kernels
    the study names (of a data set of matrices, all of their kernels); the same dictionary once without every
    descriptor, ``all_but_each``; or the study's kernels: all, these or ``each``, as for other methods on kernels."""


class LandmarkMethod(KernelMethod):
    """Methods that can learn from landmarks, for many samples."""

    bookkeeping: ClassVar[frozenset[str]] = KernelMethod.bookkeeping | {"landmarks"}

    landmarks: Landmarks | Count | None = None
    """A number of landmarks, or ``{n: 300, how: kmeans, dtype: float32}``; ``n`` may be a list of candidates. The
    method learns from the features that these samples give, in place of kernels among all samples: its time grows with
    the number of samples, its memory does not. By default kernels among all samples."""

    @model_validator(mode="after")
    def _landmarks_suit_the_weights(self) -> LandmarkMethod:
        if self.landmarks is not None and getattr(self, "class_weight", None) is not None:
            raise ValueError("class_weight: class weights are not among the moments of landmark features; omit one.")
        return self

    unsuited: ClassVar[Mapping[str, Sequence[str]]] = {}
    """Values of its other fields that need kernels among all samples."""

    def landmarks_spec(self) -> Landmarks | None:
        """Return the landmarks with all their settings; None without landmarks."""
        return Landmarks(n=self.landmarks) if isinstance(self.landmarks, int) else self.landmarks

    def needs_kernels(self) -> str:
        """Return what of its other fields needs kernels among all samples; empty if it can learn from landmarks."""
        choice = self.kernel_choice()
        if choice in ("cv_accuracy", "oracle_single"):
            return f"kernel_weights: {choice}"
        if getattr(self, "sizes", None) is not None:
            return "sizes"
        found = [
            f"{name}: {getattr(self, name)}" for name, values in self.unsuited.items() if getattr(self, name) in values
        ]
        return found[0] if found else ""


class FixedCombination(KernelMethod):
    """Methods on one kernel, or on a fixed combination."""

    kernel_weights: Literal["uniform", "best_single", "cv_accuracy", "oracle_single"] | KernelWeights = "uniform"
    """How the kernels are combined: ``uniform`` is their average; ``best_single`` the kernel that inner
    cross-validation chooses; ``cv_accuracy`` weights each by the square of the accuracy that it alone reaches there;
    ``oracle_single`` is the kernel with the best mean accuracy on the test samples, an upper bound without an inner-CV
    value; or a mapping from kernel to weight."""

    @model_validator(mode="after")
    def _weights_suit_the_kernels(self) -> FixedCombination:
        if self.kernels == "each" and self.kernel_weights != "uniform":
            raise ValueError("kernels: each runs on one kernel at a time; omit kernel_weights.")
        if self.kernel_weights == "oracle_single" and (lists := ", ".join(self.grid())):
            raise ValueError(f"kernel_weights: oracle_single chooses the kernel alone; give one value of {lists}.")
        return self

    def learns_weights(self) -> bool:
        """Return whether weights follow from accuracies of the inner cross-validation."""
        return self.kernel_weights == "cv_accuracy"

    def kernel_choice(self) -> KernelChoice | None:
        """Return the rule that ``kernel_weights`` names; None for the average and for weights."""
        weights = self.kernel_weights
        return None if isinstance(weights, dict) or weights == "uniform" else weights

    def parameters(self) -> dict[str, Any]:
        """Return the estimator's parameters; while evaluation chooses a kernel, it combines those it gets evenly."""
        return super().parameters() | ({"kernel_weights": "uniform"} if self.kernel_choice() else {})


class ScaledFeatures(Method):
    """Methods on features, which can be scaled before they take them."""

    bookkeeping: ClassVar[frozenset[str]] = Method.bookkeeping | {"feature_scaling"}

    feature_scaling: FeatureScaling | Literal["auto"] = "none"
    """Scaling of the features, fitted on the training samples: mean 0 and standard deviation 1 (``standard``), to 0..1
    (``minmax``), each sample to length 1 (``unit``), quantiles among the training samples (``rank``), standardised
    logarithms of nonnegative values (``log``), or the one of the smallest left-out error on the training samples, of
    all but ``minmax`` and ``log`` (``auto``)."""


class DescriptorMethod(Method):
    """Methods on the features of one descriptor, or of several side by side."""

    inputs: ClassVar[Mapping[str, Input]] = FEATURES

    descriptor: Slug | Annotated[list[Slug], Field(min_length=1)] = "pixels"
    """The descriptor whose features it takes; of several, they are put side by side."""


class FeatureMethod(ScaledFeatures, DescriptorMethod):
    """Methods on the features of one descriptor, which can be scaled before they take them."""


class ConcatenationMethod(ScaledFeatures):
    """Methods on the features of several descriptors side by side."""

    inputs: ClassVar[Mapping[str, Input]] = CONCATENATED

    descriptors: Literal["all"] | Annotated[list[Slug], Field(min_length=1)] = "all"
    """The descriptors whose features it takes: all of the data set, or these."""

    @field_validator("descriptors")
    @classmethod
    def _each_once(cls, names: Literal["all"] | list[str]) -> Literal["all"] | list[str]:
        twice = sorted({name for name in names if names.count(name) > 1}) if isinstance(names, list) else []
        if twice:
            raise ValueError(f"named twice: {', '.join(twice)}.")
        return names


class RefittedMethod(Projection):
    """Methods that can be fitted anew for each number of components."""

    refit: ClassVar[Refit]

    sizes: Annotated[list[Count], Field(min_length=1)] | None = None
    """Numbers of components, each with its own fit as in the paper; those above the number of classes are left out. By
    default one fit, whose leading components are swept."""

    def usual_choice(self) -> Components:
        """Return all components of one fit, unless the study gives sizes."""
        return super().usual_choice() if self.sizes is None else "one_standard_error"

    def sweep(self) -> Implementation:
        """Return the sweep over leading components, or over ``sizes`` with their common work done once."""
        if self.sizes is None:
            return super().sweep()
        parameters = {"sizes": sorted(self.sizes), "at_most": self.refit.at_most, "path": self.refit.path}
        return Implementation(implementation="mklearn.study.evaluation.sweeps:Refit", parameters=parameters)


class ImageMethod(RefittedMethod):
    """Methods on images as matrices: projections of the rows and of the columns, for each number l1 = l2."""

    inputs: ClassVar[Mapping[str, Input]] = IMAGES

    sizes: list[Count] = Field(default=list(range(1, 21)), min_length=1)
    """Numbers of components l1 = l2 to sweep."""
    iterations_at: list[Count] = Field(default=[])
    """Numbers of components l1 = l2 at which accuracy after each iteration is recorded, for the figure."""

    def iterations(self) -> Implementation | None:
        """Return the function that fits 1, 2, ... ``max_iter`` iterations at the cost of one fit."""
        if not self.iterations_at:
            return None
        parameters = {"sizes": list(self.iterations_at)}
        return Implementation(implementation=self.refit.iterations_path, parameters=parameters)

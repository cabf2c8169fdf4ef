"""Base classes of the methods of a study file: which inputs they take, how their components are swept.

A method is an estimator and, beside it, its model: a subclass of these with the fields that a study file may set. The
models import neither numpy nor scikit-learn, because every job of a run parses the study again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import Field, field_validator, model_validator

from mklearn.contract.fit_spec import (
    Components,
    FeatureScaling,
    Implementation,
    InnerFolds,
    InputKind,
    KernelChoice,
    Landmarks,
)
from mklearn.contract.model import Count, NamePattern, NonNegative, Positive, Registered, Slug

Value = TypeVar("Value")


class Candidates:
    """Marks a field of which a list stands for candidate values."""


Tuned = Annotated[Value | Annotated[list[Value], Field(min_length=1)], Candidates()]
"""``Tuned[float]``: a value, or a list of candidates from which inner cross-validation chooses."""
Share = Annotated[float, Field(ge=0, le=1)]
Scaling = Literal["total", "within", "unit", "orthonormal"]
TradeOff = Tuned[Literal["trace_ratio"] | Positive]
KernelWeights = Annotated[dict[Slug, NonNegative], Field(min_length=1)]
"""Weights by kernel; kernels that are not named get 0."""


@dataclass(frozen=True)
class Input:
    """One named input of a method.

    Attributes
    ----------
    kind : {"kernels", "features", "images"}
    field : str or None
        Field of the model that names the descriptor of an input of kind features; None: the input's own name.
    several : bool
        Whether the field names several descriptors, a list or ``all``: their features are put side by side.
    """

    kind: InputKind
    field: str | None = None
    several: bool = False


class Method(Registered):
    """What every method has. A list in place of a tuned value is a grid that inner cross-validation chooses from."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset(
        {"label", "inner_folds", "time_limit", "components", "sizes", "iterations_at", "protocols"}
    )
    inputs: ClassVar[Mapping[str, Input]]
    """Inputs by name. The first is what the estimator learns from: its ``kernels``, features side by side, or images.
    The others are parameters of the estimator, which name a view of X."""

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
        fields = {*self.bookkeeping, "datasets", "kind", *self.descriptor_fields().values(), *self.grid()}
        return self.model_dump(exclude=fields)

    def grid(self) -> dict[str, list[Any]]:
        """Return the candidate values of each tuned field that has a list."""
        fields = type(self).model_fields.items()
        tuned = [name for name, field in fields if any(isinstance(entry, Candidates) for entry in field.metadata)]
        return {name: list(getattr(self, name)) for name in tuned if isinstance(getattr(self, name), list)}

    def kernel_choice(self) -> KernelChoice | None:
        """Return how evaluation chooses among the kernels; None: the method takes all of them."""
        return None

    def sweep(self) -> Implementation:
        """Return how components are swept: a class of :mod:`mklearn.evaluation.sweeps` and its parameters."""
        return Implementation(implementation="mklearn.evaluation.sweeps:LeadingDimensions")

    def learns_weights(self) -> bool:
        """Return whether it learns kernel weights: a report then says whether they paid."""
        return False

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
    error with a given ``n_components``, and for methods that learn anew for each number of components."""

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
    """Methods that predict labels themselves and have no components to sweep."""

    def sweep(self) -> Implementation:
        """Return the sweep over a single prediction."""
        return Implementation(implementation="mklearn.evaluation.sweeps:Predictions")


class KernelMethod(Method):
    """Methods on kernels."""

    bookkeeping: ClassVar[frozenset[str]] = Method.bookkeeping | {"kernels"}
    inputs: ClassVar[Mapping[str, Input]] = {"kernels": Input("kernels")}

    kernels: Literal["all", "each", "all_but_each"] | Annotated[list[NamePattern], Field(min_length=1)] = "all"
    """The kernels it takes: all; these (``gauss-*`` stands for several); ``each``: it is run once for every kernel; or
    ``all_but_each``: once without every kernel, which shows what each adds to the others. Product kernels are
    combinations already: only a list may name them."""


class LandmarkMethod(KernelMethod):
    """Methods that can learn from landmarks, for many samples."""

    bookkeeping: ClassVar[frozenset[str]] = KernelMethod.bookkeeping | {"landmarks"}

    landmarks: Landmarks | Count | None = None
    """A number of landmarks, or ``{n: 300, how: kmeans, dtype: float32}``; ``n`` may be a list of candidates. The
    method learns from the features that these samples give, in place of kernels among all samples: its time grows with
    the number of samples, its memory does not. By default kernels among all samples."""

    def landmarks_spec(self) -> Landmarks | None:
        """Return the landmarks with all their settings; None without landmarks."""
        return Landmarks(n=self.landmarks) if isinstance(self.landmarks, int) else self.landmarks

    def needs_kernels(self) -> str:
        """Return what of its other fields needs kernels among all samples; empty if it can learn from landmarks."""
        choice = self.kernel_choice()
        return f"kernel_weights: {choice}" if choice in ("cv_accuracy", "oracle_single") else ""


class FixedCombination(KernelMethod):
    """Methods on one kernel, or on a fixed combination."""

    kernel_weights: Literal["uniform", "best_single", "cv_accuracy", "oracle_single"] | KernelWeights = "uniform"
    """How the kernels are combined: ``uniform`` is their average; ``best_single`` the kernel that inner
    cross-validation chooses; ``cv_accuracy`` weights each by the square of the accuracy that it alone reaches there;
    ``oracle_single`` is the kernel with the best mean accuracy on the test samples, an upper bound without an inner-CV
    value; or a mapping from kernel to weight."""

    @model_validator(mode="after")
    def _one_kernel_needs_no_weights(self) -> FixedCombination:
        if self.kernels == "each" and self.kernel_weights != "uniform":
            raise ValueError("kernels: each runs on one kernel at a time; omit kernel_weights.")
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
    (``minmax``), each sample to length 1 (``unit``), quantiles among the training samples (``rank``), or the one that
    inner cross-validation chooses, of all but ``minmax`` (``auto``)."""


class DescriptorMethod(Method):
    """Methods on the features of one descriptor, or of several side by side."""

    inputs: ClassVar[Mapping[str, Input]] = {"features": Input("features", field="descriptor")}

    descriptor: Slug | Annotated[list[Slug], Field(min_length=1)] = "pixels"
    """The descriptor whose features it takes; of several, they are put side by side."""


class FeatureMethod(ScaledFeatures, DescriptorMethod):
    """Methods on the features of one descriptor, which can be scaled before they take them."""


class ConcatenationMethod(ScaledFeatures):
    """Methods on the features of several descriptors side by side."""

    inputs: ClassVar[Mapping[str, Input]] = {"features": Input("features", "descriptors", several=True)}

    descriptors: Literal["all"] | Annotated[list[Slug], Field(min_length=1)] = "all"
    """The descriptors whose features it takes: all of the data set, or these."""

    @field_validator("descriptors")
    @classmethod
    def _each_once(cls, names: Literal["all"] | list[str]) -> Literal["all"] | list[str]:
        twice = sorted({name for name in names if names.count(name) > 1}) if isinstance(names, list) else []
        if twice:
            raise ValueError(f"named twice: {', '.join(twice)}.")
        return names


class ImageMethod(Method):
    """Methods on images as matrices."""

    inputs: ClassVar[Mapping[str, Input]] = {"images": Input("images")}

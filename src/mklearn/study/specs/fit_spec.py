"""Specification of a fit: the method, its inputs and numbers of components, and how it is evaluated."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from mklearn.study.specs.model import Count, Spec, Strict, as_list

InputKind = Literal["kernels", "features", "images"]
InnerFolds = Annotated[int, Field(ge=2)] | Literal["leave_one_out"]
KernelChoice = Literal["best_single", "cv_accuracy"]
NeighbourRule = Literal["cosine", "euclidean"]
CLASS_MEAN: Literal["class_mean"] = "class_mean"
Rule = Literal[NeighbourRule, "class_mean"]
"""How a sample is classified in an embedding: see :mod:`mklearn.study.evaluation.rules`."""
RULE: Rule = "euclidean"
"""Nearest-neighbour rule of the library's embeddings, and so of models."""
Choice = Literal["inner_cv", "test_set"]
"""By which samples parameters are chosen: the training samples, by inner cross-validation, or the test samples."""
Components = Literal["all", "one_standard_error", "best"]
"""How many components are taken: all there are, the most whose score in the inner cross-validation is within one
standard error of the best, or those with the best score."""
FeatureScaling = Literal["none", "standard", "minmax", "unit", "rank", "log"]
"""See :class:`mklearn.kernels.feature_scaling.FeatureScaler`."""
Impute = Literal["none", "mean", "median"]
"""How missing values of features are filled in, by the training samples."""
IMAGES = "images"
"""Name of the view that holds the images."""
LandmarkRule = Literal["random_per_class", "kmeans"]
"""How landmarks are chosen, see :class:`mklearn.base.landmark_features.LandmarkFeatures`."""


class Landmarks(Strict):
    """Landmarks of a method's kernels: samples by which explicit features stand in for kernels among all samples."""

    n: Count | Annotated[list[Count], Field(min_length=1)]
    """Landmarks of each kernel, or a grid."""
    how: LandmarkRule = "random_per_class"
    """At random, of each class equally many, or centres of k-means."""
    dtype: Literal["float64", "float32"] = "float64"
    """Precision of the features; sums over samples are in double precision."""
    rank_tolerance: Annotated[float, Field(ge=0, lt=1)] | None = None
    """Eigenvalues of a kernel among its landmarks up to this share of the largest are left out: fewer features
    take less time to learn from, and show the method less. By default only rounding errors are left out."""

    def parameters(self, seed: int) -> list[dict[str, Any]]:
        """Return the candidates of the estimators' parameter ``landmarks``."""
        fixed = self.model_dump(exclude={"n"}, exclude_none=True) | {"random_state": seed}
        return [{"n": n, **fixed} for n in sorted(set(as_list(self.n)))]


LARGEST_DICTIONARY = 10
"""Kernels of a view of features in `mklearn.kernels.dictionary`."""


class RefitSpec(Strict):
    """Fits for each of several numbers of components, by a method that learns something else for each."""

    sizes: Annotated[list[Count], Field(min_length=1)]
    """Values of ``n_components``."""
    at_most: Literal["n_classes", "image_side"] | None = None
    """Bound on the sizes: larger ones are left out, but never all of them."""
    path: str | None = None
    """``"module:function"`` that fits all sizes and computes what they share once: (estimator, X, y, sizes=)."""


class InputSpec(Strict):
    """One named input of a method."""

    kind: InputKind
    """Kernels of views, features of views, or images, the only view (n, rows, columns)."""
    descriptors: list[str] = []
    """Keys of the descriptors whose features they are, put side by side in this order; of kernels those of which the
    method has a dictionary of kernels; none of images."""
    feature_scaling: FeatureScaling | Literal["auto"] = "none"
    """Scaling of features, fitted on the training samples."""
    impute: Impute = "none"
    """Filling of missing values, fitted on the training samples before that."""


class MethodSpec(Strict):
    """A method as evaluation fits it."""

    id: str
    implementation: str
    """``"module:name"``."""
    parameters: dict[str, Any] = {}
    """Parameters of the estimator."""
    grid: dict[str, Annotated[list[Any], Field(min_length=1)]] = {}
    """Candidate values of each parameter that inner cross-validation chooses."""
    kernel_choice: KernelChoice | None = None
    """How evaluation chooses among the kernels or weights them; None: the method takes all of them."""
    inputs: Annotated[dict[str, InputSpec], Field(min_length=1)]
    """Inputs by name. The first is what it learns from; the others are parameters of the estimator that name a view."""
    embeds: bool = False
    """Whether nearest neighbours in its embedding are evaluated, with 1, 2, ... components; else what it predicts."""
    refit: RefitSpec | None = None
    """Numbers of components that do not follow from one fit."""

    @property
    def has_components(self) -> bool:
        """Whether there is a number of components to choose."""
        return self.embeds or self.refit is not None

    def rules(self, neighbours: Sequence[str]) -> list[str]:
        """Return the nearest-neighbour rules by which it is evaluated; "" for what it predicts itself."""
        return list(neighbours) if self.embeds else [""]

    @property
    def landmarks(self) -> list[dict[str, Any]]:
        """Candidates of its parameter ``landmarks``; none of a method on kernels among all samples."""
        fixed = self.parameters.get("landmarks")
        return self.grid.get("landmarks", []) if fixed is None else [fixed]

    @property
    def dictionary_views(self) -> list[str]:
        """Keys of the descriptors that the method has a dictionary of kernels of, in order."""
        return [name for entry in self.inputs.values() if entry.kind == "kernels" for name in entry.descriptors]

    def n_candidates(self, n_kernels: int) -> int:
        """Count the combinations of the grid, each with every kernel if evaluation tries the kernels one by one."""
        combinations = math.prod(len(values) for values in self.grid.values())
        return combinations * (max(1, n_kernels) if self.kernel_choice else 1)


def headline_rule(neighbours: Sequence[str]) -> str:
    """Return the one rule of the headline, the figures and tables of classes, and the model.

    The model's, of a study without a model too; where a study does not evaluate it, its first one.
    """
    return RULE if RULE in neighbours else neighbours[0]


class EvaluationSpec(Strict):
    """How a method's parameters are chosen on each split, and how its test samples are classified."""

    neighbours: Annotated[list[Rule], Field(min_length=1)]
    inner_folds: InnerFolds
    components: Components = "best"
    choose_by: str = "accuracy"
    """Metric that chooses parameters and the number of components in the inner cross-validation."""
    time_limit: float | None = None
    """Minutes for one training size; None: no limit."""
    choice: Choice = "inner_cv"
    """By which samples parameters are chosen; on the test samples, values are optimistic."""


class Setting(Strict):
    """One training size of a protocol, as its score rows name it: ``faces-p2`` and 2 of protocol ``faces``."""

    protocol: str
    train_size: int | None


def specs_by_name(kernels: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return specs of kernels by their ids, as estimators take them."""
    return {str(kernel["id"]): {key: value for key, value in kernel.items() if key != "id"} for kernel in kernels}


def kernel_parts(kernels: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the specifications that name views: the kernels, or their factors."""
    return [part for kernel in kernels for part in kernel.get("factors", [kernel])]


def is_pairwise(view: str) -> bool:
    """Return whether a view is a cached matrix, ``SOURCE/MEASURE``, and not the features of a descriptor."""
    return "/" in view


class FitSpec(Strict):
    """A method on every training size and repeat of one protocol of one data set."""

    dataset: str
    settings: Annotated[list[Setting], Field(min_length=1)]
    method: MethodSpec
    kernels: list[dict[str, Any]] = []
    """Kernel specifications, as `mklearn.kernels.transform.StackTransform` takes them; empty without kernels. A view is
    a descriptor by its key, or a cached matrix by ``SOURCE/MEASURE``."""
    evaluation: EvaluationSpec
    seed: int

    @property
    def kernel_features(self) -> list[str]:
        """Keys of the descriptors whose features the fit computes its kernels from, in order."""
        return sorted({part["view"] for part in kernel_parts(self.kernels) if not is_pairwise(part["view"])})

    @property
    def n_landmark_features(self) -> int:
        """Number of features of all kernels on landmarks, at most."""
        return len(self.kernels) * max(each["n"] for each in self.method.landmarks)

    @property
    def n_kernels(self) -> int:
        """Number of kernels, of a dictionary at most."""
        return len(self.kernels) or LARGEST_DICTIONARY * len(self.method.dictionary_views)

    @property
    def pairwise(self) -> list[str]:
        """Names of the cached matrices that its kernels are made from, in order."""
        return sorted({part["view"] for part in kernel_parts(self.kernels) if is_pairwise(part["view"])})

    @property
    def descriptors(self) -> list[str]:
        """Keys of the descriptors whose features the fit takes, each once, in the order of the inputs."""
        return list(dict.fromkeys(name for entry in self.method.inputs.values() for name in self.descriptors_of(entry)))

    def descriptors_of(self, entry: InputSpec) -> list[str]:
        """Return the keys of the descriptors whose features an input takes, in order: its own, or its kernels'."""
        return entry.descriptors if entry.kind != "kernels" or entry.descriptors else self.kernel_features

    def as_dict(self) -> dict[str, Any]:
        """Return builtin types only, without fields at their default: a new field changes no key of an old fit."""
        return self.model_dump(mode="json", exclude_defaults=True)


SAMPLE = 20_000
"""Training samples at most, drawn at random, that landmarks are chosen from and kernels' parameters are fitted to."""


class MomentsSpec(Spec):
    """Rule ``moments``: the kernels and landmarks of methods that share their features."""

    kernels: list[dict[str, Any]]
    """On features."""
    landmarks: dict[str, Any]
    """As the estimators' parameter."""
    seed: int
    inner_folds: int
    """Folds of the inner cross-validation, each with moments of its own."""
    part: str = ""
    """``"2of8"``: the second eighth of the samples."""

    @property
    def n_features(self) -> int:
        """Number of features of all kernels, at most."""
        return len(self.kernels) * int(self.landmarks["n"])

    @property
    def descriptors(self) -> list[str]:
        """Keys of the descriptors whose features the kernels take, in order."""
        return sorted({kernel["view"] for kernel in self.kernels})

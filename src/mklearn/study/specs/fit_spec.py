"""Specification of a fit: the method, its inputs and numbers of components, and how it is evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from mklearn.study.specs.model import Count, Spec, Strict, as_list

InputKind = Literal["kernels", "features", "images"]
InnerFolds = Annotated[int, Field(ge=2)] | Literal["leave_one_out"]
KernelChoice = Literal["best_single", "cv_accuracy"]
NeighbourRule = Literal["cosine", "euclidean"]
CLASS_MEAN: Literal["class_mean"] = "class_mean"
CLUSTERS: Literal["clusters"] = "clusters"
Rule = Literal[NeighbourRule, "class_mean", "clusters"]
"""Rule that classifies a sample in an embedding; see :mod:`mklearn.study.evaluation.fitted`."""
RULE: Rule = "euclidean"
"""Nearest-neighbour rule of the embeddings in the library, and so of final models."""
Choice = Literal["inner_cv", "test_set"]
"""Samples on which parameters are chosen: training samples (inner cross-validation) or test samples."""
Components = Literal["all", "one_standard_error", "best"]
"""Choice of the number of components by the inner cross-validation: all components, the largest number whose score is
within one standard error of the best, or the number with the best score."""
FeatureScaling = Literal["none", "standard", "minmax", "unit", "rank", "log"]
"""Scaling of features; see :class:`mklearn.kernels.feature_scaling.FeatureScaler`."""
Impute = Literal["none", "mean", "median"]
"""Statistic of the training samples that fills in missing values of features."""
IMAGES = "images"
"""Name of the view that holds the images."""


class Landmarks(Strict):
    """Landmarks of the kernels of a method: explicit features on these samples replace kernels among all samples."""

    n: Count | Annotated[list[Count], Field(min_length=1)]
    """Number of landmarks, random samples, equally many per class; or a grid of numbers."""
    dtype: Literal["float64", "float32"] = "float64"
    """Precision of the features; sums over samples are computed in double precision."""
    rank_tolerance: Annotated[float, Field(ge=0, lt=1)] | None = None
    """Share of the largest eigenvalue of a kernel among its landmarks; eigenvalues up to this share are dropped. Fewer
    features make fits faster and less accurate. By default only rounding errors are dropped."""

    def parameters(self, seed: int) -> list[dict[str, Any]]:
        """Return the candidate values of the estimator parameter ``landmarks``."""
        fixed = self.model_dump(exclude={"n"}, exclude_none=True) | {"random_state": seed}
        return [{"n": n, **fixed} for n in sorted(set(as_list(self.n)))]


LARGEST_DICTIONARY = 10
"""Largest number of kernels per view in `mklearn.kernels.dictionary`."""


class RefitSpec(Strict):
    """Separate fits for several numbers of components, for methods whose solution depends on the number."""

    sizes: Annotated[list[Count], Field(min_length=1)]
    """Values of ``n_components`` to fit."""
    at_most: Literal["n_classes", "image_side"] | None = None
    """Upper bound on the sizes. Larger ones are dropped, but at least one is kept."""


class InputSpec(Strict):
    """One named input of a method."""

    kind: InputKind
    """Kind of input: kernels of views, features of views, or images (one view, (n, rows, columns))."""
    descriptors: list[str] = []
    """Keys of the descriptors whose features are concatenated, in this order. For kernels, the descriptors for which
    the method has a dictionary of kernels; empty for images."""
    feature_scaling: FeatureScaling | Literal["auto"] = "none"
    """Scaling of features, fitted on the training samples."""
    impute: Impute = "none"
    """Imputation of missing values, fitted on the training samples before the scaling."""


class MethodSpec(Strict):
    """A method, as the evaluation fits it."""

    id: str
    implementation: str
    """Estimator, as ``"module:name"``."""
    parameters: dict[str, Any] = {}
    """Parameters of the estimator."""
    grid: dict[str, Annotated[list[Any], Field(min_length=1)]] = {}
    """Candidate values of each parameter that the inner cross-validation chooses."""
    kernel_choice: KernelChoice | None = None
    """Selection or weighting of the kernels by the evaluation; None passes all of them to the method."""
    inputs: Annotated[dict[str, InputSpec], Field(min_length=1)]
    """Inputs by name. The estimator is fitted to the first; each other input is a parameter that names a view."""
    embeds: bool = False
    """Whether nearest neighbours in the embedding are evaluated, with 1, 2, ... components; else the predictions."""
    refit: RefitSpec | None = None
    """Numbers of components, if each needs its own fit."""

    @property
    def has_components(self) -> bool:
        """Whether the method has a number of components to choose."""
        return self.embeds or self.refit is not None

    def rules(self, neighbours: Sequence[str]) -> list[str]:
        """Return the nearest-neighbour rules that evaluate the method; "" stands for its own predictions."""
        return list(neighbours) if self.embeds else [""]

    @property
    def landmarks(self) -> list[dict[str, Any]]:
        """Candidates of ``landmarks`` of a method that learns from landmark features; empty for other methods.

        Methods with a dictionary of kernels draw their own landmarks: their parameter is a number.
        """
        candidates = self.grid.get("landmarks", [self.parameters.get("landmarks")])
        return [each for each in candidates if isinstance(each, dict)]

    @property
    def dictionary_views(self) -> list[str]:
        """Keys of the descriptors for which the method has a dictionary of kernels, in order."""
        return [name for entry in self.inputs.values() if entry.kind == "kernels" for name in entry.descriptors]


def headline_rule(neighbours: Sequence[str]) -> str:
    """Return the rule of the headline, of the figures and tables of classes, and of the final model.

    This is ``RULE`` if the study evaluates it, and the first rule of the study otherwise.
    """
    return RULE if RULE in neighbours else neighbours[0]


class EvaluationSpec(Strict):
    """Settings for choosing the parameters of a method on each split, and for classifying test samples."""

    neighbours: Annotated[list[Rule], Field(min_length=1)]
    inner_folds: InnerFolds
    components: Components = "best"
    choose_by: str = "accuracy"
    """Metric that chooses parameters and the number of components in the inner cross-validation."""
    time_limit: float | None = None
    """Time limit for one training size, in minutes; None for no limit."""
    choice: Choice = "inner_cv"
    """Samples on which parameters are chosen. Scores chosen on the test set are optimistic."""


class Setting(Strict):
    """A training size of a protocol, as score rows name it: ``faces-p2`` and 2 for protocol ``faces``."""

    protocol: str
    train_size: int | None


def specs_by_name(kernels: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return kernel specifications by id, without the id, as estimators take them."""
    return {str(kernel["id"]): {key: value for key, value in kernel.items() if key != "id"} for kernel in kernels}


def kernel_parts(kernels: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the specifications that name a view: each kernel, or the factors of a product."""
    return [part for kernel in kernels for part in kernel.get("factors", [kernel])]


def _sources(kernels: Sequence[Mapping[str, Any]]) -> list[str]:
    return [part["view"].partition("/")[0] for part in kernel_parts(kernels)]


def is_pairwise(view: str) -> bool:
    """Check whether a view is a cached matrix, ``SOURCE/MEASURE``, and not the features of a descriptor."""
    return "/" in view


class FitSpec(Spec):
    """A method on every training size and repeat of one protocol of one data set."""

    dataset: str
    settings: Annotated[list[Setting], Field(min_length=1)]
    method: MethodSpec
    kernels: list[dict[str, Any]] = []
    """Kernel specifications for `mklearn.kernels.transform.StackTransform`; empty for a method without kernels. A view
    is the key of a descriptor, or ``SOURCE/MEASURE`` for a cached matrix."""
    evaluation: EvaluationSpec
    seed: int

    @property
    def kernel_features(self) -> list[str]:
        """Keys of the descriptors from whose features the fit computes kernels, in order."""
        return sorted({part["view"] for part in kernel_parts(self.kernels) if not is_pairwise(part["view"])})

    @property
    def n_kernels(self) -> int:
        """Number of kernels; for a dictionary, the maximum."""
        return len(self.kernels) or LARGEST_DICTIONARY * len(self.method.dictionary_views)

    @property
    def pairwise(self) -> list[str]:
        """Names of the cached matrices from which the kernels are made, in order."""
        return sorted({part["view"] for part in kernel_parts(self.kernels) if is_pairwise(part["view"])})

    @property
    def descriptors(self) -> list[str]:
        """Keys of the descriptors whose features the fit takes, without repetition, in the order of the inputs."""
        return list(dict.fromkeys(name for entry in self.method.inputs.values() for name in self.descriptors_of(entry)))

    def descriptors_of(self, entry: InputSpec) -> list[str]:
        """Return the keys of the descriptors that an input or its kernels are computed from, in order."""
        return entry.descriptors if entry.kind != "kernels" or entry.descriptors else self.kernel_features

    @property
    def views(self) -> list[str]:
        """Keys of the descriptors or matrices from which the kernels are made, without repetition, in order."""
        return list(dict.fromkeys([*self.method.dictionary_views, *_sources(self.kernels)]))

    def of_views(self, views: Sequence[str]) -> FitSpec:
        """Return the fit with the kernels that read only these views."""
        kernels = [kernel for kernel in self.kernels if set(_sources([kernel])) <= set(views)]
        return self.on(kernels, {view: view for view in views})

    def on(self, kernels: list[dict[str, Any]], names: Mapping[str, str]) -> FitSpec:
        """Return the fit with other kernels, and of the descriptors of its inputs those in ``names``, renamed."""
        inputs = {}
        for name, entry in self.method.inputs.items():
            kept = [names[key] for key in entry.descriptors if key in names]
            inputs[name] = entry.model_copy(update={"descriptors": kept})
        return self.model_copy(update={"kernels": kernels, "method": self.method.model_copy(update={"inputs": inputs})})

    @property
    def largest(self) -> tuple[str, str, int | None]:
        """Method, protocol and training size at the largest training size, as rows of the summary name them."""
        setting = max(self.settings, key=lambda setting: setting.train_size or 0)
        return self.method.id, setting.protocol, setting.train_size


NULL_SAMPLES = 2_000
"""Maximum number of samples of a null control, drawn at random."""


class NullSpec(Spec):
    """Specification of the rule ``null_control``: a method, and the number of times that the target is shuffled."""

    fit: FitSpec
    n_shuffles: int


VIEW_SAMPLES, VIEW_SPLITS = 1_000, 10
"""Most samples of each part of a split on which views are left out; most splits, unless the first repeat has more."""
SAMPLE = 20_000
"""Maximum number of training samples, drawn at random, used to choose landmarks and fit kernel parameters."""


class MomentsSpec(Spec):
    """Specification of the rule ``moments``: kernels and landmarks of methods that share landmark features."""

    kernels: list[dict[str, Any]]
    """Kernels on features."""
    landmarks: dict[str, Any]
    """Value of the estimator parameter ``landmarks``."""
    seed: int
    inner_folds: int
    """Number of folds of the inner cross-validation; each fold has its own moments."""
    part: str = ""
    """Part of the samples, such as ``"2of8"`` for the second eighth; empty for all."""

    @property
    def descriptors(self) -> list[str]:
        """Keys of the descriptors whose features the kernels take, in order."""
        return sorted({kernel["view"] for kernel in self.kernels})

"""The model of a study: one file that makes one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from mklearn.descriptors.table import DESCRIPTORS
from mklearn.methods import METHODS
from mklearn.rows import is_there
from mklearn.study.datasets import DatasetConfig, normalise_datasets
from mklearn.study.entries import Descriptor, Kernel, Protocol
from mklearn.study.evaluation.metrics.metric import metric_mistakes
from mklearn.study.method import Method
from mklearn.study.naming import expanded_descriptors
from mklearn.study.published import Published
from mklearn.study.specs.final_spec import BEST
from mklearn.study.specs.fit_spec import Components, Rule
from mklearn.study.specs.model import Count, Positive, Slug, Strict
from mklearn.study.specs.table_specs import Calibration, Claim, Comparison, PublishedValue, Remark, Tolerance
from mklearn.study.targets import NUMBER_METRICS, study_target

DEFAULT_METHODS: dict[str, Any] = {
    "multi-view": {"kind": "multi_view", "label": "Multi-view classifier"},
    "kfd": {"kind": "kernel_fda", "label": "KFD", "kernels": "each"},
    "average": {"kind": "kernel_fda", "label": "Uniform average + KFD"},
    "best-single": {"kind": "kernel_fda", "label": "Best single kernel (inner CV)", "kernel_weights": "best_single"},
    "mkl-lda": {"kind": "mkl_dr", "label": "MKL-LDA", "graph": "lda"},
    "kernel-ridge": {"kind": "kernel_ridge", "label": "Uniform average + kernel ridge", "alpha": [1e-3, 1e-2, 1e-1]},
    "kernel-svc": {"kind": "kernel_svc", "label": "Uniform average + SVC", "C": [1, 10, 100]},
    "logistic": {"kind": "logistic_regression", "label": "Logistic regression, all features", "C": [1e-2, 1e-1, 1]},
    "lda": {"kind": "standardised_shrinkage_lda", "label": "LDA with shrinkage, all features"},
    "majority": {"kind": "majority", "label": "Majority class"},
}
"""Methods of a study that names none: the one that we recommend, what weights are compared with, plain classifiers."""
NUMBER_METHODS: dict[str, Any] = {
    "multi-view": {"kind": "multi_view_regressor", "label": "Multi-view regression"},
    "average": {"kind": "kernel_ridge_regressor", "label": "Uniform average + kernel ridge"},
    "best-single": {
        "kind": "kernel_ridge_regressor",
        "label": "Best single kernel (inner CV)",
        "kernel_weights": "best_single",
    },
    "ridge": {"kind": "ridge", "label": "Ridge, all features"},
    "elastic-net": {"kind": "elastic_net", "label": "Elastic net, all features", "alpha": [0.01, 0.1, 1]},
    "forest": {"kind": "random_forest_regressor", "label": "Random forest, all features"},
    "boosting": {"kind": "gradient_boosting_regressor", "label": "Gradient boosting, all features"},
    "mean": {"kind": "mean_regressor", "label": "Mean of the training samples"},
}
"""Methods of a study of numbers that names none."""
DEFAULT_PROTOCOLS: dict[str, Any] = {"5-fold": {"kind": "k_fold", "folds": 5}}
"""Protocols of a study that names none."""


class Evaluation(Strict):
    """How methods are evaluated: embeddings by nearest neighbours or class means, over all leading components."""

    neighbours: Annotated[list[Rule], Field(min_length=1)] = ["cosine", "euclidean"]
    """Rules by which a sample gets its class in an embedding: that of the nearest training sample by cosine (centred at
    the training mean) or Euclidean distance, or ``class_mean``, that of the nearest class mean, for which time does not
    grow with the product of training and test samples."""
    inner_folds: Annotated[int, Field(ge=2)] | Literal["leave_one_out"] = 3
    """Folds of the inner cross-validation that chooses the number of components and parameters."""
    components: Components | None = None
    """How many components are taken, of methods that do not say: ``all`` there are, the most within
    ``one_standard_error`` of the best score in the inner cross-validation, or the ``best``. By default all of them, and
    one standard error of methods that learn anew for each of several sizes."""
    metrics: Annotated[list[str], Field(min_length=1)] = ["accuracy"]
    """Metrics that are reported, by name."""
    choose_by: str = "accuracy"
    """Metric by which the inner cross-validation chooses."""
    time_limit: Positive | None = None
    """Minutes that a method may take on all splits of one training size. Later splits have no value."""
    reference: Slug | None = None
    """Method that all others are compared with, in pairs; by default the first uniform average of all kernels."""

    @model_validator(mode="after")
    def _metrics_can_be_used(self) -> Evaluation:
        mistakes = metric_mistakes(self.metrics, self.choose_by, self.inner_folds)
        if mistakes:
            raise ValueError(" ".join(f"{field}: {sentence}" for field, sentence in mistakes))
        return self


class Report(Strict):
    """Contents of the page beside the results."""

    thumbnails: Annotated[int, Field(ge=0, le=60)] = 20
    """Sample images per data set."""
    gain_that_matters: Annotated[float, Field(gt=0)] = 1
    """In percentage points: a method did not pay only where its interval excludes a gain of this size."""
    parts: list[str] = []
    """Figures and tables of functions, ``module:function``, see :mod:`mklearn.study.report.parts`."""

    @field_validator("parts")
    @classmethod
    def _known_parts(cls, parts: list[str]) -> list[str]:
        missing = [part for part in parts if not is_there(part)]
        if missing:
            raise ValueError(f"there is no part {missing[0]!r}; expected module:function of an installed package.")
        return parts


class Final(Strict):
    """The model that a study ends with: a method, refitted on all labelled samples."""

    method: Slug = BEST
    """A method of the study, or ``best``: the one with the best mean of the metric, of those that choose nothing on
    test samples. It is the one that the page names: the headline is made by the same metric and, of embeddings, by the
    rule that models predict by, Euclidean."""
    metric: str = "accuracy"
    """One of the study's metrics: what is expected of the model, what ``best`` means, and what the headline is of."""
    dataset: Slug | None = None
    """The data set; needed if the study has several."""
    protocol: Slug | None = None
    """The protocol whose splits say what is expected, at its largest training size; by default the first one of the
    study that can, of those that hold out whole groups if there are any."""
    importances: Count | None = None
    """How often each view, and each feature of a table, is shuffled in each split to measure how far predictions rest
    on it; by default nothing is measured."""
    include_test: bool = False
    """Whether the model learns from the test samples of a single given split too, such as those of another hospital.
    ``best`` is chosen on the training samples of such a split in any case."""


class Study(Strict):
    """One study: data sets, descriptors, kernels, methods, protocols - one table."""

    study: Slug
    """Name; results go to results/<name>/."""
    title: str = ""
    """Head of the page."""
    description: str = ""
    """First paragraph of the page."""
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    """Seed of all random numbers: splits, inner folds, methods."""
    results: str = "results"
    """Folder for everything made; studies in one folder share descriptors, kernels and fits."""
    blocks: Count | None = None
    """Jobs that a pass over the samples is spread over, of methods with landmarks; of one block, methods are fitted as
    any other. By default a block of a registered data set is a sixteenth of the samples, at least 20,000 and at most
    100,000, and your own data are one block."""
    mirror: str | None = None
    """Folder or URL tried first for data; the environment variable MKLEARN_MIRROR goes before it."""
    datasets: Annotated[dict[Slug, DatasetConfig], Field(min_length=1)]
    """The data sets by names of your choice; a registered one by its own."""
    descriptors: dict[Slug, Descriptor] | None = None
    """Representations of samples; by default pixels, HOG and others of images, and each table of features."""
    kernels: dict[Slug, Kernel] | None = None
    """The kernels that methods combine; by default a Gaussian for each descriptor."""
    methods: Annotated[dict[Slug, Method], Field(min_length=1)] = Field(default=DEFAULT_METHODS, validate_default=True)
    """The methods that are compared; by default the multi-view classifier beside averages and plain classifiers."""
    protocols: Annotated[dict[Slug, Protocol], Field(min_length=1)] = Field(
        default=DEFAULT_PROTOCOLS, validate_default=True
    )
    """How samples are split into training and test samples."""
    evaluation: Evaluation = Evaluation()
    """Metrics, rules of the nearest neighbour, and inner cross-validation."""
    published: list[Published] = []
    """Values that papers report, compared cell by cell."""
    published_repeats: Count | None = None
    """Number of random splits behind published means, if an entry does not say; by default as many as this study's."""
    calibration: Calibration | None = None
    """The method whose published values have to be met on a data set before others are compared there."""
    tolerance: Tolerance = Tolerance()
    """The difference up to which a published value counts as reproduced."""
    remarks: list[Remark] = []
    """Plain sentences about methods, shown beside the published values."""
    claims: list[Claim] = []
    """Statements of papers, each with a verdict, shown beside the published values."""
    comparisons: list[Comparison] = []
    """Tables of differences between two methods, with the numbers of data sets on which one is above the other."""
    report: Report = Report()
    """Contents of the page."""
    final: Final | None = None
    """A model of one method on all samples, which ``mklearn predict`` takes; by default none."""

    @model_validator(mode="before")
    @classmethod
    def _defaults(cls, data: Any) -> Any:
        """Fill in methods and metrics: of the kind of target, and methods that the data have features for."""
        if not isinstance(data, Mapping):
            return data
        numbers = study_target(normalise_datasets(data.get("datasets"))) == "numbers"
        usual = NUMBER_METHODS if numbers else DEFAULT_METHODS
        if "methods" not in data and not _has_vectors(data):
            kept = {name: each for name, each in usual.items() if METHODS[each["kind"]].takes != "descriptors"}
            data = {**data, "methods": kept | {"multi-view": kept["multi-view"] | {"kernels": "all"}}}
        if not numbers:
            return data
        evaluation, final, first = data.get("evaluation") or {}, data.get("final"), NUMBER_METRICS[0]
        if isinstance(evaluation, Mapping):
            evaluation = {"metrics": list(NUMBER_METRICS), "choose_by": first, **evaluation}
        if isinstance(final, Mapping):
            data = {**data, "final": {"metric": first, **final}}
        return {"methods": usual, **data, "evaluation": evaluation}

    @field_validator("study")
    @classmethod
    def _not_a_shared_folder(cls, study: str) -> str:
        if study in ("cache", "downloads"):
            raise ValueError(f"invalid name {study!r}: the folder of this name holds what studies share.")
        return study

    @field_validator("results")
    @classmethod
    def _folder(cls, results: str) -> str:
        special = sorted({character for character in results if character in "<>{}" or not character.isprintable()})
        if special:
            characters = ", ".join(map(repr, special))
            raise ValueError(f"invalid value {results!r}: Snakemake can't take {characters} in the name of a folder.")
        if not results.strip() or results.startswith(("~", "$")) or "://" in results:
            raise ValueError(f"invalid value {results!r}: expected a folder, with its path written out.")
        return results

    @field_validator("mirror")
    @classmethod
    def _no_nul(cls, mirror: str | None) -> str | None:
        if mirror is not None and "\0" in mirror:
            raise ValueError(f"invalid value {mirror!r}: no folder or URL has a NUL character.")
        return mirror

    @field_validator("claims")
    @classmethod
    def _each_once(cls, claims: list[Claim]) -> list[Claim]:
        texts = [f"{claim.source}: {claim.text}" for claim in claims]
        twice = sorted({text for text in texts if texts.count(text) > 1})
        if twice:
            raise ValueError(f"listed twice: {' '.join(map(repr, twice))}")
        return claims

    _datasets = field_validator("datasets", mode="before")(normalise_datasets)
    _descriptors = field_validator("descriptors", mode="before")(expanded_descriptors)

    def published_values(self) -> list[PublishedValue]:
        """Return the published values, one for each cell."""
        return [cell for entry in self.published for cell in entry.cells(self.published_repeats)]


def _has_vectors(study: Mapping[str, Any]) -> bool:
    datasets, descriptors = study.get("datasets"), study.get("descriptors")
    entries = [entry for part in (datasets, descriptors) if isinstance(part, Mapping) for entry in part.values()]
    kinds = {str(entry.get("kind")) for entry in entries if isinstance(entry, Mapping)}
    of_points = {kind for kind, row in DESCRIPTORS.items() if row.point_sets}
    return kinds.isdisjoint(of_points | {"precomputed"})

"""The model of a study: one study file gives one table of results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from mklearn.descriptors.table import DESCRIPTORS
from mklearn.methods import METHODS
from mklearn.study.datasets import DatasetConfig, normalise_datasets
from mklearn.study.entries import Descriptor, Entry, Kernel, Protocol
from mklearn.study.evaluation.metrics.metric import metric_mistakes, metric_named
from mklearn.study.method import Method
from mklearn.study.naming import expanded_descriptors
from mklearn.study.specs.final_spec import BEST
from mklearn.study.specs.fit_spec import Components, Rule, headline_rule
from mklearn.study.specs.model import Count, Positive, Slug, Strict
from mklearn.study.specs.table_specs import Calibration, Claim, Comparison, Published, Remark, Tolerance
from mklearn.study.targets import USUAL_METRICS, study_target

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
"""Default methods of a study of classes: the recommended method, references for kernel weights, plain classifiers."""
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
"""Default methods of a study of numbers."""
SURVIVAL_METHODS: dict[str, Any] = {
    "multi-view": {"kind": "multi_view_survival", "label": "Multi-view survival"},
    "average": {"kind": "multi_view_survival", "label": "Equal kernel weights", "learned": 0},
    "cox-ridge": {"kind": "cox_ridge", "label": "Cox ridge, all features", "alpha": [10, 100, 1000, 10000, 100000]},
    "cox-net": {
        "kind": "cox_elastic_net",
        "label": "Cox elastic net, all features",
        "alpha": [0.01, 0.02, 0.05, 0.1, 0.2, 0.4],
    },
    "forest": {"kind": "random_survival_forest", "label": "Random survival forest, all features"},
    "kaplan-meier": {"kind": "kaplan_meier", "label": "Kaplan-Meier"},
}
"""Default methods of a study of survival times. Views alone, such as clinical features, are in the table of views."""
USUAL_METHODS = {"classes": DEFAULT_METHODS, "numbers": NUMBER_METHODS, "survival": SURVIVAL_METHODS}
"""Default methods by kind of target."""
DEFAULT_PROTOCOLS: dict[str, Any] = {"5-fold": {"kind": "k_fold", "folds": 5}}
"""Default protocols of a study."""


class Evaluation(Strict):
    """Settings for the evaluation of methods; embeddings are evaluated by nearest neighbours or class means."""

    neighbours: Annotated[list[Rule], Field(min_length=1)] = ["cosine", "euclidean"]
    """Rules that classify a sample in an embedding: ``cosine`` (centred at the training mean) and ``euclidean`` predict
    the class of the nearest training sample, ``class_mean`` the class of the nearest class mean. The time of
    ``class_mean`` does not grow with the product of training and test samples. ``clusters`` predicts by k-means with as
    many clusters as classes: labels only assign one class to each cluster."""
    inner_folds: Annotated[int, Field(ge=2)] | Literal["leave_one_out"] = 3
    """Number of folds of the inner cross-validation that chooses parameters and the number of components."""
    components: Components | None = None
    """Number of components used by methods without their own setting: ``all``, the ``best`` in the inner
    cross-validation, or the largest within ``one_standard_error`` of the best score. By default ``all``, and
    ``one_standard_error`` for methods that are refitted for each number of components."""
    metrics: Annotated[list[str], Field(min_length=1)] = ["accuracy"]
    """Names of the reported metrics. The first one is the metric of the headline, figures and result tables."""
    choose_by: str = "accuracy"
    """Metric that the inner cross-validation optimises, by default the first of ``metrics``."""
    time_limit: Positive | None = None
    """Time limit in minutes of a method on all splits of one training size; later splits have no value."""
    reference: Slug | None = None
    """Reference method for paired comparisons; by default the first method with equal weights of all kernels, otherwise
    the mean regressor."""

    @model_validator(mode="before")
    @classmethod
    def _first_metric_chooses(cls, data: Any) -> Any:
        metrics = data.get("metrics") if isinstance(data, Mapping) else None
        first = metrics[0] if isinstance(metrics, list) and metrics else None
        return {"choose_by": first, **data} if isinstance(first, str) else data

    @model_validator(mode="after")
    def _metrics_can_be_used(self) -> Evaluation:
        mistakes = metric_mistakes(self.metrics, self.choose_by, self.inner_folds)
        if mistakes:
            raise ValueError(" ".join(f"{field}: {sentence}" for field, sentence in mistakes))
        return self


class Report(Strict):
    """Additional contents of the page."""

    gain_that_matters: Annotated[float, Field(gt=0)] = 1
    """Smallest relevant gain in percentage points: a method "did not pay" only if its interval excludes this gain."""
    views: bool = True
    """Whether the page shows what each view adds to the others, and what it does alone, for the final model's method,
    else the first multi-view method, on each data set of several views. It takes two fits per view, and one of all
    views, on up to ten splits."""
    parts: list[str] = []
    """Functions ``module:function`` that add figures and tables, see :mod:`mklearn.study.report.parts`."""


class Final(Strict):
    """The final model of a study: a method, refitted on all labelled samples."""

    method: Slug = BEST
    """Method of the study, or ``best``: the method with the best mean metric, methods that choose parameters on test
    samples excluded. The headline of the page names the same method: it uses the same metric and, for embeddings, the
    Euclidean rule, by which models predict. With given or released splits, name the method."""
    metric: str | None = None
    """Metric of the study that defines ``best``, the model's expected performance, and the page; by default the first
    of ``evaluation.metrics``."""
    dataset: Slug | None = None
    """Data set of the model; required if the study has several."""
    protocol: Slug | None = None
    """Protocol whose largest training size gives the expected performance; by default the first suitable protocol of
    the study, preferably one that holds out whole groups."""
    importances: Count | None = None
    """Number of permutations per split for the permutation importance of each view and each feature of a table; by
    default importances are not computed."""
    include_test: bool = False
    """If true, the model is also fitted to the test samples of a single given split, such as samples of another
    hospital."""


class Study(Strict):
    """A study: data sets, descriptors, kernels, methods and protocols, compared in one table."""

    study: Slug
    """Name of the study; results go to ``results/NAME/``."""
    title: str = ""
    """Title of the page."""
    description: str = ""
    """First paragraph of the page."""
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    """Seed of all random numbers: splits, inner folds and methods."""
    results: str = "results"
    """Folder for all outputs; studies with the same folder share descriptors, kernels and fits."""
    blocks: Count | None = None
    """Number of jobs that share one pass over the samples, one block each (methods with landmarks only).
    With one block, these methods are fitted like others. By default a block of a registered data set is a sixteenth of
    the samples, at least 20,000 and at most 100,000, and your own data are one block."""
    datasets: Annotated[dict[Slug, DatasetConfig], Field(min_length=1)]
    """Data sets by name: a name of your choice, or the name of a registered data set."""
    descriptors: dict[Slug, Descriptor] | None = None
    """Representations of samples; by default pixels, HOG and others for images, and each table of features."""
    kernels: dict[Slug, Kernel] | None = None
    """Kernels that methods combine; by default a Gaussian kernel for each descriptor."""
    methods: Annotated[dict[Slug, Method], Field(min_length=1)] = Field(default=DEFAULT_METHODS, validate_default=True)
    """Methods to compare; by default the multi-view classifier, average kernels and plain classifiers."""
    protocols: Annotated[dict[Slug, Protocol], Field(min_length=1)] = Field(
        default=DEFAULT_PROTOCOLS, validate_default=True
    )
    """Protocols that split samples into training and test samples; by default 5-fold cross-validation."""
    evaluation: Evaluation = Evaluation()
    """Metrics, nearest-neighbour rules, and inner cross-validation."""
    published: list[Published] = []
    """Published values, compared cell by cell."""
    published_repeats: Count | None = None
    """Number of random splits behind published means, for entries without it; by default this study's number."""
    calibration: Calibration | None = None
    """Method that must reproduce its published values on a data set before other methods are compared there."""
    tolerance: Tolerance = Tolerance()
    """Largest difference at which a published value counts as reproduced."""
    remarks: list[Remark] = []
    """Sentences about methods, shown beside the published values."""
    claims: list[Claim] = []
    """Claims of papers, each with a verdict, shown beside the published values."""
    comparisons: list[Comparison] = []
    """Tables of differences between two methods, with the numbers of data sets on which each method is better."""
    report: Report = Report()
    """Settings of the page."""
    null: Count | None = None
    """Number of shuffles of the null control: the multi-view method is fitted to the target of each data set and to
    shuffled targets, and the page compares their R² on left-out samples. By default none."""
    final: Final | None = None
    """Final model, fitted to all samples, for ``mklearn predict``; by default none."""

    @model_validator(mode="before")
    @classmethod
    def _defaults(cls, data: Any) -> Any:
        """Fill in default methods and metrics that suit the kind of target and the available features."""
        if not isinstance(data, Mapping):
            return data
        target = study_target(normalise_datasets(data.get("datasets")))
        usual, metrics = USUAL_METHODS[target], USUAL_METRICS.get(target)
        if "methods" not in data and not _has_vectors(data):
            kept = {name: each for name, each in usual.items() if METHODS[each["kind"]].takes != "descriptors"}
            data = {**data, "methods": kept | {"multi-view": kept["multi-view"] | {"kernels": "all"}}}
        if metrics is None:
            return data
        evaluation = data.get("evaluation", {})
        if isinstance(evaluation, Mapping):
            compared: dict[str, str] = (
                {"reference": "average"} if target == "survival" and "methods" not in data else {}
            )
            evaluation = {"metrics": list(metrics), **compared, **evaluation}
        return {"methods": usual, **data, "evaluation": evaluation}

    @field_validator("study")
    @classmethod
    def _not_a_shared_folder(cls, study: str) -> str:
        if study in ("cache", "downloads"):
            raise ValueError(f"invalid name {study!r}: the folder with this name holds files that studies share.")
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

    _datasets = field_validator("datasets", mode="before")(normalise_datasets)
    _descriptors = field_validator("descriptors", mode="before")(expanded_descriptors)

    def entries(self) -> Iterator[tuple[str, Entry]]:
        """Yield the path and the entry of each descriptor, kernel, method and protocol that the study names."""
        for section in ("descriptors", "kernels", "methods", "protocols"):
            for name, entry in (getattr(self, section) or {}).items():
                yield f"{section}.{name}", entry

    def published_values(self) -> list[dict[str, Any]]:
        """Return the published values of all cells."""
        return [cell for entry in self.published for cell in entry.cells(self.published_repeats)]

    @property
    def metric(self) -> str:
        """Metric of the page and of the final model: ``final.metric``, else the first of the reported metrics."""
        return (self.final and self.final.metric) or self.evaluation.metrics[0]

    @property
    def average(self) -> str:
        """Method with equal kernel weights, the baseline of learned weights; empty if there is none.

        The reference if it averages kernels uniformly, otherwise the first method that does so with all kernels and
        has a value of the page's metric.
        """
        named, scored = self.evaluation.reference, metric_named(self.metric).needs_scores
        equal = ("uniform", 0)  # of kernels of the study; of a multi-view method, that learns no part of the weights
        uniform = {
            name: one for name, one in self.methods.items() if one.given.get("learned", one.kernel_weights) in equal
        }
        if named in uniform or (named in self.methods and self.methods[named].given.get("kernel_weights") == "uniform"):
            return named
        averages = (name for name, one in uniform.items() if one.kernels == "all" and not (scored and one.row.embeds))
        return next(averages, "")

    @property
    def headline_rule(self) -> str:
        """Nearest-neighbour rule of the headline, of figures and tables of classes, and of the final model."""
        return headline_rule(self.evaluation.neighbours)


def _has_vectors(study: Mapping[str, Any]) -> bool:
    datasets, descriptors = study.get("datasets"), study.get("descriptors")
    entries = [entry for part in (datasets, descriptors) if isinstance(part, Mapping) for entry in part.values()]
    kinds = {str(entry.get("kind")) for entry in entries if isinstance(entry, Mapping)}
    of_points = {kind for kind, row in DESCRIPTORS.items() if row.point_sets}
    return kinds.isdisjoint(of_points | {"precomputed"})

"""Cards: what a study needs to know of a method, kernel, descriptor, protocol or metric, declared with its code.

A card decorates a class or function. The parameters themselves stand in its signature, their valid values in
``_parameter_constraints`` of an estimator or in annotations, and their texts in its docstring. All of this is collected
in ``registry.json`` (:mod:`mklearn.study.config.registry_entries`), so that a study is parsed without importing it.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from mklearn.contract.extensions import own_registries, registry_file

REGISTRY = Path(__file__).with_name("registry.json")
"""The entries of the core's implementations, by sort and kind; ``make schema`` writes it."""

Implementation = TypeVar("Implementation")


@dataclass(frozen=True, kw_only=True)
class Card:
    """What is told of anything that a study can name.

    Attributes
    ----------
    kind : str
        The name by which a study calls for it.
    title : str
    reference : str
        Its paper.
    advice : str
        When to use it.
    about : str
        What it is; by default the first paragraph of its docstring.
    library_only : sequence of str
        Parameters that a study can't set.
    valid : mapping of str to constraints
        Valid values in a study, where ``_parameter_constraints``, or the annotation, say nothing or allow more: in the
        form of ``_parameter_constraints``, or as JSON schemas.
    defaults : mapping of str to value
        Defaults in a study where they differ from those of the implementation.
    """

    kind: str
    title: str
    reference: str = ""
    advice: str = ""
    about: str = ""
    library_only: Sequence[str] = ()
    valid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, implementation: Implementation) -> Implementation:
        """Attach the card to what it describes."""
        setattr(implementation, "card_", self)  # noqa: B010 - classes and functions alike
        return implementation


POSITIVE = {"type": "number", "exclusiveMinimum": 0}
NONNEGATIVE = {"type": "number", "minimum": 0}
COUNT = {"type": "integer", "minimum": 1}
PATCH_SIDE = {"type": "number", "minimum": 4, "maximum": 1024}
"""Pixels of a patch of 4 x 4 cells."""


def list_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a list of one or several values."""
    return {"type": "array", "items": dict(schema), "minItems": 1}


@dataclass(frozen=True, kw_only=True)
class KernelCard(Card):
    """What is told of a kernel, a subclass of :class:`mklearn.kernels.base.Kernel`: the card also sets its ``kind``."""

    def __call__(self, implementation: Implementation) -> Implementation:
        """Attach the card to a kernel."""
        setattr(implementation, "kind", self.kind)  # noqa: B010
        return super().__call__(implementation)


@dataclass(frozen=True, kw_only=True)
class DescriptorCard(Card):
    """What is told of a descriptor: a function of images and parameters, and of ``learned`` arrays if it learns.

    Attributes
    ----------
    measure : str
        Distance of Gaussian kernels that name none.
    learns : str
        Function of the same module that learns visual words, patches or principal components from the images first.
    images_per_job : int
        Images per job, for expensive descriptors; 0: all images in one job.
    one_size : bool
        Whether a feature belongs to a place in the image, so that all images need one size.
    base : str
        Name of the base of its model in :mod:`mklearn.descriptors.models`.
    """

    measure: str = "squared_euclidean"
    learns: str = ""
    images_per_job: int = 0
    one_size: bool = False
    base: str = "Descriptor"


@dataclass(frozen=True, kw_only=True)
class ProtocolCard(Card):
    """What is told of a protocol: a function that draws or reads splits, see :mod:`mklearn.study.config.protocols`.

    Attributes
    ----------
    exclusive : sequence of (str, str, str)
        Two parameters of which a study sets one at most, and the sentence that tells so.
    base : str
        Name of the base of its model there.
    targets : sequence of {"classes", "numbers"}
        The kinds of target that it can draw splits of.
    holds_groups : bool
        Whether no group has both training and test samples.
    """

    exclusive: Sequence[tuple[str, str, str]] = ()
    base: str = "Protocol"
    targets: Sequence[str] = ("classes",)
    holds_groups: bool = False


@dataclass(frozen=True, kw_only=True)
class MetricCard(Card):
    """What is told of a metric: a function that says by one number how good a fitted method is on test samples.

    Its parameters name what it needs of :class:`mklearn.study.evaluation.outputs.MethodOutput`. A method that does not
    give one of them gets a row with the status ``not_applicable``; so it does where the function raises NotApplicable.

    Attributes
    ----------
    larger_is_better : bool
    bounds : (float, float)
        Smallest and largest possible value.
    mean_of_samples : bool
        Whether it is the mean over test samples of zeros and ones, as the accuracy is: it then has a value for a single
        sample. Its interval needs `by_sample` too.
    targets : sequence of {"classes", "numbers"}
        The kinds of target that it takes.
    by_leading_components : str
        ``module:function`` of ``(Z_train, y_train, Z_test, y_test, rule)`` that gives the values with the first
        1, 2, ... columns, where there is a faster way than one call for each.
    by_sample : str
        ``module:function`` that gives each test sample a value, with the metric as their mean and its variance as that
        of the mean; its parameters are as of the metric. Intervals of the metric are computed from them: without it
        from the values of the splits alone, which is wider (see :mod:`mklearn.base.statistics`).
    """

    larger_is_better: bool = True
    bounds: tuple[float, float] = (0.0, 1.0)
    mean_of_samples: bool = False
    targets: Sequence[str] = ("classes",)
    by_leading_components: str = ""
    by_sample: str = ""


@dataclass(frozen=True)
class Input:
    """One named input of a method.

    Attributes
    ----------
    kind : {"kernels", "features", "images"}
    field : str or None
        Field of a study that names the descriptor of an input of kind features; None: the input's own name.
    several : bool
        Whether the field names several descriptors, a list or ``all``: their features are put side by side.
    default : str or None
        The descriptor, if a study names none; None: it has to. Of inputs after the first.
    about : str
        What the field is for. Of inputs after the first.
    optional : bool
        Of inputs after the first: whether a study can say null, and the estimator goes without it.
    dictionary : bool
        Of kernels: whether the method takes a dictionary of kernels of every descriptor, unless a study names kernels
        for it.
    """

    kind: Literal["kernels", "features", "images"]
    field: str | None = None
    several: bool = False
    default: str | None = None
    about: str = ""
    optional: bool = False
    dictionary: bool = False


KERNELS = {"kernels": Input("kernels")}
KERNEL_DICTIONARY = {"kernels": Input("kernels", dictionary=True)}
"""A dictionary of kernels of every descriptor, see `mklearn.kernels.dictionary`, or kernels that a study names."""
FEATURES = {"features": Input("features", field="descriptor")}
"""Features of one descriptor."""
CONCATENATED = {"features": Input("features", field="descriptors", several=True)}
"""Features of several descriptors side by side."""
IMAGES = {"images": Input("images")}


@dataclass(frozen=True)
class Refit:
    """Fits for each of several numbers of components, with their common work done once.

    Attributes
    ----------
    path : str
        ``module:function`` that fits all of them.
    at_most : str
        What limits the number of components, see :class:`mklearn.study.evaluation.sweeps.Refit`.
    iterations_path : str
        ``module:function`` that fits 1, 2, ... iterations at the cost of one fit, if there is one.
    """

    path: str
    at_most: str = ""
    iterations_path: str = ""


@dataclass(frozen=True)
class Part:
    """A parameter of a method that is an estimator itself: any registered one of a class.

    Attributes
    ----------
    of : type
        The class.
    without : sequence of str
        Parameters of such estimators that the method sets itself.
    default : str
        Kind of the estimator, if a study names none.
    """

    of: type
    without: Sequence[str]
    default: str


@dataclass(frozen=True, kw_only=True)
class MethodCard(Card):
    """What is told of a method.

    Attributes
    ----------
    inputs : mapping of str to Input
        The first is what the estimator learns from: its ``kernels``, features side by side, or images. The others are
        parameters of the estimator, which name a view of X.
    tuned : sequence of str
        Parameters of which a study can give a list: inner cross-validation chooses from it. Candidates are tried in the
        order of the first parameter's values, then of the next one's; of equally good ones the first is chosen.
    parts : mapping of str to Part
        Parameters that are estimators themselves.
    learns_weights : bool
        Whether it learns kernel weights: a report then says whether they paid.
    needs_kernels : mapping of str to values
        Values of parameters that need kernels among all samples, of a method that can learn from landmarks.
    fits_each_kernel : bool
        Whether a fit is one of each kernel: it then takes that many times as long.
    fit_seconds : float
        Seconds of a small fit, if far above 0.2.
    refit : Refit or None
        How it is fitted for several numbers of components, if these do not follow from one fit.
    order_decides : bool
        Whether the order of its kernels, or of the descriptors whose features are side by side, changes more than
        rounding: as the first of equals, or by what is drawn for each. A study then keeps the order that it gives.
    in_model_files : bool
        Whether a model file can hold it: not trees, whose arrays scikit-learn reads without a look at their indices.
    targets : sequence of {"classes", "numbers"}
        The kinds of target that it predicts.
    """

    inputs: Mapping[str, Input] = field(default_factory=lambda: KERNELS)
    tuned: Sequence[str] = ()
    parts: Mapping[str, Part] = field(default_factory=dict)
    learns_weights: bool = False
    needs_kernels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    fits_each_kernel: bool = False
    fit_seconds: float = 0.2
    refit: Refit | None = None
    order_decides: bool = False
    in_model_files: bool = True
    targets: Sequence[str] = ("classes",)


@functools.cache
def own_entries(sort: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the entries of mklearn's own implementations of a sort, by kind: those of its core, then of its papers."""
    entries: dict[str, Mapping[str, Any]] = json.loads(REGISTRY.read_text(encoding="utf-8"))[sort]
    for point in own_registries(sort):
        entries |= registry_file(point).get(sort, {})
    return entries


def exported(package: str, sort: str = "methods") -> dict[str, list[str]]:
    """Return the names of own implementations in a package, by module: what its lazy ``__init__`` exports."""
    found: dict[str, list[str]] = {}
    for entry in own_entries(sort).values():
        module, _, name = entry["implementation"].partition(":")
        if module.startswith(f"{package}."):
            found.setdefault(module.removeprefix(f"{package}."), []).append(name)
    return found

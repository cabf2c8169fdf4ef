"""Methods of a study: what they take, their numbers of components, and what inner cross-validation chooses from."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from mklearn.errors import nearest
from mklearn.methods import METHODS, MethodRow
from mklearn.rows import Row
from mklearn.study import outside
from mklearn.study.entries import Entry, Names, Patterns, each_once, kind_in
from mklearn.study.specs.fit_spec import (
    Components,
    FeatureScaling,
    InnerFolds,
    InputKind,
    KernelChoice,
    Landmarks,
    RefitSpec,
)
from mklearn.study.specs.model import Count, NonNegative, Positive, Slug

Sizes = Annotated[list[Count], Field(min_length=1)]


class Method(Entry):
    """A method. A list in place of a parameter that can be tuned is a grid that inner cross-validation chooses from."""

    rows: ClassVar[Mapping[str, Row]] = METHODS
    inferred: ClassVar[Callable[[Any], Row]] = outside.method_row
    either: ClassVar[frozenset[str]] = frozenset({"kernel_weights", "feature_scaling"})

    kind: Annotated[str, kind_in(METHODS)]
    label: str | None = None
    """Name in tables and figures; by default the method's key."""
    inner_folds: InnerFolds | None = None
    """Folds of the inner cross-validation; by default the study's."""
    time_limit: Positive | Literal["none"] | None = None
    """Minutes that each of its fits may take, or "none"; by default the study's limit."""
    protocols: Names | None = None
    """Only on these protocols of the study; by default on all of them."""
    kernels: Literal["dictionary", "all", "each", "all_but_each"] | Patterns | None = None
    """Methods on kernels: all of them (the default); these (``gauss-*`` stands for several); ``each``: the method is
    run once for every kernel; or ``all_but_each``: once without every kernel, which shows what each adds to the others.
    Product kernels are combinations already: only a list may name them. Methods with a dictionary of kernels of their
    own take the ``dictionary`` of every descriptor of the data set by default, whatever kernels the study names (of a
    data set of matrices, all of their kernels); with ``all_but_each`` it is made without every descriptor."""
    kernel_weights: (
        Literal["uniform", "best_single", "cv_accuracy"]
        | Annotated[dict[Slug, NonNegative], Field(min_length=1)]
        | None
    ) = None
    """Methods on one kernel or a fixed combination: ``uniform`` (the default) is the average; ``best_single`` the
    kernel that inner cross-validation chooses; ``cv_accuracy`` weights each by the square of the accuracy that it alone
    reaches there; or a mapping from kernel to weight, with 0 for kernels that are not named."""
    landmarks: Landmarks | Count | None = None
    """Methods that can learn from landmarks: a number of them, or ``{n: 300, how: kmeans, dtype: float32}``; ``n``
    may be a grid. The method learns from the features that these samples give, in place of kernels among
    all samples: its time grows with the number of samples, its memory does not. By default it learns from kernels."""
    descriptor: Slug | Names | None = None
    """Methods on features of one descriptor: its name, by default ``pixels``; a list is put side by side."""
    descriptors: Literal["all"] | Names | None = None
    """Methods on features of several descriptors side by side: all of the data set (the default), or these."""
    feature_scaling: FeatureScaling | Literal["auto"] = "none"
    """Methods on features: their scaling, fitted on the training samples: mean 0 and standard deviation 1
    (``standard``), to 0..1 (``minmax``), each sample to length 1 (``unit``), quantiles among the training samples
    (``rank``), standardised logarithms of nonnegative values (``log``), or the one of the smallest left-out error on
    the training samples, of all but ``minmax`` and ``log`` (``auto``)."""
    components: Components | None = None
    """Embeddings: number of components that is taken: ``all`` there are, the most within ``one_standard_error`` of the
    best score in the inner cross-validation, or the ``best``. By default as the study says. If it says nothing: all;
    but one standard error with a given ``n_components`` or ``sizes``, and for methods that learn anew for each size."""
    sizes: Sizes | None = None
    """Numbers of components, each with its own fit as in the paper; those above the number of classes are left out. By
    default one fit, whose leading components are swept; of methods on images 1 to 20, for rows and columns."""

    @classmethod
    def options_of(cls, row: MethodRow) -> dict[str, Any]:
        """Return the options that a row takes."""
        options: dict[str, Any] = dict.fromkeys(("label", "inner_folds", "time_limit", "protocols"))
        if row.takes in ("kernels", "dictionary"):
            options["kernels"] = "all" if row.takes == "kernels" else "dictionary"
        if row.combines:
            options["kernel_weights"] = "uniform"
        if row.landmarks:
            options["landmarks"] = None
        if row.takes in ("descriptor", "descriptors"):
            options[row.takes] = "pixels" if row.takes == "descriptor" else "all"
            options |= {} if row.scales_features else {"feature_scaling": "none"}
        if row.embeds:
            options |= {"components": None} | ({"sizes": None} if row.refit else {})
        if row.takes == "images" and row.refit:
            options |= {"sizes": list(range(1, 21))}
        return options

    _each_once = field_validator("descriptors")(each_once)

    @model_validator(mode="after")
    def _options_suit(self) -> Self:
        if self.landmarks is not None and self.given.get("class_weight") is not None:
            raise ValueError("class_weight: class weights are not among the moments of landmark features; omit one.")
        if self.kernels == "dictionary" and self.row.takes != "dictionary":
            raise ValueError(
                "kernels: the method has no dictionary of kernels; expected all, each, all_but_each or names."
            )
        if self.row.combines and self.kernels == "each" and self.kernel_weights != "uniform":
            raise ValueError("kernels: each runs on one kernel at a time; omit kernel_weights.")
        return self

    def option_mistakes(self) -> Iterator[tuple[str, str]]:
        """Yield (key, sentence) for what is wrong with options, views and parts."""
        yield from super().option_mistakes()
        for name in self.row.tuned:
            if self.given.get(name) == []:
                yield name, "invalid value []: a list of candidates should have at least 1 item."
        for name, default in self.row.views.items():
            view = self.view(name)
            if not default and not view:
                yield name, "is required but missing: the name of a descriptor."
            elif view is not None and not isinstance(view, str):
                yield name, f"invalid value {view!r}: expected the name of a descriptor."
        for name, part in self.row.parts.items():
            value = self.given.get(name)
            kind = value.get("kind") if isinstance(value, Mapping) else None
            if name in self.given and kind not in part.kinds:
                hint = nearest(kind, part.kinds)
                yield name, f"invalid value {value!r}: expected {{kind: ...}}.{hint} Kinds: {', '.join(part.kinds)}."

    # --- inputs

    @property
    def inputs(self) -> dict[str, InputKind]:
        """Inputs by name: the input that it learns from, then the views that parameters name."""
        kinds: dict[str, InputKind] = {"dictionary": "kernels", "descriptor": "features", "descriptors": "features"}
        first = kinds.get(self.row.takes, self.row.takes)
        return {first: first, **dict.fromkeys(self.row.views, "features")}

    def view(self, name: str) -> Any:
        """Return the descriptor that a parameter names; None where it goes without one."""
        return self.given.get(name, self.row.views[name])

    def named_descriptors(self) -> dict[str, tuple[str, Any]]:
        """Return, for each input of features, the key that names its descriptors, and what it says."""
        takes = self.row.takes
        first = {"features": (takes, getattr(self, takes))} if takes.startswith("descriptor") else {}
        return first | {name: (name, self.view(name)) for name in self.row.views}

    def kernel_choice(self) -> KernelChoice | None:
        """Return how evaluation chooses among the kernels; None: the method takes all of them."""
        weights = self.kernel_weights
        return None if weights is None or isinstance(weights, dict) or weights == "uniform" else weights

    def keeps_order(self) -> bool:
        """Return whether kernels and descriptors stay in the study's order: it decides, and is a part of the value."""
        return self.row.order_decides or self.kernel_choice() == "best_single"

    def leaves_out_views(self) -> bool:
        """Return whether it is run without each view of its dictionary of kernels, not without each of the study's."""
        return self.row.takes == "dictionary" and self.kernels == "all_but_each"

    def learns_weights(self) -> bool:
        """Return whether it learns kernel weights: a report then says whether they paid."""
        if self.row.combines:
            return self.kernel_weights == "cv_accuracy"
        return self.row.learns_weights and self.given.get("kernel_weights", "learned") == "learned"

    # --- parameters and candidates

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that the estimator is called with, without those that the grid chooses.

        While evaluation chooses a kernel, the estimator combines those that it gets evenly.
        """
        weights = {"kernel_weights": "uniform" if self.kernel_choice() else self.kernel_weights}
        parts = self._part_candidates()
        chosen = {*self.grid(), *self.row.views, *(["n_components"] if self.swept_sizes() else [])}
        every = super().parameters() | {name: candidates[0] for name, candidates in parts.items()}
        every |= weights if self.row.combines else {}
        return {name: value for name, value in every.items() if name not in chosen}

    def grid(self) -> dict[str, list[Any]]:
        """Return the candidates of each parameter that has several: numbers ascending, others as they are given."""
        lists = _lists(self.given, self.row.tuned)
        if self.swept_sizes():
            del lists["n_components"]
        return lists | {name: several for name, several in self._part_candidates().items() if len(several) > 1}

    def _part_candidates(self) -> dict[str, list[dict[str, Any]]]:
        """Return each parameter that is an estimator as mappings, for each combination of its tuned parameters."""
        candidates = {}
        for name in self.row.parts:
            if isinstance(part := self.given.get(name), Mapping):
                row = self.row_of(part["kind"])
                lists = _lists(part, row.tuned)
                fixed = {key: value for key, value in part.items() if key != "kind" and key not in lists}
                fixed = {"implementation": row.implementation} | fixed
                values = itertools.product(*lists.values())
                candidates[name] = [fixed | dict(zip(lists, each, strict=True)) for each in values]
        return candidates

    # --- components

    def swept_sizes(self) -> list[int]:
        """Return the numbers of components that a classifier is fitted for with the common work done once."""
        listed = self.given.get("n_components") if self.row.refit and not self.row.embeds else None
        if not isinstance(listed, list) or not all(isinstance(size, int) for size in listed):
            return []
        return sorted(set(listed))

    def refit(self) -> RefitSpec | None:
        """Return the numbers of components that are fitted each; None where one fit is enough."""
        row = self.row.refit
        if not self.row.embeds:
            sizes = self.swept_sizes()
            return RefitSpec(sizes=sizes, path=row.path) if sizes else None
        if self.sizes is None:
            return None
        return RefitSpec(sizes=sorted(self.sizes), at_most=row.at_most or None, path=row.path)

    def component_choice(self, of_study: Components | None) -> Components:
        """Return how the number of components is chosen: as the method says, or else the study, or else its kind.

        Of a classifier on components it is the best: fewer components are another classifier, not a part of the same.
        """
        if self.row.refit and not self.row.embeds:
            return "best"
        one_fit = self.row.embeds and self.sizes is None and self.given.get("n_components") is None
        return self.components or of_study or ("all" if one_fit else "one_standard_error")

    # --- landmarks

    def landmark_candidates(self, seed: int) -> list[dict[str, Any]]:
        """Return the candidates of the estimator's parameter ``landmarks``; none without landmarks."""
        landmarks = Landmarks(n=self.landmarks) if isinstance(self.landmarks, int) else self.landmarks
        return [] if landmarks is None else landmarks.parameters(seed)


def _lists(given: Mapping[str, Any], tuned: Sequence[str]) -> dict[str, list[Any]]:
    """Return the candidates of each parameter that is tuned; numbers ascending."""
    lists = {name: given[name] for name in tuned if isinstance(given.get(name), list)}
    numbers = {name for name, values in lists.items() if all(isinstance(value, (int, float)) for value in values)}
    return {name: sorted(values) if name in numbers else values for name, values in lists.items()}

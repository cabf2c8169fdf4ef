"""Methods of a study: inputs, numbers of components, and candidates of the inner cross-validation."""

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
from mklearn.study.specs.model import Count, Positive, Slug

Sizes = Annotated[list[Count], Field(min_length=1)]


class Method(Entry):
    """A method. A list given for a tunable parameter is a grid for the inner cross-validation."""

    rows: ClassVar[Mapping[str, Row]] = METHODS
    inferred: ClassVar[Callable[[Any], Row]] = outside.method_row
    either: ClassVar[frozenset[str]] = frozenset({"kernel_weights", "feature_scaling", "landmarks"})

    kind: Annotated[str, kind_in(METHODS)]
    label: str | None = None
    """Name in tables and figures; by default the method's key."""
    inner_folds: InnerFolds | None = None
    """Folds of the inner cross-validation; by default the study's."""
    time_limit: Positive | Literal["none"] | None = None
    """Time limit of each fit in minutes, or "none"; by default the study's limit."""
    protocols: Names | None = None
    """Protocols of the study on which the method runs; by default all."""
    kernels: Literal["dictionary", "all", "each"] | Patterns | None = None
    """Methods on kernels: ``all`` (the default); a list of names (``gauss-*`` matches several); or ``each``: one run
    per kernel. Product kernels are used only if a list names them. Methods that build their own dictionary of kernels
    default to ``dictionary``: they ignore the study's kernels and use every descriptor of the data set, or all kernels
    of a data set of matrices."""
    kernel_weights: Literal["uniform", "best_single", "cv_accuracy"] | None = None
    """Methods on one kernel or a fixed combination: ``uniform`` (the default) is the average; ``best_single`` is the
    kernel chosen by inner cross-validation; ``cv_accuracy`` weights each kernel by its squared accuracy in the inner
    cross-validation."""
    landmarks: Landmarks | Count | None = None
    """Methods on kernels that support landmarks: number of landmarks, or ``{n: 300, dtype: float32}``;
    ``n`` may be a grid. The method learns from landmark features instead of kernels among all samples: time grows
    linearly with the number of samples, and memory is constant. By default it learns from kernels."""
    descriptor: Slug | Names | None = None
    """Methods on the features of one descriptor: its name, by default ``pixels``; the features of a list are
    concatenated."""
    descriptors: Literal["all"] | Names | None = None
    """Methods on the concatenated features of several descriptors: ``all`` of the data set (the default), or a list."""
    feature_scaling: FeatureScaling | Literal["auto"] = "none"
    """Methods on features: scaling, fitted on the training samples: mean 0 and standard deviation 1 (``standard``),
    range 0 to 1 (``minmax``), unit length of each sample (``unit``), quantiles among the training samples (``rank``),
    standardised logarithms of nonnegative values (``log``), or the scaling with the smallest leave-one-out error on the
    training samples, ``minmax`` and ``log`` excluded (``auto``)."""
    components: Components | None = None
    """Embeddings: number of components used: ``all``, the ``best`` in the inner cross-validation, or the largest within
    ``one_standard_error`` of the best score. By default the study's value, else ``all``; but ``one_standard_error`` if
    ``n_components`` or ``sizes`` is given, and for methods that are refitted for each number of components."""
    sizes: Sizes | None = None
    """Numbers of components, each with its own fit as in the paper; numbers above the number of classes are omitted. By
    default, one fit whose leading components are swept; for methods on images, 1 to 20 for both rows and columns."""

    @classmethod
    def options_of(cls, row: MethodRow) -> dict[str, Any]:
        """Return the options of a row, with their defaults."""
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
            raise ValueError("class_weight: moments of landmark features do not include class weights; omit one.")
        if self.kernels == "dictionary" and self.row.takes != "dictionary":
            raise ValueError("kernels: the method has no dictionary of kernels; expected all, each or names.")
        if self.row.combines and self.kernels == "each" and self.kernel_weights != "uniform":
            raise ValueError("kernels: each runs on one kernel at a time; omit kernel_weights.")
        return self

    def option_mistakes(self) -> Iterator[tuple[str, str]]:
        """Yield (key, sentence) for each mistake in options, views and parts."""
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

    @property
    def is_recommended(self) -> bool:
        """Whether the method is the multi-view classifier, regressor or survival estimator on all its kernels."""
        of_all_views = self.kind in ("multi_view", "multi_view_regressor", "multi_view_survival")
        return of_all_views and self.kernels != "each"

    # --- inputs

    @property
    def inputs(self) -> dict[str, InputKind]:
        """Kinds of inputs by name: the main input, then the views named by parameters."""
        kinds: dict[str, InputKind] = {"dictionary": "kernels", "descriptor": "features", "descriptors": "features"}
        first = kinds.get(self.row.takes, self.row.takes)
        return {first: first, **dict.fromkeys(self.row.views, "features")}

    def view(self, name: str) -> Any:
        """Return the descriptor named by a parameter; None if it is optional and not given."""
        return self.given.get(name, self.row.views[name])

    def named_descriptors(self) -> dict[str, tuple[str, Any]]:
        """Return the key that names the descriptors, and its value, for each input of features."""
        takes = self.row.takes
        first = {"features": (takes, getattr(self, takes))} if takes.startswith("descriptor") else {}
        return first | {name: (name, self.view(name)) for name in self.row.views}

    def kernel_choice(self) -> KernelChoice | None:
        """Return how evaluation chooses or weights the kernels; None if it leaves them as they are."""
        return None if self.kernel_weights == "uniform" else self.kernel_weights

    def keeps_order(self) -> bool:
        """Return whether the order of kernels and descriptors affects the result, so that it must be kept."""
        return self.row.order_decides or self.kernel_choice() == "best_single"

    def learns_weights(self) -> bool:
        """Return whether the method learns kernel weights; the report then shows whether they improved results."""
        if self.row.combines:
            return self.kernel_weights == "cv_accuracy"
        return self.row.learns_weights and self.given.get("kernel_weights", "learned") == "learned"

    # --- parameters and candidates

    def parameters(self) -> dict[str, Any]:
        """Return the fixed parameters of the estimator, without the ones in the grid.

        If evaluation chooses a kernel, the estimator weights the kernels it receives uniformly.
        """
        parts = self._part_candidates()
        chosen = {*self.grid(), *self.row.views, *(["n_components"] if self.swept_sizes() else [])}
        every = super().parameters() | {name: candidates[0] for name, candidates in parts.items()}
        every |= {"kernel_weights": "uniform"} if self.row.combines else {}
        return {name: value for name, value in every.items() if name not in chosen}

    def grid(self) -> dict[str, list[Any]]:
        """Return the candidates of each parameter that has several: numbers ascending, others in the given order."""
        lists = _lists(self.given, self.row.tuned)
        if self.swept_sizes():
            del lists["n_components"]
        return lists | {name: several for name, several in self._part_candidates().items() if len(several) > 1}

    def _part_candidates(self) -> dict[str, list[dict[str, Any]]]:
        """Return the candidates of each estimator-valued parameter: a mapping per combination of tuned parameters."""
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
        """Return the numbers of components for which a classifier is fitted."""
        listed = self.given.get("n_components") if self.row.refit and not self.row.embeds else None
        if not isinstance(listed, list) or not all(isinstance(size, int) for size in listed):
            return []
        return sorted(set(listed))

    def refit(self) -> RefitSpec | None:
        """Return the numbers of components that need their own fit; None if one fit is enough."""
        sizes = self.sizes if self.row.embeds else self.swept_sizes()
        return RefitSpec(sizes=sorted(sizes), at_most=self.row.at_most) if sizes else None

    def component_choice(self, of_study: Components | None) -> Components:
        """Return how the number of components is chosen, by the method, else the study, else the method's kind.

        A classifier on components always uses the best number: fewer components make another classifier.
        """
        if self.row.refit and not self.row.embeds:
            return "best"
        one_fit = self.row.embeds and self.sizes is None and self.given.get("n_components") is None
        return self.components or of_study or ("all" if one_fit else "one_standard_error")

    # --- landmarks

    def landmark_candidates(self, seed: int) -> list[dict[str, Any]]:
        """Return the candidates of the estimator's parameter ``landmarks``; an empty list without landmarks."""
        landmarks = Landmarks(n=self.landmarks) if isinstance(self.landmarks, int) else self.landmarks
        return [] if landmarks is None else landmarks.parameters(seed)


def _lists(given: Mapping[str, Any], tuned: Sequence[str]) -> dict[str, list[Any]]:
    """Return the candidates of each tuned parameter; numbers ascending."""
    lists = {name: given[name] for name in tuned if isinstance(given.get(name), list)}
    numbers = {name for name, values in lists.items() if all(isinstance(value, (int, float)) for value in values)}
    return {name: sorted(values) if name in numbers else values for name, values in lists.items()}

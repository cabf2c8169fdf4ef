"""Entries of a study: descriptors, kernels and protocols, each with a kind, options and parameters.

Options are what the study itself uses; which of them a kind takes follows from its row. All other keys are parameters
of the implementation, which are checked by itself (:mod:`mklearn.study.parameters`): reading a study imports no
implementation but those of packages outside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    field_validator,
    model_serializer,
    model_validator,
)

from mklearn.descriptors.table import DESCRIPTORS, TABLE, DescriptorRow
from mklearn.errors import ConfigError
from mklearn.kernels.table import KERNELS, KernelRow
from mklearn.rows import Row, load, row_of
from mklearn.study import outside
from mklearn.study.data.protocols import PROTOCOLS, ProtocolRow
from mklearn.study.mistakes import unknown_key
from mklearn.study.specs.data_specs import FeatureType
from mklearn.study.specs.fit_spec import Choice, FeatureScaling
from mklearn.study.specs.model import Count, NamePattern, NonNegative, Positive, Slug, Strict, as_list

REQUIRED: Any = object()
"""Default of an option that a study has to give."""
Names = Annotated[list[Slug], Field(min_length=1)]
Patterns = Annotated[list[NamePattern], Field(min_length=1)]


def _plain(value: Any) -> Any:
    """Return a parameter as YAML 1.2 reads it: ``1e-3`` is a number."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, str) and value[:1] in set("+-.0123456789"):
        try:
            value = float(value)
        except ValueError:
            return value
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"invalid value {value}: expected a finite number.")
    if value is not None and not isinstance(value, (bool, int, float, str)):
        raise ValueError(f"invalid value {str(value)!r}: expected numbers, texts, lists or mappings.")
    return value


Parameter = Annotated[Any, AfterValidator(_plain)]


def each_once(names: Any) -> Any:
    """Return names as they are; raise ValueError if a list has one twice."""
    twice = sorted({name for name in names if names.count(name) > 1}) if isinstance(names, list) else []
    if twice:
        raise ValueError(f"names {', '.join(twice)} more than once; name each once.")
    return names


def kind_in(table: Mapping[str, Row]) -> Any:
    """Return the JSON schema of ``kind``: a name in a table, or ``module:name`` of another package."""
    outside_kind = {"type": "string", "pattern": r"^[\w.]+:\w+$", "description": "For another package: module:name."}
    return WithJsonSchema({"anyOf": [{"enum": sorted(table)}, outside_kind]})


class Entry(Strict):
    """Common fields of all entries."""

    rows: ClassVar[Mapping[str, Row]]
    """The rows of its table, by kind."""
    inferred: ClassVar[Callable[[Any], Row]]
    """Makes the row of what a package outside brings without one."""
    either: ClassVar[frozenset[str]] = frozenset()
    """Options that are parameters of kinds which do not take them as options."""

    kind: str
    """Kind as ``mklearn list`` names it; ``module:name`` for another package."""
    datasets: Names | None = None
    """Only for these data sets of the study; by default for all of them."""
    given: dict[str, Parameter] = {}
    """Parameters of the implementation: all keys that are no options."""

    @classmethod
    def row_of(cls, kind: str) -> Any:
        """Return the row of a kind."""
        return row_of(kind, cls.rows, cls.inferred)

    @classmethod
    def options_of(cls, row: Any) -> dict[str, Any]:
        """Return the options that a row takes, beside kind and datasets, with their defaults."""
        raise NotImplementedError

    @model_validator(mode="before")
    @classmethod
    def _sorted_out(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        kind = data.get("kind")
        if not isinstance(kind, str):
            return {"kind": kind} if "kind" in data else {}
        try:
            options = cls.options_of(cls.row_of(kind))
        except ConfigError as error:
            raise ValueError(str(error)) from None
        names = {"kind", "datasets", *options}
        defaults = {name: value for name, value in options.items() if value is not REQUIRED}
        others = {str(name): value for name, value in data.items() if name not in names}
        return {**defaults, **{name: value for name, value in data.items() if name in names}, "given": others}

    @model_serializer(mode="wrap")
    def _as_given(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written = handler(self)
        given = written.pop("given", {})
        options = self.valid_options()
        return {name: value for name, value in written.items() if name in options} | given

    @property
    def row(self) -> Any:
        """Row of the kind."""
        return self.row_of(self.kind)

    @property
    def title(self) -> str:
        """Title for messages and tables."""
        return str(self.row.title)

    @property
    def implementation(self) -> str:
        """``"module:name"``."""
        return str(self.row.implementation)

    def applies_to(self, dataset: str) -> bool:
        """Return whether the study uses it on a data set."""
        return self.datasets is None or dataset in self.datasets

    def valid_options(self) -> list[str]:
        """Return the options that its kind takes."""
        return ["kind", "datasets", *self.options_of(self.row)]

    def option_mistakes(self) -> Iterator[tuple[str, str]]:
        """Yield (key, sentence) for each option that its kind does not take, or that is missing."""
        for name in self.given:
            if name in type(self).model_fields and name not in self.either:
                yield name, unknown_key(name, self.valid_options())
        for name, default in self.options_of(self.row).items():
            if getattr(self, name) is None and default is not None:
                yield name, "is required but missing." if default is REQUIRED else "invalid value None; omit the key."

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that the implementation is called with."""
        return {**self.row.defaults, **self.given}


class Descriptor(Entry):
    """A representation of samples: a descriptor of images, or a table of the data set."""

    rows: ClassVar[Mapping[str, Row]] = DESCRIPTORS
    inferred: ClassVar[Callable[[Any], Row]] = outside.descriptor_row
    either: ClassVar[frozenset[str]] = frozenset({"grid"})

    kind: Annotated[str, kind_in(DESCRIPTORS)]
    dtype: FeatureType = "float64"
    """Type of the features in files and methods; float32 takes half the memory and has seven digits."""
    table: Slug | None = None
    """Kind ``table``: name of the table in the data set."""
    patch: tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]] | Literal["each"] | None = None
    """Patches of a grid: row and column of one patch, from 0; by default all. ``each`` makes a descriptor of each
    patch: ``NAME-0-0``, ``NAME-0-1``, ..., which kernels name ``NAME-*``."""
    grid: tuple[Count, Count] | None = None
    """Rows and columns of patches, for ``patch: each``."""
    position_weight: NonNegative | None = None
    """Sets of points: amount that a distance of ``position_scale`` pixels between two points adds to the distance of
    their descriptors; by default 0.25."""
    position_scale: Positive | None = None
    """Sets of points: distance in pixels at which the positions of two points add ``position_weight``; by default
    270."""

    @classmethod
    def options_of(cls, row: DescriptorRow) -> dict[str, Any]:
        """Return the options that a row takes."""
        if row is DESCRIPTORS[TABLE]:
            return {"dtype": "float64", "table": REQUIRED}
        positions = {"position_weight": 0.25, "position_scale": 270.0} if row.point_sets else {}
        return {"dtype": "float64", **positions, **(dict.fromkeys(("patch", "grid")) if row.grid else {})}

    @model_validator(mode="after")
    def _options_suit(self) -> Self:
        if (self.patch == "each" and self.grid is None) or (self.patch is None and self.grid is not None):
            raise ValueError("patch: each and grid: [rows, columns] need each other.")
        if self.point_sets and self.dtype != "float64":
            raise ValueError("dtype: sets of points have a type of their own; omit dtype.")
        return self

    @property
    def point_sets(self) -> bool:
        """Whether it gives a set of points for each image, instead of a vector."""
        return bool(self.row.point_sets)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that the implementation is called with."""
        options = {name: value for name in ("table", "patch") if (value := getattr(self, name)) is not None}
        return super().parameters() | options

    def specification(self) -> dict[str, Any]:
        """Return the implementation with its parameters, and the type of features where it is not the default."""
        spec = {"kind": self.kind, "implementation": self.implementation, "parameters": self.parameters()}
        return spec if self.dtype == "float64" else spec | {"dtype": self.dtype}

    def mistake_for(self, shape: Sequence[int]) -> str:
        """Return what is wrong with the grid for images of a shape, (rows, columns, ...); "" where nothing is."""
        size = self.given.get("size")
        if self.grid is None or not isinstance(size, int) or size < 1:
            return ""
        there = (shape[0] // size, shape[1] // size)
        if tuple(self.grid) == there:
            return ""
        return f"grid {list(self.grid)}: images of {shape[0]} x {shape[1]} pixels have {list(there)} patches."

    def distance(self) -> dict[str, Any]:
        """Return the parameters of the distance between sets of points."""
        positions = {"position_weight": self.position_weight, "position_scale": self.position_scale}
        return positions if self.point_sets else {}


class Kernel(Entry):
    """A kernel that methods combine."""

    rows: ClassVar[Mapping[str, Row]] = KERNELS
    inferred: ClassVar[Callable[[Any], Row]] = outside.kernel_row

    kind: Annotated[str, kind_in(KERNELS)]
    centre: bool = True
    """Centre in feature space at the training mean. Without it, a constant that is added to the features of a linear
    kernel changes discriminants with a ridge, and those with learned weights differ from the others in more than
    their weights."""
    normalise: Literal["none", "unit_diagonal", "centred_trace"] = "centred_trace"
    """Bring kernels to one scale: k(x,x) = 1, or unit variance of the training samples in feature space."""
    psd: Literal["clip", "shift", "flip", "none"] = "clip"
    """How negative eigenvalues are repaired; ``shift`` is warned about (identity-like kernels steal weight)."""
    descriptor: NamePattern | Patterns | None = None
    """The descriptor that it compares samples by; a list, a name with ``*``, or ``each`` (the default), makes one
    kernel of each."""
    feature_scaling: FeatureScaling | Literal["auto"] | Annotated[list[FeatureScaling], Field(min_length=1)] = "none"
    """Scaling of the descriptor's features, fitted on the training samples: mean 0 and standard deviation 1
    (``standard``), to 0..1 (``minmax``), each sample to length 1 (``unit``), quantiles among the training samples
    (``rank``), or standardised logarithms of nonnegative values (``log``). A list makes one kernel of each, as weights
    can be learned for. ``auto`` is one kernel: on each split the training samples choose, of all but ``minmax`` and
    ``log``, the scaling with the smallest left-out error, the same for all kernels of the descriptor in all methods."""
    of: Literal["all"] | Annotated[list[Slug], Field(min_length=2)] | None = None
    """Kind ``product``: its factors, as methods name them; ``all`` (the default): every Gaussian kernel that applies to
    the data."""

    @classmethod
    def row_of(cls, kind: str) -> KernelRow:
        """Return the row of a kind."""
        row: KernelRow = super().row_of(kind)
        return row if row.measures else replace(row, measures=outside.kernel_row(load(kind)).measures)

    @classmethod
    def options_of(cls, row: KernelRow) -> dict[str, Any]:
        """Return the options that a row takes."""
        common = {"centre": True, "normalise": "centred_trace", "psd": "clip"}
        if row.of == "kernels":
            return {**common, "of": "all"}
        return {**common, "descriptor": "each", **({"feature_scaling": "none"} if row.of == "descriptor" else {})}

    _factors = field_validator("of")(each_once)

    @property
    def is_product(self) -> bool:
        """Whether it is made from other kernels."""
        return bool(self.row.of == "kernels")

    def bandwidths(self) -> list[Any]:
        """Return its bandwidths, of which each makes a kernel; [None] without any."""
        return as_list(self.parameters().get("bandwidth"))

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of its class, with the bandwidth or the list of them."""
        return {"centre": self.centre, "normalise": self.normalise, "psd": self.psd} | super().parameters()

    def measure_for(self, suited: str) -> str:
        """Return the measure that the study names, else ``suited``, which is that of the features, if it fits."""
        measures = self.row.measures
        return str(self.given.get("measure") or (suited if suited in measures else measures[0]))


class Protocol(Entry):
    """How samples are split into training and test samples."""

    rows: ClassVar[Mapping[str, Row]] = PROTOCOLS
    inferred: ClassVar[Callable[[Any], Row]] = outside.protocol_row

    kind: Annotated[str, kind_in(PROTOCOLS)]
    exclude_classes: Annotated[list[str], Field(min_length=1)] | None = None
    """Classes whose samples are in no part of any split; descriptors and kernels use the whole data set."""
    choose: Choice = "inner_cv"
    """How parameters are chosen: by cross-validation inside the training samples, or, to show the bias of that, on the
    test samples of each split (``test_set``). The name of such a protocol ends in "-optimistic" in every table, and its
    values are the oracle's."""
    train_size: Count | Annotated[list[Count], Field(min_length=1)] | None = None
    """Kind ``random_per_class``: training samples of each class, or a list of sizes."""
    path: str | None = None
    """File with the splits, of ``given``; of ``verification`` a list, by default those that come with the registered
    data set: a Parquet, CSV or TSV file with columns fold (from 0), first and second (ids), or in LFW's format."""

    @classmethod
    def options_of(cls, row: ProtocolRow) -> dict[str, Any]:
        """Return the options that a row takes."""
        required = {name: REQUIRED for name in row.required if name in cls.model_fields}
        optional: dict[str, Any] = {"path" if row.composes else "exclude_classes": None}  # a list names its samples
        return {"choose": "inner_cv"} | optional | required

    @model_validator(mode="after")
    def _options_suit(self) -> Self:
        changed = {name for name, value in self.given.items() if value != self.row.defaults.get(name)}
        for first, second, sentence in self.row.exclusive:
            if {first, second} <= changed and self.given[first] and self.given[second]:
                raise ValueError(sentence)
        return self

    def parameters(self) -> dict[str, Any]:
        """Return the parameters with which the splits are drawn."""
        options: dict[str, Any] = {"path": self.path, "exclude_classes": self.exclude_classes}
        if self.train_size is not None:
            options["train_size"] = self.train_sizes()
        return super().parameters() | {name: value for name, value in options.items() if value is not None}

    def train_sizes(self) -> list[int | None]:
        """Return the training samples per class, each size once; [None] for a protocol without such sizes."""
        return list(dict.fromkeys(as_list(self.train_size)))

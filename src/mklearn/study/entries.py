"""Entries of a study: descriptors, kernels and protocols, each with a kind, options and parameters.

Options are the keys that the study itself uses; the row of a kind determines its valid options. All other keys are
parameters of the implementation, which checks them (:mod:`mklearn.study.parameters`). Reading a study imports only
implementations of other packages.
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
from mklearn.study.data.text_tables import read_gene_sets
from mklearn.study.mistakes import unknown_key
from mklearn.study.specs.data_specs import FeatureType
from mklearn.study.specs.fit_spec import Choice, FeatureScaling
from mklearn.study.specs.model import Count, NamePattern, Slug, Strict, as_list

REQUIRED: Any = object()
"""Default of a required option."""
Names = Annotated[list[Slug], Field(min_length=1)]
Patterns = Annotated[list[NamePattern], Field(min_length=1)]


def _plain(value: Any) -> Any:
    """Convert a parameter as YAML 1.2 would: ``1e-3`` is a number."""
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
    """Return the names unchanged; raise ValueError if a list has duplicates."""
    twice = sorted({name for name in names if names.count(name) > 1}) if isinstance(names, list) else []
    if twice:
        raise ValueError(f"names {', '.join(twice)} more than once; name each once.")
    return names


def kind_in(table: Mapping[str, Row]) -> Any:
    """Return the JSON schema of ``kind``: a name in the table, or ``module:name`` for another package."""
    outside_kind = {"type": "string", "pattern": r"^[\w.]+:\w+$", "description": "For another package: module:name."}
    return WithJsonSchema({"anyOf": [{"enum": sorted(table)}, outside_kind]})


class Entry(Strict):
    """Common fields of all entries."""

    rows: ClassVar[Mapping[str, Row]]
    """Rows of the table of kinds, by kind."""
    inferred: ClassVar[Callable[[Any], Row]]
    """Function that infers a row for an implementation of another package."""
    either: ClassVar[frozenset[str]] = frozenset()
    """Options that some kinds take as parameters of their implementation instead."""

    kind: str
    """Kind, as named by ``mklearn list``; ``module:name`` for another package."""
    datasets: Names | None = None
    """Data sets of the study to which the entry applies; by default all."""
    given: dict[str, Parameter] = {}
    """Parameters of the implementation: all keys that are not options."""

    @classmethod
    def row_of(cls, kind: str) -> Any:
        """Return the row of a kind."""
        return row_of(kind, cls.rows, cls.inferred)

    @classmethod
    def options_of(cls, row: Any) -> dict[str, Any]:
        """Return the options of a row, other than kind and datasets, with their defaults."""
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
        """Row of the entry's kind."""
        return self.row_of(self.kind)

    def applies_to(self, dataset: str) -> bool:
        """Return whether the study uses the entry on a data set."""
        return self.datasets is None or dataset in self.datasets

    def valid_options(self) -> list[str]:
        """Return the options that are valid for the entry's kind."""
        return ["kind", "datasets", *self.options_of(self.row)]

    def option_mistakes(self) -> Iterator[tuple[str, str]]:
        """Yield (key, sentence) for each option that is invalid for the entry's kind, or missing."""
        for name in self.given:
            if name in type(self).model_fields and name not in self.either:
                yield name, unknown_key(name, self.valid_options())
        for name, default in self.options_of(self.row).items():
            if getattr(self, name) is None and default is not None:
                yield name, "is required but missing." if default is REQUIRED else "invalid value None; omit the key."

    def parameters(self) -> dict[str, Any]:
        """Return the parameters passed to the implementation."""
        return {**self.row.defaults, **self.given}


class Descriptor(Entry):
    """A representation of the samples: an image descriptor, or a table of the data set."""

    rows: ClassVar[Mapping[str, Row]] = DESCRIPTORS
    inferred: ClassVar[Callable[[Any], Row]] = outside.descriptor_row
    either: ClassVar[frozenset[str]] = frozenset({"grid"})

    kind: Annotated[str, kind_in(DESCRIPTORS)]
    dtype: FeatureType = "float64"
    """Data type of the features in files and methods; float32 halves the memory and keeps seven digits."""
    table: Slug | None = None
    """Kind ``table``: name of the table in the data set."""
    columns: Annotated[list[str], Field(min_length=1)] | None = None
    """Kind ``table``: names of the features to take; those that the table lacks are ignored. By default all."""
    sets: str | None = None
    """Kind ``table``: GMT file of gene sets. It makes one descriptor per set, ``NAME-SET``, of the set's genes in the
    table; kernels refer to all of them by ``NAME-*``."""
    patch: tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]] | Literal["each"] | None = None
    """Patch of the grid: row and column, from 0; by default all patches. ``each`` makes one descriptor per patch:
    ``NAME-0-0``, ``NAME-0-1``, ...; kernels refer to all of them by ``NAME-*``."""
    grid: tuple[Count, Count] | None = None
    """Rows and columns of patches, for ``patch: each``."""

    @classmethod
    def options_of(cls, row: DescriptorRow) -> dict[str, Any]:
        """Return the options of a row, with their defaults."""
        if row is DESCRIPTORS[TABLE]:
            return {"dtype": "float64", "table": REQUIRED, "columns": None, "sets": None}
        return {"dtype": "float64", **(dict.fromkeys(("patch", "grid")) if row.grid else {})}

    @model_validator(mode="after")
    def _options_suit(self) -> Self:
        if (self.patch == "each" and self.grid is None) or (self.patch is None and self.grid is not None):
            raise ValueError("patch: each and grid: [rows, columns] need each other.")
        if self.sets is not None:  # a file that can be read was replaced by its sets
            read_gene_sets(self.sets)
            raise ValueError("sets stands in place of columns; omit one of them.")
        if self.point_sets and self.dtype != "float64":
            raise ValueError("dtype: sets of points have a type of their own; omit dtype.")
        return self

    @property
    def point_sets(self) -> bool:
        """True if the descriptor gives a point set for each image instead of a vector."""
        return bool(self.row.point_sets)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters passed to the implementation."""
        options = {name: value for name in ("table", "columns", "patch") if (value := getattr(self, name)) is not None}
        return super().parameters() | options

    def specification(self) -> dict[str, Any]:
        """Return the implementation, its parameters, and the data type if it is not the default."""
        spec = {"kind": self.kind, "implementation": self.row.implementation, "parameters": self.parameters()}
        return spec if self.dtype == "float64" else spec | {"dtype": self.dtype}

    def mistake_for(self, shape: Sequence[int]) -> str:
        """Return why the grid is invalid for images of a shape (rows, columns, ...); "" if it is valid."""
        size = self.given.get("size")
        if self.grid is None or not isinstance(size, int) or size < 1:
            return ""
        there = (shape[0] // size, shape[1] // size)
        if tuple(self.grid) == there:
            return ""
        return f"grid {list(self.grid)}: images of {shape[0]} x {shape[1]} pixels have {list(there)} patches."


class Kernel(Entry):
    """A kernel that methods combine."""

    rows: ClassVar[Mapping[str, Row]] = KERNELS
    inferred: ClassVar[Callable[[Any], Row]] = outside.kernel_row

    kind: Annotated[str, kind_in(KERNELS)]
    centre: bool = True
    """Centre in feature space at the training mean. Without centring, adding a constant to the features of a linear
    kernel changes ridge-regularised discriminants, and methods with learned and with uniform weights differ in more
    than the weights."""
    normalise: Literal["none", "unit_diagonal", "centred_trace"] = "centred_trace"
    """Scaling of the kernel: k(x,x) = 1 (``unit_diagonal``), or unit variance of the training samples in feature space
    (``centred_trace``)."""
    psd: Literal["clip", "none"] = "clip"
    """Repair of negative eigenvalues: clipped at 0, or left."""
    descriptor: NamePattern | Patterns | None = None
    """Descriptor from which the kernel is computed. A list, a name with ``*``, or ``each`` (the default) makes one
    kernel per descriptor."""
    feature_scaling: FeatureScaling | Literal["auto"] | Annotated[list[FeatureScaling], Field(min_length=1)] = "none"
    """Scaling of the descriptor's features, fitted on the training samples: mean 0 and standard deviation 1
    (``standard``), range 0 to 1 (``minmax``), unit length of each sample (``unit``), quantiles among the training
    samples (``rank``), or standardised logarithms of nonnegative values (``log``). A list makes one kernel per scaling,
    and methods can learn their weights. ``auto`` makes one kernel: each split uses the scaling with the smallest
    leave-one-out error on its training samples, ``minmax`` and ``log`` excluded. All kernels of the descriptor in all
    methods share this scaling."""
    of: Literal["all"] | Annotated[list[Slug], Field(min_length=2)] | None = None
    """Kind ``product``: names of its factors, as in methods; ``all`` (the default): every Gaussian kernel that applies
    to the data."""

    @classmethod
    def row_of(cls, kind: str) -> KernelRow:
        """Return the row of a kind."""
        row: KernelRow = super().row_of(kind)
        return row if row.measures else replace(row, measures=outside.kernel_row(load(kind)).measures)

    @classmethod
    def options_of(cls, row: KernelRow) -> dict[str, Any]:
        """Return the options of a row, with their defaults."""
        common = {"centre": True, "normalise": "centred_trace", "psd": "clip"}
        if row.of == "kernels":
            return {**common, "of": "all"}
        return {**common, "descriptor": "each", **({"feature_scaling": "none"} if row.of == "descriptor" else {})}

    _factors = field_validator("of")(each_once)

    @property
    def is_product(self) -> bool:
        """True if the kernel is a product of other kernels."""
        return bool(self.row.of == "kernels")

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the kernel's class, with its bandwidth or list of bandwidths."""
        return {"centre": self.centre, "normalise": self.normalise, "psd": self.psd} | super().parameters()

    def measure_for(self, suited: str) -> str:
        """Return the measure named in the study, else ``suited``, the measure of the features, if it is valid."""
        measures = self.row.measures
        return str(self.given.get("measure") or (suited if suited in measures else measures[0]))


class Protocol(Entry):
    """A rule that splits samples into training and test samples."""

    rows: ClassVar[Mapping[str, Row]] = PROTOCOLS
    inferred: ClassVar[Callable[[Any], Row]] = outside.protocol_row

    kind: Annotated[str, kind_in(PROTOCOLS)]
    exclude_classes: Annotated[list[str], Field(min_length=1)] | None = None
    """Classes whose samples are excluded from all splits; descriptors and kernels use the whole data set."""
    choose: Choice = "inner_cv"
    """Choice of parameters: by cross-validation within the training samples (``inner_cv``), or on the test samples of
    each split (``test_set``), to show the bias of such an oracle. In tables, the names of ``test_set`` protocols end in
    "-optimistic"."""
    train_size: Count | Annotated[list[Count], Field(min_length=1)] | None = None
    """Number of training samples, or a list of numbers; kinds ``random_per_class`` and ``clustering``: number
    per class."""
    path: str | None = None
    """Kind ``given``: file with the splits. Kind ``verification``: list of pairs, by default the one supplied with the
    registered data set, as a Parquet, CSV or TSV file with columns fold (from 0), first and second (ids), or in LFW's
    format."""

    @classmethod
    def options_of(cls, row: ProtocolRow) -> dict[str, Any]:
        """Return the options of a row, with their defaults."""
        required = {name: REQUIRED for name in row.required if name in cls.model_fields}
        optional: dict[str, Any] = {"path" if row.composes else "exclude_classes": None}  # a list names its samples
        return {"choose": "inner_cv"} | optional | required

    def parameters(self) -> dict[str, Any]:
        """Return the parameters for drawing the splits."""
        options: dict[str, Any] = {"path": self.path, "exclude_classes": self.exclude_classes}
        if self.train_size is not None:
            options["train_size"] = self.train_sizes()
        return super().parameters() | {name: value for name, value in options.items() if value is not None}

    def train_sizes(self) -> list[int | None]:
        """Return the training sizes without duplicates; [None] for protocols without sizes."""
        return list(dict.fromkeys(as_list(self.train_size)))

"""Models of the data sets of a study: registered data sets, or the user's own images, features or kernels."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, TypeAdapter, WithJsonSchema, model_validator

from mklearn.study.data.registry import SELECTION, Entry, entry, registry
from mklearn.study.specs.data_specs import FOLDER_KEY, TargetKind
from mklearn.study.specs.fit_spec import Impute
from mklearn.study.specs.model import Count, Slug, Strict
from mklearn.study.targets import of_each_target, target_kind


class Resize(Strict):
    """Resizing of images."""

    shape: tuple[Count, Count] | None = None
    """Rows and columns of every image."""
    pixels: Count | None = None
    """Approximate number of pixels per image, in place of `shape`. Keeps aspect ratios; small images are enlarged."""
    interpolation: Literal["area", "bicubic"] = "area"
    """Interpolation method, anti-aliased when shrinking. "area" is too coarse for enlarging."""

    @model_validator(mode="after")
    def _one_size(self) -> Resize:
        if (self.shape is None) == (self.pixels is None):
            raise ValueError("expected either shape: [rows, columns] or pixels: N.")
        return self


Merged = Literal["rest"] | Annotated[list[str], Field(min_length=1)]
LABELS_KEY = "LABELS"
"""Key of the labels file among the paths of own tables. It can't clash: names of descriptors are lower case."""
TABLE_OPTIONS = {
    "id_column", "label_column", "group_column", "measure", "missing_views", "impute", "leave_out", "missing_labels",
    "id_prefix",
}  # fmt: skip
"""Keys of the user's own tables and matrices that are passed to their readers."""


# A list is expanded to one data set per name before validation: see `mklearn.study.targets`.
Target = Annotated[
    str,
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
]


class SurvivalTarget(Strict):
    """Survival times to predict: two columns of one table."""

    time: str
    """Column of the times, above 0, from the start of observation to the event, or to the end of observation."""
    event: str
    """Column of the events: 1 or true if the event ended the time, and 0 or false if the time is censored."""
    occurred: str | int | bool | None = None
    """Value in the column of events that means that the event occurred, such as ``dead``. Any other value then means
    that the time is censored."""


class Dataset(Strict):
    """Keys shared by all data sets of a study."""

    title: Annotated[str, Field(min_length=1)] | None = None
    """Name of the data set in tables and figures."""
    splits_of: Slug | None = None
    """Entry of the study whose splits this data set uses, matched by sample ids. Both must have the same samples and
    labels, in any order. By default, entries of one registered data set share their splits, and own data have separate
    splits. Give a registered data set its own name here for separate splits."""
    duplicates: Literal["group"] | None = None
    """``group`` puts samples that are equal in every view into one group; groups from ``group_column`` are joined. By
    default duplicates are only counted in the notes on the data set."""

    @property
    def table_names(self) -> list[str]:
        """Names of the feature tables."""
        return []

    @functools.cached_property
    def task_of_target(self) -> TargetKind:
        """Kind of the target: classes, numbers or survival times."""
        return target_kind(self.model_dump())

    def _dumped(self, keys: set[str]) -> dict[str, Any]:
        return self.model_dump(mode="json", include=keys, exclude_none=True)


class RegisteredDataset(Dataset):
    """A data set of mklearn's registry; ``mklearn list datasets`` lists them."""

    kind: Literal["registered"] = "registered"
    name: str = ""
    """Name in the registry. By default the key of this entry."""
    target: Target | None = None
    """Name of the number to predict, if the data set has several. A list makes one data set per name. By default the
    first one."""
    resize: Resize | None = None
    """Size of the images, in place of the size in the registry."""
    classes: Annotated[list[str], Field(min_length=2)] | None = None
    """Classes to keep. By default all."""
    exclude_classes: list[str] | None = None
    """Classes to leave out."""
    first_classes: Annotated[int, Field(ge=2)] | None = None
    """Number of remaining classes to keep: the first ones in natural order of their names."""
    per_class: Annotated[int, Field(ge=2)] | None = None
    """Number of samples to keep per class: random ones with `draw`, else the first in the order of the data set."""
    draw: Annotated[int, Field(ge=0)] | None = None
    """Number of the random draw of `per_class` samples: 0, 1, ... Every class must have that many samples."""
    merge: Annotated[dict[str, Merged], Field(min_length=2)] | None = None
    """New classes, each with the list of original classes that form it. ``rest`` stands for all classes not listed;
    without it they are left out. The keys above select among the new classes."""
    class_groups: bool | None = None
    """Whether the original class of a sample of merged classes is its group: true for classes such as persons."""

    @model_validator(mode="after")
    def _selection(self) -> RegisteredDataset:
        if self.draw is not None and self.per_class is None:
            raise ValueError(f"draw: {self.draw} needs per_class, the number of samples to draw of each class.")
        if self.class_groups is not None and self.merge is None:
            raise ValueError(f"class_groups: {str(self.class_groups).lower()} needs merge, the merged classes.")
        named = [name for names in (self.merge or {}).values() for name in ([names] if names == "rest" else names)]
        twice = sorted({name for name in named if named.count(name) > 1})
        if twice:
            raise ValueError(f"merge names {', '.join(map(repr, twice))} twice.")
        return self

    @property
    def entry(self) -> Entry | None:
        """Entry in the registry; None for an unknown name."""
        return registry().get(self.name)

    @property
    def family(self) -> str:
        """Kind of data: images or tables."""
        return self.entry.family if self.entry else "images"

    @property
    def table_names(self) -> list[str]:
        """Names of the feature tables."""
        return self.entry.tables if self.entry else []

    def reading(self) -> dict[str, Any]:
        """Return the specification in the registry with the selection of the study; ConfigError for an unknown name."""
        spec = entry(self.name).spec() | self._dumped({"resize", "merge", "class_groups", "duplicates", *SELECTION})
        if self.target is not None:
            spec["options"] = spec["options"] | {"target": self.target}
        unexpected = ["image_shape"] if self.resize else []
        unexpected += ["n_samples", "n_classes", "per_class", "smallest_class"] if self.merge else []
        return spec | {"expected": {key: each for key, each in spec["expected"].items() if key not in unexpected}}


class OwnFiles(Dataset):
    """Keys shared by the user's own data."""

    reader: ClassVar[str]

    exclude_classes: Annotated[list[str], Field(min_length=1)] | None = None
    """Classes to leave out, such as classes that are too small for the folds."""
    id_column: str = "id"
    """Column of the sample ids, in every table and in the labels file."""
    group_column: str | None = None
    """Column of the group of each sample, such as a person or patient; in the labels file or in one of the tables."""

    def reading(self) -> dict[str, Any]:
        """Return the specification for the reader of the data set."""
        return {
            "reader": f"mklearn.study.data.readers.own_tables:{self.reader}",
            "options": self._dumped(TABLE_OPTIONS),
            "paths": {},
            **self._dumped({"exclude_classes", "duplicates"}),
        }


class OwnTables(OwnFiles):
    """Keys shared by the user's own tables and matrices with labels."""

    labels: str | None = None
    """File with a table of ids and labels, if the feature tables do not hold the labels."""
    label_column: str = "label"
    """Column of the classes, in the labels file or in one of the tables."""
    missing_labels: list[str] | None = None
    """Words that mean a missing label or group, as an empty cell does. By default the usual ones, such as NA, NaN,
    None, null and N/A; set ``[]`` if a class has such a name."""
    target: Target | SurvivalTarget | None = None
    """Column to predict, in place of ``label_column``: a class if it holds text, a number if it holds numbers. A list
    makes one data set per column. ``{time: COLUMN, event: COLUMN}`` predicts survival times."""
    task: Literal["classes", "numbers"] | None = None
    """Kind of the target. By default it is inferred from the column; set ``classes`` for classes that are written as
    numbers."""

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        if self.target is not None and self.label_column != "label":
            raise ValueError("target stands in place of label_column; omit one of them.")
        if self.task == "numbers" and self.target is None:
            raise ValueError("task: numbers needs `target`, the column of the numbers.")
        if self.task is not None and isinstance(self.target, SurvivalTarget):
            raise ValueError("task: `target` names columns of survival times; omit one of them.")
        if self.exclude_classes and self.task_of_target != "classes":
            raise ValueError(f"exclude_classes: the target is {self.task_of_target} and has no classes.")
        return self

    def reading(self) -> dict[str, Any]:
        """Return the specification for the reader of the data set."""
        spec = super().reading()
        if isinstance(self.target, SurvivalTarget):
            spec["options"] |= {"label_column": self.target.time, "event_column": self.target.event}
            spec["options"] |= {} if self.target.occurred is None else {"occurred": str(self.target.occurred)}
        elif self.target is not None:
            spec["options"]["label_column"] = self.target
        if self.target is not None:
            spec["options"]["task"] = self.task_of_target
        if self.labels is not None:
            spec["options"]["labels"] = LABELS_KEY
            spec["paths"][LABELS_KEY] = self.labels
        return spec


class TableFile(Strict):
    """A table in a file with several arrays (NPZ, MATLAB, AnnData .h5ad or MuData .h5mu), or with features in rows."""

    path: str
    """Path of the file."""
    array: Annotated[str, Field(min_length=1)] | None = None
    """Name of the array or variable. For AnnData ``X``, ``obsm/NAME`` or ``layers/NAME``; for MuData the modality, or
    ``MODALITY/obsm/NAME``."""
    transpose: bool = False
    """Whether a CSV, TSV or Parquet table has a feature in each row, named in the first column, and a sample in each
    other column."""


class FeatureFiles(OwnFiles):
    """Keys shared by the user's own data with tables of features."""

    tables: dict[Slug, str | TableFile] = {}
    """Files by descriptor name (Parquet, CSV, TSV, .csv.gz, .tsv.gz, NPZ, NPY, MATLAB, .h5ad or .h5mu). If a file has
    several arrays, give a mapping with ``path`` and ``array``. The default array is the only matrix of the file, ``X``
    of .h5ad, and for .h5mu the modality with the name of the descriptor. Beside images, the ids of rows are the paths
    of images in their folder, or their names where only one image has the name."""
    leave_out: list[str] = []
    """Columns that are not features, such as further measurements of a sample."""
    missing_views: Literal["error", "drop", "mean"] = "error"
    """Treatment of samples that lack a table or have no value in it: an error, dropped, or put at the mean of the
    training samples in the feature space of each kernel. The notes on the data set count them."""
    impute: Impute = "none"
    """Imputation of single missing values by the mean or median of the training samples of each split, before features
    are scaled. By default missing values are an error."""

    @property
    def table_names(self) -> list[str]:
        """Names of the feature tables."""
        return list(self.tables)

    def reading(self) -> dict[str, Any]:
        """Return the specification for the reader of the data set."""
        spec = super().reading()
        files = {name: TableFile(path=file) if isinstance(file, str) else file for name, file in self.tables.items()}
        arrays = {name: file.array for name, file in files.items() if file.array is not None}
        turned = [name for name, file in files.items() if file.transpose]
        further = ({"arrays": arrays} if arrays else {}) | ({"transposed": turned} if turned else {})
        paths = {name: file.path for name, file in files.items()} | spec["paths"]
        return spec | {"options": spec["options"] | further, "paths": paths}


class FeatureTables(FeatureFiles, OwnTables):
    """The user's own features: one table per descriptor, one row per sample."""

    family: ClassVar[str] = "tables"
    reader: ClassVar[str] = "feature_tables"

    kind: Literal["feature_tables"]
    tables: Annotated[dict[Slug, str | TableFile], Field(min_length=1)]
    """Files by descriptor name, as for images."""
    id_prefix: Count | None = None
    """Number of leading characters of an id that identify the sample, if some tables have longer ids: for example 12,
    to match aliquot barcodes with patient barcodes. By default all characters."""


class ImageFolder(FeatureFiles):
    """The user's own images: a folder with one sub-folder per class, and tables of further features of the images."""

    family: ClassVar[str] = "images"
    reader: ClassVar[str] = "images_and_tables"

    kind: Literal["image_folder"]
    path: str
    """Path of the folder; the names of its sub-folders are the classes."""
    colour: Literal["grey", "rgb"] = "grey"
    """Colour mode in which the images are read."""
    resize: Resize | None = Resize(shape=(64, 64))
    """Size of the images; null keeps their original sizes."""

    @model_validator(mode="after")
    def _options_of_tables(self) -> Self:
        fields = type(self).model_fields
        unused = [name for name in fields if name in TABLE_OPTIONS and getattr(self, name) != fields[name].default]
        if unused and not self.tables:
            raise ValueError(f"{', '.join(unused)}: needs `tables` beside the images; name one or omit the key.")
        return self

    def reading(self) -> dict[str, Any]:
        """Return the specification for the reader of the data set."""
        spec = super().reading() | self._dumped({"resize"})
        if not self.tables:
            spec |= {"reader": "mklearn.study.data.readers.images:class_folders", "options": {}}
        options, paths = {"colour": self.colour, **spec["options"]}, {FOLDER_KEY: self.path, **spec["paths"]}
        return spec | {"options": options, "paths": paths}


class Precomputed(OwnTables):
    """The user's own kernel or distance matrices: one square matrix per file (NPZ, MATLAB, Parquet, CSV or TSV)."""

    family: ClassVar[str] = "matrices"
    reader: ClassVar[str] = "precomputed"

    kind: Literal["precomputed"]
    matrices: Annotated[dict[Slug, str], Field(min_length=1)]
    """Files by kernel name."""
    measure: Literal["kernel", "distance", "squared_euclidean", "chi2"] = "kernel"
    """Content of the matrices. Distances are converted to Gaussian kernels."""
    labels: str
    """File with a table of ids and labels."""

    def reading(self) -> dict[str, Any]:
        """Return the specification for the reader of the data set."""
        spec = super().reading()
        return spec | {"paths": {**self.matrices, **spec["paths"]}}


DatasetConfig = Annotated[RegisteredDataset | ImageFolder | FeatureTables | Precomputed, Field(discriminator="kind")]


def dataset_spec(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the specification for reading a data set, from its entry in a study."""
    config: DatasetConfig = TypeAdapter(DatasetConfig).validate_python({"kind": "registered", **entry})
    return config.reading()


_OF_OWN_DATA = {"path", "tables", "matrices"}
"""Keys of own data only. An entry with such a key and no ``kind`` is reported, not read as a registered data set."""


def normalise_datasets(value: Any) -> Any:
    """Expand the short forms of registered data sets: a name, a list of names, or a mapping with empty values."""
    if isinstance(value, str):
        value = [value]
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        value = dict.fromkeys(value)
    if not isinstance(value, dict):
        return value
    full: dict[str, Any] = {}
    for key, spec in value.items():
        if spec is None:
            spec = {}
        kind = "" if isinstance(spec, dict) and _OF_OWN_DATA & set(spec) else "registered"
        if isinstance(spec, dict) and spec.get("kind", kind) == "registered":
            spec = {**spec, "kind": "registered", "name": spec.get("name") or f"{key}"}
        full |= of_each_target(key, spec, {*value, *full}) if isinstance(spec, dict) else {key: spec}
    return full

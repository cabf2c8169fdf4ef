"""Write a study file for the user's own data: images in class folders, tables of features, or matrices of pairs."""

from __future__ import annotations

import itertools
import os
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mklearn.atomic import existing_file, file_content
from mklearn.errors import ConfigError, DataError, absence
from mklearn.study.data.read import read_dataset
from mklearn.study.data.readers.annotated_data import MUDATA, arrays_of
from mklearn.study.data.readers.content import IMAGE_SUFFIXES, decode_image, is_hidden
from mklearn.study.data.readers.image_folder import find_images
from mklearn.study.data.readers.precomputed import is_bare
from mklearn.study.data.readers.table_files import ANNOTATED, ARRAYS, SUFFIXES, Table, column_names
from mklearn.study.data.readers.tabular import read_frame
from mklearn.study.data.registry import dataset_spec
from mklearn.study.data.samples import SampleSet, some
from mklearn.study.data.text_tables import slug, table_stem, table_suffix
from mklearn.study.datasets import ImageFolder
from mklearn.study.engine.data_check import heavy_tailed_views
from mklearn.study.plan.plan import plan_study
from mklearn.study.reading import check_study
from mklearn.study.study import DEFAULT_PROTOCOLS
from mklearn.study.targets import target_kind
from mklearn.study.yaml_file import with_paths, yaml_text

ID_NAMES = ("sample", "barcode", "name")
LABEL_NAMES = ("label", "labels", "class", "diagnosis", "subtype", "cell_type", "condition", "species", "tissue")
GROUP_NAMES = ("patient", "subject", "donor", "person", "participant", "individual", "animal", "mouse", "group")
FOLDS = int(DEFAULT_PROTOCOLS["5-fold"]["folds"])
MODEL = "multi-view"
"""The method of the model at the end: the default method that has probabilities, or intervals of numbers."""
FEWEST_GROUPS, IMAGES_DECODED = 5, 40
COLOURED = 16
"""Mean difference between the channels of a pixel from which an image is in colour, of 255."""
Entry = dict[str, Any]


@dataclass(frozen=True)
class Choices:
    """Options of ``mklearn init`` for tables; what is empty or None is chosen by the names of columns.

    An empty `group_column` is for no groups. `measure` is what matrices of pairs hold, such as "kernel".
    """

    id_column: str = ""
    label_column: str = ""
    target: str = ""
    group_column: str | None = None
    labels: str = ""
    views: Sequence[str] = ()
    measure: str | None = None
    id_prefix: int | None = None


class NewStudy(NamedTuple):
    """The text of a study file that is valid, and sentences about the data."""

    name: str
    text: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Table:
    """A file, or one modality of a MuData file."""

    path: Path
    columns: pd.DataFrame
    """Its columns; of a file of arrays those with one value for each sample."""
    array: str = ""

    @property
    def shown(self) -> Any:
        """The table as a study names it."""
        return {"path": _relative(self.path), "array": self.array} if self.array else _relative(self.path)

    @property
    def has_features_as_columns(self) -> bool:
        return self.path.suffix not in (*ARRAYS, *ANNOTATED)


def new_study(place: str | Path, choices: Choices = Choices(), name: str = "", folder: str | Path = ".") -> NewStudy:
    """Write a study of the data with the defaults of mklearn, and check it.

    `place` is a folder with a sub-folder of images for each class, a folder of tables, or one table; the study is named
    by it unless `name` is given. Paths are written for a study file in `folder`. Raise DataError for data that can't be
    used (the reader's message, or a class of one sample), and ConfigError if the name is invalid, choices contradict
    the data, or a column has to be named.
    """
    path = Path(place)
    if not path.exists():
        raise DataError(f"{path}: {absence(path)}, and no such folder.")
    name = name or slug(table_stem(path.resolve()) if path.is_file() else path.resolve().name)
    labels: Any
    groups: list[str] = []
    if path.is_dir() and _has_class_folders(path):
        if choices != Choices():
            raise ConfigError(f"{path} holds images, whose sub-folders are the classes: omit the options of tables.")
        entry, notes = _image_entry(path)
        labels = [file.parent.name for file in find_images(path)]
    else:
        tables, notes = _find_tables(path, choices.labels)
        entry, samples, more = _table_entry(tables, choices)
        labels = samples.y if samples.target == "numbers" else samples.classes[samples.y].tolist()
        groups = [] if samples.groups is None else list(map(str, samples.groups))
        if groups and _folds(labels, groups)[0] < 2:
            if choices.group_column is not None:
                raise DataError(
                    f"--group {choices.group_column}: a class, or all samples, are of one group; folds need 2."
                )
            return new_study(place, replace(choices, group_column=""), name, folder)
        notes = [*more, *samples.notes, *heavy_tailed_views(samples), *notes]
    n_units, counts = _folds(labels, groups)
    folds = min(FOLDS, n_units)
    study: Entry = {"study": name, "datasets": {name: entry}}
    if groups or folds < FOLDS:
        study["protocols"] = {f"{folds}-fold": {"kind": "group_k_fold" if groups else "k_fold", "folds": folds}}
    if entry["kind"] != "precomputed":
        study["final"] = {"method": MODEL}
    plan_study(check_study(study, source="the data"))
    written = with_paths(study, lambda file: _relative(Path(file), folder))
    return NewStudy(name, f"# {counts}\n{yaml_text(written)}", (counts, *notes))


# --- images


def _has_class_folders(folder: Path) -> bool:
    inside = (
        file for part in folder.iterdir() if part.is_dir() and not is_hidden(part.name) for file in part.iterdir()
    )
    return any(file.suffix.lower() in IMAGE_SUFFIXES for file in inside)


def _image_entry(folder: Path) -> tuple[Entry, list[str]]:
    colour = "rgb" if _in_colour(find_images(folder)) else "grey"
    shape = list(ImageFolder.model_fields["resize"].default.shape)
    entry = {"kind": "image_folder", "path": _relative(folder), "colour": colour, "resize": {"shape": shape}}
    return entry, [f"Images are read with colour: {colour}, and resized to {shape[0]} x {shape[1]} pixels (resize)."]


def _in_colour(files: Sequence[Path]) -> bool:
    coloured = []
    for file in files[:: max(1, -(-len(files) // IMAGES_DECODED))]:
        with suppress(DataError):  # named when the study is validated
            pixels = decode_image(file_content(file), str(file), "rgb")
            coloured.append(float(np.ptp(pixels, axis=2).mean()) >= COLOURED)
    return 2 * sum(coloured) >= len(coloured) > 0


# --- tables


def _find_tables(path: Path, labels: str) -> tuple[dict[str, _Table], list[str]]:
    """Return the tables at a path by the names of their views, "" for the file of labels, and a note on other files."""
    files, others = [path], list[Path]()
    holder = existing_file(Path(labels)).resolve() if labels else None
    if path.is_dir():
        inside = sorted(file for file in path.iterdir() if file.is_file() and not is_hidden(file.name))
        inside = [file for file in inside if file.resolve() != holder]
        files = [file for file in inside if table_suffix(file) in SUFFIXES]
        others = [file for file in inside if file not in files]
    if not files:
        raise DataError(
            f"{path}: expected one sub-folder per class with images in it ({', '.join(IMAGE_SUFFIXES)}), or tables "
            f"({', '.join(SUFFIXES)})."
        )
    tables = {"": _Table(Path(labels), _columns(Path(labels)))} if labels else {}
    for file in files:
        columns = _columns(file)
        for array in arrays_of(file)[1] if file.suffix == MUDATA else [""]:
            view = slug(array or table_stem(file))
            if view in tables:
                raise ConfigError(f"{path}: names of tables differ in a-z, 0-9, '.', '_' and '-'; rename {view!r}.")
            tables[view] = _Table(file, columns, array)
    left = [f"Left out, because they are no tables ({', '.join(SUFFIXES)}): {some([file.name for file in others])}."]
    return tables, left if others else []


def _columns(path: Path) -> pd.DataFrame:
    if path.suffix not in (*ARRAYS, *ANNOTATED):
        return pd.DataFrame() if is_bare(path) else read_frame(path, ("id",))
    columns, arrays = arrays_of(path) if path.suffix in ANNOTATED else (list(column_names(path)), [])
    arrays.sort(key=lambda array: not array.startswith("obsm/"))  # components are small
    read: dict[str, pd.Series] = {}
    with suppress(DataError):  # too large as a whole: the study may take another array
        table = Table(path, "id", columns, array=arrays[0] if arrays else None)
        for name in dict.fromkeys(("id", *columns)):
            with suppress(DataError):  # a matrix, or no such column
                values = pd.Series(table.text(name))
                values = values.where(values != "")
                numbers = pd.to_numeric(values, errors="coerce")
                read[name] = numbers if numbers.notna().sum() == values.notna().sum() else values
    length = len(next(iter(read.values()), ()))
    return pd.DataFrame({name: values for name, values in read.items() if len(values) == length})


def _table_entry(tables: Mapping[str, _Table], choices: Choices) -> tuple[Entry, SampleSet, list[str]]:
    """Return the entry of tables or matrices in a study, its samples, and sentences on what was taken for what."""
    views = {name: table for name, table in tables.items() if name}
    unknown = sorted(set(choices.views) - set(views))
    if unknown:
        raise ConfigError(f"--views {unknown[0]}: there is no such table; valid: {', '.join(views)}.")
    described = [tables[""]] if "" in tables else list(views.values())
    columns = {str(name): table.columns[name] for table in reversed(described) for name in table.columns}
    ids, notes = choices.id_column or _id_column(described), []
    if ids not in ("id", choices.id_column):
        notes.append(f"Ids are in column {ids!r}.")
    predicted = choices.target or choices.label_column or _label_column(columns, ids)
    if predicted not in ("label", choices.target, choices.label_column):
        notes.append(f"Classes are in column {predicted!r}, with {columns[predicted].nunique()} values.")
    holder = tables.get("") or _label_table(views, choices, ids, predicted)
    views = {name: table for name, table in views.items() if name in (choices.views or views) and table is not holder}
    if holder is not None and (others := [name for name in holder.columns if name not in (ids, predicted)]):
        notes.append(
            f"{holder.path} holds the labels ({predicted!r}); its other columns are no features: {some(others)}."
        )
    entry: Entry = {"kind": "precomputed" if choices.measure else "feature_tables"}
    if choices.measure:
        if holder is None:
            raise DataError(
                f"no table has a column {predicted!r} of the labels of matrices; name it with --labels FILE."
            )
        entry |= {"measure": choices.measure, "labels": _relative(holder.path)}
        entry["matrices"] = {name: _relative(table.path) for name, table in views.items()}
    else:
        entry["tables"] = {name: table.shown for name, table in views.items()}
        entry |= {} if holder is None else {"labels": _relative(holder.path)}
    entry |= {} if ids == "id" else {"id_column": ids}
    entry |= {"target": predicted} if choices.target else {} if predicted == "label" else {"label_column": predicted}
    entry |= {} if choices.id_prefix is None else {"id_prefix": choices.id_prefix}
    group = choices.group_column
    if group is None:
        group = _group_column(described if holder is None else [holder], (ids, predicted))
        notes += [f"Folds hold out whole groups by column {group!r} (--group '' for none)."] if group else []
    entry |= {"group_column": group} if group else {}
    if choices.measure:
        return entry, _read(entry), notes
    left_out = _left_out(views.values(), (ids, predicted, group))
    if left_out:
        entry["leave_out"] = left_out
        notes.append(f"Columns that are no features: {some(left_out)} (leave_out).")
    return *_with_gaps(entry), notes


def _named_like(column: str, names: Collection[str]) -> bool:
    """Return whether a column has one of some names, in any case, also as ``patient_id`` or ``Patient ID``."""
    return re.sub(r"[\s_.-]*(id|no|number)?$", "", column.strip().lower()) in names


def _id_column(tables: Sequence[_Table]) -> str:
    texts = [table.columns for table in tables if table.has_features_as_columns and len(table.columns)]
    if not texts or any("id" in table.columns for table in tables):
        return "id"
    for name in texts[0]:
        if _named_like(str(name), ID_NAMES) and all(name in columns for columns in texts):
            return str(name)
    raise ConfigError(f"no column 'id': name one with --id, of {some(list(map(str, texts[0])))}.")


def _label_column(columns: Mapping[str, pd.Series], ids: str) -> str:
    if "label" in columns:
        return "label"
    few = [name for name, values in columns.items() if 2 <= values.nunique() <= values.notna().sum() / 2]
    usual = [name for one in LABEL_NAMES for name in few if name != ids and _named_like(name, (one,))]
    if not usual:
        choice = [f"{name} ({columns[name].nunique()} values)" for name in ([*few] or [*columns])[:20]]
        raise ConfigError(f"no column 'label': name one with --label or --target, of {', '.join(choice)}.")
    return usual[0]


def _label_table(views: Mapping[str, _Table], choices: Choices, ids: str, predicted: str) -> _Table | None:
    """Return the table that holds labels and no features: of several tables the only one with the column.

    Other tables may repeat the labels, of a table that holds nothing else.
    """
    holding = [name for name, table in views.items() if predicted in table.columns]
    alone = [name for name in holding if {*views[name].columns} <= {ids, predicted, choices.group_column}]
    names = [name for name in alone if views[name].has_features_as_columns]
    names = names if len(names) == 1 else holding
    if len(views) == 1 or len(names) != 1 or names[0] in choices.views:
        return None
    return views[names[0]] if views[names[0]].has_features_as_columns else None


def _group_column(tables: Sequence[_Table], others: Sequence[str]) -> str:
    columns = {str(name): table.columns[name] for table in tables for name in table.columns}
    usual = (name for name in columns if name not in others and _named_like(name, GROUP_NAMES))
    complete = (name for name in usual if columns[name].notna().all())
    return next((name for name in complete if FEWEST_GROUPS <= columns[name].nunique() < len(columns[name])), "")


def _left_out(views: Any, used: Sequence[str]) -> list[str]:
    wide = (table.columns for table in views if table.has_features_as_columns)
    columns = {str(name): table[name] for table in wide for name in table if name not in used}
    text = {name for name, values in columns.items() if values.dtype.kind not in "uifb" and values.notna().any()}
    return [name for name in columns if name in text or _named_like(name, GROUP_NAMES)]


def _with_gaps(entry: Entry) -> tuple[Entry, SampleSet]:
    """Read tables with the mildest treatment of gaps that they can be read with.

    Raise DataError where most samples lack a table, so that ids are likely to be written in several ways.
    """
    for missing_views, impute in itertools.product(("error", "mean"), ("none", "median")):
        unusual = {"missing_views": missing_views, "impute": impute}
        treated = entry | {key: value for key, value in unusual.items() if value not in ("error", "none")}
        try:
            samples = _read(treated)
            break
        except DataError:
            if unusual == {"missing_views": "mean", "impute": "median"}:
                raise
    lacking = [np.isnan(samples.tables[name]).all(axis=1) for name in samples.incomplete]
    if lacking and 2 * np.logical_or.reduce(lacking).sum() > len(samples):
        raise DataError(
            f"{', '.join(samples.incomplete)}: most of the {len(samples)} samples lack one of these tables. Are ids "
            "written alike in all of them? Where samples are missing, leave such a table out: --views."
        )
    return treated, samples


def _read(entry: Entry) -> SampleSet:
    return read_dataset(dataset_spec(entry | {"task": target_kind(entry)}))


# --- folds


def _folds(labels: Sequence[Any] | np.ndarray, groups: Sequence[str]) -> tuple[int, str]:
    """Return how many folds the smallest class, or the number of samples, allows, and a sentence about the data."""
    if isinstance(labels, np.ndarray):
        n = len(set(groups) or labels)
        subject = f"{len(labels)} samples{f' in {n} groups' if groups else ''}"
        return n, f"{subject} with numbers to predict, from {labels.min():g} to {labels.max():g}."
    sizes = Counter(label for label, _ in set(zip(labels, groups, strict=True))) if groups else Counter(labels)
    smallest, n = min(sizes.items(), key=lambda item: item[1])
    unit = "group" if groups else "sample"
    if n < 2 and not groups:
        raise DataError(f"class {smallest!r} has 1 sample: cross-validation needs 2. Add some, or leave the class out.")
    return n, f"{len(labels)} samples of {len(sizes)} classes; the smallest has {n} {unit}{'s' * (n != 1)}."


def _relative(path: Path, folder: str | Path = ".") -> str:
    relative = os.path.relpath(path, folder)
    return str(path.resolve()) if relative.startswith("..") else relative

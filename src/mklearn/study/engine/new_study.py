"""Generation of a study file for the user's data: images in class folders, or tables of features."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mklearn.atomic import existing_file, file_content
from mklearn.errors import ConfigError, DataError, UserError, absence
from mklearn.study.data.read import labels_table, read_dataset
from mklearn.study.data.readers.images import IMAGE_SUFFIXES, decode_image, find_images, is_hidden
from mklearn.study.data.readers.tables import ANNOTATED, ARRAYS, MUDATA, columns_of_samples, modalities, sample_columns
from mklearn.study.data.samples import SampleSet, some
from mklearn.study.data.text_tables import SUFFIXES, is_number, named_like, slug, table_stem, table_suffix
from mklearn.study.datasets import ImageFolder, dataset_spec
from mklearn.study.engine.data_check import target_counts
from mklearn.study.plan.plan import plan_study
from mklearn.study.reading import check_study
from mklearn.study.study import DEFAULT_PROTOCOLS
from mklearn.study.yaml_file import with_paths, yaml_text

ID_NAMES = ("sample", "barcode", "name")
LABEL_NAMES = ("label", "labels", "class", "diagnosis", "subtype", "cell_type", "condition", "species", "tissue")
GROUP_NAMES = ("patient", "subject", "donor", "person", "participant", "individual", "animal", "mouse", "group")
ROW_NUMBERS = ("id", "fid", "oid", "oid_", "objectid", "ogc_fid", "gid")
"""Names, in any case, of the row numbers that geographic files have (also ORIG_FID, OBJECTID_1)."""
ROLES = ("id", *ID_NAMES, *LABEL_NAMES, *GROUP_NAMES)
FOLDS = int(DEFAULT_PROTOCOLS["5-fold"]["folds"])
MODEL = "multi-view"
"""Method of the final model: the default method with probabilities, or with intervals for numbers."""
FEWEST_GROUPS, IMAGES_DECODED = 5, 40
MOST_OF_NULL, N_SHUFFLES = 500, 20
"""Largest number of samples for which a new study has a null control, which takes seconds; number of its shuffles."""
COLOURED = 16
"""Smallest mean difference between channels of a pixel, on a scale of 255, at which an image counts as coloured."""
Entry = dict[str, Any]


@dataclass(frozen=True)
class Choices:
    """Options of ``mklearn init`` for tables; empty values and None are inferred from column names.

    An empty `group_column` means no groups.
    """

    id_column: str = ""
    label_column: str = ""
    target: str = ""
    time: str = ""
    event: str = ""
    occurred: str = ""
    group_column: str | None = None
    labels: str = ""
    views: Sequence[str] = ()
    id_prefix: int | None = None


class NewStudy(NamedTuple):
    """The text of a valid study file, and sentences on what it leaves out."""

    name: str
    text: str
    notes: tuple[str, ...]


class _Table(NamedTuple):
    """A file, or one modality of a MuData file, with candidate columns for ids, labels and groups."""

    path: Path
    columns: pd.DataFrame
    array: str = ""


def new_study(place: str | Path, choices: Choices = Choices(), name: str = "", folder: str | Path = ".") -> NewStudy:
    """Return the text of a study file for the data, with mklearn's defaults, after checking the study.

    `place` is a folder with a sub-folder of images for each class, a folder of tables, or one table; its name is the
    default of `name`. Paths are relative to `folder`, the place of the study file. Raise DataError for unusable data
    (the reader's message, or a class of one sample), and ConfigError if the name is invalid, choices contradict the
    data, or a column must be named.
    """
    path = Path(place)
    if not path.exists():
        raise DataError(f"{path}: {absence(path)}, and no such folder.")
    name = name or slug(table_stem(path.resolve()) if path.is_file() else path.resolve().name)
    folders = [part for part in path.glob("*") if part.is_dir() and not is_hidden(part.name)]
    if any(file.suffix.lower() in IMAGE_SUFFIXES for part in folders for file in part.iterdir()):
        if choices != Choices():
            raise ConfigError(f"{path} holds images, whose sub-folders are the classes: omit the options of tables.")
        (entry, labels), notes = _image_entry(path), list[str]()
        counts = target_counts(labels, "classes")
    else:
        entry, samples, notes = _table_entry(path, choices)
        labels, notes = labels_table(samples), [*notes, *samples.notes]
        counts = target_counts(labels, samples.target)
    folds, kind = min(FOLDS, _most_folds(labels)), "group_k_fold" if "group" in labels else "k_fold"
    if folds < 2:
        raise DataError(
            f"{counts}. Cross-validation needs two samples of each class, or two groups where folds hold out whole "
            "groups (--group '' for none): add some, or leave the class out (exclude_classes in a study)."
        )
    study: Entry = {"study": name, "datasets": {name: entry}}
    if folds < FOLDS or kind == "group_k_fold":
        study["protocols"] = {f"{folds}-fold": {"kind": kind, "folds": folds}}
    if len(labels) <= MOST_OF_NULL:
        study["null"] = N_SHUFFLES
    study["final"] = {"method": MODEL}
    plan_study(check_study(study, source="the data"))
    written = with_paths(study, lambda file: _relative(file, folder))
    return NewStudy(name, f"# {counts}\n{yaml_text(written)}", tuple(notes))


def _relative(file: str, folder: str | Path) -> str:
    relative = os.path.relpath(file, folder)
    return str(Path(file).resolve()) if relative.startswith("..") else relative


def _most_folds(labels: pd.DataFrame) -> int:
    """Return the number of samples, or of groups, in the smallest class, or in all if there are no classes."""
    names = [name for name in ("label", "group") if name in labels]
    units = labels.drop_duplicates(names) if "group" in names else labels
    return int(units["label"].value_counts().min()) if "label" in names else len(units)


# --- images


def _image_entry(folder: Path) -> tuple[Entry, pd.DataFrame]:
    """Return the study entry of images, and a table of their labels."""
    files = find_images(folder)[0]
    coloured = []
    for file in files[:: max(1, -(-len(files) // IMAGES_DECODED))]:
        with suppress(UserError):  # the validation of the study reports it
            pixels = decode_image(file_content(file), str(file), "rgb")
            coloured.append(float(np.ptp(pixels, axis=2).mean()) >= COLOURED)
    colour = "rgb" if 2 * sum(coloured) >= len(coloured) > 0 else "grey"
    shape = list(ImageFolder.model_fields["resize"].default.shape)
    entry = {"kind": "image_folder", "path": str(folder), "colour": colour, "resize": {"shape": shape}}
    return entry, pd.DataFrame({"label": [file.parent.name for file in files]})


# --- tables


def _table_entry(path: Path, choices: Choices) -> tuple[Entry, SampleSet, list[str]]:
    """Return the study entry of tables, their samples, and sentences on files and columns that are left out."""
    views, notes = _tables_at(path, choices.labels)
    if unknown := sorted(set(choices.views) - set(views)):
        raise ConfigError(f"--views {unknown[0]}: there is no such table; valid: {', '.join(views)}.")
    holder = _Table(Path(choices.labels), sample_columns(existing_file(choices.labels))) if choices.labels else None
    described = [holder] if holder else list(views.values())
    id_names = ("", "id", *ID_NAMES) if all("" in table.columns for table in described) else ("id", *ID_NAMES, "")
    by_name = _named_column(choices.id_column, described, id_names, "--id")
    ids = by_name or "id"
    if bool(choices.time) != bool(choices.event) or (choices.occurred and not choices.event):
        raise ConfigError("survival needs --time and --event: name both columns (--occurred VALUE for other words).")
    named = {"--label": choices.label_column, "--target": choices.target, "--time": choices.time}
    if len(given := [f"{option} {column}" for option, column in named.items() if column]) > 1:
        raise ConfigError(f"{' and '.join(given)}: a study has one target; omit the others.")
    target: Any = choices.target
    if choices.time:
        target = {"time": choices.time, "event": choices.event}
        target |= {"occurred": choices.occurred} if choices.occurred else {}
    chosen = choices.time or choices.target or choices.label_column
    predicted = _named_column(chosen, described, LABEL_NAMES, "--label or --target")
    holder = holder or _label_table(views, choices, ids, predicted)
    if choices.views:
        views = {name: table for name, table in views.items() if name in choices.views}
    views = {name: table for name, table in views.items() if table is not holder}
    if holder is not None:
        others = some([name for name in holder.columns if name not in (ids, predicted, "")]) or "none"
        notes.append(f"{holder.path} holds the labels ({predicted!r}); its other columns are no features: {others}.")
    group = choices.group_column
    if group is None:
        group, incomplete = _group_column([holder] if holder else described, (ids, predicted))
        notes += incomplete
    labelled = [table for table in ([holder] if holder else views.values()) if predicted in table.columns]
    read = [table.columns if ids == "id" else sample_columns(table.path, (ids,)) for table in labelled]  # 007 is no 7
    of_ids = [columns[name].astype(str) for columns in read for name in (ids, "") if name in columns]
    known = set().union(*(values.str[: choices.id_prefix] for values in of_ids))
    turned = [name for name, table in views.items() if columns_of_samples(table.columns, known, choices.id_prefix)]
    samples = {str(c) for name in turned for c in views[name].columns if str(c)[: choices.id_prefix] in known}
    special = [ids, "", predicted, choices.event, group or ""]
    shown, left_out = _view_entries(views, turned, special, samples)
    untransposed = [table for name, table in views.items() if name not in turned]
    notes += _notes_on_features(untransposed, [*special, *left_out], predicted, holder)
    entry: Entry = {"kind": "feature_tables", "tables": shown}
    entry |= {} if holder is None else {"labels": str(holder.path)}
    entry |= {"id_column": by_name} if by_name else {}  # defaults too: the printed study says which columns were taken
    entry |= {"target": target} if target else {"label_column": predicted}
    entry |= {} if choices.id_prefix is None else {"id_prefix": choices.id_prefix}
    entry |= {"group_column": group} if group else {}
    if left_out:
        entry["leave_out"] = left_out
        others = "Columns of text, and further ones named as ids, row numbers, classes or groups, are no features"
        notes.append(f"{others}: {some(left_out)} (leave_out).")
        notes += _numbers_in_text(views, left_out)
    return *_with_gaps(entry), notes


def _tables_at(path: Path, labels: str) -> tuple[dict[str, _Table], list[str]]:
    """Return the tables at a path by view name, and notes on ignored files."""
    files, others = [path], list[Path]()
    if path.is_dir():
        inside = sorted(file for file in path.iterdir() if file.is_file() and not is_hidden(file.name))
        inside = [file for file in inside if not labels or file.resolve() != Path(labels).resolve()]
        files = [file for file in inside if table_suffix(file)]
        others = [file for file in inside if file not in files]
    read = {file: sample_columns(file) for file in files}
    given = [file for file, columns in read.items() if path.is_dir() and {"repeat", "fold", "role"} <= set(columns)]
    if len(given) == len(files):
        raise DataError(
            f"{path}: expected one sub-folder per class with images in it ({', '.join(IMAGE_SUFFIXES)}), or tables "
            f"({', '.join(SUFFIXES)})."
        )
    tables: dict[str, _Table] = {}
    for file, columns in read.items():
        if file in given:
            continue
        for array in modalities(file) if file.suffix == MUDATA else [""]:
            view = slug(array or table_stem(file))
            if view in tables:
                raise ConfigError(f"{path}: names of tables differ in a-z, 0-9, '.', '_' and '-'; rename {view!r}.")
            tables[view] = _Table(file, columns, array)
    left = [f"Left out, because they are no tables ({', '.join(SUFFIXES)}): {some([file.name for file in others])}."]
    splits = [f"Left out, because it holds splits, for a protocol of the kind given: {file.name}." for file in given]
    return tables, [*(left if others else []), *splits]


def _names_of(tables: Sequence[_Table]) -> list[str]:
    """Return the names of columns, those that most tables have first."""
    return [name for name, _ in Counter(str(name) for table in tables for name in table.columns).most_common()]


def _named_column(chosen: str, tables: Sequence[_Table], names: Sequence[str], option: str) -> str:
    """Return the chosen column, else the one whose name comes first among `names`, in most tables."""
    columns = _names_of(tables)
    usual = (name for like in names for name in columns if name == like or (like and named_like(name, (like,))))
    column = chosen or next(usual, None)
    if column is None:
        smallest = sorted(tables, key=lambda table: table.columns.shape[1])  # before those of thousands of genes
        valid = f": name one with {option}, of {', '.join(_names_of(smallest)[:20])}."
        none = ", and no other: expected tables, or matrices (samples, features) beside a vector of ids."
        raise ConfigError(f"no column {names[0]!r}{valid if columns else none}")
    return column


def _group_column(tables: Sequence[_Table], special: Collection[str]) -> tuple[str, list[str]]:
    """Return the first complete column with a usual name of groups, "" for none; and a sentence if all have gaps."""
    usual = [
        (str(name), int(values.isna().sum()))
        for table in tables for name, values in table.columns.items()
        if named_like(str(name), GROUP_NAMES) and name not in special
        and FEWEST_GROUPS <= values.nunique() < len(values)
    ]  # fmt: skip
    complete = [name for name, n_empty in usual if not n_empty]
    if complete or not usual:
        return next(iter(complete), ""), []
    name, n_empty = usual[0]
    return "", [f"Folds do not hold out whole groups by {name!r}; for that, fill in its empty cells ({n_empty})."]


def _view_entries(
    views: Mapping[str, _Table], transposed: Collection[str], special: Sequence[str], samples: Collection[str]
) -> tuple[Entry, list[str]]:
    """Return the entries of views in the study, and their columns that are neither features nor `samples`."""
    shown, left_out = Entry(), dict[str, None]()
    for view, table in views.items():
        path, columns = str(table.path), table.columns.drop(columns=list(special), errors="ignore")
        shown[view] = {"path": path, "array": table.array} if table.array else path
        if view in transposed:
            shown[view], columns = {"path": path, "transpose": True}, table.columns.iloc[:, 1:]
        words = [
            str(name) for name, values in columns.items()
            if ((values.dtype.kind not in "uifb" and values.notna().any()) or named_like(str(name), ROLES)
             or _are_row_numbers(str(name), values))
            and not (view in transposed and str(name) in samples)
        ]  # fmt: skip
        if table.path.suffix not in (*ARRAYS, *ANNOTATED) and len(words) < columns.shape[1]:
            left_out |= dict.fromkeys(words)
    return shown, list(left_out)


def _are_row_numbers(name: str, values: pd.Series) -> bool:
    """Check whether a column has a usual name of row numbers, and whole numbers that differ in all rows."""
    is_named = re.sub(r"^orig_|_\d+$", "", name.strip().lower()) in ROW_NUMBERS
    return is_named and values.dtype.kind in "iu" and bool(values.is_unique)


def _notes_on_features(
    tables: Sequence[_Table], special: Sequence[str], predicted: str, holder: _Table | None
) -> Iterator[str]:
    """Yield a sentence on each table with features beside the labels, or with columns of the table of labels."""
    others = "leave_out takes those that are none"
    for table in tables:
        features = [] if table.path.suffix in (*ARRAYS, *ANNOTATED) else map(str, table.columns)
        names = [name for name in features if name not in special]
        if predicted in table.columns and names:
            yield f"{table.path} holds the labels ({predicted!r}) and features ({others}): {some(names, 20)}."
        elif holder is not None and (shared := [name for name in names if name in holder.columns]):
            yield f"{table.path} has columns of {holder.path} as features ({others}): {some(shared)}."


def _numbers_in_text(views: Mapping[str, _Table], left_out: Sequence[str]) -> Iterator[str]:
    """Yield a sentence on the columns of a table that are left out as text, though most of their values are numbers."""
    for table in views.values():
        texts = dict[str, pd.Series]()
        for name in left_out:
            values = table.columns.get(name, pd.Series(dtype=str)).dropna()
            is_text = values.dtype.kind not in "uifb" and not named_like(name, ROLES)
            if is_text and 2 * sum(map(is_number, values.astype(str).str.replace(",", "."))) > len(values):
                numbers = values.map(is_number).astype(bool)  # all are where the file has both decimal marks
                texts[name] = values if numbers.all() else values[~numbers]
        if texts:
            every = pd.concat(texts)
            yield (
                f"{table.path}: left out though most values seem to be numbers: {some([*texts])}. {len(every)} cells "
                f"have text, such as {some(every.unique(), 3)}; write numbers with one decimal mark, or empty cells."
            )


def _label_table(views: Mapping[str, _Table], choices: Choices, ids: str, predicted: str) -> _Table | None:
    """Return the only table with labels, or the only one with labels and no features; else None."""
    holding = [name for name, table in views.items() if predicted in table.columns]
    special = {ids, predicted, choices.event, choices.group_column, ""}
    bare = [name for name in holding if {*views[name].columns} <= special]
    names = bare if len(bare) == 1 else holding
    if len(views) == 1 or len(names) != 1 or names[0] in choices.views:
        return None
    return None if views[names[0]].path.suffix in (*ARRAYS, *ANNOTATED) else views[names[0]]


def _with_gaps(entry: Entry) -> tuple[Entry, SampleSet]:
    """Read tables, and set the options for missing values that the data need.

    Raise DataError if most samples lack a table, since their ids are probably spelled inconsistently.
    """
    samples = read_dataset(dataset_spec(entry | {"missing_views": "mean", "impute": "median"}))
    gaps = [np.isnan(table) for table in samples.tables.values()]
    lacking = [gap.all(axis=1) for gap in gaps]
    if 2 * np.logical_or.reduce(lacking).sum() > len(samples):
        raise DataError(
            f"most of the {len(samples)} samples lack one of the tables {', '.join(samples.tables)}. Are ids "
            "written alike in all of them? Where samples are missing, leave such a table out: --views."
        )
    if any(rows.any() for rows in lacking):
        entry = entry | {"missing_views": "mean"}
    if any(gap[~rows].any() for gap, rows in zip(gaps, lacking, strict=True)):
        entry = entry | {"impute": "median"}
    return entry, samples

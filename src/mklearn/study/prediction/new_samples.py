"""New samples as a model takes them: images in the study's size and descriptors, or tables by the names of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklearn.atomic import existing_file, file_content
from mklearn.descriptors.table import DESCRIPTORS
from mklearn.errors import ConfigError, DataError
from mklearn.kernels.views import Views
from mklearn.loading import load
from mklearn.study.data.readers.images import IMAGE_SUFFIXES, decode_image, is_hidden
from mklearn.study.data.readers.own_tables import agreed, array_of_view
from mklearn.study.data.readers.tables import Table, numeric_values, require_columns
from mklearn.study.data.resizing import resize_images
from mklearn.study.data.samples import check_text, natural_key, some, stack_if_regular
from mklearn.study.data.text_tables import MISSING
from mklearn.study.specs.final_spec import ModelInputs, ModelView
from mklearn.study.specs.fit_spec import IMAGES

BATCH = 256
"""Images described at a time."""
MOST_MISSING = 0.2
"""Share of a view's features that new samples may all lack (docs/models.md says what was measured)."""
CENTRE = "centre"
"""The array ``VIEW/centre`` of a model has the mean of each feature of a table, or the median with impute: median."""
Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class NewSamples:
    """Samples to predict.

    Attributes
    ----------
    ids : (m,) array of str
        Paths of images below their folder, or ids of tables; row numbers from 1 where a table has none.
    X : Views
        What the estimator takes. A sample that lacks a view has a row of NaN there.
    labels : (m,) array of str or None
        Labels that the tables have, "" where there is none.
    notes : sequence of str
        What is missing and how it is filled in, and samples that the model was fitted to.
    unread : dict of str to str
        Images that can't be read, by their paths, and why. They are none of the samples.
    """

    ids: NDArray[np.str_]
    X: Any
    labels: NDArray[np.str_] | None = None
    notes: Sequence[str] = ()
    unread: Mapping[str, str] = field(default_factory=dict)


def read_new_samples(sources: Sequence[str], inputs: ModelInputs, arrays: Arrays) -> NewSamples:
    """Read new samples for a model.

    Parameters
    ----------
    sources : sequence of str
        Of a model on images: one folder, with images at any depth, or one image. Of a model on tables: one file for all
        views, a folder of files that are named as the study's, or ``VIEW=FILE`` for each view.
    inputs : ModelInputs
    arrays : dict of str to array
        Those beside the estimator: what descriptors have learned, and means of the features of tables.

    Raises
    ------
    DataError
        A file that can't be read, lacks more than `MOST_MISSING` of the columns of a view, or holds other features than
        the training samples had; the message names it. Of several images one that can be read is enough, see
        `NewSamples`.
    ConfigError
        Sources of another kind than the model takes.
    """
    if inputs.family == "tables":
        return _from_tables(_files_by_view(sources, inputs.views), inputs, arrays)
    if len(sources) > 1:
        raise ConfigError(f"{', '.join(sources)}: the model takes images: name one folder, or one image")
    if not Path(sources[0]).exists():
        raise ConfigError(f"{sources[0]}: no such file or folder; the model takes a folder of images, or one image")
    return _from_images(Path(sources[0]), inputs, arrays)


# --- images


def _from_images(source: Path, inputs: ModelInputs, arrays: Arrays) -> NewSamples:
    files = _image_files(source) if source.is_dir() else [source]
    names = [file.name if file == source else file.relative_to(source).as_posix() for file in files]
    check_text(names, f"{source}: names of images")
    read: dict[str, NDArray[Any]] = {}
    unread: dict[str, str] = {}
    for name, file in zip(names, files, strict=True):
        try:
            read[name] = _image(file, inputs)
        except DataError as error:
            unread[name] = str(error)
    if not read:
        raise DataError(next(iter(unread.values())))
    images = stack_if_regular(list(read.values()))
    views = {view.name: described_images(images, view, arrays) for view in inputs.views}
    ids = np.array(list(read))
    return NewSamples(ids, Views(views or {IMAGES: np.asarray(images, dtype=np.float64)}), unread=unread)


def _image(file: Path, inputs: ModelInputs) -> NDArray[Any]:
    image = decode_image(file_content(file), str(file), inputs.options.get("colour", "grey"))
    if inputs.resize is not None:
        image = resize_images([image], **inputs.resize)[0]
    if str(image.dtype) != inputs.pixels:
        raise DataError(f"{file}: its pixels are {image.dtype}, and those of the training images were {inputs.pixels}")
    if inputs.shape is not None and list(image.shape) != inputs.shape:
        shapes = [" x ".join(map(str, shape)) for shape in (image.shape, inputs.shape)]
        raise DataError(f"{file}: has {shapes[0]} pixels, and the training images had {shapes[1]}; resize it")
    return image


def _image_files(folder: Path) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.suffix.lower() in IMAGE_SUFFIXES and path.is_file()]
    shown = [path for path in files if not any(map(is_hidden, path.relative_to(folder).parts))]
    if not shown:
        raise DataError(f"{folder}: no images in it ({', '.join(IMAGE_SUFFIXES)})")
    return sorted(shown, key=lambda path: natural_key(path.relative_to(folder).as_posix()))


def described_images(images: Any, view: ModelView, arrays: Arrays) -> NDArray[Any]:
    """Compute the features of a view for every image. Its code is that of its kind: a card names no code."""
    if view.kind not in DESCRIPTORS:
        raise ConfigError(f"the model needs descriptor {view.kind!r} of another package, which a model can't name")
    compute, start = load(DESCRIPTORS[view.kind].implementation), f"{view.name}/"
    learned = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
    extra = {"learned": learned} if view.learns else {}
    batches = (images[first : first + BATCH] for first in range(0, len(images), BATCH))
    parts = [compute(batch, **extra, **view.parameters) for batch in batches]
    return np.concatenate([np.asarray(part, dtype=view.dtype) for part in parts])


# --- tables


def _files_by_view(sources: Sequence[str], views: Sequence[ModelView]) -> dict[str, Path]:
    names, source = [view.name for view in views], Path(sources[0])
    if source.is_dir() and len(sources) == 1:
        files = {view.name: source / view.file for view in views if view.file and (source / view.file).exists()}
        if not files:
            expected = some([view.file for view in views if view.file]) or "none: give VIEW=FILE"
            raise DataError(f"{source}: has no file of the study, by its name: {expected}")
        return files
    if len(sources) == 1 and (source.exists() or "=" not in sources[0]):
        return dict.fromkeys(names, existing_file(source))
    pairs = dict(text.split("=", 1) for text in sources if "=" in text)
    if len(pairs) < len(sources) or not pairs.keys() <= set(names) or not all(pairs.values()):
        raise ConfigError(
            f"{' '.join(sources)}: expected one file, one folder, or VIEW=FILE for views of the model: "
            f"{', '.join(names)}, each once"
        )
    return {name: Path(path) for name, path in pairs.items()}


@dataclass(frozen=True)
class _Rows:
    """The rows of a file, of which some have values of a view."""

    path: Path
    ids: NDArray[np.str_]
    has_ids: bool
    labels: NDArray[np.str_] | None
    features: pd.DataFrame
    """By the names of the training samples' columns; a column that the file lacks has no values."""
    absent: NDArray[np.bool_]
    """Columns that the file lacks."""


def _read_rows(path: Path, view: ModelView, options: Mapping[str, Any]) -> _Rows:
    id_column, label_column = options.get("id_column", "id"), options.get("label_column", "label")
    text = [label_column, options.get("group_column"), *options.get("leave_out", ())]
    table = Table(
        path, id_column, [name for name in text if name], array=array_of_view(path, view.table, view.array),
        missing=options.get("missing_labels", MISSING),
    )  # fmt: skip
    features, absent = table.numbers(), np.zeros(view.n_features, dtype=bool)
    if not len(features):
        raise DataError(f"{path}: no rows")
    if view.columns is not None and table.names_columns:
        absent = ~np.isin(view.columns, features.columns.astype(str))
        if absent.all():
            require_columns(features.columns.astype(str), view.columns, path)
        features = features.set_axis(features.columns.astype(str), axis=1).reindex(columns=view.columns)
    elif features.shape[1] != view.n_features:
        raise DataError(
            f"{path}: {features.shape[1]} columns of features, but view {view.name!r} of the model has "
            f"{view.n_features}"
        )
    has_ids = id_column in table
    ids = np.arange(1, len(features) + 1).astype(str)
    if has_ids:
        ids = table.unique_ids(id_column, options.get("id_prefix"))
    labels = table.labels(label_column, options.get("task", "classes")) if label_column in table else None
    return _Rows(path, ids, has_ids, labels, features, absent)


def _from_tables(files: Mapping[str, Path], inputs: ModelInputs, arrays: Arrays) -> NewSamples:
    rows = {
        view.name: _read_rows(files[view.name], view, inputs.options) for view in inputs.views if view.name in files
    }
    without = [each for each in rows.values() if not each.has_ids]
    if without and (len(set(files.values())) > 1 or len({len(each.ids) for each in rows.values()}) > 1):
        raise DataError(f"{without[0].path}: no column or array of ids; samples in several files need ids")
    ids = np.array(list(dict.fromkeys(name for each in rows.values() for name in each.ids)))
    views, notes = {}, []
    for view in inputs.views:
        values = np.full((len(ids), view.n_features), np.nan)
        if view.name in rows:
            kept, numbers, completed = _numbers(rows[view.name], view, inputs, arrays)
            values = pd.DataFrame(numbers, kept).reindex(ids).to_numpy()
            notes += [completed] if completed else []
        views[view.name] = values.astype(view.dtype or np.float64)
        lacking = int(np.isnan(values).all(axis=1).sum())
        if lacking:
            notes.append(f"view {view.name!r} is missing for {lacking} samples; it is filled in")
    nothing = np.logical_and.reduce([np.isnan(values).all(axis=1) for values in views.values()])
    if nothing.any():
        paths = ", ".join(dict.fromkeys(map(str, files.values())))
        raise DataError(f"{paths}: no value at all for the samples {some(ids[nothing])}; leave them out")
    fitted_to = 0 if without else int(np.isin(ids, arrays["ids"]).sum())
    if fitted_to:
        notes.append(
            f"{fitted_to} of {len(ids)} samples have ids of training samples: if they are these samples, the model has "
            "learned their labels, and how well it predicts them says nothing about new ones"
        )
    labelled = [each for each in rows.values() if each.labels is not None]
    return NewSamples(ids, Views(views), agreed(labelled, ids, "labels") if labelled else None, notes)


def _numbers(rows: _Rows, view: ModelView, inputs: ModelInputs, arrays: Arrays) -> tuple[Any, NDArray[Any], str]:
    """Return the ids of the samples that have a view, their features, and a note on features that all of them lack."""
    there = rows.features.notna().any(axis=1).to_numpy()  # an empty row lacks the view
    ids, features = rows.ids[there], rows.features[there]
    may_have_nan = inputs.options.get("impute", "none") != "none"
    gone = rows.absent if may_have_nan or not len(ids) else rows.absent | features.isna().all().to_numpy()
    named = some(features.columns[gone].to_numpy())
    lacks = f"{gone.sum()} of the {view.n_features} features of view {view.name!r}: {named}"
    if gone.sum() > MOST_MISSING * view.n_features:
        raise DataError(
            f"{rows.path}: lacks {lacks}. At most {MOST_MISSING:.0%} are put at their means over the training samples: "
            "with more, predictions of omics tables lost over 5 points. Leave the view out (VIEW=FILE for the others), "
            "or fit a model on the features that there are"
        )
    numbers = np.empty(features.shape)
    numbers[:, gone] = arrays[f"{view.name}/{CENTRE}"][gone] if gone.any() else 0.0
    numbers[:, ~gone] = numeric_values(features.loc[:, ~gone], rows.path, ids, may_have_nan=may_have_nan)
    note = f"missing: {lacks}; they are at their means over the training samples" if gone.any() else ""
    return ids, numbers, note

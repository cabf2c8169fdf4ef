"""New samples as a model takes them: images through the study's reader, size and descriptors, or tables by column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklearn.atomic import existing_file, file_content
from mklearn.descriptors.table import DESCRIPTORS
from mklearn.errors import ConfigError, DataError, UserError
from mklearn.kernels.views import Views
from mklearn.loading import load
from mklearn.study.data.readers.annotated_data import MUDATA, arrays_of
from mklearn.study.data.readers.content import IMAGE_SUFFIXES, decode_image, is_hidden
from mklearn.study.data.readers.feature_tables import agreed
from mklearn.study.data.readers.table_files import SUFFIXES, Table, array_of_view, column_names
from mklearn.study.data.readers.tabular import numeric_values, require_columns, sample_positions
from mklearn.study.data.resizing import resize_images
from mklearn.study.data.samples import check_text, natural_key, some, stack_if_regular
from mklearn.study.data.text_tables import MISSING, slug, table_stem, table_suffix
from mklearn.study.specs.model_card import CardImages, CardTables, CardView, ModelCard

BATCH = 256
"""Images described at a time."""
MOST_MISSING = 0.2
"""Share of a view's features that new samples may all lack (docs/models.md says what was measured)."""
CENTRE = "centre"
"""The array ``VIEW/centre`` of a model has the mean of each feature of a table, or the median with impute: median."""


@dataclass(frozen=True)
class NewSamples:
    """Samples to predict.

    Attributes
    ----------
    ids : (m,) array of str
        Paths of images below their folder, or ids of tables; row numbers from 1 where a table has none.
    X : Views, or (m, rows, columns) array of images
        What the estimator takes. A sample that lacks a view has a row of NaN there.
    labels : (m,) array of str or None
        Labels that the tables have, "" where there is none.
    missing : dict of str to int
        Number of samples that lack a view, by its name.
    completed : dict of str to list of str
        Features that no sample has, by the name of their view: they are at their means over the training samples.
    unread : dict of str to str
        Images that can't be read, by their paths, and why. They are none of the samples.
    numbered : bool
        Whether ids are row numbers, because no table has ids.
    """

    ids: NDArray[np.str_]
    X: Any
    labels: NDArray[np.str_] | None = None
    missing: Mapping[str, int] = field(default_factory=dict)
    completed: Mapping[str, list[str]] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    numbered: bool = False

    def __len__(self) -> int:
        return len(self.ids)


def read_new_samples(sources: Sequence[str], card: ModelCard, arrays: Mapping[str, NDArray[Any]]) -> NewSamples:
    """Read new samples for a model.

    Parameters
    ----------
    sources : sequence of str
        Of a model on images: one folder, with images at any depth, or one image. Of a model on tables: one table, a
        folder of tables that are named as the views or MuData files, where another table may have the labels, or
        ``VIEW=FILE`` for each view.
    card : ModelCard
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
    if card.images is not None:
        if len(sources) > 1:
            raise ConfigError(f"{', '.join(sources)}: the model takes images: name one folder, or one image")
        if not Path(sources[0]).exists():
            raise ConfigError(f"{sources[0]}: no such file or folder; the model takes a folder of images, or one image")
        return _from_images(Path(sources[0]), card, card.images, arrays)
    files = _tables_by_view(sources, card)
    return _from_tables(files, card, arrays, _labels_beside(Path(sources[0]), files, card.tables or CardTables()))


# --- images


def _from_images(source: Path, card: ModelCard, form: CardImages, arrays: Mapping[str, NDArray[Any]]) -> NewSamples:
    files = _image_files(source) if source.is_dir() else [source]
    names = [file.name if file == source else file.relative_to(source).as_posix() for file in files]
    check_text(names, f"{source}: names of images")
    read: dict[str, NDArray[Any]] = {}
    unread: dict[str, str] = {}
    for name, file in zip(names, files, strict=True):
        try:
            read[name] = _image(file, form)
        except DataError as error:
            unread[name] = str(error)
    if not read:
        raise DataError(next(iter(unread.values())))
    ids, images = np.array(list(read)), stack_if_regular(list(read.values()))
    if card.method.input == "images":
        return NewSamples(ids, np.asarray(images, dtype=np.float64), unread=unread)
    views = Views({view.name: described_images(images, view, arrays) for view in card.views})
    return NewSamples(ids, views, unread=unread)


def _image(file: Path, form: CardImages) -> NDArray[Any]:
    image = decode_image(file_content(file), str(file), form.colour)
    if form.resize is not None:
        image = resize_images([image], **form.resize)[0]
    if str(image.dtype) != form.dtype:
        raise DataError(f"{file}: its pixels are {image.dtype}, and those of the training images were {form.dtype}")
    if form.shape is not None and list(image.shape) != form.shape:
        shapes = [" x ".join(map(str, shape)) for shape in (image.shape, form.shape)]
        raise DataError(f"{file}: has {shapes[0]} pixels, and the training images had {shapes[1]}; resize it")
    return image


def _image_files(folder: Path) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.suffix.lower() in IMAGE_SUFFIXES and path.is_file()]
    shown = [path for path in files if not any(map(is_hidden, path.relative_to(folder).parts))]
    if not shown:
        raise DataError(f"{folder}: no images in it ({', '.join(IMAGE_SUFFIXES)})")
    return sorted(shown, key=lambda path: natural_key(path.relative_to(folder).as_posix()))


def described_images(images: Any, view: CardView, arrays: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Compute the features of a view for every image. Its code is that of its kind: a card names no code."""
    if view.kind not in DESCRIPTORS:
        raise ConfigError(f"the model needs descriptor {view.kind!r} of another package, which a model can't name")
    compute = load(DESCRIPTORS[view.kind].implementation)
    learned = {name.removeprefix(f"{view.name}/"): arrays[name] for name in view.learned}
    extra = {"learned": learned} if learned else {}
    starts = range(0, len(images), BATCH)
    parts = [compute(images[start : start + BATCH], **extra, **view.parameters) for start in starts]
    return np.concatenate([np.asarray(part, dtype=view.dtype) for part in parts])


# --- tables


def _tables_by_view(sources: Sequence[str], card: ModelCard) -> dict[str, Path]:
    names = [view.name for view in card.views]
    listed, source = ", ".join(names), Path(sources[0])
    if any("=" in text and not Path(text).exists() for text in sources):
        pairs = [text.partition("=") for text in sources]
        wrong = [text for text, pair in zip(sources, pairs, strict=True) if pair[0] not in names or not pair[2]]
        if wrong:
            raise ConfigError(f"{wrong[0]}: expected VIEW=FILE with a view of the model: {listed}")
        files = {name: Path(path) for name, _, path in pairs}
        if len(files) < len(pairs):
            raise ConfigError(f"{', '.join(sources)}: a view is given twice; give each view one file")
        return files
    if len(sources) > 1:
        raise ConfigError(f"several tables need the names of their views: VIEW=FILE, of {listed}")
    if source.is_dir():
        tables = [(slug(table_stem(path)), path) for path in _tables_in(source)]
        for name in names:
            if len(same := [path.name for stem, path in tables if stem == name]) > 1:
                raise DataError(f"{source}: view {name!r} may be {' or '.join(same)}; rename one")
        files = {stem: path for stem, path in tables if stem in names}
        for path in sorted(source.glob(f"*{MUDATA}")):
            modalities = arrays_of(path)[1]
            of_views = [view.name for view in card.views if (view.array or view.table).split("/")[0] in modalities]
            files = dict.fromkeys(of_views, path) | files
        if not files:
            raise DataError(f"{source}: no table of a view of the model in it, such as {names[0]}{SUFFIXES[0]}")
        return files
    existing_file(source)
    if len(names) == 1 or source.suffix == MUDATA or all(view.array for view in card.views):
        return dict.fromkeys(names, source)
    columns = _Rows.read(source, card.tables or CardTables()).columns
    files = {view.name: source for view in card.views if set(view.columns or ()) & set(columns)}
    if not files:
        raise DataError(
            f"{source}: has no column of any view of the model ({listed}); give each view its own table: VIEW=FILE"
        )
    return files


def _labels_beside(folder: Path, files: Mapping[str, Path], form: CardTables) -> _Rows | None:
    """Return the only other table of a folder that has ids and labels, if there is one."""
    labelled = []
    for path in _tables_in(folder) if folder.is_dir() else ():
        with suppress(UserError):
            if path not in files.values() and {form.id_column, form.label_column} <= set(column_names(path)):
                labelled.append(path)
    if len(labelled) != 1:
        return None
    table = _table(labelled[0], form)
    ids = table.unique_ids(form.id_column, form.id_prefix)
    return _Rows(labelled[0], ids, table.labels(form.label_column, ids, form.task), pd.DataFrame(index=ids), True, True)


def _tables_in(folder: Path) -> list[Path]:
    files = (path for path in sorted(folder.iterdir()) if path.is_file() and not is_hidden(path.name))
    return [path for path in files if table_suffix(path) in SUFFIXES]


def _table(path: Path, form: CardTables, array: str | None = None) -> Table:
    missing = MISSING if form.missing_labels is None else form.missing_labels
    return Table(path, form.id_column, form.text_columns, array=array, missing=missing)


@dataclass(frozen=True)
class _Rows:
    """A table of new samples."""

    path: Path
    ids: NDArray[np.str_]
    labels: NDArray[np.str_] | None
    features: pd.DataFrame
    has_names: bool
    has_ids: bool

    @property
    def columns(self) -> list[str]:
        return [str(name) for name in self.features.columns]

    @classmethod
    def read(cls, path: Path, form: CardTables, array: str | None = None, beside: _Rows | None = None) -> _Rows:
        """Read a table; its ids and labels may be missing. Without ids it has those of the labels `beside` it."""
        table = _table(path, form, array)
        features = table.numbers()
        if not len(features):
            raise DataError(f"{path}: no rows")
        has_ids = form.id_column in table
        if has_ids:
            ids = table.unique_ids(form.id_column, form.id_prefix)
        elif beside is not None and len(beside.ids) == len(features):
            ids, has_ids = beside.ids, True
        else:
            ids = np.arange(1, len(features) + 1).astype(str)
        if len(ids) != len(features):
            raise DataError(f"{path}: {len(ids)} ids but {len(features)} rows")
        labels = table.labels(form.label_column, ids, form.task) if form.label_column in table else None
        return cls(path, ids, labels, features, table.names_columns, has_ids)

    def of_view(self, view: CardView) -> pd.DataFrame:
        """Return the features of a view, in the order of the training samples' columns; NaN of those that it lacks."""
        if view.columns is not None and self.has_names:
            named = self.features.set_axis(self.columns, axis=1)
            if named.columns.isin(view.columns).any():
                return named.reindex(columns=view.columns)
            require_columns(named, view.columns, self.path)
        if self.features.shape[1] != view.n_features:
            raise DataError(
                f"{self.path}: {self.features.shape[1]} columns of features, but view {view.name!r} of the model has "
                f"{view.n_features}"
            )
        return self.features

    def features_gone(self, frame: pd.DataFrame, view: CardView, *, empty: bool) -> NDArray[np.bool_]:
        """Return which features of a view the table lacks, with `empty` also those of which no sample has a value.

        Raise DataError where these are too many to be completed.
        """
        gone = np.zeros(view.n_features, dtype=bool)
        if view.columns is not None and self.has_names:
            gone = ~np.isin(view.columns, self.columns)
        if empty:
            gone |= frame.isna().all().to_numpy()
        if gone.sum() > MOST_MISSING * view.n_features:
            raise DataError(
                f"{self.path}: lacks {gone.sum()} of the {view.n_features} features of view {view.name!r}: "
                f"{some([str(name) for name in frame.columns[gone]])}. At most {MOST_MISSING:.0%} are put at their "
                "means over the training samples: with more, predictions of omics tables lost over 5 points. Leave the "
                "view out (VIEW=FILE for the others), or fit a model on the features that there are"
            )
        return gone


def _from_tables(
    files: Mapping[str, Path], card: ModelCard, learned: Mapping[str, NDArray[Any]], beside: _Rows | None
) -> NewSamples:
    """Read the samples of the tables of views, with labels of these and of the table `beside` them."""
    form = card.tables or CardTables()
    arrays = {
        view.name: array_of_view(files[view.name], view.table, view.array) for view in card.views if view.name in files
    }
    tables = {
        (path, array): _Rows.read(path, form, array, beside)
        for path, array in dict.fromkeys((files[name], array) for name, array in arrays.items())
    }
    numbered = next((rows.path for rows in tables.values() if not rows.has_ids), None)
    if numbered is not None and {path for path, _ in tables} != {numbered}:
        raise DataError(f"{numbered}: no column or array {form.id_column!r}; samples in several files need ids")
    if numbered is not None and len({len(rows.ids) for rows in tables.values()}) > 1:
        raise DataError(f"{numbered}: no array {form.id_column!r} of ids, but arrays of different lengths")
    ids = np.array(list(dict.fromkeys(name for rows in tables.values() for name in rows.ids)))
    sources = [*tables.values(), *([] if beside is None else [beside])]
    labels = agreed(sources, ids, "labels") if any(rows.labels is not None for rows in sources) else None
    views, missing, completed = {}, {}, {}
    for view in card.views:
        values = np.full((len(ids), view.n_features), np.nan, dtype=view.dtype)
        if view.name in files:
            rows = tables[files[view.name], arrays[view.name]]
            frame = rows.of_view(view)
            there = np.flatnonzero(frame.notna().any(axis=1).to_numpy())  # an empty row lacks the view
            if there.size:
                may_have_nan = card.method.impute != "none"
                gone = rows.features_gone(frame.iloc[there], view, empty=not may_have_nan)
                numbers = np.empty((there.size, view.n_features))
                if gone.any():
                    numbers[:, gone] = learned[f"{view.name}/{CENTRE}"][gone]
                    completed[view.name] = [str(name) for name in frame.columns[gone]]
                numbers[:, ~gone] = numeric_values(
                    frame.iloc[there, ~gone], rows.path, rows.ids[there], may_have_nan=may_have_nan
                )
                values[sample_positions(rows.ids[there], ids, rows.path)] = numbers
        views[view.name] = values
        lacking = int(np.isnan(values).all(axis=1).sum())
        if lacking:
            missing[view.name] = lacking
    nothing = np.logical_and.reduce([np.isnan(values).all(axis=1) for values in views.values()])
    if nothing.any():
        paths = ", ".join(dict.fromkeys(map(str, files.values())))
        raise DataError(f"{paths}: no value at all for the samples {some(ids[nothing])}; leave them out")
    return NewSamples(ids, Views(views), labels, missing, completed, numbered=numbered is not None)

"""Reading of new samples for a model: images with the study's size and descriptors, or tables by column name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklearn.atomic import existing_file, file_content
from mklearn.descriptors.table import DESCRIPTORS, TABLE
from mklearn.errors import ConfigError, DataError
from mklearn.kernels.views import Views
from mklearn.rows import load
from mklearn.study.data.description import described_images
from mklearn.study.data.readers.images import IMAGE_SUFFIXES, decode_image, is_hidden
from mklearn.study.data.readers.own_tables import agreed, check_ids, rows_of_images, spelled_alike
from mklearn.study.data.readers.tables import Columns, Table, numeric_values, read_table
from mklearn.study.data.resizing import resize_images
from mklearn.study.data.samples import check_text, natural_key, some, stack_if_regular
from mklearn.study.data.text_tables import MISSING_CODES, table_stem, table_suffix
from mklearn.study.specs.final_spec import CENTRE, QUARTILES, ModelInputs, ModelView
from mklearn.study.specs.fit_spec import IMAGES

MOST_MISSING = 0.2
"""Largest fraction of a view's features that may be missing in all new samples (measurements: docs/models.md)."""
MANY_OUTSIDE, NARROW, FEWEST = 0.01, 0.05, 10
"""For notes: share of values outside the training range, ratio of interquartile ranges, and number of samples."""
Arrays = Mapping[str, NDArray[Any]]


class NewSamples(NamedTuple):
    """Samples to predict, in the form that estimators accept."""

    ids: NDArray[np.str_]
    """Paths of images relative to their folder, or ids from tables; for arrays without ids, row numbers from 1."""
    X: Views
    """Views of the samples; a sample that lacks a view has a row of NaN in it."""
    labels: NDArray[np.str_] | None = None
    """Labels from the tables, "" for samples without a label."""
    notes: Sequence[str] = ()
    """Notes on missing and unlikely values, and on samples to which the model was fitted."""
    unread: Mapping[str, str] = {}
    """Reasons why images can't be read, by path; these images are not among the samples."""


def read_new_samples(sources: Sequence[str], inputs: ModelInputs, arrays: Arrays) -> NewSamples:
    """Read new samples for a model, with the arrays of its model file; see :func:`mklearn.study.prediction.predict`.

    Raise DataError for a file that can't be read, lacks more than `MOST_MISSING` of a view's columns, or has other
    features than the training samples, and ConfigError for sources of the wrong kind. Unreadable images raise an error
    only if no image can be read.
    """
    tables = [view for view in inputs.views if view.kind == TABLE]
    if inputs.family == "tables":
        samples = _from_tables(_files_by_view(sources, tables), inputs, arrays)
    else:
        source, others = Path(sources[0]), sources[1:]
        if (others and not tables) or not source.exists():
            beside = f", then VIEW=FILE for its tables: {', '.join(view.name for view in tables)}" if tables else ""
            raise ConfigError(f"{', '.join(sources)}: the model takes one folder of images, or one image{beside}")
        samples = _from_images(source, inputs, arrays)
        if tables:
            files = _files_by_view(others, tables) if others else {}
            samples = _from_tables(files, inputs, arrays, samples, source)
    return samples._replace(notes=[*samples.notes, *_notes_on_values(samples, inputs, arrays)])


def _notes_on_values(samples: NewSamples, inputs: ModelInputs, arrays: Arrays) -> Iterator[str]:
    """Yield notes on views with values far outside the training range, codes of missing values, or a small spread."""
    question = "are they in the same unit, from the same kind of samples?"
    for view in inputs.views:
        name, columns = view.name, np.array(view.columns or range(1, view.n_features + 1))
        if (quartiles := arrays.get(f"{name}/{QUARTILES}")) is None:
            continue
        low, first, third, high = quartiles
        values, margin = np.asarray(samples.X[name]), (high - low) / 2
        known = ~np.isnan(values).all(axis=1)
        values = values[known]
        coded = np.isin(values, MISSING_CODES) & ((values < low) | (values > high))
        outside = ((values < low - margin) | (values > high + margin)) & (high > low) & ~coded  # NaN is not
        if is_far := outside.sum() > MANY_OUTSIDE * values.size:
            most = np.argsort(-outside.sum(axis=0), kind="stable")[: outside.any(axis=0).sum()]
            yield (
                f"{outside.sum():,} of {values.size:,} values of view {name!r} lie far outside the range of the "
                f"training samples (columns {some(columns[most], 3)}); {question}"
            )
        if coded.any():
            ids = samples.ids[known]
            cells = [f"{values[at]:g} in {columns[at[1]]} of {ids[at[0]]}" for at in zip(*coded.nonzero(), strict=True)]
            yield (
                f"view {name!r} has values outside the range of the training samples that may mean missing ones: "
                f"{some(cells, 3)}; leave these cells empty"
            )
        uncoded = np.where(coded, np.nan, values)
        vary = ~np.isnan(uncoded).all(axis=0) & (third > first)
        if len(values) < FEWEST or not vary.any():
            continue
        new_first, median, new_third = pd.DataFrame(uncoded[:, vary]).quantile([0.25, 0.5, 0.75]).to_numpy()
        beyond = np.maximum(low[vary] - median, median - high[vary])
        ratio = (new_third - new_first) / (third - first)[vary]
        shifted = (beyond > margin[vary] / 5) | ((beyond > 0) & (ratio < NARROW))
        if shifted.any() and not is_far:
            named = some(columns[vary][shifted], 3)
            yield f"half of the values of view {name!r} in columns {named} lie outside the training range; {question}"
        if (typical := np.median(ratio)) < NARROW:
            yield f"new samples of view {name!r} vary {typical:.2g} times as much as the training samples; {question}"


# --- images


def _from_images(source: Path, inputs: ModelInputs, arrays: Arrays) -> NewSamples:
    files = {source.name: source}
    if source.is_dir():
        below = {path.relative_to(source): path for path in source.rglob("*") if path.suffix.lower() in IMAGE_SUFFIXES}
        shown = {path.as_posix(): file for path, file in below.items() if not any(map(is_hidden, path.parts))}
        files = {name: shown[name] for name in sorted(shown, key=natural_key) if shown[name].is_file()}
    if not files:
        raise DataError(f"{source}: no images in it ({', '.join(IMAGE_SUFFIXES)})")
    check_text(files, f"{source}: names of images")
    read, unread = dict[str, NDArray[Any]](), dict[str, str]()
    for name, file in files.items():
        try:
            read[name] = _image(file, inputs)
        except DataError as error:
            unread[name] = str(error)
    if not read:
        raise DataError(next(iter(unread.values())))
    images, ids = stack_if_regular(list(read.values())), np.array(list(read))
    views = {view.name: view_of_images(images, ids, view, arrays) for view in inputs.views if view.kind != TABLE}
    X = Views(views or {IMAGES: np.asarray(images, dtype=np.float64)})
    return NewSamples(ids, X, unread=unread)


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


def view_of_images(images: Any, ids: NDArray[Any], view: ModelView, arrays: Arrays) -> NDArray[Any]:
    """Compute the features of a view for every image, with the registered code for its kind of descriptor."""
    if view.kind not in DESCRIPTORS:
        raise ConfigError(f"the model needs descriptor {view.kind!r} of another package, which a model can't name")
    start = f"{view.name}/"
    learned = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
    extra = {"learned": learned} if view.learns else {}
    compute = partial(load(DESCRIPTORS[view.kind].implementation), **extra, **view.parameters)
    return np.asarray(described_images(images, ids, compute, view.dtype, f"view {view.name!r}"))


# --- tables


def _files_by_view(sources: Sequence[str], views: Sequence[ModelView]) -> dict[str, Path]:
    names, source = [view.name for view in views], Path(sources[0])
    if len(sources) == 1 and source.is_dir():
        inside = filter(Path.is_file, source.iterdir())
        there = {key: file for file in inside for key in (file.name, table_suffix(file) and table_stem(file))}
        names_of = {view.name: (view.file, table_stem(Path(view.file))) for view in views if view.file}
        files = {name: there[key] for name, keys in names_of.items() for key in keys[::-1] if key in there}
        if not files:
            raise DataError(f"{source}: has no file of the study, by its name: {some([view.file for view in views])}")
        return files
    if len(sources) == 1 and (source.exists() or "=" not in sources[0]):
        return dict.fromkeys(names, existing_file(source))
    files = {name: Path(path) for name, mark, path in (text.partition("=") for text in sources) if path}
    if len(files) < len(sources) or not files.keys() <= set(names):
        raise ConfigError(
            f"{' '.join(sources)}: expected one file, one folder, or VIEW=FILE for views of the model: "
            f"{', '.join(names)}, each once"
        )
    return files


def _from_tables(
    files: Mapping[str, Path], inputs: ModelInputs, arrays: Arrays, images: NewSamples | None = None,
    folder: Path = Path(),
) -> NewSamples:  # fmt: skip
    """Read tables; with `images` of a folder, the samples are these images, with their features too."""
    options = inputs.options
    columns = Columns(**{field.name: options[field.name] for field in fields(Columns) if field.name in options})
    notes, not_compared = list[str](), "predictions are not compared with labels"

    def opened(view: ModelView) -> Table:
        path, turned = files[view.name], view.table in options.get("transposed", ())
        read = partial(read_table, path, array=view.array, view=view.table, transpose=turned)
        try:
            return read(columns=columns)
        except DataError as error:  # labels only tell how good predictions are
            table = read(columns=replace(columns, label_column="", event_column=None))
            notes.append(f"{not_compared}: {error}")
            return table

    tables = {view.name: opened(view) for view in inputs.views if view.name in files}
    without = [table.path for table in tables.values() if not table.has_ids]
    if without and len(set(files.values())) > 1:
        raise DataError(f"{without[0]}: no array {columns.id_column!r}; samples in several files need ids")
    views, unread = {}, {} if images is None else images.unread
    if images is not None:
        there = np.array([*images.ids, *unread])
        tables = {name: rows_of_images(table, there, folder) for name, table in tables.items()}
    ids = np.array(list(dict.fromkeys(name for table in tables.values() for name in table.ids)))
    if images is not None:
        extra, ids = ids[~np.isin(ids, there)], images.ids
        notes += [f"rows without an image are left out: {some(extra)}"] * bool(len(extra))
    for view in inputs.views:
        if images is not None and view.kind != TABLE:
            views[view.name] = images.X[view.name]
            continue
        values = pd.DataFrame(columns=range(view.n_features))
        if view.name in tables:
            values, note = _features(view, tables[view.name], options, arrays)
            notes += note
        views[view.name] = values.reindex(ids).to_numpy(dtype=view.dtype or np.float64)
        if lacking := int(np.isnan(views[view.name]).all(axis=1).sum()):
            no_file = f" (no file {view.file})" if view.file and view.name not in files else ""
            notes.append(f"view {view.name!r} is missing for {lacking} samples{no_file}; it is filled in")
    check_ids(tables if images is None else {})
    nothing = np.logical_and.reduce([np.isnan(values).all(axis=1) for values in views.values()])
    if nothing.any():
        paths = ", ".join(dict.fromkeys(map(str, files.values())))
        raise DataError(f"{paths}: no value at all for the samples {some(ids[nothing])}; leave them out")
    if fitted_to := int(np.isin(ids, arrays["ids"]).sum()):
        notes.append(
            f"{fitted_to} of {len(ids)} samples have ids of training samples: if they are these samples, the model has "
            "learned their labels, and how well it predicts them says nothing about new ones"
        )
    labelled, beside = list(tables.values()), next(iter(files.values()), folder).with_name(inputs.labels or "-")
    try:
        labelled += [read_table(beside, columns)] if inputs.labels and beside.is_file() else []
        labels = agreed(labelled, ids, "labels")
    except DataError as error:
        labels = None
        notes.append(f"{not_compared}: {error}")
    return NewSamples(ids, Views(views), labels, notes, unread)


def _features(
    view: ModelView, table: Table, options: Mapping[str, Any], arrays: Arrays
) -> tuple[pd.DataFrame, list[str]]:
    """Return the features of the samples that have a view, by id, and a note on features missing in all samples."""
    features, gone, alike = table.features, np.zeros(view.n_features, dtype=bool), ""
    if view.columns is not None and table.names is not None:
        given, wanted = pd.Index(table.names), pd.Index(view.columns)
        unknown, lacking = given.difference(wanted, sort=False), wanted.difference(given, sort=False)
        by_number = dict(zip(pd.to_numeric(unknown.to_series(), errors="coerce"), unknown, strict=True))
        pairs = zip(pd.to_numeric(lacking.to_series(), errors="coerce"), lacking, strict=True)
        equal = {by_number[number]: name for number, name in pairs if number in by_number}
        if len(by_number) < len(unknown):  # 1100.0 is 1100, but neither of 1100.0 and 1100.00 is
            equal = {}
        features = features.set_axis(given, axis=1).rename(columns=equal).reindex(columns=wanted)
        gone = ~wanted.isin([equal.get(name, name) for name in given])
        alike = spelled_alike(wanted[gone], unknown)
    elif features.shape[1] != view.n_features:
        raise DataError(
            f"{table.path}: {features.shape[1]} columns of features, but view {view.name!r} of the model has "
            f"{view.n_features}"
        )
    there = features.notna().any(axis=1).to_numpy()  # an empty row lacks the view
    ids, features = table.ids[there], features[there]
    if view.columns is not None and 2 * (n := int(np.isin(table.ids, view.columns).sum())) > len(table.ids):
        raise DataError(
            f"{table.path} looks transposed: {n} of its samples are named as features of view {view.name!r}; write a "
            f"{'feature' if view.table in options.get('transposed', ()) else 'sample'} in each row, as in the study"
        )
    may_have_nan = options.get("impute", "none") != "none"
    if there.any() and not may_have_nan:
        gone |= features.isna().all().to_numpy()
    named = some(features.columns[gone].to_numpy())
    centre = "medians" if options.get("impute") == "median" else "means"
    lacks = f"{gone.sum()} of the {view.n_features} features of view {view.name!r}: {named}{'; ' * bool(alike)}{alike}"
    if gone.sum() > MOST_MISSING * view.n_features:
        raise DataError(
            f"{table.path}: lacks {lacks}. At most {MOST_MISSING:.0%} are put at their {centre} over the training "
            "samples: with more, predictions of omics tables lost over 5 points. Leave the view out (VIEW=FILE for the "
            "others), or fit a model on the features that there are"
        )
    numbers = np.empty(features.shape)
    numbers[:, ~gone] = numeric_values(features.loc[:, ~gone], table.path, ids, may_have_nan=may_have_nan)
    if not gone.any():
        return pd.DataFrame(numbers, ids), []
    numbers[:, gone] = arrays[f"{view.name}/{CENTRE}"][gone]
    return pd.DataFrame(numbers, ids), [f"missing: {lacks}; they are at their {centre} over the training samples"]

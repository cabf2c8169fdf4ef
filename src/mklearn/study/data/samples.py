"""Container of a data set: sample ids, targets, and images, feature tables or pairwise matrices."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from mklearn.atomic import read_npz, read_parquet
from mklearn.errors import DataError, UserError
from mklearn.study.artefacts import write_arrays
from mklearn.study.provenance import array_digest, digest
from mklearn.study.specs.data_specs import TargetKind

Images = np.ndarray | list[np.ndarray] | None
_NAMED = ("tables", "matrices", "columns")


def target_of(y: np.ndarray) -> Literal["classes", "numbers"]:
    """Return the kind of an array: "numbers" for floats (survival times too), "classes" for class codes or names."""
    return "numbers" if y.dtype.kind == "f" else "classes"


@dataclass(frozen=True, eq=False)
class SampleSet:
    """Samples with their targets, and with images, feature tables or pairwise matrices.

    Raise DataError, which names the table or matrix and the samples, if a field contradicts its description.
    """

    ids: np.ndarray
    """Unique name of each sample, (n,) str."""
    labels: np.ndarray
    """Class of each sample, (n,) str, with two or more classes; or the number to predict, (n,) float64. A survival time
    is positive if an event ended it, and negative if it is censored."""
    images: Images = None
    """Images (n, rows, cols[, 3]), or a list of images of different shapes. Pixels are row-major from the top, in the
    range of the source (0..255 for 8-bit files)."""
    tables: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Features (n, d) by descriptor. NaN marks a value to impute; a row of NaN marks a sample that lacks the table."""
    matrices: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Precomputed pairwise matrices (n, n)."""
    notes: tuple[str, ...] = ()
    """Remarks for the user, such as the files that were left out."""
    groups: np.ndarray | None = None
    """Group of each sample, (n,) str, such as the person in an image; None if samples have no groups."""
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Feature names (d,) str of each table that has them."""
    batches: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Columns (n,) str that may be batches, by name. They are checked when the data are read, and not saved."""
    survival: bool = False
    """Whether the labels are survival times."""
    without_target: Collection[str] = ()
    """Ids of samples that were left out because they have no target; not saved."""

    def __post_init__(self) -> None:
        n, labels = len(self.ids), np.asarray(self.labels)
        arrays = {"ids": np.asarray(self.ids).astype(str)}
        arrays["labels"] = labels.astype(np.float64 if labels.dtype.kind == "f" else str)
        arrays |= {} if self.groups is None else {"groups": np.asarray(self.groups).astype(str)}
        for name, array in arrays.items():
            if array.shape != (n,):
                raise DataError(f"{name}: expected one value for each of {n} ids, got the shape {array.shape}")
            object.__setattr__(self, name, array)
        if isinstance(self.images, Sequence):
            object.__setattr__(self, "images", stack_if_regular([np.asarray(image) for image in self.images]))
        self._check_labels()
        self._check_images()
        for name, table in self.tables.items():
            if table.ndim != 2 or len(table) != n or table.shape[1] == 0:
                raise DataError(f"table {name!r} has shape {table.shape}; expected ({n}, number of features > 0)")
            check_dtype(table, f"table {name!r}")
            check_numbers(np.where(np.isnan(table), 0.0, table), f"table {name!r}", self.ids, np.arange(table.shape[1]))
        for name, matrix in self.matrices.items():
            if matrix.shape != (n, n):
                raise DataError(
                    f"matrix {name!r} has shape {matrix.shape}; expected ({n}, {n}), one row and column per id"
                )
            check_numbers(matrix, f"matrix {name!r}", self.ids, self.ids)
        if self.images is None and not self.tables and not self.matrices:
            raise DataError("a data set needs images, a feature table or a pairwise matrix; it has none of them")

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def target(self) -> TargetKind:
        """Kind of the target: classes, numbers or survival times."""
        return "survival" if self.survival else target_of(self.labels)

    @cached_property
    def classes(self) -> np.ndarray:
        """Names of the classes in natural order ("2" before "10"), (c,) str; empty for another target."""
        return np.array(in_natural_order(self.labels) if self.target == "classes" else [], dtype=str)

    @cached_property
    def y(self) -> np.ndarray:
        """Class codes 0..c-1, (n,) int64, or the number or signed time to predict, (n,) float64."""
        if self.target != "classes":
            return self.labels
        return pd.Index(self.classes).get_indexer(pd.Index(self.labels)).astype(np.int64)

    @property
    def image_shape(self) -> tuple[int, ...] | None:
        """Shape of one image; None without images or if the shapes differ."""
        return self.images.shape[1:] if isinstance(self.images, np.ndarray) else None

    def features_of(self, table: str, columns: Sequence[str] | None = None) -> tuple[np.ndarray, list[str] | None]:
        """Return features of a table, (n, d), by default all, and their names, None if they have none.

        Columns are in the order of the table. Raise DataError if it has no names, or none of these columns.
        """
        names = None if table not in self.columns else self.columns[table].astype(str).tolist()
        if columns is None:
            return self.tables[table], names
        kept = np.flatnonzero(np.isin(names or [], list(columns)))
        if not kept.size:
            raise DataError(
                f"table {table!r} has none of the columns {some(columns)}; leave these columns, or their set, out"
            )
        return self.tables[table][:, kept], [names[place] for place in kept] if names else None

    def first_equal(self) -> np.ndarray:
        """Return, for each sample, the position of the first sample that equals it in every view, (n,)."""
        views = [*self.tables.values(), *self.matrices.values(), *([] if self.images is None else [self.images])]
        rows_by_content: dict[bytes, int] = {}
        first = np.arange(len(self))
        for row in range(len(self)):
            content = hashlib.sha256()
            for view in views:
                values = view[row] + 0  # -0.0 becomes 0.0
                content.update(f"{values.shape}".encode() + values.tobytes())
            first[row] = rows_by_content.setdefault(content.digest(), row)
        return first

    def digest(self) -> str:
        """Return a digest of ids, labels, images and tables, in the order of the samples."""
        images = [] if self.images is None else self.images
        return digest([*map(array_digest, (self.ids, self.labels, *images, *self.tables.values()))])

    def subset(self, rows: Sequence[int] | np.ndarray) -> SampleSet:
        """Select samples by position, in the given order. A list of images becomes an array if their shapes agree."""
        rows = np.asarray(rows, dtype=np.int64)
        images = self.images[rows] if isinstance(self.images, np.ndarray) else None
        return replace(
            self,
            ids=self.ids[rows],
            labels=self.labels[rows],
            images=[self.images[row] for row in rows] if isinstance(self.images, list) else images,
            tables={name: table[rows] for name, table in self.tables.items()},
            matrices={name: matrix[np.ix_(rows, rows)] for name, matrix in self.matrices.items()},
            groups=None if self.groups is None else self.groups[rows],
            batches={name: values[rows] for name, values in self.batches.items()},
        )

    def _check_labels(self) -> None:
        for names, what in ((self.ids, "sample ids"), (self.classes, "class names")):
            check_text(names.tolist(), what)
        check_unique(self.ids, "sample ids")
        if self.groups is not None and (self.groups == "").any():
            raise DataError(f"no group is given for samples {some(self.ids[self.groups == ''])}")
        if self.target == "classes" and len(self.classes) < 2:
            raise DataError(f"at least two classes are needed, found {len(self.classes)}: {some(self.classes)}")
        if self.target == "classes":
            return
        if not np.isfinite(self.y).all():
            raise DataError(f"the target is not a finite number for samples {some(self.ids[~np.isfinite(self.y)])}")
        if len(np.unique(np.abs(self.y) if self.survival else self.y)) < 2:
            raise DataError(f"the target of {len(self)} samples has at most one value: there is nothing to predict")
        if self.survival and (self.y == 0).any():
            raise DataError(f"survival times of 0 for samples {some(self.ids[self.y == 0])}; expected times above 0")
        if self.survival and (n_events := int((self.y > 0).sum())) < 2:
            raise DataError(f"{n_events} of {len(self)} survival times ended with an event; expected 2 or more")

    def _check_images(self) -> None:
        if self.images is None:
            return
        if len(self.images) != len(self):
            raise DataError(f"{len(self)} ids but {len(self.images)} images")
        # images in an integer array share shape and type and are finite: check one
        checked = 1 if isinstance(self.images, np.ndarray) and self.images.dtype.kind in "ui" else len(self)
        for name, image in zip(self.ids[:checked].tolist(), self.images[:checked], strict=True):
            if image.ndim not in (2, 3) or image.shape[2:] not in ((), (3,)) or 0 in image.shape:
                raise DataError(f"image {name!r} has shape {image.shape}; expected (rows, cols) or (rows, cols, 3)")
            check_dtype(image, f"image {name!r}")
            if not np.isfinite(image).all():
                raise DataError(f"image {name!r} has pixels that are not finite")

    def save(self, path: str | os.PathLike[str], provenance: Mapping[str, Any] | None = None) -> None:
        """Write the sample set to an uncompressed NPZ file; equal content gives equal bytes.

        The file also stores `provenance` (JSON types): how the data were made, and from which files.
        """
        arrays: dict[str, Any] = {name: getattr(self, name) for name in ("ids", "y", "classes")}
        arrays["notes"] = np.array(self.notes, dtype=str)
        arrays |= {} if self.groups is None else {"groups": self.groups}
        arrays |= {"survival": np.array(True)} if self.survival else {}
        if isinstance(self.images, np.ndarray):
            arrays["images"] = np.ascontiguousarray(self.images)
        elif self.images is not None:
            arrays |= {f"images/{row}": np.ascontiguousarray(image) for row, image in enumerate(self.images)}
        for sort in _NAMED:
            named = getattr(self, sort)
            arrays |= {f"{sort}/{name}": np.ascontiguousarray(named[name]) for name in sorted(named)}
        write_arrays(path, provenance or {}, **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SampleSet:
        """Read a file written by :meth:`save`; raise DataError if it is missing, corrupt or not a sample set."""
        arrays = read_npz(path)
        missing = [name for name in ("ids", "y", "classes", "notes") if name not in arrays]
        if missing:
            raise DataError(f"{path}: not a data set of mklearn: it lacks {', '.join(missing)}")
        named: dict[str, dict[str, np.ndarray]] = {sort: {} for sort in ("images", *_NAMED)}
        for name, array in arrays.items():
            if "/" in name:
                named[name.partition("/")[0]][name.partition("/")[2]] = array
        images = list(named.pop("images").values()) or arrays.get("images")
        y, classes = arrays["y"], arrays["classes"]
        try:
            return cls(
                arrays["ids"], classes[y] if len(classes) else y, images, groups=arrays.get("groups"),
                notes=tuple(arrays["notes"].tolist()), survival="survival" in arrays, **named,
            )  # fmt: skip
        except DataError as error:
            raise DataError(f"{path}: {error}") from error


def read_labels(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Read the labels file of a data set: the target, the ids, and the groups if there are any."""
    table = read_parquet(path)[0]
    groups = table["group"].to_numpy(dtype=str) if "group" in table else None
    return table["y"].to_numpy(), table["id"].to_numpy(dtype=str), groups


def read_each(read: Callable[[Any], Any], names: Iterable[Any], most: int | None = None) -> dict[Any, Any]:
    """Read each file; raise one DataError with the errors of all files, at most `most` of them and their number."""
    contents, mistakes = {}, list[str]()
    for name in names:
        try:
            contents[name] = read(name)
        except UserError as error:
            mistakes.append(str(error))
    if mistakes:
        distinct = list(dict.fromkeys(mistakes))
        more = f"; ... ({len(distinct)} in all)" if len(distinct) > (most or len(distinct)) else ""
        raise DataError("; ".join(distinct[:most]) + more)
    return contents


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """Build a sort key that puts "s2" before "s10"."""
    parts = re.split(r"(\d+)", text)
    digits = ((part, part.lstrip("0")) for part in parts if part)  # no int(): it limits the digits
    return tuple((0, len(number), f"{number} {part}") if part.isdecimal() else (1, 0, part) for part, number in digits)


def in_natural_order(names: Iterable[str] | np.ndarray) -> list[str]:
    """Return the distinct names in natural order."""
    return sorted(set(np.asarray(names).tolist()), key=natural_key)


def some(values: Sequence[Any] | np.ndarray, limit: int = 5) -> str:
    """Quote the first `limit` values for an error message, and give the total number if there are more."""
    shown = ", ".join(repr(str(value)) for value in values[:limit])
    return shown if len(values) <= limit else f"{shown}, ... ({len(values)} in all)"


def stack_if_regular(images: list[np.ndarray]) -> np.ndarray | list[np.ndarray]:
    """Stack the images if they have one shape and type; return the list otherwise."""
    if len({(image.shape, image.dtype) for image in images}) == 1:
        return np.stack(images)
    return images


def check_unique(names: np.ndarray, what: str, advice: str = "") -> None:
    """Raise DataError with `advice` if a name occurs twice; `what` describes the names in the message."""
    values, counts = np.unique(names, return_counts=True)
    if (counts > 1).any():
        raise DataError(f"{what} must be unique; more than once: {some(values[counts > 1])}{advice}")


def check_text(names: Iterable[str], what: str) -> None:
    """Raise DataError if a name can't be written as UTF-8, or has a NUL character (NumPy drops trailing ones)."""
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError as error:
            raise DataError(f"{what}: {name!r} can't be written as UTF-8; rename it") from error
        if "\0" in name:
            raise DataError(f"{what}: {name!r} has a NUL character; rename it")


def check_dtype(values: np.ndarray, what: str) -> None:
    """Raise DataError if an array holds anything but integers or floating-point numbers."""
    if values.dtype.kind not in "uif":
        raise DataError(f"{what} has dtype {values.dtype}; expected numbers")


def check_numbers(values: np.ndarray, what: str, rows: np.ndarray, columns: np.ndarray, advice: str = "") -> None:
    """Raise DataError, with the columns, the rows (samples) and `advice`, if a matrix is not numeric or not finite."""
    check_dtype(values, what)
    bad = ~np.isfinite(values)
    if n := int(bad.sum()):
        raise DataError(
            f"{what}: {n} value{'s' * (n != 1)} missing or infinite: columns {some(columns[bad.any(axis=0)])}, "
            f"samples {some(rows[bad.any(axis=1)])}{advice}"
        )

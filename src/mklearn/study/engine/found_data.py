"""What lies at a user's path: images in class folders, tables, or matrices; and what each column of a table may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from mklearn.atomic import existing_file
from mklearn.errors import ConfigError, DataError, absence
from mklearn.study.data.readers.annotated_data import MUDATA, arrays_of
from mklearn.study.data.readers.content import IMAGE_SUFFIXES, is_hidden
from mklearn.study.data.readers.precomputed import is_bare
from mklearn.study.data.readers.table_files import ANNOTATED, ARRAYS, SUFFIXES, Table, column_names
from mklearn.study.data.readers.tabular import GROUP_NAMES, named_like, read_frame
from mklearn.study.data.readers.text_tables import slug, table_stem, table_suffix

LABEL_NAMES = ("label", "labels", "class", "diagnosis", "subtype", "cell_type", "condition", "species")
BATCH_NAMES = ("batch", "plate", "site", "centre", "center", "hospital", "cohort")
_FEWEST_SAMPLES = 3
_SYMMETRY_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Column:
    """What a column holds, as far as it tells ids, classes and groups from features."""

    is_text: bool = False
    n_values: int = 0
    """Values that are not missing."""
    n_distinct: int = 0
    """Different values; 0 of numbers with fractions."""
    n_rows: int = 0

    @property
    def may_be_ids(self) -> bool:
        """Whether it is text that differs in each row."""
        return self.is_text and self.n_distinct == self.n_rows > 1

    @property
    def may_be_labels(self) -> bool:
        """Whether there are classes of two samples or more on average."""
        return 2 <= self.n_distinct <= self.n_values / 2


@dataclass(frozen=True)
class FoundTable:
    """A table, or one array of a file."""

    path: Path
    columns: Mapping[str, Column]
    """Of a file of arrays, those of one dimension."""
    names: tuple[str, ...]
    """Of all columns or arrays."""
    array: str = ""
    """Modality of a table that is one of a MuData file."""
    measure: str = ""
    """``kernel`` or ``distance`` of a square symmetric matrix."""

    @property
    def holds_features_as_columns(self) -> bool:
        """Whether each column that is neither id, label nor group is a feature."""
        return self.path.suffix not in (*ARRAYS, *ANNOTATED)


@dataclass(frozen=True)
class FoundData:
    """What lies at a path: tables, or images in class folders."""

    path: Path
    tables: Mapping[str, FoundTable] = field(default_factory=dict)
    """Tables by descriptor name; none where there are images."""
    labels: FoundTable | None = None
    """The table that the user has named as that of labels."""
    others: tuple[str, ...] = ()
    """Names of files of the folder that are no tables."""

    @property
    def matrices(self) -> dict[str, FoundTable]:
        """Those of the tables that are square symmetric matrices."""
        return {name: table for name, table in self.tables.items() if table.measure}

    @property
    def plain(self) -> dict[str, FoundTable]:
        """All other tables."""
        return {name: table for name, table in self.tables.items() if not table.measure}

    @property
    def described(self) -> list[FoundTable]:
        """Tables that may say what samples are: the one that is named, or all that are no matrices."""
        return list(self.plain.values()) if self.labels is None else [self.labels]

    @property
    def columns(self) -> list[str]:
        """Names of the columns and arrays of these."""
        return list(dict.fromkeys(name for table in self.described for name in table.names))


def find_data(place: str | Path, labels: str = "") -> FoundData:
    """Look for images in class folders, or for tables, at a path: a folder, or one table.

    `labels` is the file of labels, if the user names it; it may lie elsewhere.

    Raises
    ------
    DataError
        There is neither, or a table can't be read.
    """
    path, others = Path(place), list[Path]()
    if path.is_file():
        files = [path]
    elif not path.is_dir():
        raise DataError(f"{path}: {absence(path)}, and no such folder.")
    elif _has_class_folders(path):
        return FoundData(path)
    else:
        inside = sorted(file for file in path.iterdir() if file.is_file() and not is_hidden(file.name))
        files = [file for file in inside if table_suffix(file) in SUFFIXES]
        others = [file for file in inside if file not in files]
    named = existing_file(Path(labels)) if labels else None
    files = [file for file in files if named is None or file.resolve() != named.resolve()]
    if not files:
        raise DataError(
            f"{path}: expected one sub-folder per class with images in it ({', '.join(IMAGE_SUFFIXES)}), or tables "
            f"({', '.join(SUFFIXES)})."
        )
    found = [(slug(array or table_stem(file)), file, array) for file in files for array in _arrays(file)]
    if len({name for name, _, _ in found}) < len(found):
        raise ConfigError(f"{path}: names of tables differ in a-z, 0-9, '.', '_' and '-'; rename one of them.")
    looked = {file: look_into(file) for file in files}
    tables = {name: FoundTable(file, looked[file].columns, looked[file].names, array, looked[file].measure)
              for name, file, array in found}  # fmt: skip
    left_out = tuple(file.name for file in others if named is None or file.resolve() != named.resolve())
    return FoundData(path, tables, None if named is None else look_into(named), left_out)


def look_into(path: Path) -> FoundTable:
    """Read a table, and tell what its columns are."""
    if path.suffix in (*ARRAYS, *ANNOTATED):
        names = column_names(path)
        measure = _measure(path, "id") if path.suffix in ARRAYS else ""
        return FoundTable(path, _array_columns(path, names), names, measure=measure)
    if is_bare(path):
        measure = _measure(path, "id")
        if measure:
            return FoundTable(path, {}, (), measure=measure)
    frame = read_frame(path, ("id",))
    text = [str(name) for name, dtype in frame.dtypes.items() if dtype.kind not in "uifb"]
    ids = "id" if "id" in frame else text[0] if len(text) == 1 else ""
    measure = _measure(path, ids) if ids and frame.shape[1] == len(frame) + 1 else ""
    described = [ids] if measure else list(frame)
    columns = {str(name): _column(frame[name], str(name)) for name in described}
    return FoundTable(path, columns, tuple(map(str, frame.columns)), measure=measure)


def _arrays(file: Path) -> list[str]:
    return arrays_of(file)[1] if file.suffix == MUDATA else [""]


def _has_class_folders(folder: Path) -> bool:
    inside = (
        file for part in folder.iterdir() if part.is_dir() and not is_hidden(part.name) for file in part.iterdir()
    )
    return any(file.suffix.lower() in IMAGE_SUFFIXES for file in inside)


def _array_columns(path: Path, names: tuple[str, ...]) -> dict[str, Column]:
    """Describe the one-dimensional arrays of a file, or the columns of ``obs``."""
    columns, arrays = arrays_of(path) if path.suffix in ANNOTATED else (list(names), [])
    arrays = [*(array for array in arrays if array.startswith("obsm/")), *arrays]  # components are small
    found = {}
    try:
        table = Table(path, "id", columns, array=arrays[0] if arrays else None)
    except DataError:
        return {}  # too large as a whole: the study may take another array
    for name in dict.fromkeys(("id", *columns)):
        try:
            text = pd.Series(table.text(name))
        except DataError:
            continue  # a matrix, or no such column
        values = text.where(text != "")
        numbers = pd.to_numeric(values, errors="coerce")
        found[name] = _column(numbers if numbers.notna().sum() == values.notna().sum() else values, name)
    return found


def _column(values: pd.Series, name: str) -> Column:
    is_text = values.dtype.kind not in "uifb"
    countable = is_text or values.dtype.kind != "f" or named_like(name, LABEL_NAMES + GROUP_NAMES + BATCH_NAMES)
    return Column(is_text, int(values.notna().sum()), int(values.nunique()) if countable else 0, len(values))


def _measure(path: Path, ids: str) -> str:
    """Return what a square symmetric matrix holds; an empty text for any other table."""
    bare = is_bare(path)
    table = Table(path, ids, header=not bare)
    try:
        numbers = table.numbers()
    except DataError:
        return ""  # several arrays, or none
    n = len(numbers)
    if numbers.shape != (n, n) or n < _FEWEST_SAMPLES or any(dtype.kind not in "uifb" for dtype in numbers.dtypes):
        return ""
    values = numbers.to_numpy(dtype=np.float64)
    if not bare and not table.holds_arrays:
        order = pd.Index(numbers.columns.astype(str)).get_indexer(pd.Index(table.text(ids)))
        if len(set(order)) < n or order.min() < 0:
            return ""
        values = values[:, order]
    scale = float(np.abs(values).max(initial=0.0))
    if not np.isfinite(scale) or scale == 0 or np.abs(values - values.T).max() > _SYMMETRY_TOLERANCE * scale:
        return ""
    diagonal = np.diag(values)
    if not diagonal.any():
        return "distance" if values.min() >= 0 else ""
    return "kernel" if diagonal.min() > 0 else ""

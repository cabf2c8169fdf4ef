"""Blocks of samples: how many jobs share a pass over all of them."""

from __future__ import annotations

import math
from pathlib import Path

from mklearn.errors import UserError
from mklearn.study.datasets import DatasetConfig, FeatureTables, ImageFolder
from mklearn.study.plan.datasets import PlannedDataset

FEWEST_ROWS, MOST_ROWS, BLOCKS = 20_000, 100_000, 16
"""Samples of a block by default: a sixteenth of all, within these bounds."""


def number_of_blocks(dataset: PlannedDataset, config: DatasetConfig, rows_per_block: int | None) -> int:
    """Return the number of blocks of a data set; of the user's own data by an estimate of the number of samples."""
    n_samples = dataset.n_samples or _estimated_samples(config)
    usual = min(MOST_ROWS, max(FEWEST_ROWS, math.ceil(n_samples / BLOCKS)))
    return max(1, math.ceil(n_samples / (rows_per_block or usual)))


def _estimated_samples(config: DatasetConfig) -> int:
    """Estimate the number of samples of the user's own data, which are not read yet; 0 where nothing is known."""
    if isinstance(config, ImageFolder):
        from mklearn.study.data.readers.image_folder import find_images

        return len(find_images(config.path))
    if not isinstance(config, FeatureTables):
        return 0
    return max((_estimated_rows(Path(path)) for path in config.files.values()), default=0)


def _estimated_rows(path: Path) -> int:
    """Estimate the rows of a table: of Parquet by its footer, of text by its size and first lines; else 0."""
    from mklearn.study.data.text_tables import TEXT_TABLES, first_rows, unpacked_bytes

    try:
        if path.suffix == ".parquet":
            import pyarrow.parquet as pq  # here: few studies have landmarks

            return int(pq.read_metadata(path).num_rows)
        if path.name.endswith(TEXT_TABLES):
            lines = first_rows(path, 100)
            length = sum(len(cell) + 1 for cells in lines for cell in cells) / max(1, len(lines))
            return round(unpacked_bytes(path) / max(1.0, length))
    except (OSError, ValueError, UserError):  # also pyarrow's errors; the reader says what is wrong with the file
        pass
    return 0

"""Blocks of samples: the features of consecutive samples by descriptor, as the parts of a descriptor hold them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mklearn.errors import DataError
from mklearn.study.artefacts import read_arrays
from mklearn.study.data.description import rows_of_part
from mklearn.study.evaluation.landmarks import Block


def read_block(files: Sequence[Path], descriptors: Sequence[str], ids: NDArray[np.str_], part: str) -> Block:
    """Read one block, the same part of each descriptor: the positions of its samples, and views by descriptor.

    Parameters
    ----------
    files : one for each of ``descriptors``, in this order
    ids : (n,) ids of all samples
    part : ``"2of8"``

    Raises
    ------
    DataError
        A file is missing, is of other samples than this part of the data set, or has features that are not finite.
    """
    place = rows_of_part(len(ids), part)
    if len(files) != len(descriptors):
        raise DataError(f"part {part}: expected a file for each of {', '.join(descriptors)}; got {len(files)}.")
    views = {}
    for name, path in zip(descriptors, files, strict=True):
        held = read_arrays(path, ("features", "ids"))
        if not np.array_equal(held["ids"].astype(ids.dtype), ids[place]):
            raise DataError(f"{path}: not the samples of part {part} of the data set; delete the file and run again.")
        finite = np.isfinite(held["features"]).all(axis=1)
        if not finite.all():
            raise DataError(f"{path}: the features of sample {str(held['ids'][finite.argmin()])!r} are not finite.")
        views[name] = held["features"]
    return np.arange(place.start, place.stop), views


def read_blocks(files: Sequence[Path], descriptors: Sequence[str], ids: NDArray[np.str_]) -> Iterator[Block]:
    """Read all blocks, one after the other; files are given descriptor by descriptor, each in the order of its parts.

    Raises
    ------
    DataError
        As `read_block`, or another number of parts of some descriptor.
    """
    n_blocks, rest = divmod(len(files), len(descriptors))
    if rest or not n_blocks:
        raise DataError(f"{len(files)} files of features are no whole number of blocks of {', '.join(descriptors)}.")
    for number in range(n_blocks):
        yield read_block(files[number::n_blocks], descriptors, ids, f"{number + 1}of{n_blocks}")

"""Files of projected samples: what the step ``project`` computes once for all methods on a protocol's pairs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from mklearn.base.pairs import Projection
from mklearn.study.artefacts import read_arrays, write_arrays


def save_projections(path: str | os.PathLike[str], projections: Sequence[Projection], stamp: Mapping[str, Any]) -> None:
    """Write the projections of a protocol's splits by one descriptor: arrays such as ``3/values``, by split."""
    arrays = {
        f"{number}/{part.name}": getattr(projection, part.name)
        for number, projection in enumerate(projections)
        for part in fields(Projection)
    }
    write_arrays(path, stamp, **arrays)


def load_projections(path: str | os.PathLike[str]) -> list[Projection]:
    """Read a file written by :func:`save_projections`; DataError if it is damaged."""
    held = read_arrays(path)
    numbers = sorted({int(name.split("/")[0]) for name in held if "/" in name})
    return [Projection(*(held[f"{number}/{part.name}"] for part in fields(Projection))) for number in numbers]

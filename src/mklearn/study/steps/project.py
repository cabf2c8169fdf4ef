"""Step: the samples of pairs on principal components, computed once for the methods of a protocol.

Whitening and lengths are the fit's: a change of them costs nothing here.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mklearn.base.pairs import principal_projection
from mklearn.contract.specs import ProjectSpec
from mklearn.study.artefacts import read_arrays, read_table
from mklearn.study.data.pairs import PairLists, save_projections
from mklearn.study.provenance import input_digests, stamp
from mklearn.study.steps.log import progress


def project(features: Path, labels: Path, splits: Path, projections: Path, *, spec: ProjectSpec) -> None:
    """Write the projections of one descriptor for each split of pairs, and for the parts that choose parameters.

    Components are those of the samples in the split's training pairs.

    Raises
    ------
    DataError
        Negative features, of which a square root is to be taken; or splits of other samples.
    """
    pairs = PairLists.load(splits, read_table(labels)[0]["id"].to_numpy(dtype=str))
    table = read_arrays(features, ("features",))["features"].astype(np.float32)
    every = [*pairs.splits, *([pairs.choosing_split] if pairs.choosing_split else [])]
    found = [
        principal_projection(
            table, _samples_of(pairs, np.concatenate([split.train, split.test])), _samples_of(pairs, split.train),
            components=spec.components, square_root=spec.square_root,
        )
        for split in progress(every, len(every), "projection: split")
    ]  # fmt: skip
    record = stamp("project", spec.as_dict(), input_digests(features=features, labels=labels, splits=splits))
    save_projections(projections, found, record)


def _samples_of(pairs: PairLists, chosen: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the samples of some pairs, ascending."""
    return np.unique([pairs.first[chosen], pairs.second[chosen]])

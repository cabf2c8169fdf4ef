"""Project the samples of pairs on principal components, once for the methods of a protocol."""

from pathlib import Path

import numpy as np

from mklearn.base.pairs import principal_projection
from mklearn.study.artefacts import read_arrays, read_table
from mklearn.study.data.pairs import PairLists, save_projections
from mklearn.study.log import progress
from mklearn.study.script import Output, Record, run_script


def project(
    features: Path, labels: Path, splits: Path, projections: Output, *, components: int, square_root: bool,
    record: Record,
) -> None:  # fmt: skip
    """Write the projections of one descriptor for each split of pairs, and for the parts that choose parameters.

    Components are those of the samples in the split's training pairs. Whitening and lengths are the fit's: a change of
    them costs nothing here.

    Raises
    ------
    DataError
        Negative features, of which a square root is to be taken; or splits of other samples.
    """
    pairs = PairLists.load(splits, read_table(labels)[0]["id"].to_numpy(dtype=str))
    table = read_arrays(features, ("features",))["features"].astype(np.float32)
    every = [*pairs.splits, *([pairs.choosing_split] if pairs.choosing_split else [])]
    computed = [
        principal_projection(
            table, pairs.samples_of(np.concatenate([split.train, split.test])), pairs.samples_of(split.train),
            components=components, square_root=square_root,
        )
        for split in progress(every, len(every), "projection: split")
    ]  # fmt: skip
    save_projections(projections, computed, record)


if __name__ == "__main__":
    run_script(project, globals().get("snakemake"))

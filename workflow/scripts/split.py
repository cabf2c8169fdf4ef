"""Draw the splits of one protocol, at all its training sizes, once for all methods."""

from pathlib import Path

from mklearn.atomic import read_parquet
from mklearn.study.data.draw_splits import draw_splits
from mklearn.study.log import logger
from mklearn.study.script import Output, Record, run_script
from mklearn.study.specs.data_specs import SplitSpec


def split(
    labels: Path, files: list[Path] | None = None, reference: Path | None = None, *, splits: Output, spec: SplitSpec,
    record: Record,
) -> None:  # fmt: skip
    """Draw the splits of a protocol from the labels, or read them from files.

    ``files`` are a file of splits, from the user or the data set, or lists of pairs. ``reference`` has the labels of
    the data set from which this one takes its splits. The random generator depends on data set, training size, repeat
    and seed; see :func:`mklearn.study.data.draw_splits.generators`.
    """
    table = read_parquet(labels)[0]
    drawn = draw_splits(table, spec, files or [], None if reference is None else read_parquet(reference)[0])
    first = drawn.splits[0]
    sizes = len(drawn.splits), len(first.train), len(first.test)
    logger.info("%d splits; the first has %d training and %d test samples", *sizes)
    y = table["y"].to_numpy()
    if any(n_flipped := [int((each.target(y) != y).sum()) for each in drawn]):
        record = record | {"n_flipped": n_flipped}
    drawn.save(splits, table["id"].to_numpy(dtype=str), record)


if __name__ == "__main__":
    run_script(split, globals().get("snakemake"))

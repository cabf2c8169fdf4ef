"""Draw the splits of one protocol, at all its training sizes, once for all methods."""

from pathlib import Path

from mklearn.study.artefacts import read_table
from mklearn.study.data.draw_splits import draw_splits
from mklearn.study.log import logger
from mklearn.study.script import Output, Record, run_script
from mklearn.study.specs.data_specs import SplitSpec


def split(
    labels: Path, files: list[Path] | None = None, reference: Path | None = None, *, splits: Output, spec: SplitSpec,
    record: Record,
) -> None:  # fmt: skip
    """Draw splits from the labels by a protocol, or read them from files.

    The random generator depends on data set, training size, repeat and seed: see
    :func:`mklearn.study.data.draw_splits.generator`.

    Parameters
    ----------
    labels : Path
    files : list of Path
        A file with splits of the user's or of the data set, or lists of pairs.
    reference : Path
        Labels of the data set whose splits this one has.
    splits : Path
        Written.
    spec : SplitSpec
    """
    table = read_table(labels)[0]
    drawn = draw_splits(table, spec, files or [], None if reference is None else read_table(reference)[0])
    first = drawn.splits[0]
    sizes = len(drawn.splits), len(first.train), len(first.test)
    logger.info("%d splits; the first has %d training and %d test samples", *sizes)
    drawn.save(splits, table["id"].to_numpy(dtype=str), record)


if __name__ == "__main__":
    run_script(split, globals().get("snakemake"))

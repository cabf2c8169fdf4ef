"""Gather the moments of the landmark features of one block of samples, for each split and inner fold."""

from pathlib import Path
from typing import Any

from mklearn.errors import DataError, NotApplicable
from mklearn.study.artefacts import read_table, write_arrays
from mklearn.study.data.description import rows_of_part
from mklearn.study.data.splits import Splits
from mklearn.study.evaluation.landmark_files import digest_of_landmarks, read_block, read_landmarks
from mklearn.study.evaluation.landmarks import Folds, SplitMoments
from mklearn.study.log import logger, progress
from mklearn.study.script import Output, Record, run_script
from mklearn.study.specs.fit_spec import LandmarkSetSpec


def moments(
    landmarks: Path, labels: Path, splits: Path, features: list[Path], moments: Output, *, spec: LandmarkSetSpec,
    record: Record,
) -> None:  # fmt: skip
    """Write the moments of block ``spec.part`` of the samples.

    Samples outside the training part of a split count in none of its moments; a split without landmarks has none.

    Parameters
    ----------
    landmarks, labels, splits : Path
    features : list of Path
        The block of each descriptor of ``spec``.
    moments : Path
        Written.
    spec : LandmarkSetSpec

    Raises
    ------
    DataError
        Features of other samples, or of another data set than the landmarks.
    """
    part = spec.part or "1of1"
    table = read_table(labels)[0]
    y, ids = table["y"].to_numpy(), table["id"].to_numpy(dtype=str)
    groups = table["group"].to_numpy(dtype=str) if "group" in table else None
    drawn = Splits.load(splits, ids).splits
    maps = read_landmarks(landmarks)
    if len(maps) != len(drawn):
        raise DataError(f"{landmarks}: has the landmarks of {len(maps)} splits; {splits} has {len(drawn)}.")
    rows, views = read_block(features, spec.descriptors, ids, part)
    arrays: dict[str, Any] = {}
    n_folds = []
    for number, (split, features_of) in enumerate(zip(progress(drawn, len(drawn), "split"), maps, strict=True)):
        if isinstance(features_of, NotApplicable):
            n_folds.append(0)
            continue
        folds = Folds.of(y, split, spec.inner_folds, spec.seed, groups)
        n_folds.append(folds.n_folds)
        sums = SplitMoments.of_rows(features_of, views, rows, y, folds)
        arrays |= {f"{number}/{name}": array for name, array in sums.as_arrays().items()}
    place = rows_of_part(len(ids), part)
    logger.info("part %s: %d samples", part, len(rows))
    digest = digest_of_landmarks(landmarks)
    write_arrays(moments, record, start=place.start, stop=place.stop, landmarks=digest, n_folds=n_folds, **arrays)


if __name__ == "__main__":
    run_script(moments, globals().get("snakemake"))

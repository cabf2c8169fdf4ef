"""Choose the landmarks of every split of one protocol: the map from samples to features that they give."""

import time
from pathlib import Path

import numpy as np

from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.base.landmark_moments import landmark_features
from mklearn.errors import DataError, NotApplicable
from mklearn.study.artefacts import read_table
from mklearn.study.data.splits import Splits
from mklearn.study.evaluation.landmark_files import landmark_candidates, read_blocks, views_of_rows, write_landmarks
from mklearn.study.evaluation.landmarks import class_codes
from mklearn.study.log import logged_warnings, logger, progress
from mklearn.study.script import Output, Record, run_script
from mklearn.study.specs.fit_spec import LandmarkSetSpec, specs_by_name


def landmarks(
    labels: Path, splits: Path, features: list[Path], landmarks: Output, *, spec: LandmarkSetSpec, record: Record
) -> None:
    """Choose landmarks among the training samples of every split, and fit the parameters of the kernels.

    They are chosen from at most 20,000 training samples, or as many as there are landmarks: drawn at random, and the
    first of each class that would be missing. A split with fewer training samples than landmarks, or with more classes
    than landmarks, has that reason in their place.

    Parameters
    ----------
    labels, splits : Path
    features : list of Path
        Blocks of each descriptor of ``spec``, descriptor by descriptor.
    landmarks : Path
        Written.
    spec : LandmarkSetSpec

    Raises
    ------
    DataError
        Features that a kernel can't take.
    """
    table = read_table(labels)[0]
    y, ids = table["y"].to_numpy(), table["id"].to_numpy(dtype=str)
    drawn = Splits.load(splits, ids).splits
    candidates = [landmark_candidates(split, y, spec) for split in drawn]
    rows = np.unique(np.concatenate(candidates))
    views = views_of_rows(rows, read_blocks(features, spec.descriptors, ids))
    kernels = specs_by_name(spec.kernels)
    fitted: list[LandmarkFeatures | str] = []
    seconds = []
    for split, samples in zip(progress(drawn, len(drawn), "landmarks: split"), candidates, strict=True):
        training = {name: table[np.searchsorted(rows, samples)] for name, table in views.items()}
        unfitted = landmark_features(kernels, spec.landmarks.parameter(spec.seed))
        started = time.process_time()
        try:
            with logged_warnings(split.name):
                fitted.append(unfitted.fit(training, class_codes(y[samples])))
        except NotApplicable as reason:
            logger.warning("%s: no landmarks: %s", split.name, reason)
            fitted.append(str(reason))
        except DataError as error:
            raise DataError(f"{split.name}: {error}") from error
        seconds.append(time.process_time() - started)
    write_landmarks(landmarks, record, fitted, seconds)


if __name__ == "__main__":
    run_script(landmarks, globals().get("snakemake"))

"""Step: read the files of a data set into one sample set, and its labels into a small table."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from mklearn.contract.specs import ReadSpec
from mklearn.study.artefacts import write_table
from mklearn.study.data.read import read_dataset
from mklearn.study.data.readers.image_folder import find_images
from mklearn.study.data.samples import SampleSet
from mklearn.study.provenance import digest, file_digest, input_digests, stamp
from mklearn.study.steps.log import logger


def read(samples: Path, labels: Path, *, spec: ReadSpec, files: list[Path] | None = None) -> None:
    """Read ``files`` (or those of ``spec.paths``) with the reader ``spec.reader``.

    The target goes to a Parquet table (columns id, y, label of classes, and group where samples have one), so that
    splits and fits do not depend on the images.
    """
    given = files or []
    data = read_dataset(spec.as_dict(), spec.paths if spec.paths is not None else {path.name: path for path in given})
    record = stamp("read", spec.as_dict(), _images(spec) or input_digests(files=given))
    of = f" of {data.n_classes} classes" if data.target == "classes" else ""
    logger.info("%s: %d samples%s", spec.dataset, len(data), of)
    for note in data.notes:
        logger.info("note: %s", note)
    data.save(samples, record)
    write_table(labels, labels_table(data), record)


def labels_table(data: SampleSet) -> pd.DataFrame:
    """Return ids, class codes and names of classes, or numbers, and the groups where samples have one."""
    table = pd.DataFrame({"id": data.ids, "y": data.y})
    if data.target == "classes":
        table["label"] = data.classes[data.y]
    if data.groups is not None:
        table["group"] = data.groups
    return table


def _images(spec: ReadSpec) -> dict[str, str]:
    """Compute one digest of the names and contents of a folder's images; nothing for other data sets."""
    if spec.reader != "image_folder" or spec.paths is None:
        return {}
    return {"images": digest(image_digests(Path(spec.paths["root"])))}


def image_digests(root: Path) -> list[list[str]]:
    """Return the name below a folder and the sha256 of each of its images."""
    return [[path.relative_to(root).as_posix(), file_digest(path)] for path in find_images(root)]

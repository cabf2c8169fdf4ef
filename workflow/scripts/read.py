"""Read the files of a data set into one sample set, and the targets into a small table."""

from pathlib import Path
from typing import Any

from mklearn.atomic import write_parquet
from mklearn.study.data.read import labels_table, read_dataset
from mklearn.study.data.readers.images import find_images
from mklearn.study.log import logger
from mklearn.study.provenance import digest, file_digest
from mklearn.study.script import Output, Record, run_script
from mklearn.study.specs.data_specs import FOLDER_KEY


def read(
    files: list[Path] | None = None, *, samples: Output, labels: Output, spec: dict[str, Any], record: Record
) -> None:
    """Read ``files``, or the files in the specification; see :func:`mklearn.study.data.read.read_dataset`.

    The samples have ids, targets, and images, tables or matrices. A separate table holds the targets, so that splits
    and fits do not depend on the images. Its columns are id, y, label (for classes), and group (if there are groups).
    """
    data = read_dataset(spec, spec.get("paths") or {path.name: path for path in files or []})
    of = f" of {len(data.classes)} classes" if data.target == "classes" else ""
    logger.info("%s: %d samples%s", spec["dataset"], len(data), of)
    for note in data.notes:
        logger.info("note: %s", note)
    if FOLDER_KEY in spec.get("paths", {}):  # the images are not inputs of the rule
        root = Path(spec["paths"][FOLDER_KEY])
        images = [[path.relative_to(root).as_posix(), file_digest(path)] for path in find_images(root)[0]]
        record = {**record, "inputs": {**record["inputs"], "images": digest(images)}}
    data.save(samples, record)
    write_parquet(labels, labels_table(data), record)


if __name__ == "__main__":
    run_script(read, globals().get("snakemake"))

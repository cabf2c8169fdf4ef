"""Learn the words, patches or principal axes that a descriptor needs."""

from pathlib import Path
from typing import Any

import numpy as np

from mklearn.errors import DataError
from mklearn.rows import load
from mklearn.study.artefacts import write_arrays
from mklearn.study.data.samples import SampleSet
from mklearn.study.log import logger
from mklearn.study.script import Output, Record, run_script


def learn(
    samples: Path, learned: Output, *, learns: str, learns_from: int, seed: int, parameters: dict[str, Any],
    record: Record,
) -> None:  # fmt: skip
    """Write the arrays that the function ``learns`` (``module:name``) returns for random images of the whole data set.

    Labels are not used.
    """
    data = SampleSet.load(samples)
    if data.images is None:
        raise DataError(f"{samples}: has no images, which {learns} needs.")
    drawn = np.random.default_rng(seed).permutation(len(data))[:learns_from]
    arrays = load(learns)(data.subset(np.sort(drawn)).images, random_state=seed, **parameters)
    logger.info("learned %s", ", ".join(f"{name} {array.shape}" for name, array in arrays.items()))
    write_arrays(learned, record, **arrays, names=sorted(arrays))


if __name__ == "__main__":
    run_script(learn, globals().get("snakemake"))

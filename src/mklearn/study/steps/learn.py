"""Step: learn what a descriptor needs before it describes images: words, patches or principal axes.

It uses images of the whole data set, drawn at random, and no labels.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mklearn.contract.loading import load
from mklearn.contract.specs import LearnSpec
from mklearn.errors import DataError
from mklearn.study.artefacts import write_arrays
from mklearn.study.data.samples import SampleSet
from mklearn.study.provenance import input_digests, stamp
from mklearn.study.steps.log import logger


def learn(samples: Path, learned: Path, *, spec: LearnSpec) -> None:
    """Write the arrays that ``spec.learns`` computes from ``spec.learns_from`` images with the study's seed."""
    data = SampleSet.load(samples)
    if data.images is None:
        raise DataError(f"{samples}: has no images, which descriptor {spec.kind!r} needs.")
    drawn = np.random.default_rng(spec.seed).permutation(len(data))[: spec.learns_from]
    images = data.subset(np.sort(drawn)).images
    arrays = load(spec.learns)(images, random_state=spec.seed, **spec.parameters)
    logger.info("%s: learned %s", spec.kind, ", ".join(f"{name} {array.shape}" for name, array in arrays.items()))
    record = stamp("learn", spec.as_dict(), input_digests(samples=samples))
    write_arrays(learned, record, **arrays, names=sorted(arrays))

"""Step: the embeddings of one block of samples by a method on landmarks, for each split."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklearn.artefacts import read_table, write_table
from mklearn.contract.landmark_specs import EmbedSpec
from mklearn.datasets.splits import Splits
from mklearn.evaluation.landmarks import outputs_of
from mklearn.provenance import input_digests, stamp
from mklearn.steps.blocks import read_block
from mklearn.steps.log import logger, progress
from mklearn.steps.solve import read_solution


def embed(
    solution: Path, labels: Path, splits: Path, features: list[Path], embeddings: Path, *, spec: EmbedSpec,
    code: list[Path] | None = None,
) -> None:  # fmt: skip
    """Write the embeddings of block ``spec.part`` of the samples; of a classifier the scores of the classes.

    One row for each split, estimator of the split and sample of its training or test part: ``split`` and ``estimator``
    (numbers), ``sample`` (position in the data set), and the components ``z0``, ``z1``, ... in single precision, NaN
    where an estimator has fewer of them. ``seconds`` is the time of the split's samples, the same in each row.

    Parameters
    ----------
    solution, labels, splits : Path
    features : list of Path
        One file for each of ``spec.descriptors``.
    embeddings : Path
        Written, a table.
    """
    ids = read_table(labels)[0]["id"].to_numpy(dtype=str)
    drawn = Splits.load(splits, ids).splits
    solved = read_solution(solution)
    block = read_block(features, spec.descriptors, ids, spec.part)
    frames = []
    for number, (split, found) in enumerate(zip(progress(drawn, len(drawn), "embed: split"), solved, strict=True)):
        if found.solved is None:
            continue
        in_split = np.zeros(len(ids), dtype=bool)
        in_split[split.train] = in_split[split.test] = True
        used = np.flatnonzero(in_split[block.rows])
        if not len(used):
            continue
        started = time.process_time()
        made = outputs_of(found.solved.estimators, {name: table[used] for name, table in block.views.items()})
        seconds = time.process_time() - started
        frames += [_frame(number, position, block.rows[used], each, seconds) for position, each in enumerate(made)]
    table = pd.concat(frames, ignore_index=True) if frames else _frame(0, 0, block.rows[:0], np.empty((0, 0)), 0.0)
    logger.info("part %s: %d rows", spec.part, len(table))
    inputs = input_digests(solution=solution, labels=labels, splits=splits, features=features)
    write_table(embeddings, table, stamp(spec.as_dict(), inputs, code or []))


def _frame(split: int, estimator: int, rows: NDArray[np.intp], made: NDArray[Any], seconds: float) -> pd.DataFrame:
    columns: dict[str, Any] = {
        "split": np.full(len(rows), split, dtype=np.int32),
        "estimator": np.full(len(rows), estimator, dtype=np.int16),
        "sample": rows.astype(np.int64),
        "seconds": np.full(len(rows), seconds, dtype=np.float32),
    }
    return pd.DataFrame(columns | {f"z{k}": made[:, k].astype(np.float32) for k in range(made.shape[1])})

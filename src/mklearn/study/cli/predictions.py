"""The command that predicts new samples with a study's model."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from mklearn.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

    from mklearn.saved_models import SavedModel
    from mklearn.study.prediction.new_samples import NewSamples

SUFFIXES = (".csv", ".parquet")
MANY_CLIPPED = 0.01
"""Share of the values of a view that are clipped, above which it is said."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``predict``."""
    predict = commands.add_parser(
        "predict",
        help="predict new images or tables with the model of a study",
        description="Prints a table as CSV, or writes it: id, label, probabilities or decision values; or "
        "id, predicted number and its interval. Images are read, resized and described as in the "
        "study. Where tables have labels, the accuracy is printed too, and of numbers the error.",
    )
    predict.add_argument("model", metavar="MODEL", help="a model file, such as results/photos/model.mklearn")
    predict.add_argument(
        "new", nargs="+", metavar="NEW",
        help="a folder of images (any depth) or one image; or one table, a folder of tables named as the views, or "
        "VIEW=FILE for each view",
    )  # fmt: skip
    predict.add_argument("--output", metavar="FILE", help="write the table to FILE.csv or FILE.parquet")
    predict.set_defaults(run=_predict)


def _predict(options: argparse.Namespace) -> int:
    if options.output is not None and Path(options.output).suffix not in SUFFIXES:
        raise ConfigError(f"--output {options.output}: expected a name that ends in {' or '.join(SUFFIXES)}.")
    from mklearn.atomic import csv_text, write_parquet, write_text
    from mklearn.study.prediction.new_samples import read_new_samples
    from mklearn.study.prediction.predictions import load_study_model, prediction_frame

    model, card = load_study_model(options.model)
    samples = read_new_samples(options.new, card, model.arrays)
    frame = prediction_frame(model, samples)
    if options.output is None:
        sys.stdout.write(csv_text(frame))
    elif Path(options.output).suffix == ".parquet":
        write_parquet(options.output, frame)
    else:
        write_text(options.output, csv_text(frame))
    _tell(frame, samples, model, sys.stdout if options.output is not None else sys.stderr)
    if options.output is not None:
        print(f"{len(samples)} predictions: {options.output}")
    return int(bool(samples.unread))


def _tell(frame: pd.DataFrame, samples: NewSamples, model: SavedModel, said: TextIO) -> None:
    """Print what a user should know of the predictions, and how good they are where samples have labels."""
    from mklearn.study.data.samples import some

    for name, count in samples.missing.items():
        print(f"mklearn: view {name!r} is missing for {count} samples; it is filled in", file=sys.stderr)
    for name, features in samples.completed.items():
        lacking = f"{len(features)} features of view {name!r} are missing"
        print(
            f"mklearn: {lacking}; they are at their means over the training samples: {some(features)}", file=sys.stderr
        )
    for problem in samples.unread.values():
        print(f"mklearn: {problem}; it is not predicted", file=sys.stderr)
    import numpy as np

    from mklearn.study.prediction.predictions import clipped_values

    if samples.labels is not None and (given := samples.labels != "").any():
        if "predicted" in frame:
            errors = frame["predicted"].to_numpy()[: len(samples)][given] - samples.labels[given].astype(float)
            print(f"RMSE {(errors**2).mean() ** 0.5:.4g} ({given.sum()} samples with a number)", file=said)
        else:
            right = frame["label"].astype(str).to_numpy()[: len(samples)][given] == samples.labels[given]
            print(f"accuracy {right.mean():.4f} ({right.sum()} of {given.sum()} samples with a label)", file=said)
    for name, (clipped, values) in clipped_values(model, samples).items():
        if clipped > MANY_CLIPPED * values:
            print(
                f"mklearn: {clipped:,} of {values:,} values of view {name!r} lie far outside the range of the training "
                "samples and are clipped; are they in the same unit, from the same kind of samples?",
                file=sys.stderr,
            )
    known = 0 if samples.numbered else np.isin(samples.ids, model.arrays["ids"]).sum()
    if known:
        print(
            f"mklearn: {known} of {len(samples)} samples have ids of training samples: if they are these samples, the "
            "model has learned their labels, and how well it predicts them says nothing about new ones",
            file=sys.stderr,
        )

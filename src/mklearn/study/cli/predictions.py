"""The command ``predict``, which predicts new samples with a study's model."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mklearn.errors import ConfigError, NotApplicable

if TYPE_CHECKING:
    import pandas as pd

    from mklearn.study.prediction.new_samples import NewSamples

SUFFIXES = (".csv", ".parquet")


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command ``predict`` to the parser."""
    predict = commands.add_parser(
        "predict",
        help="predict new images or tables with the model of a study",
        description="Prints a table as CSV, or writes it: id, label, prediction set, and probabilities or decision "
        "values; or id, predicted number and its interval; or id, risk and survival. Images are read, resized and "
        "described as in the study. Where tables have labels, the accuracy, RMSE or Harrell's C is printed too.",
    )
    predict.add_argument("model", metavar="MODEL", help="a model file, such as results/photos/model.mklearn")
    predict.add_argument(
        "new", nargs="+", metavar="NEW",
        help="a folder of images (any depth) or one image; or one table, a folder of files named as the study's, or "
        "VIEW=FILE for each view; or images, then tables",
    )  # fmt: skip
    predict.add_argument(
        "--output", metavar="FILE", help="write the table to FILE, whose name ends in .csv or .parquet"
    )
    predict.set_defaults(run=_predict)


def _predict(options: argparse.Namespace) -> int:
    if options.output is not None and Path(options.output).suffix not in SUFFIXES:
        raise ConfigError(f"--output {options.output}: expected a name that ends in {' or '.join(SUFFIXES)}.")
    from mklearn.atomic import csv_text, write_parquet, write_text
    from mklearn.study.prediction.new_samples import read_new_samples
    from mklearn.study.prediction.predictions import load_study_model, prediction_frame

    model, inputs = load_study_model(options.model)
    samples = read_new_samples(options.new, inputs, model.arrays)
    frame = prediction_frame(model.estimator, samples)
    unread = [f"{problem}; it is not predicted" for problem in samples.unread.values()]
    for note in [*samples.notes, *unread, *_caution(model.estimator, samples)]:
        print(f"mklearn: {note}", file=sys.stderr)
    if options.output is None:
        sys.stdout.write(csv_text(frame))
        sys.stderr.write(_success(frame, samples, model.estimator))
        return int(bool(samples.unread))
    if Path(options.output).suffix == ".parquet":
        write_parquet(options.output, frame)
    else:
        write_text(options.output, csv_text(frame))
    print(f"{_success(frame, samples, model.estimator)}{len(samples.ids)} predictions: {options.output}")
    return int(bool(samples.unread))


def _caution(model: Any, samples: NewSamples) -> Iterator[str]:
    """Yield a sentence if samples have only views without weight."""
    import numpy as np

    from mklearn.kernels.completion import lacking

    used = [name for name, share in getattr(model, "view_shares_", {}).items() if np.any(share)]
    gaps = [lacking(samples.X[name]) for name in used if name in samples.X.names]
    if len(gaps) == len(used) > 0 and (n := int(np.all(gaps, axis=0).sum())):
        yield f"{n} sample(s) have only views without weight in this model, so their predictions are equal"


def _success(frame: pd.DataFrame, samples: NewSamples, model: Any) -> str:
    """Return a sentence on the quality of predictions for samples with labels."""
    if samples.labels is None or not (samples.labels != "").any():
        return ""
    frame, labelled = frame.iloc[: len(samples.ids)], samples.labels != ""  # unread images come last
    labels, n = samples.labels[labelled], labelled.sum()
    if "predicted" in frame:
        errors = frame["predicted"].to_numpy()[labelled] - labels.astype(float)
        return f"RMSE {(errors**2).mean() ** 0.5:.4g} ({n} samples with a number)\n"
    if "risk" in frame:
        from mklearn.survival import harrell_c

        try:
            value = harrell_c(labels.astype(float), frame["risk"].to_numpy()[labelled])
        except NotApplicable as error:
            return f"no Harrell's C ({n} samples with a time): {error}\n"
        return f"Harrell's C {value:.4f} ({n} samples with a time)\n"
    right = frame["label"].astype(str).to_numpy()[labelled] == labels
    from mklearn.study.data.samples import some

    foreign = sorted(set(labels) - set(map(str, model.classes_)))
    other = f"; no class of the model: {some(foreign)}" if foreign else ""
    return f"accuracy {right.mean():.4f} ({right.sum()} of {n} samples with a label{other})\n"

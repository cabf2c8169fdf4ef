"""The command that predicts new samples with a study's model."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mklearn.errors import ConfigError

SUFFIXES = (".csv", ".parquet")


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``predict``."""
    predict = commands.add_parser(
        "predict",
        help="predict new images or tables with a model that a study has made",
        description="Prints a table as CSV, or writes it: id, label, probabilities or decision values, nearest "
        "training samples. Images are read, resized and described as in the study. Where tables have labels, the "
        "accuracy is printed too.",
    )
    predict.add_argument("model", metavar="MODEL", help="a model file, such as results/photos/model.mklearn")
    predict.add_argument(
        "new", nargs="+", metavar="NEW",
        help="a folder of images (any depth) or one image; or one table, a folder of tables named as the views, or "
        "VIEW=FILE for each view",
    )  # fmt: skip
    predict.add_argument("--output", metavar="FILE", help="write the table to FILE.csv or FILE.parquet")
    predict.add_argument(
        "--neighbours", type=int, metavar="K", help="name the K nearest training samples (default: 1 where it "
        "predicts by them)"
    )  # fmt: skip
    predict.add_argument("--embedding", metavar="FILE.parquet", help="write the embedding of the new samples")
    predict.add_argument("--unlabelled", action="store_true", help="only rows of tables whose label is empty")
    predict.set_defaults(run=_predict)


def _predict(options: argparse.Namespace) -> None:
    for name, valid in (("output", SUFFIXES), ("embedding", (".parquet",))):
        path = getattr(options, name)
        if path is not None and Path(path).suffix not in valid:
            raise ConfigError(f"--{name} {path}: expected a name that ends in {' or '.join(valid)}.")
    if options.neighbours is not None and options.neighbours < 0:
        raise ConfigError(f"--neighbours {options.neighbours}: expected a number of training samples, 0 or more.")
    from pydantic import ValidationError

    from mklearn.atomic import write_parquet, write_text
    from mklearn.saved_models import load_model
    from mklearn.study.prediction.new_samples import read_new_samples
    from mklearn.study.prediction.predictions import embedding_frame, prediction_frame
    from mklearn.study.specs.model_card import ModelCard

    model = load_model(options.model)
    try:
        card = ModelCard.model_validate(model.card)
    except ValidationError:
        raise ConfigError(
            f"{options.model}: not a model of a study, so how new samples are read is not known; use "
            "`mklearn.saved_models.load_model`"
        ) from None
    samples = read_new_samples(options.new, card, model.arrays)
    if options.unlabelled:
        samples = samples.without_labels()
    frame = prediction_frame(model, samples, options.neighbours)
    if options.embedding is not None:
        write_parquet(options.embedding, embedding_frame(model, samples))
    if options.output is None:
        frame.to_csv(sys.stdout, index=False)
    elif Path(options.output).suffix == ".parquet":
        write_parquet(options.output, frame)
    else:
        write_text(options.output, frame.to_csv(index=False))
    said = sys.stdout if options.output is not None else sys.stderr
    for name, count in samples.missing.items():
        print(f"mklearn: view {name!r} is missing for {count} samples; it is filled in", file=sys.stderr)
    if samples.labels is not None and (samples.labels != "").any():
        given = samples.labels != ""
        right = frame["label"].astype(str).to_numpy()[given] == samples.labels[given]
        print(f"accuracy {right.mean():.4f} ({right.sum()} of {given.sum()} samples with a label)", file=said)
    if options.output is not None:
        print(f"{len(frame)} predictions: {options.output}")

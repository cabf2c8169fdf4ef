"""Step: the summary table of a study: per method the mean, spread, interval, difference to the reference, verdict."""

from __future__ import annotations

from pathlib import Path

from mklearn.study.artefacts import read_table, write_table
from mklearn.study.evaluation.predictions import Predictions
from mklearn.study.evaluation.reproduction import compare_published, sentence, unmatched
from mklearn.study.evaluation.summary import summarise
from mklearn.study.provenance import input_digests, stamp
from mklearn.study.specs.table_specs import SummarySpec
from mklearn.study.steps.log import logger


def summary(scores: Path, predictions: Path, table: Path, *, spec: SummarySpec) -> None:
    """Summarise the score table; intervals are computed from the predictions.

    The log names the data sets that are not the papers' by the calibration, and the published values without a row in
    this study.
    """
    frame, predicted = read_table(scores)[0], Predictions(read_table(predictions)[0])
    published = [entry.as_dict() for entry in spec.published]
    calibration = spec.calibration.model_dump() if spec.calibration else None
    result = summarise(
        frame, predicted, reference=spec.reference, neighbour=spec.neighbour, published=published, titles=spec.titles,
        calibration=calibration, tolerance=spec.tolerance,
    )  # fmt: skip
    for check in compare_published(result, calibration).checks:
        if check.status == "missed":
            logger.warning(
                "%s Use the registered data set with the registry's own files and size "
                "(`mklearn list datasets` lists them).",
                sentence(check),
            )
        else:
            logger.info("calibration: %s", sentence(check))
    for entry in unmatched(result, published):
        logger.warning(
            "published value without a row in this study: %s, training size %s, %s (%s)",
            entry["dataset"], entry["train_size"], entry["method"], entry["source"],
        )  # fmt: skip
    write_table(table, result, stamp("summary", spec.as_dict(), input_digests(scores=scores, predictions=predictions)))

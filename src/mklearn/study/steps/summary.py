"""Step: the summary table of a study: per method the mean, spread, interval, difference to the reference, verdict."""

from __future__ import annotations

from pathlib import Path

from mklearn.study.artefacts import write_table
from mklearn.study.evaluation.reproduction import compare_published, sentence, unmatched
from mklearn.study.evaluation.summary import summarise
from mklearn.study.provenance import input_digests, stamp
from mklearn.study.specs.table_specs import SummarySpec
from mklearn.study.steps.log import logger
from mklearn.study.steps.scores import read_tables


def summary(scores: Path, predictions: Path, table: Path, *, spec: SummarySpec, code: list[Path] | None = None) -> None:
    """Summarise the score table; intervals are computed from the predictions.

    The log names the data sets that are not the papers' by the calibration, and the published values without a row in
    this study.
    """
    frame, predicted = read_tables(scores, predictions, spec.study)
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
    write_table(table, result, stamp(spec.as_dict(), input_digests(scores=scores, predictions=predictions), code or []))

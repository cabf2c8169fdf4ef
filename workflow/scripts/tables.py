"""Summarise the scores of a study, and record how they were made."""

from pathlib import Path
from typing import Any

from mklearn.atomic import read_parquet, write_parquet
from mklearn.study.artefacts import write_record
from mklearn.study.evaluation.predictions import Predictions
from mklearn.study.evaluation.reproduction import unmatched
from mklearn.study.evaluation.summary import summarise
from mklearn.study.log import logger
from mklearn.study.run_record import run_record
from mklearn.study.script import Output, Record, run_script
from mklearn.study.study import Study


def tables(
    scores: Path, predictions: Path, summary: Output, run: Output, *, reference: str,
    titles: dict[str, dict[str, str]], study: dict[str, Any], jobs: dict[str, list[str]], record: Record,
) -> None:  # fmt: skip
    """Write the summary, with intervals from the predictions, and the record of the run.

    For each method, the summary has the mean, spread, interval, difference to the ``reference``, published value and
    verdict; see :func:`mklearn.study.evaluation.summary.summarise`. The record ``run`` has the study and other settings
    to reproduce the tables, and the cost of each rule; see :func:`mklearn.study.run_record.run_record`.

    The log lists the published values without a matching row.
    """
    rows, predicted = read_parquet(scores)[0], Predictions(read_parquet(predictions)[0])
    config = Study.model_validate(study["config"])
    published = config.published_values()
    result = summarise(
        rows, predicted, reference=reference, neighbour=config.headline_rule, published=published, titles=titles,
        calibration=config.calibration, tolerance=config.tolerance,
    )  # fmt: skip
    for cell in unmatched(result, published):
        where = cell["dataset"], cell["train_size"], cell["method"], cell["source"]
        logger.warning("published value without a row in this study: %s, training size %s, %s (%s)", *where)
    write_parquet(summary, result, record)
    write_record(run, record | run_record(study, jobs))


if __name__ == "__main__":
    run_script(tables, globals().get("snakemake"))

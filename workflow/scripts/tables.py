"""Collect the scores and predictions of all fits, and summarise them."""

from pathlib import Path

import pandas as pd

from mklearn.study.artefacts import read_table, write_record, write_table
from mklearn.study.evaluation.predictions import Predictions, typed
from mklearn.study.evaluation.reproduction import compare_published, sentence, unmatched
from mklearn.study.evaluation.score_table import score_table
from mklearn.study.evaluation.summary import summarise
from mklearn.study.log import logger
from mklearn.study.run_record import run_record
from mklearn.study.script import Output, Record, run_script
from mklearn.study.specs.table_specs import RunSpec, ScoresSpec, SummarySpec


def tables(
    fits: list[Path], predicted: list[Path], scores: Output, predictions: Output, summary: Output, run: Output, *,
    collected: ScoresSpec, compared: SummarySpec, study: RunSpec, record: Record,
) -> None:  # fmt: skip
    """Write the scores, the predictions, the summary and the record of the run.

    The log names the data sets that are not the papers' by the calibration, and the published values without a row.

    Parameters
    ----------
    fits, predicted : list of Path
        Score rows and predictions of every fit, in the order of the plan.
    scores, predictions : Path
        Written: all rows, as one table each.
    summary : Path
        Written: per method the mean, spread, interval, difference to the reference, published value and verdict.
    run : Path
        Written: what is needed to make the tables again, and what each rule cost.
    collected, compared, study
        Specifications of the scores, of the summary and of the record.
    """
    rows = score_table(fits, collected)
    samples = typed(pd.concat([read_table(path)[0] for path in predicted], ignore_index=True))
    published = [entry.as_dict() for entry in compared.published]
    calibration = compared.calibration.model_dump() if compared.calibration else None
    result = summarise(
        rows, Predictions(samples), reference=compared.reference, neighbour=compared.neighbour, published=published,
        titles=compared.titles, calibration=calibration, tolerance=compared.tolerance,
    )  # fmt: skip
    for check in compare_published(result, calibration).checks:
        if check.status == "missed":
            advice = "Use the registered data set with the registry's own files and size (`mklearn list datasets`)."
            logger.warning("%s %s", sentence(check), advice)
        else:
            logger.info("calibration: %s", sentence(check))
    for cell in unmatched(result, published):
        where = cell["dataset"], cell["train_size"], cell["method"], cell["source"]
        logger.warning("published value without a row in this study: %s, training size %s, %s (%s)", *where)
    write_table(predictions, samples, record)
    write_table(scores, rows, record)
    write_table(summary, result, record)
    write_record(run, record | run_record(study))


if __name__ == "__main__":
    run_script(tables, globals().get("snakemake"))

"""Summarise the scores of a study, and record how they were made."""

from pathlib import Path

from mklearn.study.artefacts import read_table, write_record, write_table
from mklearn.study.evaluation.predictions import Predictions
from mklearn.study.evaluation.reproduction import compare_published, sentence, unmatched
from mklearn.study.evaluation.summary import summarise
from mklearn.study.log import logger
from mklearn.study.run_record import run_record
from mklearn.study.script import Output, Record, run_script
from mklearn.study.specs.table_specs import RunSpec, SummarySpec


def tables(
    scores: Path, predictions: Path, summary: Output, run: Output, *, compared: SummarySpec, study: RunSpec,
    record: Record,
) -> None:  # fmt: skip
    """Write the summary, whose intervals are computed from the predictions, and the record of the run.

    The log names the data sets that are not the papers' by the calibration, and the published values without a row.

    Parameters
    ----------
    scores, predictions : Path
    summary : Path
        Written: per method the mean, spread, interval, difference to the reference, published value and verdict.
    run : Path
        Written: what is needed to make the tables again, and what each rule cost.
    compared : SummarySpec
    study : RunSpec
    """
    rows, predicted = read_table(scores)[0], Predictions(read_table(predictions)[0])
    published = [entry.as_dict() for entry in compared.published]
    calibration = compared.calibration.model_dump() if compared.calibration else None
    result = summarise(
        rows, predicted, reference=compared.reference, neighbour=compared.neighbour, published=published,
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
    write_table(summary, result, record)
    write_record(run, record | run_record(study))


if __name__ == "__main__":
    run_script(tables, globals().get("snakemake"))

"""Compute the metrics of all fits from their predictions."""

from pathlib import Path

from mklearn.study.artefacts import write_table
from mklearn.study.evaluation.score_table import score_table
from mklearn.study.script import Output, Record, run_script
from mklearn.study.specs.table_specs import EvaluateSpec


def evaluate(fits: list[Path], scores: Output, predictions: Output, *, spec: EvaluateSpec, record: Record) -> None:
    """Write a row for each metric of each split, component and nearest-neighbour rule, and one for each test sample.

    Parameters
    ----------
    fits : list of Path
        The predictions of each fit, in the order of the plan.
    scores, predictions : Path
        Written.
    spec : EvaluateSpec
        Which metrics, and how the study names its kernels.

    Raises
    ------
    DataError
        A value is not finite, or outside the range of its metric.
    """
    rows, samples = score_table(fits, spec)
    write_table(predictions, samples, record)
    write_table(scores, rows, record)


if __name__ == "__main__":
    run_script(evaluate, globals().get("snakemake"))

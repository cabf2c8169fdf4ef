"""Compute the metrics of all fits from their predictions."""

from pathlib import Path

from mklearn.study.artefacts import write_table
from mklearn.study.evaluation.score_table import score_table
from mklearn.study.script import Output, Record, run_script


def evaluate(
    fits: list[Path], scores: Output, predictions: Output, *, study: str, order: list[str], metrics: list[str],
    kernels: list[str] | None = None, record: Record,
) -> None:  # fmt: skip
    """Write a row for each metric of each split, component and nearest-neighbour rule, and one for each test sample.

    ``fits`` are the predictions of each fit in the order of the plan, and ``order`` their names: a study that lists
    them in another order has its rows in that order; ``kernels`` are named in the study's order too. DataError is
    raised for a value that is not finite, or outside the range of its metric.
    """
    rows, samples = score_table(fits, study, metrics, kernels or ())
    write_table(predictions, samples, record)
    write_table(scores, rows, record)


if __name__ == "__main__":
    run_script(evaluate, globals().get("snakemake"))

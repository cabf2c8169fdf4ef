"""Compute the metrics of all fits from their predictions."""

from pathlib import Path

from mklearn.atomic import write_parquet
from mklearn.study.evaluation.score_table import score_table
from mklearn.study.script import Output, Record, run_script


def evaluate(
    fits: list[Path], scores: Output, predictions: Output, *, study: str, order: list[str], metrics: list[str],
    kernels: list[str] | None = None, record: Record,
) -> None:  # fmt: skip
    """Write score rows, one per metric, split, number of components and rule, and one prediction row per test sample.

    ``fits`` are the prediction files in the order of the plan, which is the order of the rows. ``order`` has the names
    of the fits; it only makes a reordered study run this job again. ``kernels`` are the kernel names in the study's
    order.
    """
    rows, samples = score_table(fits, study, metrics, kernels or ())
    write_parquet(predictions, samples, record)
    write_parquet(scores, rows, record)


if __name__ == "__main__":
    run_script(evaluate, globals().get("snakemake"))

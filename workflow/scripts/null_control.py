"""Fit a multi-view method to the target of a data set, and to shuffled targets."""

from pathlib import Path

from mklearn.study.artefacts import write_arrays
from mklearn.study.data.samples import read_labels
from mklearn.study.evaluation.candidates import MethodOnViews
from mklearn.study.evaluation.fit_files import read_views
from mklearn.study.evaluation.null_control import null_test
from mklearn.study.log import logger
from mklearn.study.script import Output, Record, run_script
from mklearn.study.specs.fit_spec import NullSpec


def null_control(
    labels: Path, matrices: list[Path] | None = None, sources: list[Path] | None = None, *, control: Output,
    spec: NullSpec, record: Record,
) -> None:  # fmt: skip
    """Write the left-out R² of the method on the target and on shuffled targets, or the reason why there is none.

    ``matrices`` and ``sources`` are the inputs of the rule ``fit``.
    """
    (y, ids, groups), fit = read_labels(labels), spec.fit
    views = read_views(fit, matrices or [], sources or [], ids)
    test, message = null_test(MethodOnViews(views, y, fit.method, fit.kernels, groups), spec)
    logger.info("left-out R² %.4f; on shuffled targets %s %s", test.score, test.shuffled.round(4).tolist(), message)
    write_arrays(control, record, score=test.score, shuffled=test.shuffled, message=message)


if __name__ == "__main__":
    run_script(null_control, globals().get("snakemake"))

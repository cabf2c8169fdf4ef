"""Fit a multi-view method on all views, without each view, and on each view alone."""

from pathlib import Path

from mklearn.study.data.samples import read_labels
from mklearn.study.data.splits import Splits
from mklearn.study.evaluation.candidates import MethodOnViews
from mklearn.study.evaluation.fit_files import import_method, read_views, write_predictions
from mklearn.study.evaluation.view_contributions import contribution_records
from mklearn.study.script import Output, Record, run_script
from mklearn.study.specs.fit_spec import FitSpec, Setting


def view_contributions(
    labels: Path, splits: Path, matrices: list[Path] | None = None, sources: list[Path] | None = None, *,
    contributions: Output, spec: FitSpec, record: Record,
) -> None:  # fmt: skip
    """Write the predictions of the method with each set of views; inputs are as for the rule ``fit``."""
    y, ids, groups = read_labels(labels)
    drawn, views = Splits.load(splits, ids), read_views(spec, matrices or [], sources or [], ids)
    problem = MethodOnViews(views, y, spec.method, spec.kernels, groups)
    import_method(spec)
    choosing = None if spec.evaluation.choice == "test_set" else drawn.choosing
    size = spec.settings[0].train_size
    stored = contribution_records(problem, spec, drawn.of_size(size), choosing)
    # in the file, a set of views has the place of a protocol
    settings = [Setting(protocol=name, train_size=size) for name in stored]
    write_predictions(contributions, spec.model_copy(update={"settings": settings}), record, stored, y, ids, groups)


if __name__ == "__main__":
    run_script(view_contributions, globals().get("snakemake"))

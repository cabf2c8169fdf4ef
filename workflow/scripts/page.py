"""Write the page of a study with its figures and tables."""

from pathlib import Path

from mklearn.atomic import read_parquet
from mklearn.rows import load
from mklearn.study.artefacts import read_record
from mklearn.study.data.samples import SampleSet
from mklearn.study.data.splits import Splits
from mklearn.study.evaluation.null_control import NullControl
from mklearn.study.evaluation.predictions import Predictions
from mklearn.study.log import logger
from mklearn.study.report.page import build_report
from mklearn.study.report.parts import StudyResults
from mklearn.study.report.records import data_set_of, fits_of
from mklearn.study.report.results import Results
from mklearn.study.report.views import importances_part, read_contributions
from mklearn.study.script import Output, run_script
from mklearn.study.specs.final_spec import FinalSpec
from mklearn.study.study import Study


def page(
    scores: Path, summary: Path, predictions: Path, run: Path, models: list[Path], samples: list[Path],
    splits: list[Path], importances: Path | None = None, controls: list[Path] | None = None,
    contributions: list[Path] | None = None, *, page: Output, reference: str, average: str,
    order: list[str] | None = None, sources: list[tuple[str, str]] | None = None, final: FinalSpec | None = None,
    rivals: list[str] | None = None,
) -> None:  # fmt: skip
    """Write the page (index.html), and next to it summary.md, answer.txt, figures/, summary.csv and tables of sections.

    ``run`` is the record of the run, which holds the study. ``models`` are the weights, objectives and embeddings of
    the fits, ``samples`` and ``splits`` those of the data sets, ``importances`` the importances of the ``final`` model,
    ``controls`` the null controls, and ``contributions`` the fits without each view. ``average`` is the method with
    equal kernel weights, or "". ``order`` has the names of kernels and descriptors in the study's order, ``sources``
    titles with their papers, ``rivals`` the methods that could be the model in place of the final one.
    """
    record, frame, table = read_record(run), read_parquet(scores)[0], read_parquet(summary)[0]
    study, predicted = Study.model_validate(record["config"]), Predictions(read_parquet(predictions)[0])
    datasets = dict(zip(table["dataset"], table["dataset_title"], strict=True))
    labels = Results(frame, table, [], reference).label_of
    made_by = {path: read_record(path) for path in samples}
    data_of = {made["spec"]["dataset"]: SampleSet.load(path) for path, made in made_by.items()}
    fits = [
        fit for path in models for fit in fits_of(path, data_of, labels, predicted, order or (), study.headline_rule)
    ]
    drawn = [
        [Splits.load(file, data.ids) for file in splits if file.parent.name == path.stem]
        for path, data in zip(samples, data_of.values(), strict=True)
    ]
    null_controls = {control.dataset: control for control in map(NullControl.read, controls or [])}
    results = StudyResults(frame, predicted, data_of, fits)
    parts = [] if importances is None else [importances_part(read_parquet(importances)[0])]
    written = build_report(
        page.parent,
        study=study,
        reference=reference,
        average=average,
        run=record,
        data=[
            data_set_of(made, datasets[name], data, of_data, null_controls.get(name))
            for made, (name, data), of_data in zip(made_by.values(), data_of.items(), drawn, strict=True)
        ],
        fits=fits,
        scores=frame,
        summary=table,
        predictions=predicted,
        contributions=[read_contributions(path, study.metric) for path in contributions or []],
        parts=[*parts, *(load(part)(results) for part in study.report.parts)],
        cited=sources or (),
        final=final,
        rivals=rivals or (),
    )
    logger.info("%d files in %s", len(written), page.parent)


if __name__ == "__main__":
    run_script(page, globals().get("snakemake"))

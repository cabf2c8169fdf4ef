"""Write the page of a study with its figures and tables."""

from pathlib import Path

from mklearn.rows import load
from mklearn.study.artefacts import read_record, read_table
from mklearn.study.data.samples import SampleSet
from mklearn.study.evaluation.predictions import Predictions
from mklearn.study.log import logger
from mklearn.study.report.importances import importances_part, read_importances
from mklearn.study.report.page import build_report
from mklearn.study.report.parts import StudyResults
from mklearn.study.report.records import data_set_of, fits_of
from mklearn.study.script import Output, Record, run_script
from mklearn.study.specs.table_specs import ReportSpec


def page(
    scores: Path, summary: Path, predictions: Path, run: Path, models: list[Path], samples: list[Path],
    importances: Path | None = None, *, page: Output, spec: ReportSpec, record: Record,
) -> None:  # fmt: skip
    """Write the page (index.html), and next to it summary.md, summary.csv, answer.txt, reproduction.csv and figures/.

    ``run`` is the record of the run, ``models`` are the weights, objectives and embeddings of each of ``spec.fits``,
    ``samples`` the samples of each of ``spec.datasets``, and ``importances`` the importances of the final model.
    """
    datasets = [(entry, SampleSet.load(path)) for entry, path in zip(spec.datasets, samples, strict=True)]
    data_of = {entry.id: data for entry, data in datasets}
    frame, predicted = read_table(scores)[0], Predictions(read_table(predictions)[0])
    order = [entry.id for entry in (*spec.kernels, *spec.descriptors)]
    fits = [
        fit
        for path, entry in zip(models, spec.fits, strict=True)
        for fit in fits_of(path, entry, data_of[entry.dataset], predicted, order, spec.neighbour)
    ]
    results = StudyResults(frame, predicted, data_of, fits)
    parts = [] if importances is None else [importances_part(read_importances(importances))]
    written = build_report(
        page.parent,
        study=spec,
        run=read_record(run),
        data=[data_set_of(spec, entry, data, predicted) for entry, data in datasets],
        fits=fits,
        scores=frame,
        summary=read_table(summary)[0],
        predictions=predicted,
        parts=[*parts, *(load(part)(results) for part in spec.parts)],
        provenance=record,
    )
    logger.info("%d files in %s", len(written), page.parent)


if __name__ == "__main__":
    run_script(page, globals().get("snakemake"))

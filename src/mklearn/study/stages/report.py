"""Stage: write the page that people read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mklearn.study.stages.stage import Artefact, Job, Stage

if TYPE_CHECKING:
    from mklearn.study.specs.table_specs import ReportSpec


def _spec(job: Job) -> ReportSpec:
    from mklearn.study.plan.tables import report_spec  # here: jobs read this record too, and plan nothing

    return report_spec(job.plan)


def _importances(job: Job) -> list[str]:
    """Return the importances of a study that measures them: the page waits for the model then."""
    final = job.plan.final
    return [] if final is None or not final.spec.permutations else job.study.all_of("importances")


STAGE = Stage(
    name="report",
    message="Writing the report",
    jobs=lambda plan: [()],
    spec=_spec,
    inputs={
        "scores": "scores",
        "summary": "summary",
        "predictions": "predictions",
        "record": "run_record",
        "models": lambda job: job.study.all_of("fit_model"),
        "importances": _importances,
        "samples": lambda job: [job.samples(dataset) for dataset in job.plan.datasets.values()],
    },
    outputs={"page": Artefact("report", "{study}/report/index.html")},
    priority=0,
    shown=True,
)

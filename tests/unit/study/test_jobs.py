"""The jobs of a study: what the rules of the workflow ask for is what the plan has."""

from pathlib import Path
from typing import Any

import pytest
from tests.unit.planned_jobs import planned_jobs
from tests.unit.study.small_study import ON_DIGITS, STUDY, write_pairs

from mklearn.errors import ConfigError
from mklearn.study.jobs import OUTPUTS, Jobs, log_of
from mklearn.study.plan.plan import plan_study
from mklearn.study.provenance import SCRIPTS
from mklearn.study.reading import check_study

DOWNLOADED: dict[str, Any] = {
    "study": "faces", "datasets": ["yale"], "final": {}, "methods": {"average": {"kind": "kernel_fda"}},
}  # fmt: skip
CONTROL = {"multi-view": {"kind": "multi_view", "kernels": "all", **ON_DIGITS}}
CONTROLLED = STUDY | {"null": 2, "methods": STUDY["methods"] | CONTROL}
ALWAYS = {"read", "split", "describe", "distances", "fit", "evaluate", "tables", "page"}


def test_the_graph_of_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: Path) -> None:
    monkeypatch.chdir(tmp_path)
    jobs = planned_jobs(DOWNLOADED | {"datasets": {"yale": {"resize": {"shape": [40, 36]}}}})
    maker = {path: job.rule for job in jobs for path in job.outputs.values()}
    edges = {f"{maker[path]} --> {job.rule}" for job in jobs for path in job.files if path in maker}
    readme = (repository / "README.md").read_text(encoding="utf-8")
    drawn = readme.partition("flowchart LR\n")[2].partition("```")[0]
    assert {line.strip() for line in drawn.splitlines()} == edges


@pytest.mark.parametrize(
    ("study", "rules"),
    [(DOWNLOADED, ALWAYS | {"download", "model"}), (CONTROLLED, OUTPUTS.keys() - {"download", "model"})],
)
def test_outputs_of_rules(
    study: dict[str, Any], rules: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_pairs()
    planned, jobs = planned_jobs(study), Jobs(plan_study(check_study(study)))
    assert {job.rule for job in planned} == rules
    made = {path for job in planned if job.rule != "download" for path in job.outputs.values()}
    assert set(jobs.everything()) == made, "a file that a killed job has deleted is made again"
    for rule, outputs in OUTPUTS.items():
        of_rule = [job for job in planned if job.rule == rule]
        assert sorted(map(str, jobs.keys(rule))) == sorted(str(job.wildcards) for job in of_rule), rule
        for job in of_rule:
            assert job.outputs == {name: jobs.path(rule, name, **job.wildcards) for name in outputs}
            assert job.log == jobs.log(rule, **job.wildcards)
            assert {log_of(Path(path)) for path in job.outputs.values()} == {Path(job.log)}
            assert (SCRIPTS / f"{job.script}.py").is_file()


def test_a_study_without_a_model_says_how_to_get_one() -> None:
    with pytest.raises(ConfigError, match="makes no model: add a section `final`"):
        Jobs(plan_study(check_study({"study": "plain", "datasets": ["digits"]}))).job("model")

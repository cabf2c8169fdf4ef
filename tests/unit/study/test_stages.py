"""The records of the stages: each describes its step, and what is derived from it is whole and unambiguous."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.study.steps.small_study import STUDY

from mklearn.study.config.reading import check_study
from mklearn.study.plan.plan import plan_study
from mklearn.study.stages.order import STAGES
from mklearn.study.stages.targets import Rule, Targets
from mklearn.study.steps.runner import load_step

EVERY = pytest.mark.parametrize("name", STAGES)


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Targets]:
    """A study with jobs of every stage but downloads, and the present folder with its list of pairs."""
    study = STUDY | {"final": {"dataset": "digits", "protocol": "folds", "importances": 2}}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("study"))
        Path("pairs.csv").touch()
        yield Targets(plan_study(check_study(study)))


@EVERY
def test_a_record_names_files_and_specification_of_its_step(name: str) -> None:
    stage = STAGES[name]
    parameters = inspect.signature(load_step(stage.step), eval_str=True).parameters
    files = {*stage.inputs, *stage.outputs}
    assert not set(stage.inputs) & set(stage.outputs)
    assert files <= set(parameters) - {"spec"}
    assert {key for key, each in parameters.items() if each.default is each.empty} <= files | {"spec"}


@EVERY
def test_files_and_message_have_the_wildcards_of_the_stage(name: str) -> None:
    stage = STAGES[name]
    for _, pattern in stage.outputs.values():
        assert re.findall(r"{(\w+)}", pattern.replace("{study}", "")) == stage.wildcards
    assert set(re.findall(r"{wildcards\.(\w+)}", stage.message)) <= set(stage.wildcards)
    assert re.findall(r"{(\w+)}", stage.log) == (stage.wildcards or ["study"])


@EVERY
def test_the_jobs_of_a_stage_can_be_planned_and_are_what_its_rule_asks_for(targets: Targets, name: str) -> None:
    jobs, rule = targets.jobs(name), Rule(targets, STAGES[name])
    assert jobs or name == "download"
    inputs, outputs = rule.inputs, rule.outputs(lambda path, **_: path)
    made = {path for stage in STAGES for job in targets.jobs(stage) for path in job.outputs.values()}
    constraints = targets.wildcard_constraints()
    for job in jobs:
        wildcards: Any = SimpleNamespace(items=job.wildcards.items)
        assert {key: function(wildcards) for key, function in inputs.items()} == job.inputs
        assert {key: _filled(path, job.wildcards) for key, path in outputs.items()} == job.outputs
        assert _filled(rule.log, job.wildcards) == job.log
        assert rule.params["spec"](wildcards) == job.spec
        assert all(re.fullmatch(constraints[wildcard], value) for wildcard, value in job.wildcards.items())
        needed = [path for files in job.inputs.values() for path in ([files] if isinstance(files, str) else files)]
        assert not [path for path in needed if path.startswith("results/") and path not in made]
        assert ("code" in rule.params) == STAGES[name].follows_code


def _filled(pattern: str, wildcards: Any) -> str:
    return pattern.format(**wildcards)

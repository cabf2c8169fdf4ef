"""Study files as bytes: a study that is the YAML in the file, or sentences; never a traceback, a hang, a process."""

from pathlib import Path

import yaml
from hypothesis import strategies as st
from tests.fuzz.trials import a_sentence, mistaken, run_trials

from mklearn.study.engine.workflow_files import studies
from mklearn.study.plan.plan import plan_study
from mklearn.study.reading import read_study
from mklearn.study.yaml_file import read_yaml


def test_studies(tmp_path: Path, repository: Path) -> None:
    texts = [path.read_text(encoding="utf-8") for path in studies().values()]
    path = tmp_path / "study.yaml"
    accepted = 0

    def trial(content: bytes) -> None:
        nonlocal accepted
        path.write_bytes(content)
        with a_sentence():
            study = read_study(path)
            plan_study(study)
            accepted += 1
            text = path.read_text(encoding="utf-8")
            assert read_yaml(path) == yaml.safe_load(text)
            path.write_text(yaml.safe_dump(yaml.safe_load(text), sort_keys=True), encoding="utf-8")
            assert read_study(path) == study

    run_trials(150, st.one_of(mistaken(texts), st.binary(max_size=200)), trial)
    assert 150 / 50 < accepted < 150 * 0.9

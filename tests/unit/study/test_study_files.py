"""Study files as text: whatever YAML allows, a study or one sentence with its place."""

import copy
import json
import os
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
import yaml
from tests.unit.study.test_mistakes import MAPPINGS, NAMED, STUDY, at, dotted
from tests.workflow.conftest import SMOKE

from mklearn.errors import ConfigError
from mklearn.study.engine import session
from mklearn.study.engine.workflow_files import studies
from mklearn.study.plan.plan import plan_study
from mklearn.study.reading import check_study, read_study
from mklearn.study.schema import study_schema
from mklearn.study.yaml_file import read_yaml, yaml_text

BASE = "study: s\ndatasets: digits\n"


def output(folder: Path, text: str | bytes) -> str:
    path = folder / "study.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError) as caught:
        plan_study(read_study(path, parameters=True))
    return str(caught.value)


@pytest.mark.parametrize("part", ["gauss4", "no_module:part", "mklearn.papers.lmkl.gauss4_figure:none"])
def test_a_part_of_the_report_has_to_be_there(tmp_path: Path, part: str) -> None:
    assert "report.parts: " in output(tmp_path, BASE + f'report: {{parts: ["{part}"]}}\n')


@pytest.mark.parametrize(
    ("text", "sentence", "has_place"),
    [
        (BASE + "? [a, b]\n: 1\n", "found unhashable key", True),
        (BASE + "title: 2020-13-45\n", "month must be in 1..12", False),
        (BASE + f"seed: {'9' * 5000}\n", "value has 5000 digits", False),
        (BASE + f"title: {'[' * 5000}{']' * 5000}\n", "maximum recursion depth exceeded", False),
        (BASE + "title: &a [*a]\n", "Circular reference detected", False),
        (BASE + 'title: "\\ud800"\n', "surrogates not allowed", False),
        (BASE + "title: \0\n", "a character that YAML does not allow, at line 3, column 8", True),
        (BASE + "title: [\n", "expected the node content", True),
        (BASE + "seed: 1\nseed: 2\n", "the key 'seed' appears twice", True),
        (BASE + "title: !!python/object:os.system x\n", "could not determine a constructor", True),
    ],
)
def test_yaml_that_is_no_study(tmp_path: Path, text: str, sentence: str, has_place: bool) -> None:
    found = output(tmp_path, text)
    assert found.startswith(f"{tmp_path / 'study.yaml'}: is not valid YAML: ")
    assert sentence in found
    assert bool(re.search(r"line \d+, column \d+", found)) == has_place
    assert len(found) < 600


def test_text_that_is_not_utf_8(tmp_path: Path) -> None:
    for encoding in ("utf-16", "utf-32", "latin-1"):
        assert "save it as UTF-8" in output(tmp_path, (BASE + "title: Größe\n").encode(encoding))


def test_aliases_and_merges_of_a_usual_study_are_read(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text("a: &a {x: 1, y: [1, 2]}\nb: {<<: *a, x: 2}\nc: [*a, *a]\n")
    assert read_yaml(path)["b"] == {"x": 2, "y": [1, 2]}


@pytest.mark.parametrize(
    ("folder", "sentence"),
    [
        ("'a{b}'", "Snakemake can't take '{', '}' in the name of a folder"),
        ('"a\\nb"', r"can't take '\n'"),
        ("~/results", "expected a folder, with its path written out"),
        ("s3://bucket/results", "expected a folder, with its path written out"),
        ("x" * 300, "can't be made: File name too long"),
        ("a.txt", "'a.txt' is a file; expected a folder"),
    ],
)
def test_results_at_a_file(here: Path, folder: str, sentence: str) -> None:
    Path("a.txt").touch()
    found = output(here, f"{BASE}results: {folder}\n")
    assert "results: " in found
    assert sentence in found


def test_the_configuration_that_a_run_records_is_the_study() -> None:
    for study in (check_study(STUDY), *map(read_study, studies().values())):
        assert check_study(yaml.safe_load(yaml_text(study.model_dump(mode="json")))) == study


def test_paths_of_data_are_relative_to_the_study_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    study = tmp_path / "a" / "study.yaml"
    tables = {"one": "x.csv", "two": {"path": "../y.npz", "array": "x.csv"}, "three": str(tmp_path / "z.csv")}
    datasets = {"mine": {"kind": "feature_tables", "tables": tables, "labels": "labels.csv"}}
    protocols = {"given": {"kind": "given", "path": "splits.csv"}}
    study.write_text(yaml_text({"study": "s", "datasets": datasets, "protocols": protocols}), encoding="utf-8")
    monkeypatch.setattr(session, "Jobs", lambda plan, source, scripts: plan)
    monkeypatch.setattr(session, "plan_study", lambda study: study)
    for folder, place in ((tmp_path, "a/"), (tmp_path / "a", "")):
        monkeypatch.chdir(folder)
        workflow = SimpleNamespace(configfiles=[str(study)], current_basedir=tmp_path)
        for read in (read_study(study), session.open_study(read_yaml(study), workflow)):
            mine = read.model_dump()["datasets"]["mine"]
            assert mine["tables"] == {
                "one": f"{place}x.csv", "three": str(tmp_path / "z.csv"),
                "two": {"path": os.path.relpath(tmp_path / "y.npz"), "array": "x.csv", "transpose": False},
            }  # fmt: skip
            assert mine["labels"] == f"{place}labels.csv"
            assert read.model_dump()["protocols"]["given"]["path"] == f"{place}splits.csv"
            assert read.model_dump()["results"] == "results"


# --- schema


@pytest.fixture(scope="module")
def validator(repository: Path) -> Any:
    schema = json.loads((repository / "workflow" / "schemas" / "study.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.full
def test_the_committed_schema_is_that_of_the_models(repository: Path) -> None:
    committed = (repository / "workflow" / "schemas" / "study.schema.json").read_text(encoding="utf-8")
    assert committed == study_schema(), "the models have changed: run `make schema`"


@pytest.mark.full
def test_the_shipped_studies_fit_the_schema(validator: Any, repository: Path) -> None:
    for path in [repository / "config.yaml", *studies().values()]:
        validator.validate(yaml.safe_load(path.read_text(encoding="utf-8")))


@pytest.mark.full
@pytest.mark.parametrize(
    "study",
    [SMOKE, STUDY, *(SMOKE | {"datasets": form} for form in ("digits", ["digits"], {"digits": {}}, {"digits": None}))],
)
def test_what_the_models_accept_the_schema_accepts(validator: Any, study: Any) -> None:
    check_study(study)
    validator.validate(study)


@pytest.mark.full
def test_both_refuse_unknown_keys_and_values_of_a_wrong_type(validator: Any) -> None:
    entries = ("descriptors", "kernels", "methods", "protocols")  # the schema does not know their parameters
    for path in [*((*mapping, "unheard-of") for mapping in MAPPINGS), *NAMED]:
        if path[0] in entries and len(path) > 2 and path[2] not in ("kind", "label", "descriptor", "kernels"):
            continue
        study = copy.deepcopy(STUDY)
        at(study, path[:-1])[path[-1]] = [{"?": []}]
        assert not validator.is_valid(study), dotted(path)
        with pytest.raises(ConfigError):
            check_study(study)


@pytest.mark.full
def test_every_key_of_the_schema_is_described(validator: Any) -> None:
    models = {"": validator.schema, **validator.schema["$defs"]}
    keys = [(name, key, field) for name, model in models.items() for key, field in model.get("properties", {}).items()]
    assert len(keys) > 150
    assert [f"{name}.{key}" for name, key, field in keys if key != "kind" and not field.get("description")] == []
    assert {"kernel_fda", "mkmmc"} <= set(models["Method"]["properties"]["kind"]["anyOf"][0]["enum"])
    assert len(json.dumps(validator.schema, indent=1)) < 80_000

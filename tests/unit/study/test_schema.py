"""The JSON schema of study files: up to date with the models, and accepting the same studies."""

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from tests.unit.study.test_mistakes import MAPPINGS, NAMED, STUDY, at, dotted
from tests.workflow.conftest import SMOKE

from mklearn.errors import ConfigError
from mklearn.study.engine.workflow_files import studies
from mklearn.study.reading import check_study
from mklearn.study.schema import study_schema


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

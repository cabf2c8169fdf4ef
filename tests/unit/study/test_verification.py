"""Studies that verify pairs: what their fits take, and what can't be planned."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mklearn.errors import ConfigError
from mklearn.study.jobs import Jobs, wildcards_of
from mklearn.study.plan.plan import Plan, plan_study
from mklearn.study.reading import check_study

STUDY: dict[str, Any] = {
    "study": "faces",
    "datasets": {"lfw": None},
    "descriptors": {"hog": {"kind": "hog"}, "lbp": {"kind": "lbp"}},
    "kernels": {"g": {"kind": "gaussian", "descriptor": "hog", "feature_scaling": "standard"}},
    "methods": {
        "svm": {"kind": "fsvc", "power": 0, "descriptor": ["hog", "lbp"]},
        "rbf": {"kind": "kernel_svc"},
    },
    "protocols": {"pairs": {"kind": "verification"}},
}


def planned(**changes: Any) -> Plan:
    return plan_study(check_study(STUDY | changes))


def test_official_lists_are_downloads_that_are_not_read_as_images() -> None:
    plan = planned()
    (dataset,) = plan.datasets.values()
    assert [Path(path).name for path in dataset.files] == ["lfw_pairs_grey_150x130.zip"]
    assert [Path(path).name for path in dataset.pairs] == ["pairs.txt", "pairsDevTrain.txt", "pairsDevTest.txt"]
    assert set(dataset.downloads) == {*dataset.files, *dataset.pairs}


def test_a_fit_states_its_pairs_and_the_descriptors_side_by_side() -> None:
    svm, rbf = planned().fits.values()
    for fit in (svm, rbf):
        assert fit.spec.pairs is not None
        assert fit.spec.pairs.model_dump() == {
            "components": 200, "square_root": False, "whiten": True, "unit_length": True,
            "terms": ["absolute_difference", "product"],
        }  # fmt: skip
    assert [key.split("-")[0] for key in svm.spec.method.inputs["features"].descriptors] == ["hog", "lbp"]
    assert rbf.spec.pairwise == []


def files_of_fit(plan: Plan, number: int) -> tuple[list[str], list[str]]:
    """Return the kinds of the files of a fit that are features, and that are projections."""
    jobs = Jobs(plan)
    inputs = jobs.fit_inputs(wildcards_of(jobs.keys("fit")[number]))
    sources, projections = (
        [Path(path).name.split("-")[0] for path in inputs.get(name, [])] for name in ("sources", "projections")
    )
    return sources, projections


def test_fits_take_projections_and_for_inner_folds_features_too(tmp_path: Path) -> None:
    plan = planned()
    assert [name.split("-")[0] for _, _, name in plan.projections] == ["hog", "lbp"]
    assert {(spec.components, spec.square_root) for spec in plan.projections.values()} == {(200, False)}
    assert files_of_fit(plan, 0) == ([], ["hog", "lbp"])  # View 1 chooses
    assert files_of_fit(plan, 1) == ([], ["hog"])
    (tmp_path / "pairs.csv").touch()
    own = {"kind": "verification", "path": str(tmp_path / "pairs.csv")}
    assert files_of_fit(planned(protocols={"pairs": own}), 0) == (["hog", "lbp"], ["hog", "lbp"])
    assert files_of_fit(planned(protocols={"pairs": own | {"choose": "test_set"}}), 0) == ([], ["hog", "lbp"])


def test_without_components_there_is_no_projection() -> None:
    plan = planned(protocols={"pairs": {"kind": "verification", "components": None, "whiten": False}})
    assert not plan.projections
    assert files_of_fit(plan, 0) == (["hog", "lbp"], [])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"datasets": {"digits": None}}, "protocols.pairs: data set 'digits' has no official lists of pairs"),
        ({"protocols": {"pairs": {"kind": "verification", "path": "no.csv"}}}, "no.csv: there is no such file"),
        ({"methods": {"m": {"kind": "glram"}}}, "takes images as matrices, and a pair has features only"),
        ({"kernels": {"g": {"kind": "gaussian", "descriptor": "hog"}}},
         "kernel 'g' is made from a matrix that compares single samples, not pairs; give it `feature_scaling`"),
        ({"protocols": {"pairs": {"kind": "verification", "exclude_classes": ["x"]}}}, "a list names its pairs"),
        ({"protocols": {"pairs": {"kind": "verification", "components": None}}}, "set whiten: false"),
    ],
)  # fmt: skip
def test_studies_that_can_not_be_planned(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        planned(**changes)

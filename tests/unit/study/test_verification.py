"""Studies that verify pairs: what their fits take, and what can't be planned."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mklearn.errors import ConfigError
from mklearn.study.engine.data_check import check_data
from mklearn.study.jobs import Jobs, wildcards_of
from mklearn.study.parameters import parameter_mistakes
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
    lists = dataset.protocol_files["verification"]
    assert [Path(path).name for path in dataset.files] == ["lfw_pairs_grey_150x130.zip"]
    assert [Path(path).name for path in lists] == ["pairs.txt", "pairsDevTrain.txt", "pairsDevTest.txt"]
    assert set(dataset.downloads) == {*dataset.files, *lists}


def test_fits_on_pairs_take_the_features_of_their_descriptors() -> None:
    jobs = Jobs(planned())
    inputs = [jobs.job("fit", wildcards_of(key)).inputs for key in jobs.keys("fit")]
    named = [[Path(path).name.split("-")[0] for path in each["sources"]] for each in inputs]
    assert named == [["hog", "lbp"], ["hog"]]
    assert all(
        fit.spec.pairs and not each["matrices"] for fit, each in zip(jobs.plan.fits.values(), inputs, strict=True)
    )


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"datasets": {"digits": None}}, "protocols.pairs: data set 'digits' has no official lists of pairs"),
        ({"protocols": {"pairs": {"kind": "verification", "path": "no.csv"}}}, "no.csv: there is no such file"),
        ({"methods": {"m": {"kind": "glram"}}}, "takes images as matrices, and a pair has features only"),
        ({"kernels": {"g": {"kind": "gaussian", "descriptor": "hog"}}},
         "kernel 'g' is made from a matrix that compares single samples, not pairs; give it `feature_scaling`"),
        ({"protocols": {"pairs": {"kind": "verification", "exclude_classes": ["x"]}}}, "unknown key 'exclude_classes'"),
    ],
)  # fmt: skip
def test_studies_that_can_not_be_planned(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        planned(**changes)


def test_how_pairs_are_compared_is_checked() -> None:
    wrong = {"kind": "verification", "components": 0, "whiten": "no", "terms": ["sum"]}
    mistakes = parameter_mistakes(check_study(STUDY | {"protocols": {"pairs": wrong}}))
    assert {mistake.path for mistake in mistakes} == {f"protocols.pairs.{name}" for name in wrong if name != "kind"}


def test_pairs_of_grouped_samples_are_validated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("id,label,person,size\na,x,p,1\nb,x,p,2\nc,y,q,3\nd,y,q,4\n", encoding="utf-8")
    Path("pairs.csv").write_text("fold,first,second\n0,a,b\n1,c,d\n", encoding="utf-8")
    own = {"kind": "feature_tables", "tables": {"t": "t.csv"}, "group_column": "person"}
    protocols = {"pairs": {"kind": "verification", "path": "pairs.csv"}}
    methods = {"m": {"kind": "fsvc", "descriptor": "t"}}
    study = {"study": "s", "datasets": {"own": own}, "protocols": protocols, "methods": methods}
    plan = plan_study(check_study(study))
    assert check_data(plan).counts == ["own: 4 samples of 2 classes: x 2, y 2"]

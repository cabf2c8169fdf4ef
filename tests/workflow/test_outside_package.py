"""A study with a method, a kernel, a descriptor, a protocol and a metric of another package."""

import json
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.outside_package.install import install
from tests.workflow.conftest import Checkout

pytestmark = pytest.mark.full

WORST = "outside_package.worst_class:worst_class_accuracy"
METRICS = ["accuracy", WORST, "auc"]
STUDY: dict[str, Any] = {
    "study": "outside",
    "datasets": ["stripes"],
    "descriptors": {"means": {"kind": "outside_package.column_means:column_means"}, "pixels": {"kind": "pixels"}},
    "kernels": {
        "cauchy": {"kind": "outside_package.cauchy:CauchyKernel"},
        "linear": {"kind": "linear", "descriptor": "pixels"},
    },
    "methods": {
        "gated": {"kind": "outside_package.gated_centroids:GatedCentroids", "gating": "means", "sharpness": [0.5, 2.0]},
        "average": {"kind": "kernel_fda"},
    },
    "protocols": {"first": {"kind": "outside_package.first_per_class:first_per_class", "train_size": 6}},
    "evaluation": {"neighbours": ["cosine"], "inner_folds": 2, "metrics": METRICS, "choose_by": "accuracy"},
}


class WithPackage(Checkout):
    """A checkout in whose Python the example package is installed."""

    @property
    def environment(self) -> dict[str, str]:
        path = os.pathsep.join([str(self.folder / "src"), str(self.folder / "site")])
        return super().environment | {"PYTHONPATH": path}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> WithPackage:
    made = WithPackage(tmp_path_factory.mktemp("outside") / "checkout", repository)
    install(made.folder / "site")
    made.write(STUDY)
    made.said("snakemake", "--cores", "2")
    return made


def test_the_study_has_values_and_is_up_to_date(checkout: WithPackage) -> None:
    results = checkout.folder / "results" / "outside"
    scores = pd.read_parquet(results / "scores.parquet")
    rows = scores[scores["method"] == "gated"]
    value = rows.groupby("metric")["value"].first()
    assert set(value.index) == set(METRICS)
    assert 0 <= value[WORST] <= value["accuracy"] <= 1
    assert min(value["accuracy"], value["auc"]) > 0.6
    assert set(rows["kernel_set"]) == {"cauchy-means+cauchy-pixels+linear"}
    assert {json.loads(text)["sharpness"] for text in rows["parameters"] if text != "{}"} <= {0.5, 2.0}
    average = scores[(scores["method"] == "average") & (scores["metric"] == "accuracy")]
    assert {*rows["status"], *average["status"]} == {"ok"}
    assert average["value"].max() > 0.6
    assert checkout.planned() == {}
    record = json.loads((results / "run.json").read_text(encoding="utf-8"))
    assert record["versions"]["mklearn-outside"] == "0.1"


@pytest.mark.parametrize("module", ["gated_centroids", "powers", "stripes"])
def test_an_edit_of_the_package_runs_what_depends_on_it(checkout: WithPackage, module: str) -> None:
    name = f"site/outside_package/{module}.py"
    before = checkout.edit(name)
    try:
        planned = checkout.planned()
    finally:
        (checkout.folder / name).write_text(before, encoding="utf-8")
    assert {"read": 1, "split": 1, "describe": 2, "fit": 2}.items() <= planned.items()

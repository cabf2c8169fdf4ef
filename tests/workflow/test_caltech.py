"""The study of seven descriptors on Caltech-101, scaled down: from the archive to the report, and what reruns."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from tests.workflow.conftest import Checkout

TABLES = {"scores": 1, "summary": 1, "run_record": 1, "report": 1, "all": 1}


@pytest.fixture(scope="module")
def study(repository: Path) -> dict[str, Any]:
    text = (repository / "workflow" / "studies" / "mkldr-small.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, repository: Path, mirror: Path, study: dict[str, Any]) -> Checkout:
    """The study, run from the mirror."""
    made = Checkout(tmp_path_factory.mktemp("caltech") / "checkout", repository)
    made.write(study | {"mirror": str(mirror)})
    made.snakemake("--cores", "2")
    return made


@pytest.fixture(scope="module")
def summary(ran: Checkout) -> pd.DataFrame:
    return pd.read_parquet(ran.folder / "results" / "mkldr-small" / "summary.parquet")


@pytest.mark.slow
def test_every_row_has_a_value(summary: pd.DataFrame, study: dict[str, Any]) -> None:
    methods = set(study["methods"]) - {"kfd", "klde"}
    kernels = [f"gauss-{name}" for name in study["descriptors"]]
    assert set(summary["method"]) == methods | {f"kfd-{kernel}" for kernel in kernels} | {"klde"}
    assert summary["mean"].notna().all(), summary.loc[summary["mean"].isna(), ["method", "message"]]
    assert set(summary["status"]) == {"ok"}


@pytest.mark.slow
def test_several_descriptors_beat_one(summary: pd.DataFrame) -> None:
    """The safe orderings of the findings: the best single discriminant below the average of all kernels."""
    cosine = summary[summary["selection"].eq("inner_cv") & summary["neighbour"].isin(["cosine", ""])]
    rate = cosine.set_index("method")["mean"]
    singles = rate[rate.index.str.startswith("kfd-")]
    assert (singles > 0.2).all()  # chance is 0.1
    assert rate["average"] > singles.max()
    for method in ("mkl-lda", "mkl-lde", "loo", "convex", "cv-weights", "product", "ridge", "svc"):
        assert rate[method] > singles.max() - 0.02, method
    assert rate["voting"] > singles.median()


@pytest.mark.slow
def test_nothing_is_left_to_do(ran: Checkout) -> None:
    assert ran.planned() == {}


def changed(study: dict[str, Any], name: str, **parameters: Any) -> dict[str, Any]:
    other = copy.deepcopy(study)
    other["descriptors"].setdefault(name, {}).update(parameters)
    return other


@pytest.mark.slow
def test_a_parameter_of_a_descriptor_reruns_what_depends_on_it(
    ran: Checkout, study: dict[str, Any], mirror: Path
) -> None:
    ran.write(changed(study, "gb-1", n_points=50) | {"mirror": str(mirror)})
    planned = ran.planned()
    ran.write(study | {"mirror": str(mirror)})
    n_fits = len(study["descriptors"]) + len(study["methods"]) - 1
    # six of the single kernels are others', and KLDE is on this one
    assert planned == {"learn": 1, "describe": 1, "pairwise": 1, "kernel_set": 4, "fit": n_fits - 6, **TABLES}


@pytest.mark.slow
def test_another_descriptor_recomputes_no_distance(ran: Checkout, study: dict[str, Any], mirror: Path) -> None:
    ran.write(changed(study, "lbp", kind="lbp") | {"mirror": str(mirror)})
    planned = ran.planned()
    ran.write(study | {"mirror": str(mirror)})
    assert (planned["describe"], planned["pairwise"]) == (1, 1)
    assert "learn" not in planned


@pytest.mark.slow
def test_editing_a_descriptor_reruns_its_own_files(ran: Checkout) -> None:
    path = ran.folder / "src" / "mklearn" / "descriptors" / "c2_serre.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text + "\n# an edit\n", encoding="utf-8")
    planned = ran.planned()
    path.write_text(text, encoding="utf-8")
    assert (planned["learn"], planned["describe"], planned["pairwise"]) == (1, 1, 1)

"""The study of seven descriptors on Caltech-101, scaled down: from the archive to the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from tests.workflow.conftest import Checkout

from mklearn.study.engine.workflow_files import study_file

pytestmark = [pytest.mark.full, pytest.mark.smoke]

METHODS = ("kfd", "voting", "samme", "average", "product", "mkl-lda", "from-orthonormal", "mkl-lpp", "convex", "svc")
"""The others are fitted beside a script in ``tests/conformance``."""


@pytest.fixture
def study(repository: Path) -> dict[str, Any]:
    """The study with two splits in place of ten, and some of its methods."""
    study: dict[str, Any] = yaml.safe_load(study_file("mkldr-small").read_text(encoding="utf-8"))
    study["protocols"]["halves"]["repeats"] = 1
    study["methods"] = {name: study["methods"][name] for name in METHODS}
    return study


def test_from_the_archive_to_the_table(tmp_path: Path, repository: Path, mirror: Path, study: dict[str, Any]) -> None:
    ran = Checkout(tmp_path / "checkout", repository)
    study |= {"mirror": str(mirror)}
    ran.write(study)
    ran.said("snakemake", "--cores", "2")
    summary = pd.read_parquet(ran.folder / "results" / "mkldr-small" / "summary.parquet")
    every_row_has_a_value(summary, study)
    several_descriptors_beat_one(summary)
    assert ran.planned() == {}


def every_row_has_a_value(summary: pd.DataFrame, study: dict[str, Any]) -> None:
    kernels = [f"gauss-{name}" for name in study["descriptors"]]
    assert set(summary["method"]) == set(study["methods"]) - {"kfd"} | {f"kfd-{kernel}" for kernel in kernels}
    assert summary["mean"].notna().all(), summary.loc[summary["mean"].isna(), ["method", "message"]]
    assert set(summary["status"]) == {"ok"}


def several_descriptors_beat_one(summary: pd.DataFrame) -> None:
    """The safe orderings of the findings: the best single discriminant is below the average of all kernels."""
    cosine = summary[summary["selection"].eq("inner_cv") & summary["neighbour"].isin(["cosine", ""])]
    rate = cosine.set_index("method")["mean"]
    singles = rate[rate.index.str.startswith("kfd-")]
    assert (singles > 0.2).all(), singles  # chance is 0.1
    assert rate["average"] > singles.max(), rate
    for method in ("mkl-lda", "convex", "product", "svc"):
        assert rate[method] > singles.max() - 0.05, (method, rate)
    assert rate["voting"] > singles.median(), rate

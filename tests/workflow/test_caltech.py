"""The study of seven descriptors on Caltech-101, scaled down: from the archive to the report."""

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


def test_from_the_archive_to_the_table(
    tmp_path: Path, repository: Path, mirror: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MKLEARN_MIRROR", str(mirror))
    study: dict[str, Any] = yaml.safe_load(study_file("mkldr-small").read_text(encoding="utf-8"))
    study["protocols"]["halves"]["repeats"] = 1
    study["methods"] = {name: study["methods"][name] for name in METHODS}
    del study["comparisons"]
    ran = Checkout(tmp_path / "checkout", repository)
    ran.write(study)
    ran.output("snakemake", "--cores", "2")
    summary = pd.read_parquet(ran.folder / "results" / "mkldr-small" / "summary.parquet")
    singles = {f"kfd-gauss-{name}" for name in study["descriptors"]}
    assert set(summary["method"]) == set(METHODS) - {"kfd"} | singles
    assert summary["mean"].notna().all(), summary.loc[summary["mean"].isna(), ["method", "message"]]
    assert set(summary["status"]) == {"ok"}
    cosine = summary[summary["selection"].eq("inner_cv") & summary["neighbour"].isin(["cosine", ""])]
    rate = cosine.set_index("method")["mean"]
    single = rate[sorted(singles)]
    assert (single > 0.2).all(), single  # chance is 0.1
    assert rate["average"] > single.max(), rate
    assert (rate[["mkl-lda", "convex", "product", "svc"]] > single.max() - 0.05).all(), rate
    assert rate["voting"] > single.median(), rate
    assert ran.planned() == {}

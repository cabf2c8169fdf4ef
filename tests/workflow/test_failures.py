"""Failure is a row: jobs that are killed, have a bug, run out of memory or time; one whose end costs all after it.

One study has all of them at once, in code that is edited in the checkout's copy; then the code is mended.
"""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.workflow.conftest import Checkout, tables

from mklearn.atomic import read_npz

BOTH = ["pixels", "blocks"]
STUDY: dict[str, Any] = {
    "study": "hurt",
    "datasets": {"digits": {"per_class": 12}},
    "descriptors": {
        "pixels": {"kind": "pixels"},
        "blocks": {"kind": "multiresolution", "resolutions": [2, 4]},
        "hog": {"kind": "hog", "cell": 4},
    },
    "methods": {
        "cut-off": {"kind": "kernel_fda", "kernels": ["hog"]},
        "average": {"kind": "kernel_fda", "kernels": BOTH},
        "killed": {"kind": "mkl_dr", "kernels": BOTH},
        "buggy": {"kind": "kernel_mmc", "kernels": BOTH},
        "slow": {"kind": "kernel_pca", "kernels": BOTH, "components": "one_standard_error", "time_limit": 0.05},
        "hungry": {"kind": "kernel_lde", "kernels": BOTH},
    },
    "protocols": {"random": {"kind": "random_per_class", "train_size": [4], "repeats": 3}},
    "evaluation": {"reference": "average"},
    "final": {"method": "average"},
}
TABLES = ("results/hurt/scores.parquet", "results/hurt/summary.parquet")
"""Tables of a run, without its report."""
CALLS_OF_A_SPLIT = 4
"""Fits of the inner cross-validation, and the last one."""
FAILING = """

_whole, _calls = {name}.fit, [0]


def _failing(self, *arguments, **more):
    import os, resource, signal, time, numpy

    _calls[0] += 1
    {what}
    return _whole(self, *arguments, **more)


{name}.fit = _failing
"""
HUNGRY = (
    "resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30, resource.getrlimit(resource.RLIMIT_AS)[1])),"
    " numpy.full(12 * 2**30, 1, dtype='uint8')"
)
"""An allocation that the system refuses, for real."""
FAILING_DESCRIPTOR = """

def hog(images, **parameters):
    from mklearn.errors import DataError

    print("so far")
    raise DataError("no gradients today")
"""
"""A user's mistake: a sentence, without a traceback."""
EDITS = {
    "subspace/mkldr.py": FAILING.format(name="MKLDR", what="os.kill(os.getppid(), signal.SIGKILL)"),
    "subspace/kernel_mmc.py": FAILING.format(name="KernelMMC", what="raise RuntimeError('a bug\\nof two lines')"),
    "subspace/kernel_pca.py": FAILING.format(
        name="KernelPCA", what=f"_calls[0] > {CALLS_OF_A_SPLIT} and time.sleep(3600)"
    ),
    "subspace/kernel_lde.py": FAILING.format(name="KernelLDE", what=f"_calls[0] != 1 or ({HUNGRY})"),
    "descriptors/hog.py": FAILING_DESCRIPTOR,
}


def scores_of(checkout: Checkout) -> pd.DataFrame:
    return pd.read_parquet(checkout.folder / "results" / "hurt" / "scores.parquet")


def values_of(frame: pd.DataFrame) -> str:
    """Rows without times, as text; without the code's fingerprint, which an edit at the end of a file changes."""
    return str(frame.drop(columns=["commit", "fit_seconds", "code"]).to_csv(index=False))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Checkout:
    made = Checkout(tmp_path_factory.mktemp("whole") / "checkout", repository)
    made.write(STUDY)
    made.output("snakemake", "--cores", "2", *TABLES)
    return made


@pytest.fixture(scope="module")
def failed(
    tmp_path_factory: pytest.TempPathFactory, whole: Checkout
) -> tuple[Checkout, subprocess.CompletedProcess[str]]:
    """The study with broken code, and its output; kernels that no broken code makes are there."""
    made = whole.copy(tmp_path_factory.mktemp("failed") / "checkout")
    for path in ("results/cache/fits", "results/hurt", "logs", *made.folder.glob("results/cache/*/*/hog-*")):
        if (made.folder / path).is_dir():
            shutil.rmtree(made.folder / path)
        else:
            (made.folder / path).unlink()
    for name, edit in EDITS.items():
        made.edit(f"src/mklearn/{name}", edit)
    return made, made.ended("snakemake", "--cores", "2")


STATUSES = {
    "cut-off": ["missing"], "average": ["ok"] * 3,
    "killed": ["missing"], "buggy": ["missing"], "slow": ["ok", "time_limit", "time_limit"],
    "hungry": ["out_of_memory", "ok", "ok"],
}  # fmt: skip


def test_the_table_comes_with_a_row_and_a_reason_for_each(failed, whole: Checkout) -> None:
    checkout, done = failed
    assert done.returncode != 0
    scores = scores_of(checkout)
    assert list(dict.fromkeys(scores["method"])) == list(STATUSES)
    by_split = scores.drop_duplicates(["method", "repeat"]).groupby("method", sort=False)["status"].agg(list)
    assert by_split.to_dict() == STATUSES
    output = scores.drop_duplicates(["method", "status"]).set_index(["method", "status"])["message"]
    assert "0.05 minutes" in output["slow", "time_limit"]
    assert "Unable to allocate 12.0 GiB" in output["hungry", "out_of_memory"]
    for method, step in (("killed", "fit"), ("buggy", "fit"), ("cut-off", "describe")):
        log = output[method, "missing"].rsplit(", see ", 1)[1]
        assert log.startswith(f"logs/{step}/")
        text = (checkout.folder / log).read_text(encoding="utf-8")
        assert (method, "Traceback" in text, "so far" in text) == (method, method == "buggy", method == "cut-off")
    # All rows that do have a value are those of the undisturbed run.
    undisturbed = scores_of(whole)
    for method, statuses in STATUSES.items():
        good = [repeat for repeat, status in enumerate(statuses) if status == "ok"]
        rows, expected = (f[f["method"].eq(method) & f["repeat"].isin(good)] for f in (scores, undisturbed))
        assert values_of(rows) == values_of(expected), method


def test_summary_and_report_say_so(failed) -> None:
    checkout, done = failed
    folder = checkout.folder / "results" / "hurt"
    summary = pd.read_parquet(folder / "summary.parquet").drop_duplicates("method").set_index("method")
    assert list(summary.index) == list(STATUSES)
    for name, statuses in STATUSES.items():
        assert summary.at[name, "status"] == ("ok" if "ok" in statuses else statuses[0])
        assert summary.at[name, "n_failed"] == sum(status != "ok" for status in statuses)
    assert summary.loc[["slow", "hungry"], "difference"].notna().all()
    page = (folder / "report" / "index.html").read_text(encoding="utf-8")
    markdown = (folder / "report" / "summary.md").read_text(encoding="utf-8")
    for words in ("Fits that did not end well", "no gradients today, see logs/describe/", "12.0 GiB", "0.05 minutes"):
        assert words in page
    assert "out of memory" in markdown
    assert markdown.count("| missing | every split |") == markdown.count("| 0, all missing |") == 3
    # The terminal: each failed job and why, the answer of the others, and what to do.
    answer = (folder / "report" / "answer.txt").read_text(encoding="utf-8")
    for words in (
        "failed: its job was killed or interrupted, see logs/fit/", "RuntimeError: a bug of two lines, see logs/fit/",
        "mklearn, describe: results/cache/data/digits-", ".npz: descriptor hog: no gradients today, see logs/describe/",
        "Next: `mklearn failed` lists what failed. ",
        "or `mklearn failed --run` runs what is missing.",
        "the answer without 3 of 6 fits, and without the final model, which was not made:\n"
        f"{answer}\nresults/hurt/report/index.html\n",
    ):  # fmt: skip
        assert words in done.stderr
    assert done.stderr.count(" failed: ") == 3
    assert "Traceback" not in done.stderr


def test_nothing_is_half_written_and_the_list_names_them(failed) -> None:
    checkout, _ = failed
    assert [path for path in (checkout.folder / "results").rglob("*") if ".tmp" in path.name] == []
    fits = sorted((checkout.folder / "results" / "cache" / "fits").rglob("*.npz"))
    names = {path.name.rsplit("-", 1)[0] for path in fits}
    assert names == set(STATUSES) - {"killed", "buggy", "cut-off"}
    assert len(fits) == 2 * len(names)
    for path in fits:
        read_npz(path)
    text = checkout.output("mklearn", "failed")
    assert {*re.findall(r"([\w-]+) on digits", text)} == set(STATUSES) - {"average"}
    assert "buggy on digits, random-p4: missing: RuntimeError: a bug of two lines, see logs/fit/" in text
    targets = checkout.output("mklearn", "failed", "--targets").split()
    others = [target for target in targets if not target.startswith("results/cache/fits/")]
    assert (len(targets), others[0]) == (5 + len(others), "results/hurt/model.mklearn")
    assert {target.split("/")[2] for target in others[1:]} <= {"descriptors"}


@pytest.mark.full
def test_a_second_failure_rewrites_the_table_and_mended_code_restores_all_tables(failed, whole: Checkout) -> None:
    checkout, _ = failed
    before = values_of(scores_of(checkout))
    assert checkout.planned()["fit"] == 3
    table = checkout.folder / "results" / "hurt" / "scores.parquet"
    table.unlink()
    checkout.output("snakemake", "--cores", "2", TABLES[0], code=1)
    assert values_of(scores_of(checkout)) == before
    shutil.copytree(whole.folder / "src", checkout.folder / "src", dirs_exist_ok=True)
    targets = checkout.output("mklearn", "failed", "--targets").split()
    # The edited modules of those with values are what they were: nothing but the three, and those that are forced.
    checkout.output("snakemake", *TABLES, "--cores", "2", "--forcerun", *targets)
    assert tables(checkout, "hurt") == tables(whole, "hurt")
    assert checkout.output("mklearn", "failed").strip().endswith("nothing failed.")
    assert checkout.output("mklearn", "failed", "--targets") == ""
    assert checkout.planned(*TABLES) == {}

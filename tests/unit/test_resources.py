"""Resources of jobs: more than was measured, and not many times as much."""

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mklearn.study import resources
from mklearn.study.data.samples import SampleSet
from mklearn.study.engine.workflow_files import studies
from mklearn.study.jobs import Jobs
from mklearn.study.plan.plan import plan_study
from mklearn.study.reading import check_study, read_study
from mklearn.study.specs.data_specs import SplitSpec


def asked(name: str, jobs: Jobs, rule: str, key: dict[str, str], files: Any, attempt: int = 1) -> int:
    """Return a job's request for memory or time, by its input files."""
    return int(resources.Requests(jobs).of(rule)[name](key, files, attempt))


mb, minutes = (partial(asked, name) for name in ("mem_mb", "runtime"))


class Unread:
    """The input of a job before its files exist, as Snakemake passes it."""

    @property
    def size_mb(self) -> float:
        raise FileNotFoundError


@pytest.mark.parametrize(
    ("n", "n_train", "kernels", "measured"),
    [  # the peak memory of runs
        (1797, 200, 1, 258),  # digits, kfd
        (1797, 200, 6, 419),  # digits, mkl-lda-sdp
        (3060, 1530, 1, 628),  # caltech101 in mkldr, klde
        (3060, 1530, 7, 1401),  # average-lde
    ],
)
def test_memory_of_kernel_fits_is_near_the_measured(n: int, n_train: int, kernels: int, measured: float) -> None:
    job = measured + 340  # two Snakemake processes that the SLURM executor starts around it
    assert job < resources.HEADROOM * (resources.AROUND_MB + resources.kernels_mb(n, n_train, kernels)) < 3 * job


def test_a_dictionary_on_landmarks_has_columns_of_these_alone() -> None:
    methods = {"all": {"kind": "multi_view"}, "few": {"kind": "multi_view", "landmarks": [100, 300]}}
    plan = plan_study(check_study({"study": "s", "datasets": ["digits"], "methods": methods}))
    every, few = (resources.fit_mb(fit.spec, 30_000, 24_000) for fit in plan.fits.values())
    columns = 8 / 2**20 * 30_000 * 300
    assert columns < few < 10 * columns < every


def test_fits_of_a_study_of_images_on_kernels_are_known_before_anything_is_read(repository: Path) -> None:
    digits = Jobs(plan_study(read_study(repository / "workflow" / "studies" / "digits.yaml")))
    for key in digits.keys("fit"):
        inputs = digits.job("fit", key).inputs
        fit = digits, "fit", key, SimpleNamespace(size_mb=6.0) if inputs["sources"] else Unread()
        assert 800 <= mb(*fit) <= 4000
        assert mb(*fit, 2) == 2 * mb(*fit)
        assert minutes(*fit) == resources.MINUTES
        assert minutes(*fit, 3) == 3 * minutes(*fit)
    with pytest.raises(FileNotFoundError):  # to Snakemake: to be determined
        mb(digits, "distances", digits.keys("distances")[0], Unread())


@pytest.mark.full
def test_every_fit_of_every_study_asks_for_less_than_a_node() -> None:
    for path in studies().values():
        jobs, files = Jobs(plan_study(read_study(path))), SimpleNamespace(size_mb=20.0)
        for rule in ("moments", "fit"):
            for key in jobs.keys(rule):
                assert 800 <= mb(jobs, rule, key, files) <= 12_000, (path.name, key)


@pytest.mark.parametrize("limit", [0.5, 300.0])
def test_the_studys_time_limit_comes_before_the_clusters(limit: float) -> None:
    protocols = {"p": {"kind": "random_per_class", "train_size": [2, 4]}}
    study = {"study": "s", "datasets": ["digits"], "protocols": protocols, "evaluation": {"time_limit": limit}}
    jobs = Jobs(plan_study(check_study(study)))
    (views,) = jobs.keys("view_contributions")
    n_sets = 1 + 2 * len(jobs.job("view_contributions", views).spec.views)  # all, each left out and alone
    for rule, key, n in [("view_contributions", views, n_sets), *(("fit", key, 2) for key in jobs.keys("fit"))]:
        assert n * limit + 20 <= minutes(jobs, rule, key, Unread()) <= n * limit + 30


def test_splits_and_samples_are_counted(tmp_path: Path) -> None:
    counted = [
        resources.number_of_splits(SplitSpec(kind="x", implementation="x:x", parameters=parameters, seed=0))
        for parameters in ({"train_size": [10, 20], "repeats": 7}, {"folds": 5, "repeats": 2}, {"path": "splits.csv"})
    ]
    assert counted == [7, 10, resources.UNKNOWN_SPLITS]
    ids, labels = np.array([f"s{i}" for i in range(137)]), np.arange(137) % 3
    data = SampleSet(ids, labels, tables={"t": np.ones((137, 2))})
    data.save(tmp_path / "samples.npz")
    assert resources.counted_samples(tmp_path / "samples.npz") == 137
    assert resources.counted_samples(tmp_path / "missing.npz") is None

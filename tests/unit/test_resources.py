"""Resources of jobs: more than was measured, and not many times as much."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mklearn.optimize.kernel_weights import ENUMERATION_LIMIT
from mklearn.study import resources
from mklearn.study.data import description
from mklearn.study.data.samples import SampleSet
from mklearn.study.engine.workflow_files import studies, study_file
from mklearn.study.jobs import Jobs, wildcards_of
from mklearn.study.plan.plan import plan_study
from mklearn.study.reading import check_study, read_study
from mklearn.study.specs.data_specs import SplitSpec
from mklearn.study.specs.fit_spec import EvaluationSpec, FitSpec, Implementation, InputSpec, MethodSpec, Setting

EXECUTOR_MB = 340
"""Two Snakemake processes that the SLURM executor starts around a job."""


@pytest.mark.parametrize(
    ("n", "n_train", "matrices", "kernels", "measured"),
    [  # the column peak_mb of runs
        (1797, 200, 1, 1, 258),  # digits, kfd
        (1797, 200, 6, 6, 419),  # digits, mkl-lda-sdp
        (1440, 160, 1, 11, 357),  # coil20 in mkmmc, kpca-cv
        (3060, 1530, 1, 1, 628),  # caltech101 in mkldr, klde
        (3060, 1530, 7, 1, 895),  # the product kernel
        (3060, 1530, 7, 7, 1401),  # average-lde
    ],
)
def test_kernel_fits_ask_for_what_was_measured_and_not_four_times_that(
    n: int, n_train: int, matrices: int, kernels: int, measured: float
) -> None:
    asked = resources.asked_mb(resources.kernels_mb(n, n_train, matrices, kernels))
    job = measured + EXECUTOR_MB
    assert job < asked < 2.5 * job


def test_each_term_of_kernels_counts() -> None:
    assert resources.kernels_mb(1024, 0, 3, 0) == 3 * 8  # matrices among all samples
    assert resources.kernels_mb(1024, 512, 0, 2) == 2 * 3 * 4 + 14 * 2  # kernels in training, and dense work


@pytest.mark.parametrize(
    ("source_mb", "measured"),
    [(15, 437), (3, 429)],  # coil20, shrinkage; orl, 2dmmc
)
def test_fits_on_features_ask_for_what_was_measured(source_mb: float, measured: float) -> None:
    job = measured + EXECUTOR_MB
    assert job < resources.asked_mb(resources.features_mb(source_mb)) < 3 * job


@pytest.fixture(scope="module")
def default(repository: Path) -> Jobs:
    return Jobs(plan_study(read_study(repository / "config.yaml")))


class Asked:
    """What a job asks for, given its input files."""

    def __init__(self, jobs: Jobs, rule: str, key: dict[str, str]) -> None:
        self.wildcards, self.resources = wildcards_of(key), resources.Requests(jobs).of(rule)

    def mb(self, files: Any, attempt: int = 1) -> int:
        return int(self.resources["mem_mb"](self.wildcards, files, attempt))

    def minutes(self, files: Any, attempt: int = 1) -> int:
        return int(self.resources["runtime"](self.wildcards, files, attempt))


class Unread:
    """The input of a job before its files exist, as Snakemake passes it."""

    @property
    def size_mb(self) -> float:
        raise FileNotFoundError


def test_fits_on_kernels_of_the_default_study_are_known_before_anything_is_read(default: Jobs) -> None:
    """Those on features wait for them: the memory depends on their number."""
    for key in default.keys("fit"):
        asked = Asked(default, "fit", key)
        held = Unread() if "matrices" in default.fit_inputs(asked.wildcards) else SimpleNamespace(size_mb=6.0)
        memory = asked.mb(held)
        assert 800 <= memory <= 4 * 419
        assert asked.mb(held, 2) == 2 * memory
        assert 20 <= asked.minutes(held) <= 120
        assert asked.minutes(held, 3) == 3 * asked.minutes(held)


def test_unknown_sizes_wait_for_the_files(default: Jobs) -> None:
    asked = Asked(default, "distances", default.keys("distances")[0])
    with pytest.raises(FileNotFoundError):  # to Snakemake: to be determined
        asked.mb(Unread())
    assert asked.mb(SimpleNamespace(size_mb=3.0)) >= 600


@pytest.mark.full
def test_every_fit_of_every_study_asks_for_less_than_a_day_and_a_node(repository: Path) -> None:
    for path in studies().values():
        jobs, held = Jobs(plan_study(read_study(path))), SimpleNamespace(size_mb=20.0)
        for rule in ("landmarks", "moments", "fit"):
            for asked in (Asked(jobs, rule, key) for key in jobs.keys(rule)):
                assert 800 <= asked.mb(held) <= 12_000, (path.name, asked.wildcards)
                assert 20 <= asked.minutes(held) <= resources.LONGEST_MINUTES, (path.name, asked.wildcards)


def test_runs_of_known_length_get_more_than_that(repository: Path) -> None:
    """Seconds of the longest fits that were measured, on a busy machine."""
    pytest.importorskip("mklearn.papers")
    jobs = Jobs(plan_study(read_study(study_file("mkldr"))))
    measured = {"mkl-lde": 968, "mkl-lda-cv": 506, "convex": 414, "average": 406, "best-single": 255}
    for key, fit in zip(jobs.keys("fit"), jobs.plan.fits.values(), strict=True):
        method = fit.method_id if fit.settings[0].protocol == "halves" else ""
        asked = 60 * Asked(jobs, "fit", key).minutes(SimpleNamespace(size_mb=100.0))
        assert asked > 3 * measured.get(method, 0), method


def test_the_longest_fits_come_first_and_after_what_they_wait_for(repository: Path) -> None:
    """Measured seconds of the fits of 2dmmc on ORL, on two cores: no long fit comes late in the order of priorities."""
    pytest.importorskip("mklearn.papers")
    measured = {"2dlda": 73, "shrinkage": 64, "2dmmc": 41, "glram": 32, "svc": 26, "mmc": 8, "raw": 3}
    jobs = Jobs(plan_study(read_study(study_file("2dmmc"))))
    on_orl = [key for key in map(wildcards_of, jobs.keys("fit")) if jobs.fit(key).dataset.id == "orl"]
    priority = {jobs.fit(key).method_id: resources.Requests(jobs).fit_priority(key) for key in on_orl}
    assert all(0 < value < 1 for value in priority.values())  # of the rules before them it is 1
    order = sorted(measured, key=lambda method: -priority[method])
    assert min(measured[method] for method in order[:5]) > max(measured[method] for method in order[5:])


@pytest.mark.parametrize("limit", [0.5, 10.0, 300.0])
def test_the_studys_time_limit_comes_before_the_clusters(default: Jobs, limit: float) -> None:
    spec = default.fit(wildcards_of(default.keys("fit")[0])).spec
    limited = spec.model_copy(update={"evaluation": spec.evaluation.model_copy(update={"time_limit": limit})})
    assert 2 * limit + 20 <= resources.fit_minutes(limited, [100.0, 200.0]) <= 2 * limit + 30


def split(parameters: dict[str, Any]) -> SplitSpec:
    return SplitSpec(kind="x", implementation="x:x", parameters=parameters, seed=0)


def test_training_samples_and_splits() -> None:
    per_class = split({"train_size": [10, 20], "repeats": 7})
    folds = split({"folds": 5, "repeats": 2})
    given_splits = split({"path": "splits.csv"})
    sizes = [Setting(protocol=f"p{size}", train_size=size) for size in (10, 20)]
    none = [Setting(protocol="p", train_size=None)]
    assert resources.training_samples(per_class, sizes, 1797, 10) == [100, 200]
    assert resources.training_samples(per_class, sizes, 1797, None) == [1797, 1797]
    assert resources.training_samples(folds, none, 101, 10) == [math.ceil(101 * 0.8)]
    assert resources.training_samples(given_splits, none, 50, 5) == [50]
    assert [resources.number_of_splits(p) for p in (per_class, folds)] == [7, 10]
    assert resources.number_of_splits(given_splits) == resources.UNKNOWN_SPLITS


def test_reading_asks_for_images_that_are_made_of_few() -> None:
    protocols = {"released": {"kind": "released"}}
    jobs = Jobs(plan_study(check_study({"study": "s", "datasets": ["mnist_deformed"], "protocols": protocols})))
    (key,) = jobs.keys("read")
    assert 1600 < Asked(jobs, "read", key).mb(SimpleNamespace(size_mb=11.0)) < 4000


def test_samples_are_counted_in_the_file(tmp_path: Path) -> None:
    y = np.arange(137) % 3
    data = SampleSet(ids=np.array([f"s{i}" for i in range(137)]), y=y, classes=np.array(["a", "b", "c"]),
                     tables={"t": np.ones((137, 2))})  # fmt: skip
    data.save(tmp_path / "samples.npz")
    assert resources.counted_samples(tmp_path / "samples.npz") == 137
    assert resources.counted_samples(tmp_path / "missing.npz") is None


def method(parameters: dict[str, Any], **more: Any) -> MethodSpec:
    sweep = Implementation(implementation="x:x")
    inputs = {"kernels": InputSpec(kind="kernels")}
    return MethodSpec(id="m", implementation="x:x", parameters=parameters, sweep=sweep, inputs=inputs, **more)


def test_candidates_are_those_of_the_grid_and_no_other_list() -> None:
    """Kernel weights given by the study are one candidate."""
    tuned = method({"kernel_weights": [1.0, 2.0]}, grid={"ridge": [0.1, 1.0, 10.0], "max_iter": [2, 5]})
    assert resources.number_of_candidates(tuned, 4) == 6
    assert resources.number_of_candidates(method({}, kernel_choice="best_single"), 4) == 4
    assert resources.number_of_candidates(method({}), 4) == 1


def test_licences_are_claimed_by_methods_that_may_solve_semidefinite_programs(default: Jobs) -> None:
    licences, wildcards = resources.Requests(default).of("fit")["mosek"], map(wildcards_of, default.keys("fit"))
    claimed = {default.fit(key).method_id: licences(key) for key in wildcards}
    assert {method for method, number in claimed.items() if number} == {"mkl-lda-sdp"}
    clarabel = {"beta_step": "sdp", "solver": "CLARABEL"}
    for parameters, n_kernels, expected in (({}, 14, 0), ({}, 15, 1), (clarabel, 3, 0)):
        mkl_dr = method(parameters).model_copy(update={"implementation": "mklearn.subspace.mkldr:MKLDR"})
        spec = SimpleNamespace(method=mkl_dr, kernels=[{}] * n_kernels)
        jobs: Any = SimpleNamespace(fit=lambda _, spec=spec: SimpleNamespace(spec=spec))
        assert resources.Requests(jobs).of("fit")["mosek"](None) == expected


def test_limits_are_those_of_the_solver_and_of_the_step() -> None:
    assert resources.ENUMERATED_KERNELS == ENUMERATION_LIMIT
    assert resources.IMAGE_BATCH == description.BATCH


def test_models_of_a_draw_fit_each_candidate_once_and_the_chosen_one_again() -> None:
    parameters = {"folds": 4, "deals": 5, "repeats": 3}
    validated = SplitSpec(kind="validation_folds", implementation="x:x", parameters=parameters, seed=0)
    folds = SplitSpec(kind="k_fold", implementation="x:x", parameters={"folds": 4, "repeats": 3}, seed=0)
    assert resources.number_of_splits(validated) == 60
    method = MethodSpec(
        id="m", implementation="x:x", grid={"C": [1, 2, 3]}, inputs={"features": InputSpec(kind="features")},
        sweep=Implementation(implementation="x:x"),
    )  # fmt: skip
    evaluation = EvaluationSpec(neighbours=["cosine"], inner_folds=3)
    spec = FitSpec(dataset="d", settings=[Setting(protocol="p", train_size=None)], method=method,
                   evaluation=evaluation, seed=0)  # fmt: skip
    once, nested = (resources.fit_seconds(spec, protocol, 100, 100) for protocol in (validated, folds))
    assert once / nested == pytest.approx(60 * (1 + 3) / (12 * (1 + 3 * 3)))

"""Methods with landmarks in a study: fits as any other, blocks of samples, and studies that can't be planned."""

import re
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from tests.unit.planned_jobs import wildcards_of

from mklearn.errors import ConfigError
from mklearn.study.jobs import Jobs
from mklearn.study.plan.datasets import number_of_blocks
from mklearn.study.plan.kernels import unsuited_kernels
from mklearn.study.plan.plan import Plan, plan_study
from mklearn.study.reading import check_study

STUDY: dict[str, Any] = {
    "study": "many",
    "blocks": 3,
    "datasets": {"digits": {"per_class": 20}},
    "descriptors": {"pixels": {"kind": "pixels"}, "blocks": {"kind": "multiresolution", "resolutions": [2]}},
    "kernels": {"gauss": {"kind": "gaussian", "bandwidth": [0.5, 2]}, "linear": {"kind": "linear"}},
    "methods": {
        "mkl": {"kind": "mkl_dr", "landmarks": 30},
        "kfd": {"kind": "kernel_fda", "landmarks": {"n": 30}, "ridge": [0.001, 0.01]},
        "one": {"kind": "kernel_fda", "kernels": ["linear-pixels"], "landmarks": 30},
        "dense": {"kind": "kernel_fda"},
    },
    "protocols": {"folds": {"kind": "k_fold", "folds": 2}},
}


def planned(**changes: Any) -> Plan:
    return plan_study(check_study(STUDY | changes))


def one_method(blocks: int = 3, **method: Any) -> Plan:
    return planned(blocks=blocks, methods={"m": {"kind": "mkl_dr", "landmarks": 30} | method})


# --- plans


def test_methods_on_the_same_kernels_and_landmarks_share_their_moments() -> None:
    plan = planned()
    sets = {fit.method_id: fit.landmark_set for fit in plan.fits.values()}
    assert sets["mkl"] == sets["kfd"] is not None
    assert sets["one"] not in (None, sets["mkl"])
    assert sets["dense"] is None
    assert {name for *_, name in plan.moments} == {sets["mkl"], sets["one"]}
    dense = next(fit for fit in plan.fits.values() if fit.method_id == "dense")
    assert {(dense.dataset.key, *name.split("/")) for name in dense.spec.pairwise} == plan.pairwise.keys()


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize(
    "other", [{"n": 31}, {"n": 30, "how": "kmeans"}, {"n": 30, "dtype": "float32"}, {"n": 30, "rank_tolerance": 1e-3}]
)
def test_other_landmarks_are_another_fit(other: dict[str, Any], blocks: int) -> None:
    plans = [one_method(blocks, landmarks=value) for value in (30, {"n": 30}, other)]
    same, again, another = ([*plan.moments, *plan.fits] for plan in plans)
    assert same == again
    assert not set(same) & set(another)


def test_inner_folds_and_seed_change_the_moments_and_a_grid_does_not() -> None:
    sets = [[*one_method(**more).moments] for more in ({}, {"ridge": [0.1, 1.0]}, {"inner_folds": 4})]
    assert sets[0] == sets[1] != sets[2]
    assert [*planned(seed=5, methods={"m": {"kind": "mkl_dr", "landmarks": 30}}).moments] != sets[0]


def test_of_one_block_landmarks_are_a_parameter_and_their_numbers_a_grid() -> None:
    (fit,) = one_method(1, landmarks={"n": [50, 20, 50], "dtype": "float32"}).fits.values()
    assert fit.landmark_set is None
    common = {"how": "random_per_class", "dtype": "float32", "random_state": 0}
    assert fit.spec.method.grid["landmarks"] == [{"n": 20} | common, {"n": 50} | common]
    (fit,) = one_method(1).fits.values()
    assert fit.spec.method.parameters["landmarks"] == {"n": 30} | common | {"dtype": "float64"}
    assert fit.spec.pairwise == []
    assert {kernel["view"] for kernel in fit.spec.kernels} == set(fit.spec.kernel_features)
    assert {kernel["feature_scaling"] for kernel in fit.spec.kernels} == {"none"}
    jobs = Jobs(one_method(1))
    assert jobs.keys("moments") == jobs.keys("describe_part") == []
    assert jobs.job("fit", wildcards_of(jobs.keys("fit")[0])).inputs.keys() == {"labels", "matrices", "sources"}


def test_features_are_described_in_the_blocks_that_are_passed_over() -> None:
    plan = planned()
    assert {descriptor.n_parts for descriptor in plan.descriptors.values()} == {3}
    jobs = Jobs(plan)
    first, second, _ = passes = [wildcards_of(key) for key in jobs.keys("moments")[:3]]
    assert [key.part for key in passes] == ["1of3", "2of3", "3of3"]
    every = jobs.job("moments", first).inputs["features"]
    assert [path.rpartition("/")[2] for path in every] == ["1of3.npz", "2of3.npz", "3of3.npz"] * 2
    assert jobs.job("moments", second).inputs == {
        "labels": jobs.labels(second), "features": [path for path in every if path.endswith("2of3.npz")],
        "landmarks": jobs.path("moments", **vars(first)),
    }  # fmt: skip
    assert jobs.job("fit", wildcards_of(jobs.keys("fit")[0])).inputs == {
        "labels": jobs.labels(first), "matrices": [],
        "moments": [jobs.path("moments", **vars(key)) for key in passes], "blocks": every,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("n", "blocks", "expected"),
    [(None, None, 1), (None, 5, 5), (200, 3, 3), (20_000, None, 1), (60_000, None, 3), (320_000, None, 16),
     (1_000_000, None, 16), (10_000_000, None, 100)],
)  # fmt: skip
def test_number_of_blocks(n: int | None, blocks: int | None, expected: int) -> None:
    """By default a sixteenth of the samples, at least 20,000 and at most 100,000."""
    (dataset,) = planned().datasets.values()
    assert number_of_blocks(replace(dataset, n_samples=n), blocks) == expected


def test_a_method_with_landmarks_can_be_the_final_model() -> None:
    plan = planned(final={"method": "kfd"})
    assert plan.final is not None
    (candidate,) = plan.final.spec.candidates
    assert candidate.fit.method.landmarks
    assert {view.name for view in plan.final.spec.inputs.views} == {"pixels", "blocks"}


# --- studies that can't be planned

M: dict[str, Any] = {"kind": "mkl_dr", "landmarks": 30}
KFD: dict[str, Any] = {"kind": "kernel_fda", "landmarks": 30}
STANDARD = {"g": {"kind": "gaussian", "feature_scaling": "standard"}}
BLUR = {"datasets": {"digits": {"resize": {"shape": [40, 36]}}}, "descriptors": {"blur": {"kind": "geometric_blur"}}}
PASS = "; set `blocks: 1`"


@pytest.mark.parametrize(
    ("method", "changes", "sentence"),
    [
        (M | {"graph": "lde"}, {}, "has graph: lde, which joins samples; omit it"),
        (M | {"inner_folds": "leave_one_out"}, {}, "leaves out single samples; give a number of inner_folds"),
        (KFD | {"kernels": ["product"]}, {"kernels": {"gauss": {"kind": "gaussian"}, "product": {"kind": "product"}}},
         "takes kernel 'product', a product of kernels of several descriptors, and each has to read one view"),
        (M, BLUR | {"kernels": {}}, "takes kernel 'blur', which compares sets of points; name other `kernels`"),
        (KFD | {"kernel_weights": "cv_accuracy"}, {}, f"has kernel_weights: cv_accuracy (protocol 'folds'){PASS}"),
        (KFD | {"components": "best"}, {}, f"has components: best{PASS}"),
        (M | {"landmarks": {"n": [30, 10]}}, {}, f"chooses among several n{PASS}"),
        (M, {"kernels": {"g": {"kind": "gaussian", "feature_scaling": "auto"}}},
         f"chooses the feature_scaling of kernel 'g-blocks'{PASS}"),
        (M, {"protocols": {"p": {"kind": "k_fold", "choose": "test_set"}}}, f"chooses on test samples{PASS}"),
        (M, {"protocols": {"p": {"kind": "validation_folds", "test_size": 10}}}, f"takes validation folds{PASS}"),
    ],
)  # fmt: skip
def test_methods_that_refuse_landmarks(method: dict[str, Any], changes: dict[str, Any], sentence: str) -> None:
    study, (words, *advice) = {"methods": {"m": method}} | changes, sentence.split("; ")
    for blocks in (3,) if PASS in sentence else (1, 3):
        with pytest.raises(ConfigError) as raised:
            planned(blocks=blocks, **study)
        output = str(raised.value)
        assert output.startswith("methods.m.landmarks (datasets.digits): the method ")
        assert words.partition(" (protocol")[0] in output
        assert output.endswith(f"{''.join(advice)}, or omit `landmarks`.")
    assert PASS not in sentence or planned(blocks=1, **study).fits


def test_incomplete_tables_matrices_and_pairs(matrices: dict[str, Any], lists: None) -> None:
    own = {"kind": "feature_tables", "tables": {"t": "t.csv"}}
    base = {"study": "own", "protocols": STUDY["protocols"], "kernels": STANDARD, "methods": {"m": M}}
    with pytest.raises(ConfigError, match=r"\(datasets.own\): the method takes features, and this data set has matric"):
        plan_study(check_study(base | {"datasets": {"own": matrices}, "kernels": {}}))
    cases: list[tuple[dict[str, Any], str]] = [
        ({"datasets": {"own": own | {"missing_views": "mean"}}}, "completes missing rows or values (protocol 'folds')"),
        ({"datasets": {"own": own}, "protocols": {"p": {"kind": "verification", "path": "pairs.csv"}}},
         "takes samples that are composed of several (protocol 'p'), and its samples are in blocks"),
    ]  # fmt: skip
    for changes, sentence in cases:
        assert plan_study(check_study(base | changes)).fits
        with pytest.raises(ConfigError, match=re.escape(f"(datasets.own): the method {sentence}")):
            plan_study(check_study(base | changes | {"blocks": 2}))


@pytest.fixture
def lists(matrices: dict[str, Any]) -> None:
    table = pd.DataFrame({"id": list("wxyz"), "label": list("0011"), "u": [1.0, 2.0, 3.0, 4.0]})
    table.to_csv("t.csv", index=False)
    pd.DataFrame({"fold": [0, 1], "first": ["w", "x"], "second": ["y", "z"]}).to_csv("pairs.csv", index=False)


def test_kernels_of_another_package_are_refused() -> None:
    assert "'mine' of another package" in unsuited_kernels([{"id": "mine", "implementation": "other.kernels:Mine"}])
    assert unsuited_kernels([{"id": "g", "kind": "gaussian"}]) == ""

"""Methods with landmarks in a study: what they share, blocks of samples, and studies that can't be planned."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from mklearn.errors import ConfigError
from mklearn.study.datasets import RegisteredDataset
from mklearn.study.jobs import Jobs, wildcards_of
from mklearn.study.plan.datasets import number_of_blocks
from mklearn.study.plan.landmarks import unsuited_kernels
from mklearn.study.plan.plan import Plan, plan_study
from mklearn.study.reading import check_study

STUDY: dict[str, Any] = {
    "study": "many",
    "rows_per_block": 70,
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


def one_method(**method: Any) -> Plan:
    return planned(methods={"m": {"kind": "mkl_dr", "landmarks": 30} | method})


# --- plans


def test_methods_on_the_same_kernels_and_landmarks_share_their_moments() -> None:
    plan = planned()
    sets = {fit.method_id: fit.landmark_set for fit in plan.fits.values()}
    assert sets["mkl"] == sets["kfd"] is not None
    assert sets["one"] not in (None, sets["mkl"])
    assert sets["dense"] is None
    assert {name for *_, name in plan.landmark_sets} == {sets["mkl"], sets["one"]}
    dense = next(fit for fit in plan.fits.values() if fit.method_id == "dense")
    assert {(dense.dataset.key, *name.split("/")) for name in dense.spec.pairwise} == plan.pairwise.keys()


@pytest.mark.parametrize(
    "other",
    [
        {"n": 31}, {"n": 30, "how": "kmeans"}, {"n": 30, "how": "leverage"}, {"n": 30, "dtype": "float32"},
        {"n": 30, "rank_tolerance": 1e-3},
    ],
)  # fmt: skip
def test_other_landmarks_are_another_set_and_another_fit(other: dict[str, Any]) -> None:
    plans = [one_method(landmarks=value) for value in (30, {"n": 30}, other)]
    sets = [[*plan.landmark_sets] for plan in plans]
    fits = [[*plan.fits] for plan in plans]
    assert (sets[0], fits[0]) == (sets[1], fits[1])
    assert sets[2] != sets[0]
    assert fits[2] != fits[0]


def test_inner_folds_and_seed_change_the_moments_and_a_grid_does_not() -> None:
    sets = [[*one_method(**more).landmark_sets] for more in ({}, {"ridge": [0.1, 1.0]}, {"inner_folds": 4})]
    assert sets[0] == sets[1] != sets[2]
    assert [*planned(seed=5, methods={"m": {"kind": "mkl_dr", "landmarks": 30}}).landmark_sets] != sets[0]


def test_kernels_are_computed_from_features_and_all_components_are_taken() -> None:
    (fit,) = one_method().fits.values()
    assert {kernel["view"] for kernel in fit.spec.kernels} == set(fit.spec.kernel_features)
    assert fit.spec.pairwise == []
    assert {kernel["feature_scaling"] for kernel in fit.spec.kernels} == {"none"}
    assert fit.spec.evaluation.components == "all"


def test_features_are_described_in_the_blocks_that_are_passed_over() -> None:
    plan = planned()
    assert {descriptor.n_parts for descriptor in plan.descriptors.values()} == {3}
    jobs = Jobs(plan)
    choice, passes, fit = jobs.keys("landmarks")[0], jobs.keys("moments")[:3], wildcards_of(jobs.keys("fit")[0])
    assert [key["part"] for key in passes] == ["1of3", "2of3", "3of3"]
    every = jobs.job("landmarks", wildcards_of(choice)).inputs["features"]
    assert [Path(path).name for path in every] == ["1of3.npz", "2of3.npz", "3of3.npz"] * 2
    assert jobs.job("moments", wildcards_of(passes[1])).inputs["features"] == [
        path for path in every if path.endswith("2of3.npz")
    ]
    assert jobs.job("fit", fit).inputs == {
        "labels": jobs.labels(fit), "matrices": [], "landmarks": jobs.path("landmarks", **choice),
        "moments": [jobs.path("moments", **key) for key in passes], "blocks": every,
    }  # fmt: skip


def test_one_block_reads_the_features_as_a_whole() -> None:
    plan = planned(rows_per_block=200)
    jobs = Jobs(plan)
    assert {key["part"] for key in jobs.keys("moments")} == {"1of1"}
    assert set(jobs.job("landmarks", wildcards_of(jobs.keys("landmarks")[0])).inputs["features"]) == set(
        jobs.all_of("describe")
    )


@pytest.mark.parametrize(
    ("n", "rows", "expected"),
    [(None, 10, 1), (200, 70, 3), (210, 70, 3), (211, 70, 4), (200, None, 1), (60_000, None, 3), (320_000, None, 16),
     (1_000_000, None, 16), (10_000_000, None, 100)],
)  # fmt: skip
def test_number_of_blocks(n: int | None, rows: int | None, expected: int) -> None:
    """By default a sixteenth of the samples, at least 20,000 and at most 100,000."""
    (dataset,) = planned().datasets.values()
    assert number_of_blocks(replace(dataset, n_samples=n), RegisteredDataset(), rows) == expected


# --- studies that can't be planned


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"graph": "lde"}, "has graph: lde, which needs kernels among all samples; omit it"),
        ({"kind": "mkmmc", "sizes": [2]}, "has sizes, which needs kernels among all samples; omit it"),
        ({"kind": "kernel_fda", "kernel_weights": "cv_accuracy"},
         "has kernel_weights: cv_accuracy, which needs kernels among all samples"),
        ({"kind": "kernel_fda", "components": "best"},
         "has components: best; give n_components, or components: all, or omit `landmarks`."),
        ({"inner_folds": "leave_one_out"}, "leaves out single samples; give a number of inner_folds, or"),
        ({"landmarks": {"n": [3, 0]}}, "methods.m.landmarks.n[1]: invalid value 0: should be greater than or equal"),
        ({"landmarks": {"n": [3, 9], "how": "kmeans"}}, "centres of k-means for one number are not among those"),
        ({"kind": "kernel_ridge", "class_weight": "balanced"}, "class weights are not among the moments"),
        ({"kind": "kernel_svc"}, "methods.m.landmarks: unknown key"),
    ],
)  # fmt: skip
def test_methods_that_can_not_learn_from_landmarks(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        one_method(**changes)


M: dict[str, Any] = {"m": {"kind": "mkl_dr", "landmarks": 30}}
PRODUCT = {"gauss": {"kind": "gaussian"}, "product": {"kind": "product"}}
STANDARD = {"g": {"kind": "gaussian", "feature_scaling": "standard"}}
POINTS = {"digits": {"resize": {"shape": [40, 36]}}}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"kernels": PRODUCT, "methods": {"m": {"kind": "kernel_fda", "landmarks": 9, "kernels": ["product"]}}},
         "takes kernel 'product', a product of kernels of several descriptors"),
        ({"datasets": POINTS, "descriptors": {"blur": {"kind": "geometric_blur"}}, "kernels": {},
          "methods": {"m": {"kind": "kernel_fda", "landmarks": 9}}},
         "takes kernel 'blur', which compares sets of points; name other `kernels`"),
        ({"kernels": {"g": {"kind": "gaussian", "feature_scaling": "auto"}}},
         "takes kernel 'g-blocks', whose feature_scaling is auto; give the kernels one `feature_scaling`"),
        ({"protocols": {"p": {"kind": "k_fold", "choose": "test_set"}}}, "can't choose on test samples (protocol "),
        ({"protocols": {"p": {"kind": "validation_folds", "test_size": 10}}},
         "can't take validation folds (protocol 'p'); name other `protocols` for the method"),
    ],
)  # fmt: skip
def test_studies_that_can_not_be_planned(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(sentence)) as raised:
        planned(**{"methods": M} | changes)
    assert str(raised.value).startswith("methods.m.landmarks (datasets.digits): the method ")
    assert str(raised.value).endswith(", or omit `landmarks`.")


def test_incomplete_tables_matrices_and_pairs_are_refused(matrices: dict[str, Any], lists: None) -> None:
    own = {"kind": "feature_tables", "tables": {"t": "t.csv"}}
    cases: list[tuple[dict[str, Any], str]] = [
        ({"datasets": {"own": own | {"missing_views": "mean"}}}, "takes complete tables, and these may have missing"),
        ({"datasets": {"own": matrices}, "kernels": {}}, "takes features, and this data set has matrices"),
        ({"datasets": {"own": own}, "protocols": {"p": {"kind": "verification", "path": "pairs.csv"}}},
         "can't take samples that are composed of several (protocol 'p'); name other `protocols`"),
    ]  # fmt: skip
    base = {"study": "own", "protocols": STUDY["protocols"], "kernels": STANDARD, "methods": M}
    for changes, sentence in cases:
        with pytest.raises(ConfigError, match=re.escape(f"(datasets.own): the method {sentence}")):
            plan_study(check_study(base | changes))


@pytest.fixture
def lists(matrices: dict[str, Any]) -> None:
    """A table and a list of pairs, in the present folder."""
    table = pd.DataFrame({"id": list("wxyz"), "label": list("0011"), "u": [1.0, 2.0, 3.0, 4.0]})
    table.to_csv("t.csv", index=False)
    pd.DataFrame({"fold": [0, 1], "first": ["w", "x"], "second": ["y", "z"]}).to_csv("pairs.csv", index=False)


def test_kernels_of_another_package_are_refused() -> None:
    assert "'mine' of another package" in unsuited_kernels([{"id": "mine", "implementation": "other.kernels:Mine"}])
    assert unsuited_kernels([{"id": "g", "kind": "gaussian"}]) == ""


def test_a_method_with_landmarks_can_be_the_final_model() -> None:
    plan = planned(final={"method": "kfd"})
    assert plan.final is not None
    (candidate,) = plan.final.spec.candidates
    assert candidate.fit.landmarks is not None
    assert {view.name for view in plan.final.spec.inputs.views} == {"pixels", "blocks"}

"""Methods with landmarks in a study: what they share, blocks of samples, and studies that can't be planned."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from mklearn.contract.specs import SplitSpec
from mklearn.errors import ConfigError, MissingExtra
from mklearn.study.config.datasets import RegisteredDataset
from mklearn.study.config.reading import check_study
from mklearn.study.plan import landmarks
from mklearn.study.plan.blocks import number_of_blocks
from mklearn.study.plan.landmarks import unsuited_kernels
from mklearn.study.plan.plan import Plan, plan_study
from mklearn.study.plan.resources import fit_mb, fit_seconds
from mklearn.study.stages.targets import Targets

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


def test_fits_without_landmarks_have_the_same_keys_as_before() -> None:
    (fit,) = [fit for fit in planned().fits.values() if fit.method_id == "dense"]
    assert "landmarks" not in fit.spec.as_dict()
    (alone,) = planned(methods={"dense": STUDY["methods"]["dense"]}, rows_per_block=None).fits.values()
    assert (alone.method, alone.dataset.key) == (fit.method, fit.dataset.key)


def test_kernels_are_computed_from_features_and_all_components_are_taken() -> None:
    (fit,) = one_method().fits.values()
    assert {kernel["view"] for kernel in fit.spec.kernels} == set(fit.spec.kernel_features)
    assert fit.spec.pairwise == []
    assert {kernel["feature_scaling"] for kernel in fit.spec.kernels} == {"none"}
    assert fit.spec.evaluation.components == "all"
    assert fit.spec.method.iterations is None


def test_features_are_described_in_the_blocks_that_are_passed_over() -> None:
    plan = planned()
    assert {descriptor.n_parts for descriptor in plan.descriptors.values()} == {3}
    targets = Targets(plan)
    choice, passes, fit = targets.jobs("landmarks")[0], targets.jobs("moments")[:3], targets.jobs("fit")[0]
    assert [job["part"] for job in passes] == ["1of3", "2of3", "3of3"]
    every = [Path(path).name for path in choice.input("features")]
    assert every == ["1of3.npz", "2of3.npz", "3of3.npz"] * 2
    of_block = [path for path in choice.input("features") if path.endswith("2of3.npz")]
    assert passes[1].input("features") == of_block
    assert fit.input("landmarks") == [choice.outputs["landmarks"]]
    assert fit.input("moments") == [job.outputs["moments"] for job in passes]
    assert fit.input("blocks") == choice.input("features")
    assert fit.input("sources") == []


def test_one_block_reads_the_features_as_a_whole() -> None:
    plan = planned(rows_per_block=200)
    targets = Targets(plan)
    assert {job["part"] for job in targets.jobs("moments")} == {"1of1"}
    whole = {targets.path("features", dataset=dataset, descriptor=name) for dataset, name in plan.descriptors}
    assert set(targets.jobs("landmarks")[0].input("features")) == whole


@pytest.mark.parametrize(
    ("n", "rows", "expected"),
    [(None, 10, 1), (200, 70, 3), (210, 70, 3), (211, 70, 4), (200, None, 1), (60_000, None, 3), (320_000, None, 16),
     (1_000_000, None, 16), (10_000_000, None, 100)],
)  # fmt: skip
def test_number_of_blocks(n: int | None, rows: int | None, expected: int) -> None:
    """By default a sixteenth of the samples, at least 20,000 and at most 100,000."""
    (dataset,) = planned().datasets.values()
    assert number_of_blocks(replace(dataset, n_samples=n), RegisteredDataset(), rows) == expected


def test_a_missing_package_is_known_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def require(name: str) -> None:
        raise MissingExtra(f"no {name}")

    monkeypatch.setattr(landmarks, "require", require)
    with pytest.raises(MissingExtra, match="no skops"):
        planned()
    planned(methods={"dense": STUDY["methods"]["dense"]})


# --- studies that can't be planned


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"graph": "lde"}, "has graph: lde, which needs kernels among all samples; omit it"),
        ({"graph": "lpp"}, "has graph: lpp, which needs kernels among all samples; omit it"),
        ({"kind": "mkmmc", "sizes": [2]}, "has sizes, which needs kernels among all samples; omit it"),
        ({"kind": "kernel_fda", "kernel_weights": "cv_accuracy"},
         "has kernel_weights: cv_accuracy, which needs kernels among all samples"),
        ({"kind": "kernel_fda", "kernel_weights": "oracle_single"},
         "has kernel_weights: oracle_single, which needs kernels among all samples"),
        ({"kind": "kernel_fda", "components": "best"},
         "has components: best; give n_components, or components: all, or omit `landmarks`."),
        ({"inner_folds": "leave_one_out"}, "leaves out single samples; give a number of inner_folds, or"),
        ({"landmarks": 0}, "methods.m.landmarks"),
        ({"landmarks": {"n": 3, "how": "grid"}}, "methods.m.landmarks.how: invalid value 'grid'"),
        ({"landmarks": {"how": "kmeans"}}, "methods.m.landmarks.n"),
        ({"landmarks": {"n": 3, "seed": 1}}, "methods.m.landmarks.seed: unknown key 'seed'. Valid keys: dtype, how, n"),
        ({"landmarks": {"n": 3, "rank_tolerance": 1}}, "methods.m.landmarks.rank_tolerance: invalid value 1"),
        ({"landmarks": {"n": [3, 0]}}, "methods.m.landmarks.n[1]: invalid value 0: should be greater than or equal"),
        ({"landmarks": {"n": [3, 9], "how": "kmeans"}}, "centres of k-means for one number are not among those"),
        ({"landmarks": {"n": [3, 9], "rank_tolerance": 1e-3}}, "give one number, or no `rank_tolerance`"),
        ({"landmarks": {"n": [3, 9], "dtype": "float32"}}, "no dtype float32, which leaves out more"),
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
        ({"evaluation": {"components": "best"}}, "has components: best"),
        ({"evaluation": {"inner_folds": "leave_one_out"}}, "leaves out single samples"),
    ],
)  # fmt: skip
def test_studies_that_can_not_be_planned(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(sentence)) as raised:
        planned(**{"methods": M} | changes)
    assert str(raised.value).startswith("methods.m.landmarks (datasets.digits): the method ")
    assert str(raised.value).endswith(", or omit `landmarks`.")


def test_all_reasons_are_given_at_once() -> None:
    evaluation = {"components": "best", "inner_folds": "leave_one_out"}
    with pytest.raises(ConfigError) as raised:
        planned(methods={"m": M["m"] | {"graph": "lde"}}, evaluation=evaluation)
    assert str(raised.value) == (
        "methods.m.landmarks (datasets.digits): the method has graph: lde, which needs kernels among all samples; omit "
        "it. It also has components: best; give n_components, or components: all. It also leaves out single samples; "
        "give a number of inner_folds, or omit `landmarks`."
    )


def test_incomplete_tables_matrices_and_pairs_are_refused(matrices: dict[str, Any], lists: None) -> None:
    own = {"kind": "feature_tables", "tables": {"t": "t.csv"}}
    cases: list[tuple[dict[str, Any], str]] = [
        ({"datasets": {"own": own | {"missing_views": "mean"}}}, "takes complete tables, and these may have missing"),
        ({"datasets": {"own": own | {"impute": "mean"}}}, "takes complete tables"),
        ({"datasets": {"own": matrices}, "kernels": {}}, "takes features, and this data set has matrices"),
        ({"datasets": {"own": own}, "protocols": {"p": {"kind": "verification", "path": "pairs.csv"}}},
         "can't take pairs of samples (protocol 'p'); name other `protocols` for the method, or omit"),
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


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_blocks_of_a_users_tables_follow_an_estimate(lists: None, suffix: str) -> None:
    """They are not read before the plan is made."""
    table = pd.DataFrame({"id": [f"s{k:03}" for k in range(300)], "label": list("abc") * 100, "u": 1.5})
    table.to_csv("u.csv", index=False)
    table.to_parquet("u.parquet", index=False)
    own = {"kind": "feature_tables", "tables": {"t": f"u.{suffix}"}}
    study = {"study": "own", "rows_per_block": 150, "datasets": {"own": own}, "kernels": STANDARD, "methods": M}
    (dataset,) = plan_study(check_study(study)).datasets.values()
    assert dataset.n_blocks in (2, 3)


def test_a_method_with_landmarks_can_be_the_final_model() -> None:
    plan = planned(final={"method": "kfd"})
    assert plan.final is not None
    (candidate,) = plan.final.spec.candidates
    assert candidate.fit.landmarks is not None
    assert {view.name for view in plan.final.spec.views} == {"pixels", "blocks"}


def test_the_resources_of_a_final_model_follow_its_landmarks() -> None:
    asked = {}
    for method in ("kfd", "dense"):
        final = planned(final={"method": method}).final
        assert final is not None
        (candidate,) = final.spec.candidates
        fit, protocol = candidate.fit, SplitSpec(kind="x", implementation="x:x", parameters={"repeats": 1}, seed=0)
        memory = fit_mb(fit, 10**6, 10**6, SimpleNamespace(size_mb=1.0))
        asked[method] = memory, fit_seconds(fit, protocol, 10**6, 10**6)
    assert asked["kfd"][0] < 5000 < 10**6 < asked["dense"][0]
    assert asked["kfd"][1] < 3600 < asked["dense"][1]


def test_choosing_landmarks_has_memory_for_the_samples_of_all_splits() -> None:
    """50 splits draw 20,000 samples each: of 70,000 samples all may be held, and twice while they are put together."""

    def memory(repeats: int) -> float:
        protocol = {"kind": "random_per_class", "train_size": 3000, "repeats": repeats}
        plan = planned(
            datasets=["mnist"], methods={"m": {"kind": "kernel_ridge", "landmarks": 30}}, protocols={"p": protocol}
        )
        (job,) = Targets(plan).jobs("landmarks")
        return job.stage.memory(job, SimpleNamespace(size_mb=7000.0))

    assert memory(50) - memory(1) == pytest.approx(2 * 7000 * (1 - 20_000 / 70_000))

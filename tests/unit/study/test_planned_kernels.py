"""Plans of kernels on scaled features, products and landmarks, in blocks of samples; what is refused."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from mklearn.errors import ConfigError
from mklearn.study.jobs import Jobs
from mklearn.study.plan.datasets import number_of_blocks
from mklearn.study.plan.kernels import unsuited_kernels
from mklearn.study.plan.plan import Plan, plan_study
from mklearn.study.reading import check_study
from mklearn.study.resources import Requests

STUDY: dict[str, Any] = {
    "study": "s",
    "datasets": {"digits": {"per_class": 20}},
    "descriptors": {"pixels": {"kind": "pixels"}, "lbp": {"kind": "lbp", "grid": 2}},
    "kernels": {
        "gauss": {"kind": "gaussian", "feature_scaling": "standard", "bandwidth": [1, 2]},
        "zunit": {"kind": "linear", "descriptor": "pixels", "feature_scaling": "standard", "centre": False,
                  "normalise": "unit_diagonal"},
    },
    "methods": {"average": {"kind": "kernel_fda"}},
    "protocols": {"folds": {"kind": "k_fold", "folds": 2}},
}  # fmt: skip

PRODUCTS: dict[str, Any] = {
    "kernels": {
        "gauss": {"kind": "gaussian", "bandwidth_rule": "squared_mean_distance", "psd": "none"},
        "wide": {"kind": "gaussian", "descriptor": "pixels", "bandwidth": [2, 4]},
        "linear": {"kind": "linear", "descriptor": "pixels"},
        "product": {"kind": "product"},
    },
    "methods": {
        "kfd": {"kind": "kernel_fda", "kernels": "each"},
        "average": {"kind": "kernel_fda"},
        "geometric": {"kind": "kernel_fda", "kernels": ["product"]},
        "both": {"kind": "kernel_fda", "kernels": ["product", "linear"]},
    },
}
GAUSSIANS = ["gauss-pixels", "gauss-lbp", "wide-2", "wide-4"]


def planned(**changes: Any) -> Plan:
    return plan_study(check_study(STUDY | changes))


def the_fit(plan: Plan, method: str = "average") -> Any:
    return next(fit for fit in plan.fits.values() if fit.spec.method.id == method)


def test_features_are_the_source_and_no_matrix_is_cached() -> None:
    plan = planned()
    fit = the_fit(plan)
    assert not Jobs(plan).keys("distances")
    assert fit.spec.pairwise == []
    pixels, lbp = sorted(fit.spec.kernel_features, reverse=True)
    assert {(pixels.split("-")[0], lbp.split("-")[0])} == {("pixels", "lbp")}
    assert {name for _, name in plan.descriptors} == {pixels, lbp}
    ids = {kernel["id"]: kernel for kernel in fit.spec.kernels}
    assert list(ids) == ["gauss-lbp-1", "gauss-lbp-2", "gauss-pixels-1", "gauss-pixels-2", "zunit"]
    assert ids["gauss-lbp-2"] == {
        "id": "gauss-lbp-2", "view": lbp, "feature_scaling": "standard", "kind": "gaussian", "bandwidth": 2.0,
        "bandwidth_rule": "mean_squared_distance", "centre": True, "normalise": "centred_trace", "psd": "clip",
        "measure": "squared_euclidean",  # histograms have chi2 as long as they are histograms
    }  # fmt: skip
    jobs = Jobs(plan)
    wildcards, asked_mb = jobs.keys("fit")[0], Requests(jobs).of("fit")["mem_mb"]
    inputs = jobs.job("fit", wildcards).inputs
    assert not inputs["matrices"]
    assert [path.split("/")[-2] for path in inputs["sources"]] == [lbp, pixels]
    assert asked_mb(wildcards, SimpleNamespace(size_mb=100), 1) > asked_mb(wildcards, SimpleNamespace(size_mb=1), 1)


def test_automatic_scaling_is_one_kernel_and_no_entry_of_the_grid() -> None:
    kernels = {
        "gauss": {"kind": "gaussian", "feature_scaling": "auto"},
        "raw": {"kind": "linear", "descriptor": "pixels"},
        "p": {"kind": "product"},
    }
    methods = {
        "average": {"kind": "kernel_fda", "ridge": [1e-3, 1e-2]},
        "raw": {"kind": "kernel_fda", "kernels": ["raw"]},
        "product": {"kind": "kernel_fda", "kernels": ["p"]},
    }
    plan = planned(kernels=kernels, methods=methods)
    fit = the_fit(plan)
    assert [kernel["id"] for kernel in fit.spec.kernels] == ["gauss-lbp", "gauss-pixels", "raw"]
    assert [kernel.get("feature_scaling") for kernel in fit.spec.kernels] == ["auto", "auto", None]
    assert list(fit.spec.method.grid) == ["ridge"]
    (product,) = the_fit(plan, "product").spec.kernels
    assert [factor.get("feature_scaling") for factor in product["factors"]] == ["auto", "auto"]


def test_kernels_by_default_choose_the_scaling_of_tables_only() -> None:
    plan = planned(datasets=["digits", "wine"], kernels={}, descriptors={
        "features": {"kind": "table", "table": "features"}, "pixels": {"kind": "pixels"},
    })  # fmt: skip
    found = {fit.dataset.id: fit.spec.kernels for fit in plan.fits.values()}
    assert [(kernel["id"], kernel["feature_scaling"]) for kernel in found["wine"]] == [("features", "auto")]
    assert [(kernel["id"], "feature_scaling" in kernel) for kernel in found["digits"]] == [("pixels", False)]


# --- products


def test_all_and_each_leave_the_product_out() -> None:
    plan = planned(**PRODUCTS)
    names = {fit.spec.method.id: [kernel["id"] for kernel in fit.spec.kernels] for fit in plan.fits.values()}
    assert names["average"] == sorted([*GAUSSIANS, "linear"])
    assert names["geometric"] == ["product"]
    assert [name for name in names if name.startswith("kfd-")] == [f"kfd-{name}" for name in [*GAUSSIANS, "linear"]]
    assert names["both"] == ["linear", "product"]


def test_factors_are_the_kernels_before_centring_and_normalising() -> None:
    plan = planned(**PRODUCTS)
    singles = {kernel["id"]: kernel for kernel in the_fit(plan, "average").spec.kernels}
    (product,) = the_fit(plan, "geometric").spec.kernels
    assert {key: value for key, value in product.items() if key != "factors"} == {
        "id": "product", "kind": "product",
        "centre": True, "normalise": "centred_trace", "psd": "clip",
    }  # fmt: skip
    assert [factor["id"] for factor in product["factors"]] == sorted(GAUSSIANS)
    for factor in product["factors"]:
        assert set(factor) == {"id", "view", "measure", "bandwidth", "bandwidth_rule"}
        assert factor.items() <= singles[factor["id"]].items()
    assert [factor["measure"] for factor in product["factors"][:2]] == ["chi2", "squared_euclidean"]


def test_factors_have_to_apply_to_every_data_set(matrices: dict[str, Any]) -> None:
    datasets = STUDY["datasets"] | {"mine": matrices | {"measure": "kernel"}}
    methods = {"average": {"kind": "kernel_fda"}}
    kernels = PRODUCTS["kernels"] | {"product": {"kind": "product", "of": ["gauss-pixels", "gauss-lbp"]}}
    with pytest.raises(ConfigError, match=r"product\.of: .* no Gaussian kernel gauss-pixels, gauss-lbp; it has none\."):
        planned(datasets=datasets, kernels=kernels, methods=methods)
    scaled = {"k": {"kind": "gaussian", "feature_scaling": "rank"}}
    with pytest.raises(ConfigError, match=r"kernels\.k\.feature_scaling: 'a' is a matrix and has no features"):
        planned(kernels=scaled, datasets={"mine": matrices | {"measure": "distance"}}, descriptors={})
    kernels = PRODUCTS["kernels"]  # of all: none where there are no Gaussian kernels; who asks for it there is told
    plan = planned(datasets=datasets, kernels=kernels, methods=methods)
    assert {len(fit.spec.kernels) for fit in plan.fits.values()} == {2, 5}
    with pytest.raises(ConfigError, match="data set 'mine' has no kernel product; it has a, b"):
        planned(datasets=datasets, kernels=kernels, methods={"m": methods["average"] | {"kernels": ["product"]}})


# --- names that stand for several


SEVERAL: dict[str, Any] = {
    "descriptors": {
        "p4": {"kind": "patches", "size": 4, "patch": "each", "grid": [2, 2]},
        "r2": {"kind": "multiresolution", "resolutions": [2]},
        "r4": {"kind": "multiresolution", "resolutions": [4]},
    },
    "kernels": {
        "lin": {"kind": "linear"},
        "gauss": {"kind": "gaussian", "descriptor": "p4-*-1"},
        "some": {"kind": "linear", "descriptor": ["r4", "r*"]},
    },
    "methods": {
        "patches": {"kind": "kernel_fda", "kernels": ["lin-p4-*"]},
        "several": {"kind": "kernel_fda", "kernels": ["gauss-*", "lin-r2", "lin-r*"]},
    },
}
PATCHES = ["p4-0-0", "p4-0-1", "p4-1-0", "p4-1-1"]


def test_each_patch_is_a_descriptor() -> None:
    study = check_study(STUDY | SEVERAL)
    assert list(study.descriptors) == [*PATCHES, "r2", "r4"]
    assert study.descriptors["p4-1-0"].parameters() == {"size": 4, "patch": (1, 0)}
    alone = SEVERAL["descriptors"]["p4"] | {"patch": [1, 0]}
    del alone["grid"]
    keys = {key for _, key in planned(**SEVERAL).descriptors}
    descriptors = {"p4-1-0": alone, **SEVERAL["descriptors"]}
    same = planned(**SEVERAL | {"descriptors": descriptors})
    assert {key for _, key in same.descriptors} == keys


PATHWAYS: dict[str, Any] = {
    "datasets": {"mfeat": {}},
    "descriptors": {"pathways": {"kind": "table", "table": "fou", "sets": "sets.gmt"}},
    "kernels": {"linear": {"kind": "linear", "descriptor": "pathways-*"}},
}


def test_each_gene_set_is_a_descriptor(here: Path) -> None:
    Path("sets.gmt").write_text("G ONE\thttp\tb\ta\ta\nTWO\t\tc\n")
    plan = planned(**PATHWAYS)
    one, two = (each.config.parameters() for each in plan.descriptors.values())
    assert (one, two) == ({"table": "fou", "columns": ["b", "a"]}, {"table": "fou", "columns": ["c"]})
    assert plan.kernels == ["linear-pathways-g-one", "linear-pathways-two"]


@pytest.mark.parametrize(
    ("text", "columns", "sentence"),
    [
        (None, {}, "descriptors.pathways: sets.gmt: can't be read: "),
        ("", {}, "sets.gmt: has no sets."),
        ("A\tx\ta\nB\tx\n", {}, "sets.gmt: line 2 has no genes; expected a name, a description and genes, by tabs."),
        ("A\tx\ta\na\tx\tb\n", {}, "sets.gmt: line 2 has the set 'a' a second time"),
        ("A\tx\ta\n", {"columns": ["a"]}, "sets stands in place of columns; omit one of them."),
    ],
)
def test_mistakes_in_gene_sets(text: str | None, columns: dict[str, Any], sentence: str, here: Path) -> None:
    if text is not None:
        Path("sets.gmt").write_text(text)
    entry = PATHWAYS["descriptors"]["pathways"] | columns
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        planned(**PATHWAYS | {"descriptors": {"pathways": entry}})


def test_patterns_stand_for_kernels() -> None:
    plan = planned(**SEVERAL)
    names = {fit.spec.method.id: [kernel["id"] for kernel in fit.spec.kernels] for fit in plan.fits.values()}
    assert names["patches"] == [f"lin-{name}" for name in PATCHES]
    assert names["several"] == ["gauss-p4-0-1", "gauss-p4-1-1", "lin-r2", "lin-r4"]
    assert plan.kernels[-2:] == ["some-r4", "some-r2"]


# --- landmarks

MANY: dict[str, Any] = {
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


def inputs_of(jobs: Jobs) -> list[Any]:
    """Return the inputs of the fits."""
    return [jobs.job("fit", key).inputs for key in jobs.keys("fit")]


def planned_landmarks(**changes: Any) -> Plan:
    return plan_study(check_study(MANY | changes))


def one_method(blocks: int = 3, **method: Any) -> Plan:
    return planned_landmarks(blocks=blocks, methods={"m": {"kind": "mkl_dr", "landmarks": 30} | method})


# --- plans


def test_methods_on_the_same_kernels_and_landmarks_share_their_moments() -> None:
    plan = planned_landmarks()
    jobs = Jobs(plan)
    moments = {fit.spec.method.id: job["moments"] for fit, job in zip(plan.fits.values(), inputs_of(jobs), strict=True)}
    assert moments["mkl"] == moments["kfd"] != moments["one"]
    assert moments["dense"] == []
    assert jobs.all_of("moments") == [*moments["mkl"], *moments["one"]]
    dense = the_fit(plan, "dense")
    matrices = [f"{key['descriptor']}/{key['measure']}" for key in jobs.keys("distances")]
    assert matrices == dense.spec.pairwise


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("other", [{"n": 31}, {"n": 30, "dtype": "float32"}, {"n": 30, "rank_tolerance": 1e-3}])
def test_other_landmarks_are_another_fit(other: dict[str, Any], blocks: int) -> None:
    plans = [one_method(blocks, landmarks=value) for value in (30, {"n": 30}, other)]
    same, again, another = ([*map(str, Jobs(plan).keys("moments")), *plan.fits] for plan in plans)
    assert same == again
    assert not set(same) & set(another)


def test_inner_folds_and_seed_change_the_moments_and_a_grid_does_not() -> None:
    sets = [Jobs(one_method(**more)).keys("moments") for more in ({}, {"ridge": [0.1, 1.0]}, {"inner_folds": 4})]
    assert sets[0] == sets[1] != sets[2]
    other = planned_landmarks(seed=5, methods={"m": {"kind": "mkl_dr", "landmarks": 30}})
    assert Jobs(other).keys("moments") != sets[0]


def test_of_one_block_landmarks_are_a_parameter_and_their_numbers_a_grid() -> None:
    (fit,) = one_method(1, landmarks={"n": [50, 20, 50], "dtype": "float32"}).fits.values()
    assert fit.moments is None
    common = {"dtype": "float32", "random_state": 0}
    assert fit.spec.method.grid["landmarks"] == [{"n": 20} | common, {"n": 50} | common]
    (fit,) = one_method(1).fits.values()
    assert fit.spec.method.parameters["landmarks"] == {"n": 30} | common | {"dtype": "float64"}
    assert fit.spec.pairwise == []
    assert {kernel["view"] for kernel in fit.spec.kernels} == set(fit.spec.kernel_features)
    assert {kernel["feature_scaling"] for kernel in fit.spec.kernels} == {"none"}
    jobs = Jobs(one_method(1))
    assert jobs.keys("moments") == []
    assert {key["part"] for key in jobs.keys("describe")} == {"1of1"}
    assert inputs_of(jobs)[0]["moments"] == []


def test_features_are_described_in_the_blocks_that_are_passed_over() -> None:
    jobs = Jobs(planned_landmarks())
    first, second, _ = passes = jobs.keys("moments")[:3]
    assert [key["part"] for key in passes] == ["1of3", "2of3", "3of3"]
    every = jobs.job("moments", first).inputs["features"]
    assert [path.rpartition("/")[2] for path in every] == ["1of3.npz", "2of3.npz", "3of3.npz"] * 2
    assert jobs.job("moments", second).inputs == {
        "features": [path for path in every if path.endswith("2of3.npz")],
        "landmarks": [jobs.path("moments", **first)],
    }  # fmt: skip
    assert inputs_of(jobs)[0] == {
        "matrices": [], "moments": [jobs.path("moments", **key) for key in passes], "sources": every,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("n", "blocks", "expected"),
    [(1, None, 1), (1, 5, 5), (200, 3, 3), (20_000, None, 1), (60_000, None, 3), (320_000, None, 16),
     (1_000_000, None, 16), (10_000_000, None, 100)],
)  # fmt: skip
def test_number_of_blocks(n: int, blocks: int | None, expected: int) -> None:
    """By default a sixteenth of the samples, at least 20,000 and at most 100,000."""
    assert number_of_blocks(n, blocks) == expected


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
        (M, {"protocols": {"p": {"kind": "k_fold", "flipped": 0.1}}}, f"takes flipped training labels{PASS}"),
        (M, {"protocols": {"p": {"kind": "validation_folds", "test_size": 10}}}, f"takes validation folds{PASS}"),
    ],
)  # fmt: skip
def test_methods_that_refuse_landmarks(method: dict[str, Any], changes: dict[str, Any], sentence: str) -> None:
    study, (words, *advice) = {"methods": {"m": method}} | changes, sentence.split("; ")
    for blocks in (3,) if PASS in sentence else (1, 3):
        with pytest.raises(ConfigError) as raised:
            planned_landmarks(blocks=blocks, **study)
        output = str(raised.value)
        assert output.startswith("methods.m.landmarks (datasets.digits): the method ")
        assert words.partition(" (protocol")[0] in output
        assert output.endswith(f"{''.join(advice)}, or omit `landmarks`.")
    assert PASS not in sentence or planned_landmarks(blocks=1, **study).fits


def test_incomplete_tables_matrices_and_pairs(matrices: dict[str, Any]) -> None:
    table = pd.DataFrame({"id": list("wxyz"), "label": list("0011"), "u": [1.0, 2.0, 3.0, 4.0]})
    table.to_csv("t.csv", index=False)
    pd.DataFrame({"fold": [0, 1], "first": ["w", "x"], "second": ["y", "z"]}).to_csv("pairs.csv", index=False)
    own = {"kind": "feature_tables", "tables": {"t": "t.csv"}}
    base = {"study": "own", "protocols": MANY["protocols"], "kernels": STANDARD, "methods": {"m": M}}
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


def test_kernels_of_another_package_are_refused() -> None:
    assert "'mine' of another package" in unsuited_kernels([{"id": "mine", "implementation": "other.kernels:Mine"}])
    assert unsuited_kernels([{"id": "g", "kind": "gaussian"}]) == ""

"""Plans: short forms, names of kernels and methods, and keys, which differ exactly if numbers can differ."""

import copy
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import entries
from tests.workflow.conftest import SMOKE

from mklearn.errors import ConfigError
from mklearn.study.jobs import Jobs
from mklearn.study.naming import kernel_names
from mklearn.study.plan import datasets
from mklearn.study.plan.plan import Plan, plan_study
from mklearn.study.provenance import canonical
from mklearn.study.reading import check_study
from mklearn.study.study import DEFAULT_METHODS


def planned(study: dict[str, Any]) -> Plan:
    return plan_study(check_study(study))


def changed(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    study = copy.deepcopy(SMOKE)
    node = study
    for step in path[:-1]:
        node = node.setdefault(step, {})
    node[path[-1]] = value
    return study


def distances(plan: Plan) -> set[tuple[str, ...]]:
    return {(*key.values(),) for key in Jobs(plan).keys("distances")}


def keys(plan: Plan) -> dict[str, set[Any]]:
    return {
        "datasets": set(plan.datasets), "descriptors": set(plan.descriptors), "distances": distances(plan),
        "protocols": set(plan.protocols), "fits": set(plan.fits),
    }  # fmt: skip


def methods(plan: Plan) -> list[str]:
    return list(dict.fromkeys(fit.spec.method.id for fit in plan.fits.values()))


# --- short forms


def test_short_forms_of_a_data_set_give_one_plan() -> None:
    full = planned(SMOKE | {"datasets": {"digits": {"kind": "registered", "name": "digits"}}})
    for form in ("digits", ["digits"], {"digits": None}, {"digits": {}}, {"digits": {"kind": "registered"}}):
        assert keys(planned(SMOKE | {"datasets": form})) == keys(full)


def test_defaults_are_filled_in() -> None:
    plan = planned({"study": "short", "datasets": ["digits"]})
    assert set(DEFAULT_METHODS) - {"kfd"} <= set(methods(plan))
    assert plan.kernels == ["pixels", "blocks", "hog", "phog", "lbp"]
    assert {fit.protocol.id for fit in plan.fits.values()} == {"5-fold"}
    assert plan.reference == "average"
    scored = {"metrics": ["auc"]}  # embeddings have none
    assert planned({"study": "s", "datasets": ["digits"], "evaluation": scored}).reference == "kernel-ridge"
    equal = {"kind": "mkl_dr", "kernel_weights": "uniform"}  # a learner is not the reference
    assert planned(SMOKE | {"methods": {"equal": equal, "average": {"kind": "kernel_fda"}}}).reference == "average"
    named = {"methods": {"average": {"kind": "kernel_fda"}, "equal": equal}, "evaluation": {"reference": "equal"}}
    assert Jobs(planned(SMOKE | named)).specification("page")["average"] == "equal"  # records sort the methods by name
    assert planned(SMOKE | {"methods": {"equal": equal}}).reference == ""


def test_default_methods_are_those_that_the_data_have_features_for() -> None:
    matrices = {"kind": "precomputed", "matrices": {"k": "k.csv"}, "labels": "labels.csv"}
    points = {"study": "s", "datasets": ["digits"], "descriptors": {"points": {"kind": "geometric_blur"}}}
    for study in ({"study": "s", "datasets": {"own": matrices}}, points):
        found = check_study(study).methods
        assert set(found) == set(DEFAULT_METHODS) - {"logistic", "lda", "majority"}
        assert found["multi-view"].kernels == "all"
    assert set(check_study({"study": "s", "datasets": ["digits"]}).methods) == set(DEFAULT_METHODS)


def test_default_descriptors_follow_the_size_of_the_images() -> None:
    def resolutions(**dataset: Any) -> Any:
        plan = planned({"study": "s", "datasets": {"digits": dataset}})
        found = [d.spec["parameters"] for d in plan.descriptors.values() if d.config.kind == "multiresolution"]
        return found[0]["resolutions"]

    assert resolutions() == [2, 4]
    assert resolutions(resize={"shape": [64, 48]}) == [4, 8, 16]


# --- components


@pytest.mark.parametrize(
    ("method", "study", "expected"),
    [
        ({"kind": "kernel_fda"}, None, "all"),
        ({"kind": "kernel_fda", "n_components": 5}, None, "one_standard_error"),
        ({"kind": "mkmmc"}, None, "all"),
        ({"kind": "mkmmc", "sizes": [1, 2, 3]}, None, "one_standard_error"),
        ({"kind": "kernel_fda"}, "best", "best"),
        ({"kind": "kernel_fda", "components": "one_standard_error"}, "best", "one_standard_error"),
    ],
)
def test_components_of_method_then_study_then_kind(method: dict[str, Any], study: str | None, expected: str) -> None:
    evaluation = {"components": study} if study else {}
    plan = planned(SMOKE | {"methods": {"m": method}, "evaluation": evaluation})
    assert {fit.spec.evaluation.components for fit in plan.fits.values()} == {expected}


# --- names


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ({}, ["k-a", "k-b"]),
        ({"descriptor": "b"}, ["k"]),
        ({"descriptor": ["b"]}, ["k-b"]),
        ({"descriptor": "a", "bandwidth": [0.5, 1, 2e-7]}, ["k-0.5", "k-1", "k-2e-07"]),
        ({"descriptor": ["a", "b"], "bandwidth": [1, 2]}, ["k-a-1", "k-a-2", "k-b-1", "k-b-2"]),
        ({"feature_scaling": ["none", "rank"]}, ["k-a-none", "k-a-rank", "k-b-none", "k-b-rank"]),
    ],
)
def test_names_of_kernels(kernel: dict[str, Any], expected: list[str]) -> None:
    gaussian = entries.kernel("gaussian", **kernel)
    assert [kernel.name for kernel in kernel_names("k", gaussian, ["a", "b"])] == expected


def test_each_makes_one_method_of_every_kernel_and_no_label_is_lost() -> None:
    plan = planned(changed(("kernels",), {"g": {"kind": "gaussian", "bandwidth": [1, 2]}}))
    each = ["kfd-g-pixels-1", "kfd-g-pixels-2", "kfd-g-blocks-1", "kfd-g-blocks-2"]
    assert methods(plan) == [*each, "average", "mkl-lda"]
    by_id = {fit.spec.method.id: fit for fit in plan.fits.values()}
    assert [kernel["id"] for kernel in by_id["kfd-g-blocks-2"].spec.kernels] == ["g-blocks-2"]
    assert by_id["kfd-g-blocks-2"].spec.kernels[0]["bandwidth"] == 2
    assert by_id["kfd-g-blocks-2"].label == "kfd on g-blocks-2"
    assert len(by_id["average"].spec.kernels) == 4
    assert set(Jobs(plan).specification("tables")["titles"]["methods"]) == set(by_id)


def test_histograms_are_compared_by_chi_square_unless_a_kernel_says_otherwise() -> None:
    descriptors = {"lbp": {"kind": "lbp", "grid": 2}, "pixels": {"kind": "pixels"}}
    study = SMOKE | {"descriptors": descriptors}
    assert sorted(m for _, _, m in distances(planned(study))) == ["chi2", "squared_euclidean"]
    study["kernels"] = {"g": {"kind": "gaussian", "measure": "squared_euclidean"}}
    assert [m for _, _, m in distances(planned(study))] == ["squared_euclidean"] * 2


def test_descriptors_kernels_and_methods_can_be_for_some_data_sets() -> None:
    variants = {name: {"name": "digits"} for name in ("coarse", "fine")}
    study = {
        "study": "variants",
        "datasets": variants,
        "descriptors": {
            "pixels": {"kind": "pixels"},
            "blocks": {"kind": "multiresolution", "resolutions": [4], "datasets": ["coarse"]},
        },
        "kernels": {
            "linear": {"kind": "linear"},
            "gaussian": {"kind": "gaussian", "descriptor": "pixels", "datasets": ["fine"]},
        },
        "methods": {"average": {"kind": "kernel_fda"}, "voting": {"kind": "kernel_voting", "datasets": ["fine"]}},
    }
    plan = planned(study)
    specs = [fit.spec for fit in plan.fits.values()]
    found = {(spec.dataset, spec.method.id): [kernel["id"] for kernel in spec.kernels] for spec in specs}
    assert found == {
        ("coarse", "average"): ["linear-blocks", "linear-pixels"],
        ("fine", "average"): ["gaussian", "linear-pixels"],
        ("fine", "voting"): ["gaussian", "linear-pixels"],
    }
    assert not any("datasets" in canonical(spec.as_dict()) for spec in specs)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("kernels: {g: {kind: gaussian}, g-pixels: {kind: linear, descriptor: pixels}}",
         "datasets.digits: kernels: more than one would have the name g-pixels"),
        ("kernels: {p: {kind: precomputed}}", "datasets.digits: none of the study's kernels applies to it"),
        ("protocols: {p: {kind: given, path: nowhere.csv}}", "protocols.p.path: nowhere.csv: there is no such file."),
        ("methods: {m: {kind: kernel_fda, kernels: each, kernel_weights: best_single}}",
         "methods.m: kernels: each runs on one kernel at a time"),
        ("methods: {m: {kind: pca, descriptor: hog}}",
         "methods.m.descriptor: data set 'digits' has no descriptor 'hog'; it has blocks, pixels."),
        ("methods: {m: {kind: lmkl_svc, gating: hog}}", "methods.m.gating: data set 'digits' has no descriptor 'hog'"),
        ("{descriptors: {pixels: {kind: pixels}, sift: {kind: sift_points}}, methods: {m: {kind: random_forest}}}",
         "'sift' is a set of points for each image, and Random forest takes one vector; name the others, [pixels], or"),
        ("{descriptors: {sift: {kind: sift_points}}, methods: {m: {kind: multi_view}}}",
         "methods.m.kernels: 'sift' is a set of points for each image"),
        ("{descriptors: {p: {kind: sift_points}}, kernels: {k: {kind: linear, feature_scaling: rank}}}",
         "kernels.k.feature_scaling: descriptor 'p' is a set of points"),
        ("kernels: {k: {kind: gaussian, feature_scaling: standard, measure: chi2}}",
         "kernels.k.feature_scaling: measure chi2 can't compare features with scaling standard; use"),
        ("{methods: {m: {kind: mmc, inner_folds: leave_one_out}}, evaluation: {metrics: [auc], choose_by: auc}}",
         "evaluation.choose_by (methods.m): 'auc' has no value for a single sample"),
    ],
)  # fmt: skip
def test_studies_that_can_not_be_planned(change: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        planned(SMOKE | yaml.safe_load(change))


def test_methods_on_features_need_features(tmp_path: Path) -> None:
    (tmp_path / "k.csv").touch()
    data = {"kind": "precomputed", "matrices": {"k": f"{tmp_path}/k.csv"}, "labels": f"{tmp_path}/k.csv"}
    with pytest.raises(ConfigError, match=r"neighbour takes features, and data set 'own' has none \(matrices\)"):
        planned({"study": "s", "datasets": {"own": data}, "methods": {"m": {"kind": "nearest_neighbour"}}})


@pytest.mark.parametrize("most", [datasets.MOST_READ, 0])
def test_images_are_known_by_their_contents_or_if_they_are_many_by_their_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(datasets, "MOST_READ", most)
    for path in (files := [tmp_path / label / f"{number}.png" for label in "ab" for number in range(3)]):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(path.name.encode())
        os.utime(path, (1e9, 1e9))
    listing = datasets._listing("p", str(tmp_path))
    os.utime(files[0], (2e9, 2e9))
    assert (datasets._listing("p", str(tmp_path)) == listing) == (most > 0)
    files[0].write_bytes(b"9.png")
    os.utime(files[0], (1e9, 1e9))
    assert (datasets._listing("p", str(tmp_path)) == listing) == (most == 0)


def test_inputs_of_a_method() -> None:
    methods = {
        "average": {"kind": "kernel_fda"},
        "gated": {"kind": "lmkl_svc", "gating": "blocks", "kernels": ["pixels"]},
        "ungated": {"kind": "lmkl_svc", "gating": None},
        "learner": {"kind": "multi_view"},
    }
    plan = planned(SMOKE | {"methods": methods})
    specs = {fit.spec.method.id: fit.spec for fit in plan.fits.values()}
    assert [kernel["id"] for kernel in specs["average"].kernels] == ["blocks", "pixels"]
    assert list(specs["gated"].method.inputs) == ["kernels", "gating"]
    assert list(specs["ungated"].method.inputs) == ["kernels"]
    assert (specs["learner"].kernels, specs["learner"].pairwise, specs["learner"].n_kernels) == ([], [], 20)
    protocols = SMOKE["protocols"] | {"folds": {"kind": "k_fold", "folds": 2}}
    some = methods | {"average": methods["average"] | {"protocols": ["folds"]}}
    (here,) = (key for *_, key in planned(SMOKE | {"methods": some, "protocols": protocols}).fits if "average" in key)
    assert here in {key for *_, key in plan.fits}


# --- methods on features and on images


def test_names_of_files_of_own_tables(here: Path) -> None:
    def key(results: str = "results", **entry: Any) -> str:
        study = {"study": "own", "results": results, "datasets": {"mine": {"kind": "feature_tables", **entry}}}
        (dataset,) = planned(study).datasets.values()
        return dataset.key

    for name in ("t.csv", "u.csv"):
        pd.DataFrame({"id": list("wxyz"), "label": list("0011"), "u": np.arange(4)}).to_csv(name, index=False)
    two = key(tables={"t": "t.csv", "u": "u.csv"})
    assert two == key(tables={"t": "t.csv", "u": "u.csv"}, title="another")
    others = {
        key(tables={"u": "u.csv", "t": "t.csv"}),
        key(tables={"t": "t.csv", "u": "u.csv"}, splits_of="mine"),
        key(tables={"t": "t.csv", "u": "u.csv"}, results=str(here.parent / "shared")),
    }
    assert len(others - {two}) == 3


def test_images_of_several_sizes_for_descriptors_that_need_one() -> None:
    resize: dict[str, Any] = {"pixels": 4212}
    study: dict[str, Any] = {"study": "s", "datasets": {"mine": {"name": "caltech101", "resize": resize}}}
    study["protocols"] = {"released": {"kind": "released"}}
    with pytest.raises(ConfigError) as caught:
        planned(study)
    for words in ("datasets.mine.resize: with `pixels`", "pixels, hog need images of one size", "protocols.released"):
        assert words in str(caught.value)
    study["protocols"] = {"folds": {"kind": "k_fold", "folds": 2}}
    study["descriptors"] = {"patch": {"kind": "patches", "size": 4, "patch": [0, 0]}, "lbp": {"kind": "lbp"}}
    assert planned(study).fits
    study["methods"] = {"lda": {"kind": "two_d_lda", "sizes": [3]}}
    with pytest.raises(ConfigError, match=r"methods\.lda: .* takes images of one size"):
        planned(study)
    resize |= {"pixels": None, "shape": [54, 78]}
    assert planned(study | {"descriptors": {"hog": {"kind": "hog"}}}).fits
    digits = {"digits": {"resize": {"pixels": 256}}}
    assert planned({"study": "s", "datasets": digits, "descriptors": {"hog": {"kind": "hog"}}}).fits


# --- keys


KEPT = [
    (("title",), "Another title"),
    (("study",), "another-study"),
    (("results",), "elsewhere"),
    (("report",), {"gain_that_matters": 2}),
    (("published",), [{"dataset": "digits", "method": "average", "value": 90, "source": "a paper"}]),
    (("evaluation",), {"reference": "average"}),
    (("methods", "average", "time_limit"), "none"),
    (("methods", "average", "label"), "The average"),
    (("methods", "average", "kernel_weights"), "uniform"),
    (("methods", "mkl-lda", "kernels"), ["blocks", "pixels"]),
    (("datasets", "digits", "name"), "digits"),
    (("datasets", "digits", "title"), "Ten digits"),
]
"""Changes of a study that change no number, and therefore no file."""
CHANGED = [
    (("seed",), 1, {"protocols", "fits"}),
    (("datasets", "digits", "per_class"), 21, {"datasets", "descriptors", "distances", "fits"}),
    (("datasets", "digits", "resize"), {"shape": [9, 9]}, {"datasets", "descriptors", "distances", "fits"}),
    (("descriptors", "pixels", "norm"), "l2", {"descriptors", "distances", "fits"}),
    (("methods", "average", "ridge"), 0.5, {"fits"}),
    (("methods", "average", "n_components"), 3, {"fits"}),
    (("methods", "mkl-lda", "ridge"), [0.01, 0.1], {"fits"}),
    (("methods", "mkl-lda", "solver"), "CLARABEL", {"fits"}),
    (("methods", "mkl-lda", "kernels"), ["pixels"], {"fits"}),
    (("protocols", "random", "train_size"), [4, 7], {"protocols", "fits"}),
    (("evaluation",), {"inner_folds": 4}, {"fits"}),
    (("evaluation",), {"neighbours": ["euclidean"]}, {"fits"}),
    (("evaluation",), {"time_limit": 5}, {"fits"}),
    (("methods", "average", "time_limit"), 5, {"fits"}),
    (("kernels",), {"g": {"kind": "gaussian", "psd": "none"}}, {"fits"}),
]  # fmt: skip
"""Changes that change numbers, and the sorts of keys that change with them."""


@pytest.mark.parametrize(("path", "value"), KEPT)
def test_no_key_depends_on_texts_or_paths(path: tuple[str, ...], value: Any) -> None:
    assert keys(planned(changed(path, value))) == keys(planned(SMOKE))


@pytest.mark.parametrize(("path", "value", "expected"), CHANGED)
def test_changed_numbers_change_keys_that_depend_on_them(path: tuple[str, ...], value: Any, expected: set[str]) -> None:
    before, after = keys(planned(SMOKE)), keys(planned(changed(path, value)))
    assert {sort for sort in before if before[sort] != after[sort]} == expected


EVERYTHING: dict[str, Any] = {
    "study": "order",
    "datasets": {"digits": {"per_class": 20, "draw": 1}, "other": {"name": "digits", "per_class": 9}},
    "descriptors": {
        "pixels": {"kind": "pixels"}, "hog": {"kind": "hog"},
        "blocks": {"kind": "multiresolution", "resolutions": [2, 4]},
    },
    "kernels": {
        "gauss": {"kind": "gaussian", "bandwidth": [2, 0.5]}, "linear": {"kind": "linear", "descriptor": "pixels"},
        "product": {"kind": "product", "of": ["gauss-pixels-0.5", "gauss-blocks-2"]},
    },
    "methods": {
        "multi-view": {"kind": "multi_view"},
        "kfd": {"kind": "kernel_fda", "kernels": "each", "ridge": [1e-2, 1e-4]},
        "named": {"kind": "kernel_ridge", "kernels": ["product", "linear"]},
        "svc": {"kind": "kernel_svc", "C": [10, 1, 100]},
        "landmarks": {"kind": "kernel_ridge", "landmarks": {"n": [40, 20]}},
        "single": {"kind": "kernel_ridge", "kernel_weights": "best_single", "landmarks": 40},
        "sizes": {"kind": "two_d_mmc", "sizes": [4, 2]},
        "components": {
            "kind": "kernel_pca_classifier", "n_components": [9, 5], "machine": {"kind": "fsvc", "C": [4, 1]},
        },
        "logistic": {"kind": "logistic_regression", "C": [1, 0.1], "feature_scaling": "standard"},
        "lda": {"kind": "shrinkage_lda", "descriptor": ["pixels", "hog"]},
    },
    "protocols": {"random": {"kind": "random_per_class", "train_size": 4}, "folds": {"kind": "k_fold", "folds": 2}},
    "final": {"dataset": "digits", "method": "multi-view", "protocol": "folds"},
}  # fmt: skip


def reordered(node: Any, draw: Any, *, grids: bool = True) -> Any:
    """Return a part of a study with the keys of every mapping, and the values of its grids, in another order."""
    if isinstance(node, dict):
        return {name: reordered(node[name], draw, grids=grids) for name in draw(st.permutations(list(node)))}
    return draw(st.permutations(node)) if grids and isinstance(node, list) else node


def as_planned(plan: Plan) -> list[str]:
    """Return the keys and specifications of every job but those of tables and page."""
    assert plan.final is not None
    specifications = [
        *plan.datasets, *plan.descriptors, *distances(plan), *plan.protocols, *plan.fits, *Jobs(plan).keys("moments"),
        *(fit.spec.as_dict() for fit in plan.fits.values()), plan.final.spec.as_dict(),
    ]  # fmt: skip
    return sorted(map(canonical, specifications))


@settings(max_examples=20)
@given(st.data())
def test_keys_do_not_depend_on_the_order_of_a_study_file(data: Any) -> None:
    methods = reordered(EVERYTHING["methods"], data.draw)
    study = reordered(EVERYTHING, data.draw, grids=False) | {"methods": methods}
    study["kernels"]["gauss"]["bandwidth"] = data.draw(st.permutations([2, 0.5]))
    assert as_planned(planned(study)) == as_planned(planned(EVERYTHING))


@pytest.mark.parametrize(
    "method",
    [
        {"kind": "kernel_fda", "kernel_weights": "best_single"},
        {"kind": "lmkl_svc", "gate": "softmax"},
        {"kind": "random_forest"},
    ],
)
def test_an_order_that_decides_is_a_part_of_the_value(method: dict[str, Any]) -> None:
    """The first of equally good kernels is chosen, and each kernel or feature has its own draws."""
    names = ["pixels", "blocks"]
    one, other = (
        keys(planned(SMOKE | {"descriptors": {name: SMOKE["descriptors"][name] for name in order},
                              "methods": {"m": method}}))["fits"]
        for order in (names, names[::-1])
    )  # fmt: skip
    assert one != other


def test_tables_have_the_order_of_the_study() -> None:
    study = SMOKE | {"descriptors": dict(sorted(SMOKE["descriptors"].items(), reverse=True))}
    for names in (list(study["descriptors"]), list(study["descriptors"])[::-1]):
        jobs = Jobs(planned(study | {"descriptors": {name: study["descriptors"][name] for name in names}}))
        assert jobs.specification("evaluate")["kernels"] == names
        assert jobs.specification("page")["order"] == [*names, *names]


def test_a_method_has_the_studys_time_limit_or_its_own() -> None:
    def limits(study: dict[str, Any]) -> dict[str, Any]:
        return {fit.spec.method.id: fit.spec.evaluation.time_limit for fit in planned(study).fits.values()}

    assert set(limits(SMOKE).values()) == {None}
    study = changed(("evaluation",), {"time_limit": 5})
    study["methods"]["mkl-lda"]["time_limit"] = 0.5
    study["methods"]["average"]["time_limit"] = "none"
    assert limits(study) == {"kfd-pixels": 5.0, "kfd-blocks": 5.0, "average": None, "mkl-lda": 0.5}


def test_data_sets_share_no_file_and_studies_share_all() -> None:
    two = planned(SMOKE | {"datasets": {"digits": {"per_class": 20}, "again": {"name": "digits", "per_class": 20}}})
    titles = Jobs(two).specification("tables")["titles"]["datasets"]
    assert titles["again"] == f"{titles['digits']}, again"
    one = planned(SMOKE)
    assert len(two.datasets) == 2
    assert all(keys(one)[what] <= keys(two)[what] for what in keys(one))

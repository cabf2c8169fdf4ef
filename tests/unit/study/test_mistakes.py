"""A corrupted study raises one ConfigError that names the corrupted key, at any depth."""

import copy
import pathlib
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from mklearn.errors import ConfigError
from mklearn.study.mistakes import Mistake, listed
from mklearn.study.plan.plan import plan_study
from mklearn.study.reading import check_study

STUDY: dict[str, Any] = {
    "study": "everything",
    "title": "Everything that a study can say",
    "seed": 3,
    "datasets": {
        "digits": {"kind": "registered", "per_class": 20, "classes": ["0", "1"], "resize": {"shape": [8, 8]}},
        "small": {"name": "digits", "resize": {"pixels": 64, "interpolation": "bicubic"}},
        "mine": {"kind": "feature_tables", "tables": {"colour": "a.csv"}, "labels": "b.csv", "id_column": "name"},
    },
    "descriptors": {
        "pixels": {"kind": "pixels", "norm": "l2"},
        "blocks": {"kind": "multiresolution", "resolutions": [2, 4]},
        "hog": {"kind": "hog", "cell": 4, "block_norm": "L2"},
        "phog": {"kind": "phog", "angle": 360, "sigma": 0.5},
        "colours": {"kind": "table", "table": "colour"},
    },
    "kernels": {
        "gauss": {"kind": "gaussian", "descriptor": ["pixels", "hog"], "bandwidth": [0.5, 2], "psd": "none"},
        "blocks": {"kind": "gaussian", "descriptor": "blocks", "centre": True},
        "square": {"kind": "polynomial", "descriptor": "pixels", "degree": 3, "scale": 0.1},
        "rest": {"kind": "linear"},
    },
    "methods": {
        "average": {"kind": "kernel_fda", "label": "Average", "n_components": 3},
        "few": {"kind": "kernel_lde", "kernels": ["blocks", "gauss-hog-2"]},
        "mkl": {"kind": "mkl_dr", "graph": "lde", "ridge": [0.001, 0.01], "max_iter": [2, 3], "solver": "CLARABEL"},
    },
    "protocols": {
        "random": {"kind": "random_per_class", "train_size": [4, 6], "repeats": 2},
        "folds": {"kind": "k_fold", "folds": 3},
        "given": {"kind": "given", "path": "splits.csv"},
    },
    "evaluation": {"neighbours": ["cosine"], "inner_folds": 4, "reference": "average"},
    "published": [
        {"dataset": "digits", "train_size": 4, "method": "mkl", "value": 90.5, "std": 1.5, "source": "x",
         "repeats": 20},
        {"dataset": "digits", "train_size": [4, 6], "method": ["few", "average"], "value": [80.0, 82.5],
         "dimension": [3, None], "neighbour": "cosine", "source": "y"},
    ],
    "published_repeats": 10,
    "calibration": {"method": "average", "tolerance": 2.5},
    "remarks": [{"method": ["mkl", "few"], "text": "Its weights are a vertex."}, {"method": "mkl", "text": "Slow."}],
    "comparisons": [{"title": "Wins", "pairs": [["mkl", "average"], ["mkl", "few"]], "protocols": ["folds", "random"],
                     "published": [3, 4], "published_of": 5}],
    "report": {"gain_that_matters": 5},
}  # fmt: skip
ROW = {"dataset": "digits", "train_size": [4, 6], "method": "mkl", "value": [80.0, 82.5], "source": "x"}
"""A row of published values."""
Path = tuple[str | int, ...]


def places(node: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for step, inner in items:
        yield from places(inner, (*path, step))


def at(study: Any, path: Path) -> Any:
    for step in path:
        study = study[step]
    return study


def dotted(path: Path) -> str:
    return re.sub(r"\.\[", "[", ".".join(f"[{step}]" if isinstance(step, int) else str(step) for step in path))


ALL = [path for path in places(STUDY) if path]
MAPPINGS = [path for path in places(STUDY) if isinstance(at(STUDY, path), dict)]
FREE = {("datasets",), ("descriptors",), ("kernels",), ("methods",), ("protocols",), ("datasets", "mine", "tables")}
"""Mappings whose keys are the user's own names."""
NAMED = [path for path in ALL if isinstance(path[-1], str) and path[:-1] not in FREE]
"""Keys that the models know."""
KINDS = [path for path in ALL if path[-1] == "kind"]
few = settings(max_examples=40)


def mistakes(study: Any) -> list[str]:
    """Return the numbered lines of the ConfigError that a study raises."""
    with pytest.raises(ConfigError) as caught:
        check_study(study, parameters=True)
    first, *lines = str(caught.value).splitlines()
    count = re.fullmatch(r"config has (\d+) mistakes?:", first)
    assert count is not None, str(caught.value)
    assert int(count.group(1)) == len(lines)
    assert [line.split(".")[0].strip() for line in lines] == [str(number + 1) for number in range(len(lines))]
    return [line.split(". ", 1)[1] for line in lines]


def test_a_long_list_of_valid_names_stands_once() -> None:
    names = ", ".join(f"method-{number}" for number in range(30))
    found = [Mistake(f"remarks[{n}].method", f"there is no method 'x'. Expected: {names}.") for n in range(3)]
    first, *others = listed("s.yaml has", [*found, "other: Expected: a."]).splitlines()[1:]
    assert first.endswith(f"Expected: {names}.")
    assert [line.partition(" Expected: ")[2] for line in others] == ["as in 1.", "as in 1.", "a."]


@few
@given(st.sampled_from([path for path in NAMED if path[-1] != "kind"]), st.data())
def test_a_misspelt_key_is_named_with_the_right_one(path: Path, data: Any) -> None:
    study, key = copy.deepcopy(STUDY), str(path[-1])
    position = data.draw(st.integers(0, len(key) - 1))
    wrong = key[:position] + key[position] + key[position:]
    at(study, path[:-1])[wrong] = at(study, path[:-1]).pop(key)
    lines = mistakes(study)
    expected = f"{dotted((*path[:-1], wrong))}: unknown key {wrong!r}. Did you mean {key!r}? Valid keys: "
    assert any(line.startswith(expected) for line in lines), (expected, lines)


@pytest.mark.parametrize("path", KINDS, ids=dotted)
def test_a_misspelt_kind_is_named_with_the_right_one(path: Path) -> None:
    study = copy.deepcopy(STUDY)
    right = at(study, path)
    at(study, path[:-1])["kind"] = f"{right}s"
    expected = f"{dotted(path[:-1])}: unknown kind '{right}s'. Did you mean {right!r}? Valid kinds: "
    assert any(line.startswith(expected) for line in mistakes(study))


@few
@given(st.sampled_from(ALL))
def test_a_value_of_the_wrong_type_is_named_at_every_level(path: Path) -> None:
    study = copy.deepcopy(STUDY)
    at(study, path[:-1])[path[-1]] = [{"?": []}]
    named = path[:-1] if path[-1] == "kind" or isinstance(path[-1], int) else path  # a list of a parameter is one value
    place = dotted(named)
    assert any(line.startswith(place) for line in mistakes(study)), (place, mistakes(study))


@few
@given(st.lists(st.sampled_from([path for path in MAPPINGS if path not in FREE]), unique=True, min_size=2, max_size=6))
def test_all_mistakes_are_reported_at_once(paths: list[Path]) -> None:
    study = copy.deepcopy(STUDY)
    for path in paths:
        at(study, path)["unheard-of"] = None
    places_named = [line.split(":")[0] for line in mistakes(study)]
    assert sorted(places_named) == sorted(dotted((*path, "unheard-of")) for path in paths)


def test_a_study_is_a_mapping() -> None:
    with pytest.raises(ConfigError, match="a study is a mapping of keys to values; found"):
        check_study([])


@pytest.mark.parametrize("key", [1, None])
@pytest.mark.parametrize("path", [(), ("datasets",), ("methods",), ("kernels", "rest")])
def test_keys_that_are_not_text(path: Path, key: Any) -> None:
    """YAML does not read ``on``, ``no``, ``1`` and ``~`` as text."""
    study = copy.deepcopy(STUDY)
    at(study, path)[key] = {"kind": "linear"}
    study["methods"]["few"]["protocols"] = ["fold"]  # another mistake
    lines = mistakes(study)
    assert len(lines) == 2
    assert any(line.startswith("methods.few.protocols: there is no protocol 'fold'.") for line in lines)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("methods: {m: {kind: kernel_fda, ridge: -1}}",
         "methods.m.ridge: The 'ridge' parameter of KernelFDA must be a float in the range [0.0, inf). Got -1"),
        ("methods: {m: {kind: kernel_fda, ridge: true}}", "methods.m.ridge: invalid value True: expected "),
        ("methods: {m: {kind: 'no_module:Method'}}", "methods.m: implementation 'no_module:Method': No module"),
        ("methods: {m: {kind: 'json:Powers'}}", "methods.m: implementation 'json:Powers': module 'json' has no"),
        ("protocols: {p: {kind: 'math:pi'}}", "protocols.p: 3.141592653589793 is no class or function."),
        ("kernels: {k: {kind: 'mklearn.kernels:Kernel'}}",
         "kernels.k: <class 'mklearn.kernels.base.Kernel'> is not a subclass of mklearn.kernels.Kernel that"),
        ("kernels: {k: {kind: 'json:dumps'}}", "kernels.k: <function dumps at"),
        ("kernels: {k: {kind: gaussian, bandwidth: [1, 0]}}",
         "kernels.k.bandwidth[1]: Invalid value 0 for `bandwidth`: expected a finite number > 0."),
        ("datasets: {photos: {path: x}}", "datasets.photos: has no key 'kind'; it is required."),
        ("kernels: {k: {kind: polynomial, degree: [2, 3]}}",
         "kernels.k.degree: invalid value [2, 3]: expected one value; each needs a kernel of its own."),
        ("kernels: {k: {kind: gaussian, feature_scaling: standart}}",
         "kernels.k.feature_scaling: invalid value 'standart'. Did you mean 'standard'? Expected one of: log, minmax,"),
        ("methods: {m: {kind: kernel_fda, kernels: hog}}",
         "methods.m.kernels: invalid value 'hog'. Expected one of: all, dictionary, each;"),
        ("final: best", "final: invalid value 'best'. Expected a mapping of keys to values."),
        ("methods: {m: {kind: kernel_fda, ridge: [0.1, -1]}}",
         "methods.m.ridge[1]: The 'ridge' parameter of KernelFDA must be a float in"),
        ("methods: {m: {kind: kernel_fda, ridge: []}}",
         "methods.m.ridge: invalid value []: a list of candidates should have at least 1 item"),
        ("methods: {m: {kind: kernel_fda, kernels: [rest]}}",
         "methods.m.kernels: there is no kernel 'rest'. Did you mean 'rest-hog'?"),
        ("datasets: {orl: {draw: 0}}", "datasets.orl: draw: 0 needs per_class"),
        ("datasets: {orl: {class_groups: true}}", "datasets.orl: class_groups: true needs merge"),
        ("datasets: {orl: {classes: ['1', '2'], first_classes: 5}}",
         "datasets.orl.first_classes: 5 requested, but there are only 2"),
        ("descriptors: {t: {kind: table, table: color}}",
         "descriptors.t.table: there is no table in any data set 'color'. Did you mean 'colour'?"),
        ("{descriptors: null, datasets: {p: {kind: image_folder, path: p, tables: {hog: h.csv}}}}",
         "datasets.p.tables.hog: has the name of a default image descriptor; rename it, or name all `descriptors`."),
        ("protocols: {c: {kind: clustering, train_size: 9}}",
         "evaluation.neighbours: expected [clusters] with protocol 'c', which tests the training samples."),
        ("protocols: {r: {kind: random_per_class}}", "protocols.r.train_size: is required but missing."),
        ("evaluation: null", "evaluation: invalid value None. Expected a mapping of keys to values."),
        ("{evaluation: null, datasets: [wheat]}", "evaluation: invalid value None. Expected a mapping of keys"),
        ("evaluation: {metrics: [accuracy, acu]}",
         "evaluation: metrics: there is no metric 'acu'. Did you mean 'auc'? Valid: accuracy, balanced_accuracy, "),
        ("evaluation: {metrics: [auc, auc], choose_by: auc}", "evaluation: metrics: metric 'auc' is named"),
        ("evaluation: {choose_by: auc}", "evaluation: choose_by: 'auc' is not among metrics; valid: accuracy."),
        ("calibration: {method: averag}",
         "calibration.method: there is no method 'averag'. Did you mean 'average'? Expected: average, few, mkl."),
        ("remarks: [{method: [mkl, fewer], text: x}]", "remarks[0].method: there is no method 'fewer'."),
        ("comparisons: [{title: x, pairs: [[mkl, few]], protocols: [fold]}]",
         "comparisons[0].protocols: there is no protocol 'fold'. Did you mean 'folds'?"),
        ("comparisons: [{title: x, pairs: [[mkl, few]], published: [3]}]",
         "comparisons[0]: published: expected one number for each of the pairs, and their total in published_of."),
        ("study: a/b", "study: invalid name 'a/b'. Expected lower-case letters"),
        ("datasets: {digits: {resize: {shape: [4, 4], pixels: 9}}}", "datasets.digits.resize: expected"),
        ("kernels: {k: {kind: linear, descriptor: q*}}", "kernels.k.descriptor: there is no descriptor"),
        ("methods: {m: {kind: kernel_fda, kernels: [none-*]}}", "methods.m.kernels: there is no kernel 'none-*'"),
        ("descriptors: {p: {kind: patches, size: 4, patch: each}}",
         "descriptors.p: patch: each and grid: [rows, columns] need each other."),
        ("descriptors: {p: {kind: patches, size: 4, patch: each, grid: 2}}", "descriptors.p"),
        ("kernels: {g: {kind: gaussian}, p: {kind: product, of: [g-hog, g-hgo]}}",
         "kernels.p.of: there is no Gaussian kernel 'g-hgo'. Did you mean 'g-hog'? Expected: g-blocks, "),
        ("kernels: {p: {kind: product, of: [g, g]}}", "kernels.p.of: names g more than once"),
        ("kernels: {p: {kind: product, descriptor: hog}}",
         "kernels.p.descriptor: unknown key 'descriptor'. Valid keys: centre, datasets, kind, normalise, of, psd."),
        ("methods: {m: {kind: mkl_dr, landmarks: {n: [3, 0]}}}",
         "methods.m.landmarks.n[1]: invalid value 0. Expected a number greater than or equal"),
        ("methods: {m: {kind: kernel_ridge, landmarks: 3, class_weight: balanced}}",
         "methods.m: class_weight: moments of landmark features do not include class weights"),
        ("methods: {m: {kind: kernel_svc, landmarks: 3}}", "methods.m.landmarks: unknown key 'landmarks'."),
        ("methods: {m: {kind: logistic_regression, descriptors: [hog, hog]}}",
         "methods.m.descriptors: names hog more than once"),
        ("study: cache", "study: invalid name 'cache': the folder with this name holds files that studies share."),
        ("null: 0", "null: invalid value 0. Expected a number greater"),
        ("{'null': 20, methods: {m: {kind: multi_view, kernels: each}}}", "null: there is no multi-view"),
        ("seed: true", "seed: invalid value True: expected a"),
        ("methods: {m: {kind: random_forest, min_samples_leaf: [1, 1000000000000000000000]}}",
         "methods.m.min_samples_leaf[1]: invalid value"),
    ],
)  # fmt: skip
def test_messages(change: str, sentence: str) -> None:
    lines = mistakes(STUDY | yaml.safe_load(change))
    assert any(line.startswith(sentence) for line in lines), lines


def test_a_package_that_fails_at_its_import_is_named(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "failing.py").write_text("1 / 0\n", encoding="utf-8")
    (line,) = mistakes(STUDY | {"methods": {"m": {"kind": "failing:Method"}}})
    assert line.startswith("methods.m: 'failing:Method' can't be imported: ZeroDivisionError")


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([ROW | {"value": [80.0]}],
         "published[0]: expected train_size and value to be both one number, or lists of one length: train_size has 2, "
         "value has 1."),
        ([ROW | {"train_size": 4}], "published[0]: expected train_size and value to be both one number"),
        ([ROW | {"value": [80.0, 800.0]}],
         "published[0].value[1]: invalid value 800.0. Expected a number less than or equal to 100"),
        ([ROW | {"metric": "auc"}], "published[0].metric: 'auc' is not among evaluation.metrics"),
        ([ROW, ROW | {"train_size": 6, "value": 1.0}],
         "published[1]: digits, training size 6, mkl has a value already, in published[0]."),
    ],
)  # fmt: skip
def test_messages_on_published_values(rows: list[dict[str, Any]], sentence: str) -> None:
    assert any(line.startswith(sentence) for line in mistakes(STUDY | {"published": rows}))


def test_a_row_of_published_values_is_a_cell_for_each_size_and_method() -> None:
    study = check_study(STUDY)
    names = ("method", "train_size", "value", "dimension", "repeats")
    cells = [tuple(cell[name] for name in names) for cell in study.published_values()]
    assert cells == [
        ("mkl", 4, 0.905, None, 20),
        ("few", 4, 0.8, 3, 10), ("few", 6, 0.825, None, 10),
        ("average", 4, 0.8, 3, 10), ("average", 6, 0.825, None, 10),
    ]  # fmt: skip
    single = [
        ROW | {"train_size": size, "method": method, "value": value, "neighbour": "cosine", "source": "y"}
        for method in ("few", "average")
        for size, value in ((4, 80.0), (6, 82.5))
    ]
    long = check_study(STUDY | {"published": single}).published_values()
    assert [cell | {"dimension": None} for cell in study.published_values()[1:]] == long


def test_names_that_an_invalid_entry_may_define_are_no_second_mistake() -> None:
    study = copy.deepcopy(STUDY) | {"null": 20}
    study["kernels"]["gauss"]["bandwidth"] = -1
    study["datasets"]["mine"]["tables"] = []
    study["published"] = [ROW | {"value": 800.0}]
    study["remarks"][0]["method"] = "mlk"
    study["methods"] = {"m": 3, "mm": {"kind": "kernel_fda", "landmarks": 0}, "few": {"kind": "pca", "protocols": "x"}}
    assert [line.split(":")[0] for line in mistakes(study)] == [
        "datasets.mine.tables", "kernels.gauss.bandwidth", "methods.few.protocols", "methods.m", "methods.mm.landmarks",
        "published[0].value",
    ]  # fmt: skip


def test_the_plan_lists_all_that_it_can_not_make() -> None:
    study = check_study({
        "study": "s", "datasets": ["digits", "wine"], "descriptors": {"pixels": {"kind": "pixels"}},
        "methods": {"average": {"kind": "kernel_fda"}, "matrices": {"kind": "glram"}},
        "protocols": {"given": {"kind": "given", "path": "nowhere.csv"}, "folds": {"kind": "k_fold"}},
    })  # fmt: skip
    with pytest.raises(ConfigError) as caught:
        plan_study(study)
    first, *lines = str(caught.value).splitlines()
    assert first == "the study has 3 mistakes:"
    assert [line.split(":")[0] for line in lines] == [
        "  1. protocols.given.path", "  2. datasets.wine", "  3. methods.matrices",
    ]  # fmt: skip

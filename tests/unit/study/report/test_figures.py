"""Figures of the page: contents, omissions, colours, and the small frames behind them."""

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from skimage.color import deltaE_ciede2000, rgb2lab
from tests.unit.study.report.conftest import make_study
from tests.unit.study.report.test_findings import NAN, made_of

from mklearn.inspection import weight_stability
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.summary import summarise
from mklearn.study.report.charts import DASHES, SCHEMES, method_lines, vega_config
from mklearn.study.report.figures import (
    MOST_CONTENDERS,
    curves,
    differences,
    dimension_section,
    lines,
    training_size_section,
)
from mklearn.study.report.figures_of_fits import FEW_CLASSES, confused, confusion_section, embedding, pairs_table
from mklearn.study.report.kernels import chosen_section, weights_section
from mklearn.study.report.records import FitRecord
from mklearn.study.report.results import Results, protocol_family, thinned


def figures_in(section: Any) -> list[Any]:
    return [figure.draw() for part in section.parts for figure in part.figures]


def test_methods_far_behind_are_counted_below_the_title_and_not_drawn():
    high = {"best": 0.02, "close": 0.01, "wide": -0.02, "far": -0.031, "farthest": -0.8}
    rows = pd.DataFrame(high.items(), columns=["label", "difference_high"]).assign(neighbour="")
    rows = rows.assign(difference=rows["difference_high"] - 0.01, difference_low=rows["difference_high"] - 0.02)

    def drawn(rows, metric="accuracy"):
        results = SimpleNamespace(
            labels=list(high), reference_title="average", metric=metric_named(metric), matters=0.01
        )
        chart = differences(rows, results, "")
        return {row["s"] for row in chart["data"]["values"]}, chart["title"]["subtitle"]

    assert drawn(rows) == (
        {"best", "close", "wide"},
        ["difference to average", "not drawn: 2 methods at −4.1 to −81.0 points"],
    )
    assert drawn(rows[3:])[0] == {"far", "farthest"}, "an empty figure shows nothing"
    assert drawn(rows, "log_loss")[0] == set(high), "of a metric with a unit of its own no gap is large"
    many = pd.concat([rows[:1].assign(label=f"m{k}", difference=-0.001 * k) for k in range(MOST_CONTENDERS + 2)])
    names, (_, left_out) = drawn(many)
    assert names == {f"m{k}" for k in range(MOST_CONTENDERS)}
    assert "2 methods at −1.0 to −1.1 points" in left_out


@pytest.mark.parametrize(
    ("metric", "values", "ring"),
    [
        ("accuracy", [[0.5, 0.9, 0.8]] * 3, 2),
        ("accuracy", [[0.5, 0.9, 0.6], [0.5, 0.9, 0.6], [0.5, 0.9]], 2),
        ("accuracy", [[0.5, 0.7, 0.9], [0.5, 0.7]], 2),
        ("log_loss", [[0.5, 0.1, 0.4]], 2),
        ("accuracy", [[0.5, 0.9, 0.9 + 1e-15]], 2),
    ],
    ids=["complete", "a dimension that one split lacks", "best in one split alone", "smaller is better", "level"],
)
def test_the_ring_is_at_the_dimension_of_the_oracle(metric: str, values: list[list[float]], ring: int) -> None:
    scores = pd.DataFrame([
        {"label": "a", "neighbour": "", "selection": "dimension", "dimension": q, "value": value, "status": "ok"}
        for curve in values for q, value in enumerate(curve, start=1)
    ]).astype({"dimension": "Int64"})  # fmt: skip
    found = curves(scores, metric_named(metric))
    assert found["dimension"][found["best"]].tolist() == [ring]


def test_a_band_holds_its_mean_though_r2_is_negative():
    curve = pd.DataFrame({"label": ["a"] * 2, "train_size": [5, 10], "mean": [-0.5, 0.02], "std": [0.1, 0.1]})
    results = SimpleNamespace(labels=["a"], metric=metric_named("r2"))
    rows = lines(curve, results, "", "train_size", {"title": "n"}, shown="a")["data"]["values"]
    assert [row["low"] for row in rows] == pytest.approx([-60, -8])
    assert all(row["low"] < row["y"] < row["high"] for row in rows)


@pytest.mark.parametrize("sizes", [(2, 5, 9), (2,)])
def test_classifiers_with_components_have_a_curve_but_no_figure_of_one_dot(sizes, study):
    svc = study["scores"].query("method == 'svc' and selection == 'inner_cv'")
    curve = pd.concat([svc.assign(selection="dimension", dimension=size, value=size / 10) for size in sizes])
    scores = pd.concat([svc.assign(dimension=5, value=0.5), curve], ignore_index=True).astype({"dimension": "Int64"})
    summary = summarise(scores, reference="svc", titles={"datasets": {"digits": "Digits"}})
    drawn = figures_in(dimension_section(Results(scores, summary, [], "svc")))
    assert len(drawn) == (len(sizes) > 1)
    for chart in drawn:
        assert chart["title"]["text"] == "Digits, training size 5"
        assert [(row["x"], row["y"]) for row in chart["data"]["values"]] == [(2, 20), (5, 50), (9, 90)]


def test_several_training_sizes_of_one_protocol_have_one_curve():
    study = make_study(repeats=2, sizes=(5, 10))
    for frame in (study["scores"], study["summary"]):
        frame["protocol"] = [f"random-p{size}" for size in frame["train_size"]]
    results = Results(study["scores"], study["summary"], [])
    (chart,) = figures_in(training_size_section(results))
    assert {row["x"] for row in chart["data"]["values"]} == {5, 10}
    assert results.settings[0].title == "Digits 8 × 8, training size 5"
    assert [protocol_family(*each) for each in (("f-p2", 2), ("f-p2", 3), ("5-fold", None))] == ["f", "f-p2", "5-fold"]


def test_weights_over_splits_are_tabulated_and_saved(study):
    results = Results(study["scores"], study["summary"], study["fits"])
    (part,) = weights_section(results).parts
    saved, (table,) = part.files["weights.csv"], part.tables
    learned = {record.method: record for record in study["fits"] if record.method in ("mkldr", "random", "kfd")}
    assert set(saved["method"]) == set(learned)
    assert len(part.figures) == len(learned)
    for row, (method, record) in zip(table.rows, learned.items(), strict=True):
        own, found = saved[saved["method"] == method], weight_stability(record.weights)
        assert list(own["kernel"]) == list(record.weights)
        np.testing.assert_allclose(own["mean"], record.weights.mean(axis=0))
        np.testing.assert_allclose(own["std"], record.weights.std(axis=0, ddof=1), atol=1e-12)
        first = list(record.weights)[int(found.mean.argmax())]
        texts = [record.method_title, f"{found.between_splits:.2f}", f"{found.from_equal:.2f}", "5"]
        assert [cell.text for cell in row[:4]] == texts
        assert row[4].text.startswith(first)
    average = [record for record in study["fits"] if record.method == "average"]
    assert weights_section(Results(study["scores"], study["summary"], average)).parts == []


def test_choices_are_counted_over_splits_and_the_end_of_a_grid_is_named(study):
    fit = next(record for record in study["fits"] if record.method == "average")
    place = {name: getattr(fit, name) for name in ("dataset", "protocol", "train_size", "method")} | {"fold": 0}
    rows = [place | {"repeat": k, "parameter": "C", "value": C, "end": "largest" if C == 10 else "smallest"}
            for k, C in enumerate([10.0, 10.0, 1.0, 1.0, 10.0])]  # fmt: skip
    rows += [place | {"repeat": k, "parameter": "kernel", "value": "a", "end": ""} for k in range(5)]
    rows += [place | {"repeat": k, "parameter": "alpha", "value": 0.1, "end": ""} for k in range(2)]
    fits = [replace(fit, chosen=pd.DataFrame(rows)), *(each for each in study["fits"] if each is not fit)]
    (part,) = chosen_section(Results(study["scores"], study["summary"], fits)).parts
    shown = [[cell.text for cell in row[1:]] for table in part.tables for row in table.rows]
    counted = "10 in 3 of 5 fits and 1 in 2; largest of its grid, which may be too narrow"
    assert shown == [["C", counted], ["kernel", "a in all 5 fits"]]
    assert part.files["chosen.csv"].to_dict("records") == rows
    rare = pd.DataFrame([row | {"parameter": f"alpha of {row['repeat']}"} for row in rows[:5]])
    assert chosen_section(Results(study["scores"], study["summary"], [replace(fit, chosen=rare)])).parts == []


def test_embeddings_are_thinned_evenly_and_in_one_dimension_have_a_row_for_each_class() -> None:
    for n, shown in ((90, 90), (1200, 1200), (3060, 1200)):
        kept = thinned(pd.DataFrame({"x": np.arange(n, dtype=float)}))["x"]
        assert (len(kept), kept.is_unique, *kept.iloc[[0, -1]]) == (shown, True, 0.0, n - 1)
    points = pd.DataFrame({"x": [0.1, 0.2, 0.3], "y": 0.0, "label": ["a", "b", "b"], "role": ["train", "test", "test"]})
    flat, plane = embedding(points, [], label="KFD"), embedding(points.assign(y=points["x"]), [], label="KFD")
    assert [chart["encoding"]["y"]["field"] for chart in (flat, plane)] == ["c", "y"]
    assert [len(chart["layer"]) for chart in (flat, plane)] == [1, 2]


# --- confused classes

COUNTS = [[3, 1, 0], [0, 4, 0], [0, 0, 4]]
MEANS = {"average": 0.7, "poor": 0.5, "mkl": 0.8, "oracle": math.nan}


def results_with(counts: dict[str, Any], sizes: tuple[int, ...] = (5,)) -> Any:
    names = [f"c{k}" for k in range(len(next(iter(counts.values()))))]
    fits = [
        FitRecord("d", "p", size, method, method, confusion=pd.DataFrame(table, names, names))
        for size in sizes
        for method, table in counts.items()
    ]
    return replace(made_of(*((method, "", MEANS[method], *NAN) for method in counts), sizes=sizes), fits=fits)


@pytest.mark.parametrize(
    ("methods", "shown"),
    [
        (("average", "poor", "mkl"), ["mkl", "the average"]),
        (("average", "poor"), ["the average", "poor"]),
        (("poor", "mkl"), ["mkl", "poor"]),
        (("average",), ["the average"]),
        (("average", "oracle"), ["the average"]),
    ],
)
def test_the_best_is_shown_beside_the_reference_or_the_next(methods, shown):
    results = results_with(dict.fromkeys(methods, COUNTS))
    assert list(confused(results, results.settings[0])) == shown


def test_of_several_training_sizes_the_largest_and_of_the_classes_those_with_counts():
    results = results_with({"average": [[3, 0, 1], [0, 0, 0], [2, 0, 2]]}, sizes=(2, 10, 5))
    (part,) = confusion_section(results).parts
    assert part.heading == "Data, training size 10"
    counts = confused(results, results.settings[1])["the average"]
    assert counts.to_dict("index") == {"c0": {"c0": 3, "c2": 1}, "c2": {"c0": 2, "c2": 2}}
    assert confusion_section(results_with({"average": np.zeros((3, 3), dtype=int)})).parts == []
    many = FEW_CLASSES + 1
    (part,) = confusion_section(results_with({"average": np.ones((many, many), dtype=int)})).parts
    assert (len(part.figures), len(part.tables)) == (0, 1), "many classes have a table instead of a map"


def test_pairs_have_a_direction_and_stand_by_share():
    results = results_with({"mkl": [[8, 2, 0], [1, 9, 0], [30, 0, 70]], "average": [[9, 0, 1], [9, 1, 0], [90, 5, 5]]})
    table = pairs_table("", confused(results, results.settings[0]))
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["c2", "c0", "30.0", "30 of 100", "90.0"],
        ["c0", "c1", "20.0", "2 of 10", "0.0"],
        ["c1", "c0", "10.0", "1 of 10", "90.0"],
    ]


# --- colours and names

# Machado, Oliveira and Fernandes (2009), full severity, on linear RGB.
DEFICIENCIES = {
    "none": np.eye(3),
    "protanopia": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
    "deuteranopia": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
    "tritanopia": np.array([[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]),
}


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_colours_stay_apart(scheme, deficiency):
    codes = [scheme.neutral, *scheme.colours]
    rgb = np.array([[int(code[i : i + 2], 16) / 255 for i in (1, 3, 5)] for code in codes])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ DEFICIENCIES[deficiency].T, 0, 1)
    lab = rgb2lab(np.where(seen <= 0.0031308, 12.92 * seen, 1.055 * seen ** (1 / 2.4) - 0.055)[None])[0]
    distance = deltaE_ciede2000(lab[:, None], lab[None])
    assert distance[np.triu_indices(len(codes), 1)].min() > (15 if deficiency == "none" else 10)


def test_methods_have_names_and_looks_of_their_own_and_the_reference_is_neutral():
    frame = pd.DataFrame(
        {"dataset": "d", "dataset_title": "D", "protocol": "p", "train_size": None, "neighbour": "",
         "metric": "accuracy", "method": ["kfd", "average", "other"], "method_title": ["KFD", "Average", "Average"]}
    )  # fmt: skip
    results = Results(frame, frame, [])
    assert results.label_of == {"average": "Average", "kfd": "KFD", "other": "Average (other)"}
    labels = [str(number) for number in range(1 + 8 * len(DASHES))]
    dashes = method_lines(labels, labels)["strokeDash"]["scale"]["range"]
    colours = vega_config(SCHEMES[0], len(labels))["range"]["category"]
    assert colours[0] == SCHEMES[0].neutral
    assert len(set(zip(colours, map(tuple, dashes), strict=True))) == len(labels)

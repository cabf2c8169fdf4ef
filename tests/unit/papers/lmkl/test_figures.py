"""Figures and data of the LMKL paper: machines as in the study, lines where they should lie, shares, densities."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from mklearn.errors import ConfigError
from mklearn.papers.lmkl import gauss4, gauss4_figure, weight_maps
from mklearn.study.data.read import read_dataset
from mklearn.study.datasets import dataset_spec
from mklearn.study.extensions import study_files
from mklearn.study.plan.plan import plan_study
from mklearn.study.reading import read_study
from mklearn.study.report.parts import StudyResults

METRICS = ("accuracy", "support_vector_share")


@pytest.fixture(scope="module")
def results() -> StudyResults:
    """One split of 400 samples that tests every other one."""
    samples = gauss4.read(n=400)
    keys = {"dataset": "gauss4", "protocol": "random", "train_size": 50, "neighbour": "", "selection": "inner_cv"}
    scores = pd.DataFrame(
        [keys | {"method": method, "metric": metric, "value": value}
         for method in gauss4_figure.PANELS for metric in METRICS for value in (0.25, 0.5)]
    )  # fmt: skip
    tested = pd.DataFrame({"repeat": 0, "fold": 0, "sample": samples.ids[::2]})
    later = pd.DataFrame({"repeat": 1, "fold": 0, "sample": samples.ids[1::2]})
    both = pd.concat([later, tested])
    predictions = SimpleNamespace(by_rule=lambda found: both if found["method"] == "mkl" else None)
    return StudyResults(scores, predictions, {"gauss4": samples})


@pytest.mark.full
def test_gating_wins_on_gauss4() -> None:
    """Accuracies of an independent prototype, three draws; the best possible rule has 89.77."""
    test = gauss4.read(seed=100, n=4000)
    accuracies: dict[str, list[float]] = {method: [] for method in gauss4_figure.PANELS}
    for seed in range(3):
        held = gauss4.read(seed=seed, n=400)
        for method in gauss4_figure.PANELS:
            model = gauss4_figure.machine(method, held.tables["features"], held.y)
            predicted = model.predict(gauss4_figure.views_of(method, test.tables["features"]))
            accuracies[method].append(np.mean(predicted == test.y))
    expected = {"mkl": 85.35, "linear-and-quadratic": 88.96, "two-quadratic": 89.36, "two-linear": 89.34}
    assert {method: 100 * np.mean(found) for method, found in accuracies.items()} == pytest.approx(expected, abs=1.5)


def test_the_machines_are_those_of_the_study() -> None:
    """Kills another C, kernel, gate or gating feature in the figure than in the study file."""
    plan = plan_study(read_study(study_files()["gauss4"]))
    methods = {fit.spec.method.id: fit.spec for fit in plan.fits.values()}
    keys = {planned.key: name for planned in plan.descriptors.values() for name in [planned.id]}
    for method, (_, kernels, n_gating) in gauss4_figure.PANELS.items():
        spec = methods[method]
        ours = [{k: v for k, v in kernel.items() if k != "view"} for kernel in kernels]
        theirs = [{name: kernel[name] for name in own} for kernel, own in zip(spec.kernels, ours, strict=True)]
        assert theirs == ours
        assert spec.method.parameters["C"] == gauss4_figure.C
        gating = spec.method.inputs.get("gating")
        named = [keys.get(key, key) for key in gating.descriptors] if gating else []
        assert [name.split("-")[0] for name in named] == {0: [], 2: ["features"], 5: ["quadratic"]}[n_gating]


@pytest.mark.full
def test_figure_1_has_a_machine_of_the_first_split_in_each_panel(results: StudyResults) -> None:
    samples = results.dataset("gauss4")
    train = gauss4_figure.first_training_set(results, samples)
    np.testing.assert_array_equal(train, np.arange(1, 400, 2))
    (figure,) = gauss4_figure.gauss4_figure(results).figures
    drawn = figure.draw()["concat"]
    assert [panel["title"]["subtitle"] for panel in drawn] == ["accuracy 37.5 %, support vectors 37.5 %"] * 4
    for panel in drawn:
        lines, dots, rings = (layer["data"]["values"] for layer in panel["layer"])
        assert len(dots) == 200
        assert 0 < len(rings) < 200
        assert {row["k"] for row in lines} >= {gauss4_figure.DECISION, gauss4_figure.BEST, gauss4_figure.SPREAD}
    with pytest.raises(ConfigError, match="'gauss4'"):
        gauss4_figure.gauss4_figure(StudyResults(results.scores, results.predictions, {}))


@pytest.mark.full
def test_lines_lie_where_decision_gates_and_densities_are_level() -> None:
    held = gauss4.read(n=400)
    model = gauss4_figure.machine("two-linear", held.tables["features"], held.y)
    rows = pd.DataFrame(gauss4_figure.boundaries(model, "two-linear")).groupby("k")
    points = {name: rows.get_group(name)[["x", "y"]].to_numpy() for name in rows.groups}
    views = {name: gauss4_figure.views_of("two-linear", points[name]) for name in points}
    decision = model.decision_function(views[gauss4_figure.DECISION])
    assert np.quantile(np.abs(decision), 0.75) < 0.01  # samples of length 1: it jumps near the origin
    eta = model.localized_weights(views[gauss4_figure.GATE])
    np.testing.assert_allclose(eta, 0.5, atol=0.05)
    assert np.abs(gauss4.best_rule(points[gauss4_figure.BEST])).max() < 0.05


def test_maps_are_shares_of_the_largest_row_by_row() -> None:
    rows = weight_maps.grid_rows(np.array([1.0, 2.0, 4.0, 0.0]), start="start 1")
    assert rows[1] == {"start": "start 1", "r": 0, "c": 1, "v": 0.5}
    assert [row["v"] for row in rows] == [0.25, 0.5, 1.0, 0.0]


# --- the data set


def test_the_registered_draw() -> None:
    held = read_dataset(dataset_spec({"name": "gauss4"}))
    assert held.tables["features"].shape == (1600, 2)
    assert held.labels.tolist() == ["positive"] * 800 + ["negative"] * 800
    np.testing.assert_array_equal(held.tables["features"], gauss4.read().tables["features"])
    assert not np.array_equal(held.tables["features"], gauss4.read(seed=1).tables["features"])


def test_means_and_variances() -> None:
    n = 40000
    samples = gauss4.read(n=n).tables["features"].reshape(4, n // 4, 2)
    np.testing.assert_allclose(samples.mean(axis=1), gauss4.MEANS, atol=5 * 2 / np.sqrt(n / 4))
    np.testing.assert_allclose(samples.var(axis=1), gauss4.VARIANCES, rtol=5 * np.sqrt(2 / (n / 4)))


@pytest.mark.full
def test_accuracy_of_the_best_rule() -> None:
    """89.77 %, by the densities themselves."""
    held = gauss4.read(seed=7, n=200000)
    density = norm.pdf(held.tables["features"][:, None], gauss4.MEANS, np.sqrt(gauss4.VARIANCES)).prod(axis=2)
    positive = density[:, gauss4.CLASSES == "positive"].sum(axis=1) > density[:, gauss4.CLASSES == "negative"].sum(
        axis=1
    )
    np.testing.assert_array_equal(gauss4.best_rule(held.tables["features"]) > 0, positive)
    accuracy = np.mean(positive == (held.labels == "positive"))
    assert accuracy == pytest.approx(0.8977, abs=4 * np.sqrt(0.09 / 200000))

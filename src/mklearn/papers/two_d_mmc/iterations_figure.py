"""Figure 1 of the paper: accuracy after each iteration of 2DMMC, GLRAM and 2DLDA, with l1 = l2 = 7."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
from sklearn.base import clone

from mklearn.errors import ConfigError
from mklearn.papers.two_d_mmc.bilinear import BilinearEmbedding
from mklearn.papers.two_d_mmc.glram import GLRAM
from mklearn.papers.two_d_mmc.two_d_lda import TwoDLDA
from mklearn.papers.two_d_mmc.two_d_mmc import TwoDMMC
from mklearn.study.data.samples import SampleSet
from mklearn.study.report import charts
from mklearn.study.report.charts import Chart, field, tooltip
from mklearn.study.report.parts import PartFigure, ReportPart, StudyResults

SIZE, ITERATIONS = 7, 20
METHODS: dict[str, BilinearEmbedding] = {
    "GLRAM": GLRAM(SIZE),
    "2DLDA (ridge 1)": TwoDLDA(SIZE, ridge=1.0),
    "2DLDA (no ridge, orthonormal)": TwoDLDA(SIZE, ridge=1e-10, scaling="orthonormal"),
    "2DMMC": TwoDMMC(SIZE),
}


def iterations_figure(results: StudyResults) -> ReportPart:
    """Draw for each data set of images the mean accuracy over the splits of its smallest training size."""
    alt = "Lines: accuracy of the nearest neighbour in each embedding against the number of iterations."
    return ReportPart(
        figures=[
            PartFigure(f"Accuracy by iteration, {name}", alt, partial(_drawn, results, name, samples))
            for name, samples in results.samples.items()
        ]
    )


def _drawn(results: StudyResults, name: str, samples: SampleSet) -> Chart:
    if not isinstance(samples.images, np.ndarray):
        raise ConfigError(f"report.parts: accuracy by iteration needs images of one size; {name!r} has none.")
    images = samples.images.astype(np.float64)
    rows = pd.DataFrame([
        {"label": label, "iteration": number, "accuracy": np.mean(model.predict(images[test]) == samples.y[test])}
        for test in _test_samples(results, name, samples)
        for label, method in METHODS.items()
        for number in range(1, ITERATIONS + 1)
        for model in [clone(method).set_params(max_iter=number, tol=0.0).fit(images[~test], samples.y[~test])]
    ])  # fmt: skip
    means = rows.groupby(["label", "iteration"], sort=False, as_index=False).mean()
    return chart(means, f"Accuracy by iteration, {name}")


def _test_samples(results: StudyResults, name: str, samples: SampleSet) -> Iterator[np.ndarray]:
    """Yield the mask of the test samples of each split of the smallest training size."""
    rows = results.scores[results.scores["dataset"].eq(name)].sort_values("train_size", kind="stable").iloc[0]
    keys = {key: rows[key] for key in ("dataset", "protocol", "train_size", "method")}
    predicted = results.predictions.by_rule({**keys, "neighbour": "euclidean"})
    assert predicted is not None
    for _, tested in predicted.groupby(["repeat", "fold"]):
        yield np.isin(samples.ids, tested["sample"].astype(str))


def chart(curves: pd.DataFrame, title: str) -> Chart:
    """Draw a line for each label: ``label, iteration, accuracy``, the latter as a fraction."""
    shown = charts.in_percent(curves, "accuracy")
    encoding = {
        "x": field("x:Q", title="iterations"),
        "y": field("y:Q", scale={"zero": False}),
        "color": field("k:N", scale=charts.class_scale(list(METHODS)), legend={"title": None}),
        "tooltip": tooltip(("k:N", "method"), ("x:Q", "iteration"), ("y:Q", "accuracy, %", ".1f")),
    }
    rows = charts.rows_of(shown, k="label", x="iteration", y="accuracy")
    line, below = {"mark": {"type": "line", "strokeWidth": 1.5}}, f"accuracy, %; nearest neighbour, l = {SIZE}"
    return charts.chart(line, encoding=encoding, height=300, title=title, rows=rows, subtitle=below)

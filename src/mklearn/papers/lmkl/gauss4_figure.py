"""Figure 1 of the paper: MKL and three LMKL machines on GAUSS4, with their boundaries and support vectors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklearn.classifiers import LMKLSVC, MKLSVC
from mklearn.errors import ConfigError
from mklearn.kernels import Views
from mklearn.papers.lmkl.gauss4 import MEANS, VARIANCES, best_rule, quadratic
from mklearn.study.data.samples import SampleSet
from mklearn.study.report.charts import LIGHT, Chart, field
from mklearn.study.report.parts import PartFigure, ReportPart, StudyResults

Floats = NDArray[np.floating[Any]]
Rows = list[dict[str, Any]]

AS_PUBLISHED = {"feature_scaling": "standard", "normalise": "unit_diagonal", "centre": False, "psd": "none"}
"""The kernels of the authors' code: standardised features, then samples of length 1."""
LINEAR = {"kind": "linear", "view": "features", **AS_PUBLISHED}
QUADRATIC = {"kind": "polynomial", "degree": 2, "scale": 1.0, "offset": 1.0, "view": "features", **AS_PUBLISHED}
C = 10
PANELS = {
    "mkl": ("(a) MKL, linear and quadratic", [LINEAR, QUADRATIC], 0),
    "linear-and-quadratic": ("(b) LMKL, linear and quadratic", [LINEAR, QUADRATIC], 2),
    "two-quadratic": ("(c) LMKL, two quadratic", [QUADRATIC, QUADRATIC], 2),
    "two-linear": ("(d) LMKL, two linear, quadratic gates", [LINEAR, LINEAR], 5),
}
"""Title, kernels and number of gating columns of the quadratic features, by method of the study."""
DECISION, GATE, BEST, SPREAD = "decision boundary", "equal gates", "best possible boundary", "Gaussians (1 s.d.)"
GRID = np.linspace(-7, 7, 71), np.linspace(-9, 6, 76)


def gauss4_figure(results: StudyResults) -> ReportPart:
    """Draw the four machines of the first split of ``gauss4``, with mean test accuracy and share of support vectors."""
    samples = results.dataset("gauss4")
    drawn = partial(panels, samples, first_training_set(results, samples), means(results.scores))
    alt = "Four panels: samples of two classes in the plane, support vectors, and the boundaries of a machine."
    return ReportPart(figures=[PartFigure("GAUSS4", alt, drawn)])


def first_training_set(results: StudyResults, samples: SampleSet) -> NDArray[np.intp]:
    """Return the samples that the first split does not test."""
    rows = results.scores[results.scores["method"].eq("mkl")]
    if not len(rows):
        raise ConfigError(f"report.parts: the part gauss4 needs the methods {', '.join(PANELS)}.")
    keys = {name: rows[name].iloc[0] for name in ("dataset", "protocol", "train_size", "method", "neighbour")}
    tested = results.predictions.by_rule(keys)
    assert tested is not None
    first = tested[tested["repeat"].eq(0) & tested["fold"].eq(0)]
    return np.flatnonzero(~np.isin(samples.ids, first["sample"]))


def means(scores: pd.DataFrame) -> dict[tuple[str, str], float]:
    """Return the mean of each metric over the splits in %, by method and metric."""
    chosen = scores[scores["selection"].eq("inner_cv")]
    percent = 100 * chosen.groupby(["method", "metric"])["value"].mean()
    return dict(zip(percent.index, percent.tolist(), strict=True))


def machine(method: str, X: Floats, y: NDArray[Any]) -> Any:
    """Fit one of the machines of the study."""
    _, kernels, n_gating = PANELS[method]
    model = LMKLSVC(kernels=kernels, gating="gates", C=C) if n_gating else MKLSVC(kernels=kernels, C=C)
    return model.fit(views_of(method, X), y)


def views_of(method: str, X: Floats) -> Views:
    """Return views with the features and the gating features of samples."""
    return Views({"features": X, "gates": quadratic(X)[:, : PANELS[method][2] or None]})


def panels(samples: SampleSet, train: NDArray[np.intp], values: dict[tuple[str, str], float]) -> Chart:
    """Draw the four panels in two rows of two."""
    X, y = np.asarray(samples.tables["features"])[train], samples.y[train]

    def subtitle(method: str) -> str:
        accuracy, support = values[method, "accuracy"], values[method, "support_vector_share"]
        return f"accuracy {accuracy:.1f} %, support vectors {support:.1f} %"

    return {"columns": 2, "concat": [panel(method, X, y, samples.classes, subtitle(method)) for method in PANELS]}


def panel(method: str, X: Floats, y: NDArray[Any], classes: NDArray[Any], subtitle: str) -> Chart:
    """Draw one machine: samples, its support vectors as rings, the lines of `boundaries`."""
    model = machine(method, X, y)
    support = set(model.support_.tolist())
    dots: Rows = [
        {"x": round(float(x), 3), "y": round(float(z), 3), "k": str(classes[code]), "s": number in support}
        for number, ((x, z), code) in enumerate(zip(X, y, strict=True))
    ]
    colours = {
        "domain": [*map(str, classes), DECISION, GATE, BEST, SPREAD],
        "range": [LIGHT.colours[1], LIGHT.colours[0], LIGHT.colours[4], "#9aa1ab", LIGHT.colours[2], "#d5d9df"],
    }
    coloured = {
        axis: field(f"{axis}:Q", scale={"domain": [grid.min(), grid.max()]})
        for axis, grid in zip("xy", GRID, strict=True)
    }
    coloured["color"] = field("k:N", scale=colours, legend={"title": None})
    mark = {"type": "circle", "clip": True, "filled": True, "opacity": 1, "aria": False}
    ring = {"type": "point", "size": 60, "strokeWidth": 1, "clip": True, "aria": False}
    lines = boundaries(model, method)
    return {
        "title": {"text": PANELS[method][0], "subtitle": subtitle}, "width": 320, "height": 320,
        "layer": [
            {"data": {"values": lines}, "mark": mark | {"size": 6}, "encoding": coloured},
            {"data": {"values": dots}, "mark": mark | {"size": 16}, "encoding": coloured},
            {"data": {"values": [dot for dot in dots if dot["s"]]}, "mark": ring, "encoding": coloured},
        ],
    }  # fmt: skip


def boundaries(model: Any, method: str) -> Rows:
    """Return points on the lines of a panel: decision boundary, equal gates, best possible rule, and Gaussians."""
    across, up = GRID
    points = np.column_stack([grid.ravel() for grid in np.meshgrid(across, up)])
    views = views_of(method, points)
    fields = {BEST: best_rule(points), DECISION: model.decision_function(views)}
    if PANELS[method][2]:
        eta = model.localized_weights(views)
        fields[GATE] = eta[:, 0] - eta[:, 1]
    turns = np.linspace(0, 2 * np.pi, 45)
    circle = np.column_stack([np.cos(turns), np.sin(turns)])
    spread = (MEANS[:, None] + np.sqrt(VARIANCES)[:, None] * circle).reshape(-1, 2)
    rows: Rows = [{"x": round(x, 3), "y": round(y, 3), "k": SPREAD} for x, y in spread.tolist()]
    for name, values in fields.items():
        points_of_line = crossings(values.reshape(len(up), len(across)), across, up)
        rows += [{"x": round(x, 3), "y": round(y, 3), "k": name} for x, y in points_of_line]
    return rows


def crossings(values: Floats, across: Floats, up: Floats) -> Iterator[tuple[float, float]]:
    """Yield the points where a field, shape (up, across), changes sign along a grid line."""
    for lines, first, second, swapped in ((values, across, up, False), (values.T, up, across, True)):
        for line, fixed in zip(lines, second, strict=True):
            for n in np.flatnonzero(np.diff(np.sign(line))):
                moving = first[n] + (first[n + 1] - first[n]) * line[n] / (line[n] - line[n + 1])
                yield (float(fixed), float(moving)) if swapped else (float(moving), float(fixed))
